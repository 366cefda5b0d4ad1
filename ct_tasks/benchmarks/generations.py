"""Files of generations, in every layout in which people have them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.base import Benchmark
from ct_tasks.errors import DataError


@dataclass(frozen=True, slots=True)
class Text:
    """One generation; ``extracted`` where the layout itself holds answers."""

    text: str
    extracted: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


def read_generations(path: Path, benchmark: Benchmark) -> dict[str, list[Text]]:
    """Item id to its generations, in file order. Raises ``DataError`` saying what was expected where."""
    data = _load(path)
    if isinstance(data, list):
        return _samples(data, path, benchmark)
    side = "input" if benchmark.name.startswith("ct_cruxeval_xi_") else "output"
    if isinstance(data.get(side), list) and all(isinstance(r, dict) and "code" in r for r in data[side]):
        found: dict[str, list[Text]] = {}
        for row in data[side]:
            text = Text(str(row.get("answer", "")), True, {"program": row["code"]})
            found.setdefault(benchmark.item_id(str(row["id"])), []).append(text)
        return found
    inner = data.get("raw_generations", data)
    scored = data.get("raw_scored_generations") if "raw_generations" in data else None
    if not isinstance(inner, dict):
        raise DataError(f"{path}: raw_generations is a {type(inner).__name__}, not an object of lists")
    out = {}
    for key, texts in inner.items():
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise DataError(f"{path}: the entry {key!r} is not a list of texts")
        # The published result files hold answers. How many of a row they counted tells which release of the scorer made
        # them: the first counts an answer that it refuses to run as wrong, later ones leave it out.
        counted = scored.get(key) if isinstance(scored, dict) else None
        extra = {"published_verdicts": len(counted)} if isinstance(counted, list) else {}
        out[benchmark.item_id(str(key))] = [Text(t, "raw_generations" in data, extra) for t in texts]
    return out


def _load(path: Path) -> Any:
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    try:
        data = json.loads(text)
        if isinstance(data, (dict, list)):
            return [data] if isinstance(data, dict) and {"doc", "resps"} <= data.keys() else data
    except ValueError:
        pass  # not one document: JSON lines, read below
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise DataError(f"{path}:{number} is neither JSON nor JSON lines: {error}") from None
    return rows


def _samples(rows: list[Any], path: Path, benchmark: Benchmark) -> dict[str, list[Text]]:
    """lm-eval's samples, or JSON lines of ``{"id": ..., "texts": [...]}`` or one ``{id: [...]}`` a line."""
    found: dict[str, list[Text]] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"{path}:{number} is a {type(row).__name__}, not an object")
        if "resps" in row and "doc" in row:
            doc = row["doc"]
            key = doc.get("id", row.get("doc_id")) if isinstance(doc, dict) else row.get("doc_id")
            texts = [t for group in row["resps"] for t in (group if isinstance(group, list) else [group])]
            found[benchmark.item_id(str(key))] = [Text(t) for t in texts if isinstance(t, str)]
        elif "id" in row:
            given = row.get("texts", row.get("generations", row.get("text", row.get("completion"))))
            if given is None:
                raise DataError(f"{path}:{number} has an id but no texts (keys: {sorted(row)[:8]})")
            listed = [given] if isinstance(given, str) else given
            found.setdefault(benchmark.item_id(str(row["id"])), []).extend(Text(str(t)) for t in listed)
        else:
            for key, texts in row.items():
                listed = [texts] if isinstance(texts, str) else texts
                if not isinstance(listed, list):
                    raise DataError(f"{path}:{number}: the entry {key!r} is not a list of texts")
                found[benchmark.item_id(str(key))] = [Text(str(t)) for t in listed]
    return found
