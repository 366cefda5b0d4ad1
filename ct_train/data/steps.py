"""Steps that stream, survive ``kill -9``, and then end with the same bytes as a run that nobody killed.

A step takes units (rows) in batches whose borders depend on nothing but the input. Each finished batch is one line of a
journal, flushed to disk; a run that finds the journal of the same step goes on behind its last whole line. When all batches
are done the outputs are written from the journal into ``.part`` files, flushed, and renamed; the last rename is that of
``NAME.done.json``, which says what the step was made from. A step whose ``done`` file names the same settings and inputs is
not run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, overload

from ct_tasks.errors import ConfigError, DataError

Row = dict[str, Any]


@dataclass
class Outcome:
    """What became of one batch: rows for ``NAME.jsonl``, dropped rows with their ``reason``, and further counts."""

    kept: list[Row] = field(default_factory=list)
    dropped: list[Row] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def drop(self, row: Row, reason: str, detail: str = "") -> None:
        self.dropped.append({**row, "reason": reason, **({"detail": detail} if detail else {})})

    def count(self, name: str, by: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + by


@dataclass(frozen=True)
class Step:
    """One step: ``name`` names its files in ``folder``; ``key`` is everything besides the input files that decides its
    output (settings, model name, version of its rules)."""

    folder: Path
    name: str
    key: Mapping[str, Any]
    inputs: Sequence[Path]
    batch: int
    note: str = "rows"

    @property
    def output(self) -> Path:
        return self.folder / f"{self.name}.jsonl"

    @property
    def dropped(self) -> Path:
        return self.folder / f"{self.name}.dropped.jsonl"

    @property
    def done(self) -> Path:
        return self.folder / f"{self.name}.done.json"

    @property
    def journal(self) -> Path:
        return self.folder / f"{self.name}.journal.part"

    def run(self, units: Sequence[Any], work: Callable[[Sequence[Any]], Outcome]) -> dict[str, Any]:
        """Run what is not done yet; the content of ``NAME.done.json``.

        ``work`` maps one batch of units to its outcome and must depend on nothing else. Raises what ``work`` raises;
        finished batches stay in the journal.
        """
        mark = self._mark()
        summary = self._finished(mark)
        if summary is not None:
            say(f"{self.name}: already done ({summary['kept']} kept, {summary['dropped']} dropped)")
            return summary
        began = time.monotonic()
        starts = range(0, len(units), self.batch)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.done.unlink(missing_ok=True)  # from other settings or inputs: no longer true
        with self._open_journal(mark) as (journal, finished):
            progress = Progress(self.name, len(units), self.note, finished * self.batch)
            for start in starts[finished:]:
                chunk = units[start : start + self.batch]
                out = work(chunk)
                line = {"kept": out.kept, "dropped": out.dropped, "counts": out.counts}
                journal.write((dump(line) + "\n").encode())
                settle(journal)
                progress.step(len(chunk))
            progress.end()
        summary = self._publish(mark)
        self._log(time.monotonic() - began, len(units), finished * self.batch)
        return summary

    def _mark(self) -> str:
        missing = [p for p in self.inputs if not p.is_file()]
        if missing:
            raise DataError(f"step {self.name} needs {missing[0]}, which is not there; run the step before it")
        parts = [dump(self.key), str(self.batch), *(sha256(path) for path in self.inputs)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _finished(self, mark: str) -> dict[str, Any] | None:
        if not (self.done.is_file() and self.output.is_file() and self.dropped.is_file()):
            return None
        summary = summary_of(self.done)
        if summary is None:
            return None
        intact = sha256(self.output) == summary["sha256"] and sha256(self.dropped) == summary["dropped_sha256"]
        return dict(summary) if summary["made_from"] == mark and intact else None

    def _open_journal(self, mark: str) -> _Journal:
        return _Journal(self.journal, mark)

    def _publish(self, mark: str) -> dict[str, Any]:
        kept, dropped = 0, 0
        reasons: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        with Replaced(self.output) as out, Replaced(self.dropped) as out_dropped:
            for line in _lines(self.journal, skip=1):
                for row in line["kept"]:
                    out.write((dump(row) + "\n").encode())
                    kept += 1
                for row in line["dropped"]:
                    out_dropped.write((dump(row) + "\n").encode())
                    reasons[row["reason"]] += 1
                    dropped += 1
                counts.update(line["counts"])
        summary = {
            "step": self.name,
            "kept": kept,
            "dropped": dropped,
            "reasons": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
            "counts": dict(sorted(counts.items())),
            "settings": dict(self.key),
            "made_from": mark,
            "sha256": sha256(self.output),
            "dropped_sha256": sha256(self.dropped),
        }
        write_text(self.done, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
        self.journal.unlink(missing_ok=True)
        return summary

    def _log(self, seconds: float, units: int, resumed: int) -> None:
        """Time and memory differ from run to run, so they are kept apart from the outputs."""
        line = {
            "step": self.name,
            "wall_s": round(seconds, 2),
            "units": units,
            "resumed_at": resumed,
            "peak_mb": peak_mb(),
        }
        with (self.folder / "timings.jsonl").open("a") as log:
            log.write(dump(line) + "\n")


class _Journal:
    """The journal, opened behind its last whole line; begun anew when it was made from something else."""

    def __init__(self, path: Path, mark: str) -> None:
        self.path, self.head = path, dump({"made_from": mark}) + "\n"

    def __enter__(self) -> tuple[IO[bytes], int]:
        whole, lines = 0, 0
        if self.path.is_file():
            with self.path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n") or (lines == 0 and line.decode(errors="replace") != self.head):
                        break
                    whole += len(line)
                    lines += 1
        self.file = self.path.open("r+b" if lines else "wb")
        self.file.truncate(whole)
        self.file.seek(whole)
        if not lines:
            self.file.write(self.head.encode())
            settle(self.file)
        return self.file, max(lines - 1, 0)

    def __exit__(self, *error: object) -> None:
        self.file.close()


class Replaced:
    """A file that appears whole or not at all: written as ``.part``, flushed to disk, renamed."""

    def __init__(self, path: Path) -> None:
        self.path, self.part = path, path.with_name(path.name + ".part")

    def __enter__(self) -> IO[bytes]:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.part.open("wb")
        return self.file

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            settle(self.file)
        self.file.close()
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)


class Progress:
    """A line on stderr: done, total, rate, time left. On a terminal it is rewritten; elsewhere a line every ten seconds."""

    def __init__(self, name: str, total: int, note: str, done: int = 0) -> None:
        self.name, self.total, self.note, self.done = name, total, note, min(done, total)
        self.resumed, self.began, self.last = self.done, time.monotonic(), 0.0
        if self.done:
            say(f"{name}: going on at {self.done} of {total} {note}")

    def step(self, count: int) -> None:
        self.done += count
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if now - self.last < (0.2 if terminal else 10.0):
            return
        self.last = now
        rate = (self.done - self.resumed) / max(now - self.began, 1e-9)
        left = (self.total - self.done) / rate if rate else 0.0
        text = f"{self.name}: {self.done}/{self.total} {self.note}, {rate:.1f}/s, {left:.0f} s left"
        print(f"\r{text:<79}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if sys.stderr.isatty() and self.last:
            print(file=sys.stderr)
        say(f"{self.name}: {self.done}/{self.total} {self.note} in {time.monotonic() - self.began:.1f} s")


def settle(file: IO[bytes]) -> None:
    """Everything written so far is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_text(path: Path, text: str) -> None:
    with Replaced(path) as file:
        file.write(text.encode())


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def summary_of(done: Path) -> Row | None:
    """What a ``done`` file says; None where it is damaged, and the step is then not done."""
    try:
        found = json.loads(done.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return found if isinstance(found, dict) and "made_from" in found else None


def read_rows(path: Path) -> list[Row]:
    """All rows of a JSON lines file. Raises ``DataError`` naming the line that is none."""
    return list(_lines(path))


class LazyRows(Sequence[Row]):
    """The rows of a large JSON lines file, read when a slice of them is asked for."""

    def __init__(self, path: Path, limit: int | None = None) -> None:
        self.path = path
        self.starts = [0]
        with path.open("rb") as file:
            for line in file:
                self.starts.append(self.starts[-1] + len(line))
        if limit is not None:
            del self.starts[limit + 1 :]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> list[Row]: ...
    def __getitem__(self, key: int | slice) -> Row | list[Row]:
        if isinstance(key, int):
            return self[key : key + 1][0]
        first, stop, _ = key.indices(len(self))
        with self.path.open("rb") as file:
            file.seek(self.starts[first])
            return [json.loads(file.readline()) for _ in range(first, stop)]


def _lines(path: Path, skip: int = 0) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if number > skip:
                    yield json.loads(line)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error}; run the step that makes it") from None
    except ValueError as error:
        raise DataError(f"{path}:{number} is not JSON: {error}") from None


