"""Frames between the pool, its supervisors and their children: four bytes of length, then JSON."""

from __future__ import annotations

import json
import struct
from typing import IO, Any, Final

HEADER: Final = struct.Struct(">I")
MAX_FRAME: Final = 256 * 1024 * 1024


class Closed(Exception):
    """The other end is gone."""


def encode(message: Any) -> bytes:
    """One frame. Lone surrogates survive, because JSON escapes them."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return HEADER.pack(len(body)) + body


def send(stream: IO[bytes], message: Any) -> None:
    """Write one frame and flush. Raises ``Closed`` when nobody reads."""
    try:
        stream.write(encode(message))
        stream.flush()
    except (OSError, ValueError) as error:
        raise Closed(str(error)) from None


def receive(stream: IO[bytes]) -> Any:
    """Read one frame. Raises ``Closed`` at the end of the stream or when what came is not a frame."""
    try:
        header = _exactly(stream, HEADER.size)
        (size,) = HEADER.unpack(header)
        if size > MAX_FRAME:
            raise Closed(f"a frame of {size} bytes")
        return json.loads(_exactly(stream, size))
    except (OSError, ValueError) as error:
        raise Closed(str(error)) from None


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if data is None or len(data) < size:
        raise Closed("end of stream")
    return data
