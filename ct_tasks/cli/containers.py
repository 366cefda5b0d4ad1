"""Build the language images, and check every reference program in them.

    python -m ct_tasks containers build
    python -m ct_tasks containers build --base my-debian:13 cpp java
    python -m ct_tasks containers check java js --out references.json
    python -m ct_tasks containers list

``build`` makes the image of the given languages (all by default; the smallest stage of the Dockerfile that has them).
``check`` runs every reference program of CRUXEval-X three times and writes which ones are bad or flaky, with the data's
hash: a model is never scored on those. ``list`` shows what the last check found, as a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.execution import docker
from ct_tasks.execution.languages import NAMES, get
from ct_tasks.execution.languages.base import FULL_IMAGE, JULIA_IMAGE

# What each stage of containers/languages.Dockerfile adds.
SMALL = {"js", "lua", "php", "pl", "py", "rb", "sh"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build", "check", "list"))
    parser.add_argument("languages", nargs="*", metavar="LANG", help=f"of {' '.join(NAMES)}; all by default")
    parser.add_argument("--base", default="debian:trixie-slim", help="base image (Debian 13)")
    parser.add_argument("--julia-base", default="julia:1", help="base image for Julia; a Debian 11 works too")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each reference (check)")
    parser.add_argument("--limit", type=int, help="only the first N references of each language (check)")
    parser.add_argument("--out", type=Path, help="where check writes its list (default: the package's own)")


def main(args: argparse.Namespace) -> int:
    names = args.languages or list(NAMES)
    for name in names:
        get(name)
    if args.action == "list":
        from ct_tasks.benchmarks.cruxeval_x import references

        print("\n".join(references.table(names)))
        return 0
    docker.check_engine()
    if args.action == "check":
        from ct_tasks.benchmarks.cruxeval_x.check import check

        return check(names, repeats=args.repeats, limit=args.limit, out=args.out)
    images = {get(name).image for name in names}
    if FULL_IMAGE in images:
        build("languages.Dockerfile", FULL_IMAGE, args.base, "full")
    if JULIA_IMAGE in images:
        build("julia.Dockerfile", JULIA_IMAGE, args.julia_base)
    return 0


def sources() -> Path:
    """The folder with the Dockerfiles: in the repository, or beside the installed package."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "containers", here.parents[1] / "containers"):
        if (folder / "languages.Dockerfile").is_file():
            return folder
    raise ConfigError("the Dockerfiles are in the repository's containers/ folder; run this from a clone")


def build(dockerfile: str, image: str, base: str, target: str = "") -> None:
    """``docker build`` in a copy of the folder that also holds the network's own certificate, where there is one.

    Raises ``HarnessError`` when the build fails; docker's output is shown as it comes.
    """
    with tempfile.TemporaryDirectory() as context:
        shutil.copytree(sources(), context, dirs_exist_ok=True)
        certificates = Path(context) / "certificates"
        certificates.mkdir(exist_ok=True)
        extra = os.environ.get("NODE_EXTRA_CA_CERTS", "")
        content = Path(extra).read_bytes() if extra and Path(extra).is_file() else b""
        (certificates / "extra.pem").write_bytes(content)
        command = [
            docker.command(),
            "build",
            "--network=host",
            "--build-arg",
            f"BASE={base}",
            "-t",
            image,
            "-f",
            f"{context}/{dockerfile}",
        ]
        command += ["--target", target] if target else []
        print(f"building {image} from {base}", file=sys.stderr)
        if subprocess.run([*command, context], stdout=sys.stderr, check=False).returncode != 0:
            raise HarnessError(f"docker could not build {image}; its last lines above say why")
    print(json.dumps({"image": image, "base": base}))