def peak_mb() -> int:
    """Peak resident memory of this process or of the largest child it waited for, in MiB."""
    usage = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return max(usage) // 1024


def chosen(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """The steps named, in pipeline order; all of them when none is named."""
    names = list(names)
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no step {name!r}; steps: {', '.join(known)}")
    return [name for name in known if not names or name in names]


def whole(
    folder: Path,
    name: str,
    key: Mapping[str, Any],
    inputs: Sequence[Path],
    make: Callable[[], Mapping[str, str | bytes]],
) -> None:
    """A step that is quick and makes whole files: ``make`` gives their contents by name. Done once for the same inputs."""
    mark = Step(folder, name, key, inputs, 1)._mark()
    done = folder / f"{name}.done.json"
    if done.is_file():
        summary = summary_of(done) or {"made_from": "", "files": {}}
        files = {folder / file: digest for file, digest in summary["files"].items()}
        if summary["made_from"] == mark and all(f.is_file() and sha256(f) == digest for f, digest in files.items()):
            say(f"{name}: already done")
            return
    began = time.monotonic()
    done.unlink(missing_ok=True)
    texts = make()
    for file, text in texts.items():
        with Replaced(folder / file) as out:
            out.write(text.encode() if isinstance(text, str) else text)
    files_now = {file: sha256(folder / file) for file in texts}
    write_text(
        done, json.dumps({"step": name, "made_from": mark, "settings": dict(key), "files": files_now}, indent=1) + "\n"
    )
    say(f"{name}: {', '.join(texts)} in {time.monotonic() - began:.1f} s")
