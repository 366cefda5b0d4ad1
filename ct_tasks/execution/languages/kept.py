"""Verdicts that were reached are kept on disk, so that a run that is stopped, or scored again, does not build them anew.

A verdict is filed under all that it depends on: the image's id, the language's recipe, the runner's own source and the
program. Only what a program does by itself is kept (it ran clean, or it failed); a time or memory limit, an ended container
and a failure of ours say something about the machine too, and are tried again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.execution.jobs import Result

log = logging.getLogger(__name__)
KEPT_STATUSES = ("ok", "exception")
_ASK = 500  # keys a query; SQLite allows a limited number of variables


class Verdicts:
    """The verdicts of one language in one image, in the SQLite file ``path`` (made when missing).

    A file that cannot be read or written (a full disk, a damaged file) is warned of once and then left alone: programs are
    then simply run. Safe with several processes on one file.
    """

    def __init__(self, path: Path, image_id: str, recipe: Mapping[str, Any], runner: str) -> None:
        self.path = path
        self._base = json.dumps([image_id, dict(recipe), hashlib.sha256(runner.encode()).hexdigest()], sort_keys=True)
        self._off = False

    def key(self, program: str) -> str:
        """The name under which this program's verdict is filed."""
        return hashlib.sha256(f"{self._base}\0{program}".encode("utf-8", "surrogatepass")).hexdigest()

    def find(self, programs: Sequence[str]) -> dict[int, Result]:
        """Position to verdict, for those that are kept."""
        keys = {self.key(program): i for i, program in enumerate(programs)}
        names, found = list(keys), {}
        with self._connected() as connection:
            for start in range(0, len(names), _ASK):
                part = names[start : start + _ASK]
                marks = ",".join("?" * len(part))
                for name, status, error in connection.execute(
                    f"SELECT key, status, error FROM verdicts WHERE key IN ({marks})", part
                ):
                    i = keys[name]
                    found[i] = Result(status, error=error, value=str(int(status == "ok")), id=str(i))
        return found

    def add(self, programs: Sequence[str], results: Sequence[Result]) -> None:
        """Keep those of these verdicts that say something about the program alone."""
        rows = [
            (self.key(program), result.status, result.error)
            for program, result in zip(programs, results, strict=True)
            if result.status in KEPT_STATUSES
        ]
        with self._connected() as connection:
            connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", rows)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        connection = self._open()
        try:
            with connection:
                yield connection
        except sqlite3.Error as error:
            self._give_up(error)
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        """The file, or an empty database in memory when the file cannot be used."""
        table = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, status TEXT, error TEXT)"
        if not self._off:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=30)
                connection.execute(table)
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)
            else:
                return connection
        connection = sqlite3.connect(":memory:")
        connection.execute(table)
        return connection

    def _give_up(self, error: Exception) -> None:
        self._off = True
        log.warning("verdicts are not kept: %s: %s", self.path, error)
