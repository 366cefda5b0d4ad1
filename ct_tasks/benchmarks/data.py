"""Reading benchmark rows: from the hub by default, from ``CT_DATA_DIR`` when that is set.

With ``CT_DATA_DIR`` set, the file there is taken; only when it has no such file is the hub asked. Rows are checked
against what the benchmark says of itself (their number, the columns it reads, the file's hash), so that a run never
goes on with half a benchmark or another version of it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks import jsonl
from ct_tasks.benchmarks.base import Source
from ct_tasks.errors import DataError

Row = dict[str, Any]
BUNDLED = "(bundled)"  # ``Source.local`` of what comes with the package
_DOWNLOAD_S = 60.0


def data_dir() -> Path | None:
    """The folder that ``CT_DATA_DIR`` names, or None when it is unset or empty."""
    given = os.environ.get("CT_DATA_DIR", "").strip()
    return Path(given).expanduser() if given else None


def cache_dir() -> Path:
    """Where downloads and computed data are kept: ``CT_CACHE_DIR``, else ``$XDG_CACHE_HOME/codethinker``, else ``~/.cache``."""
    given = os.environ.get("CT_CACHE_DIR", "").strip()
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codethinker"


def load_rows(source: Source, *, columns: Sequence[str] = (), name: str = "the benchmark") -> list[Row]:
    """All rows of ``source`` in their official order.

    ``columns`` are the fields every row must have. A ``hub`` that begins with ``https://`` is a file to download (it is
    kept in the cache and must have the source's hash); any other is a dataset on the hub. Raises ``DataError``, naming
    both the hub and ``CT_DATA_DIR``, when neither gives the data, and when what they give is not this benchmark.
    """
    file, folder = local_file(source), data_dir()
    if file is not None:
        return check(read_file(file, source.sha256), source, columns, str(file))
    looked = f"CT_DATA_DIR={folder} has no {source.local}" if folder else "CT_DATA_DIR is not set"
    if source.hub is None:
        raise DataError(
            f"no data for {name}: {looked}, and no hub has it. Set CT_DATA_DIR to a folder that holds {source.local}."
        )
    try:
        rows, where = _from_hub(source)
    except DataError:
        raise
    except Exception as error:  # whatever the hub's client raises, the user needs the way out
        cause = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(
            f"no data for {name}: {looked}, and the hub ({source.hub}) could not be read ({cause}). Either connect to the "
            f"network, or set CT_DATA_DIR to a folder that holds {source.local}."
        ) from error
    return check(rows, source, columns, where)


def local_file(source: Source) -> Path | None:
    """The file for ``source`` in ``CT_DATA_DIR``, packed or not; None when there is none."""
    folder = data_dir()
    if folder is None:
        return None
    plain = source.local.removesuffix(".gz")
    return next((p for p in (folder / source.local, folder / plain, folder / (plain + ".gz")) if p.is_file()), None)


def reachable(source: Source) -> str:
    """Where the rows would come from, for ``list``: ``file``, ``hub (...)``, ``bundled`` or ``nowhere``. Does no network access."""
    if source.local == BUNDLED:
        return "bundled"
    if local_file(source) is not None:
        return "file"
    return f"hub ({source.hub})" if source.hub else "nowhere"


def read_file(path: Path, sha256: str | None = None) -> list[Row]:
    """Rows of a JSON lines file, plain or gzip. ``sha256`` is the hash of the file as it is or of what is packed in it.
    Raises ``DataError`` for damage or for another hash."""
    try:
        raw = path.read_bytes()
        content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        digests = [hashlib.sha256(data).hexdigest() for data in (raw, content)]
        if sha256 is not None and sha256 not in digests:
            raise DataError(
                f"{path} is not the version this benchmark is defined on: its SHA-256 is {digests[0]} (unpacked "
                f"{digests[1]}), expected {sha256}. Get the published file again, or point CT_DATA_DIR elsewhere."
            )
        text = content.decode()
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path} cannot be read as JSON lines: {error}") from error
    found = []
    for number, row in jsonl.rows(text, path):
        if not isinstance(row, dict):
            raise DataError(f"{path}:{number} is a {type(row).__name__}, not an object")
        found.append(row)
    return found


def check(rows: Iterable[Row], source: Source, columns: Sequence[str], where: str) -> list[Row]:
    """The rows, once their number and columns are right. Raises ``DataError`` otherwise."""
    rows = list(rows)
    allowed = {source.rows, *source.also_rows}
    if len(rows) not in allowed:
        raise DataError(
            f"{where} has {len(rows)} rows where this benchmark has {' or '.join(map(str, sorted(allowed)))}; "
            "it is cut off or another version."
        )
    for number, row in enumerate(rows):
        missing = [column for column in columns if column not in row]
        if missing:
            raise DataError(f"{where}, row {number}: no column {', '.join(missing)} (it has {', '.join(row)})")
    return rows


def _from_hub(source: Source) -> tuple[list[Row], str]:
    assert source.hub is not None
    if source.hub.startswith("https://"):
        return read_file(_download(source), source.sha256), source.hub
    from datasets import load_dataset

    dataset = load_dataset(source.hub, source.config, split=source.split)
    return [dict(row) for row in dataset], f"{source.hub} ({source.split})"


def _download(source: Source) -> Path:
    assert source.hub is not None
    target = cache_dir() / "downloads" / (hashlib.sha256(source.hub.encode()).hexdigest()[:16] + Path(source.local).name)
    if target.is_file():
        return target
    try:
        with urllib.request.urlopen(source.hub, timeout=_DOWNLOAD_S) as reply:
            content = reply.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise OSError(f"download failed: {error}") from error
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(target)  # a download that was interrupted never looks finished
    return target


def memo(load: Callable[[], list[Row]]) -> Callable[[], list[Row]]:
    """``load``, once for each value of ``CT_DATA_DIR``."""
    kept: dict[str, list[Row]] = {}

    def loaded() -> list[Row]:
        key = str(data_dir())
        if key not in kept:
            kept[key] = load()
        return kept[key]

    return loaded
