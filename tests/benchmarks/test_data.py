"""Benchmark rows: from a file, from a download, and the errors that say what to do."""

import gzip
import hashlib
import json

import pytest

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Source
from ct_tasks.errors import DataError

ROWS = [{"id": i, "text": "é"} for i in range(3)]
CONTENT = "".join(json.dumps(r) + "\n" for r in ROWS).encode()
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("packed", [True, False])
def test_plain_and_packed_have_one_hash(folder, packed):
    (folder / ("a.jsonl.gz" if packed else "a.jsonl")).write_bytes(gzip.compress(CONTENT) if packed else CONTENT)
    assert data.load_rows(Source("a.jsonl.gz", 3, sha256=HASH), columns=("id",)) == ROWS


@pytest.mark.parametrize(("source", "columns", "message"), [
    (Source("a.jsonl", 4), (), "3 rows where this benchmark has 4"),
    (Source("a.jsonl", 3, sha256="0" * 64), (), "not the version"),
    (Source("a.jsonl", 3), ("answer",), "no column answer"),
])  # fmt: skip
def test_another_version_is_refused(folder, source, columns, message):
    (folder / "a.jsonl").write_bytes(CONTENT)
    with pytest.raises(DataError, match=message):
        data.load_rows(source, columns=columns)


def test_damage_is_named(folder):
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(CONTENT)[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        data.load_rows(Source("a.jsonl.gz", 3))


def test_without_file_and_hub(folder):
    with pytest.raises(DataError, match=r"CT_DATA_DIR=.* has no a.jsonl, and no hub has it"):
        data.load_rows(Source("a.jsonl", 3))


def test_a_download_is_kept_and_checked(folder, monkeypatch):
    import io

    asked = []
    monkeypatch.setattr(data.urllib.request, "urlopen", lambda url, timeout: asked.append(url) or io.BytesIO(CONTENT))
    source = Source("a.jsonl", 3, hub="https://example.org/a.jsonl", sha256=HASH)
    assert data.load_rows(source) == ROWS
    assert data.load_rows(source) == ROWS
    assert len(asked) == 1


def test_an_unreachable_download_names_both_ways(folder):
    source = Source("a.jsonl", 3, hub="https://127.0.0.1:9/a.jsonl")
    with pytest.raises(DataError, match=r"CT_DATA_DIR(?s:.*)127\.0\.0\.1"):
        data.load_rows(source)
