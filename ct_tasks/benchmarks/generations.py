"""Files of generations, in every layout in which people have them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ct_tasks import jsonl
from ct_tasks.benchmarks.base import Benchmark
from ct_tasks.errors import DataError


@dataclass(frozen=True, slots=True)
class Text:
    """One generation; ``extracted`` where the layout itself holds answers. ``truncated`` and ``thinking`` as in ``Answer``,
    where the file tells."""

    text: str
    extracted: bool = False
    truncated: bool | None = None
    thinking: bool = False
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
            text = Text(str(row.get("answer", "")), True, extra={"program": row["code"]})
            found.setdefault(benchmark.item_id(str(row["id"])), []).append(text)
        return found
    inner = data.get("raw_generations", data)
    scored = data.get("raw_scored_generations") if "raw_generations" in data else None
    if not isinstance(inner, dict):
        raise DataError(f"{path}: raw_generations is a {type(inner).__name__}, not an object of lists")
    out: dict[str, list[Text]] = {}
    for key, texts in inner.items():
        given = [text.text for text in _texts(texts, str(path), key)]
        # The published result files hold answers. How many of a row they counted tells which release of the scorer made
        # them: the first counts an answer that it refuses to run as wrong, later ones leave it out.
        counted = scored.get(key) if isinstance(scored, dict) else None
        extra = {"published_verdicts": len(counted)} if isinstance(counted, list) else {}
        if (name := benchmark.item_id(str(key))) in out:
            raise DataError(f"{path}: {key!r} is the id {name!r}, which occurs a second time")
        out[name] = [Text(t, "raw_generations" in data, extra=extra) for t in given]
    return out


def _load(path: Path) -> Any:
    """The one document, or (line, row) pairs of JSON lines."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        data = jsonl.document(text)
    except ValueError as error:
        if len(lines) < 2:
            raise DataError(f"{path}:1 is neither JSON nor JSON lines: {error}") from None
        try:
            return list(jsonl.rows(text, path))
        except DataError as of_line:
            raise DataError(f"{of_line} (and the whole is no JSON: {error})") from None
    if isinstance(data, dict) and not {"doc", "resps"} <= data.keys():
        return data
    return list(enumerate(data, 1)) if isinstance(data, list) else [(1, data)]


def _samples(rows: list[tuple[int, Any]], path: Path, benchmark: Benchmark) -> dict[str, list[Text]]:
    """lm-eval's samples, or JSON lines of ``{"id": ..., "texts": [...]}`` or one ``{id: [...]}`` a line."""
    found: dict[str, list[Text]] = {}
    for number, row in rows:
        where = f"{path}:{number}"
        if not isinstance(row, dict):
            raise DataError(f"{where} is a {type(row).__name__}, not an object")
        if "resps" in row and "doc" in row:
            doc = row["doc"]
            key = doc.get("id", row.get("doc_id")) if isinstance(doc, dict) else row.get("doc_id")
            groups = row["resps"] if isinstance(row["resps"], list) else [row["resps"]]
            given = _texts([t for group in groups for t in (group if isinstance(group, list) else [group])], where, key)
            name = benchmark.item_id(str(key))
            texts = [replace(text, **known) for text, known in zip(given, _endings(row, len(given)), strict=True)]
            if found.setdefault(name, texts) != texts:  # a row for each filter, with the same replies
                raise DataError(f"{where}: {key!r} occurs a second time, with other texts")
        elif "id" in row:
            listed = row.get("texts", row.get("generations", row.get("text", row.get("completion"))))
            if listed is None:
                raise DataError(f"{where} has an id but no texts (keys: {sorted(row)[:8]})")
            found.setdefault(benchmark.item_id(str(row["id"])), []).extend(_texts(listed, where, row["id"]))
        else:
            for key, listed in row.items():
                name = benchmark.item_id(str(key))
                if name in found:
                    raise DataError(f"{where}: {key!r} occurs a second time")
                found[name] = _texts(listed, where, key)
    return found


def _texts(listed: Any, where: str, key: object) -> list[Text]:
    listed = [listed] if isinstance(listed, str) else listed
    if not isinstance(listed, list):
        raise DataError(f"{where}: the entry {key!r} is not a list of texts")
    for text in listed:
        if not isinstance(text, str):
            raise DataError(f"{where}: the entry {key!r} holds {json.dumps(text)[:60]}, which is not a text")
    return [Text(text) for text in listed]


def _endings(row: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """What our own samples tell of each reply beside its text; nothing where the row is not ours."""
    verdicts = [text for group in row.get("filtered_resps") or [] for text in (group if isinstance(group, list) else [group])]
    found: list[dict[str, Any]] = []
    for text in verdicts if len(verdicts) == count else []:
        try:
            known = json.loads(text)["ending"]
            kept = {"truncated": known["truncated"], "thinking": bool(known["thinking"])}
        except (ValueError, KeyError, TypeError):
            return [{}] * count
        found.append(kept)
    return found or [{}] * count
