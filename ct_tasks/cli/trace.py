"""The true trace of a program: its blocks, and the locals at the end of each.

    python -m ct_tasks trace program.py --call 'f(3)'
    python -m ct_tasks trace program.py --call 'f(3)' --json --segmentation adaptive

The program runs in the sandbox, never in this process.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import decode_source
from pathlib import Path

from ct_tasks.contra.trace import render
from ct_tasks.errors import ConfigError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_tasks.options import SEGMENTATIONS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the program; - reads standard input")
    parser.add_argument("--call", required=True, help="the call to trace, e.g. 'f(3)'")
    parser.add_argument(
        "--segmentation", default="statement", choices=SEGMENTATIONS, help="how the program is cut into blocks"
    )
    parser.add_argument(
        "--containers", default="literal", choices=("literal", "drop"), help="standard containers in LOCALS"
    )
    parser.add_argument("--json", action="store_true", help="the trace as JSON (values as literal text)")


def main(args: argparse.Namespace) -> int:
    try:
        source = sys.stdin.read() if str(args.file) == "-" else decode_source(args.file.read_bytes())
    except (OSError, UnicodeDecodeError, SyntaxError) as error:  # of a wrong encoding declaration
        raise ConfigError(f"cannot read the program {args.file}: {error}") from None
    (truth,) = trace_all([Call(source, args.call)], segmentation=args.segmentation, containers=args.containers)
    if isinstance(truth, TraceError):
        print(f"no trace: {type(truth).__name__}: {truth}", file=sys.stderr)
        return 1
    print(json.dumps(truth.to_json(), indent=2) if args.json else render(truth))
    return 0
