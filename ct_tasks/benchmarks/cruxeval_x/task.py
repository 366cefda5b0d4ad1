"""The task of one language and one side, scored by running programs in its container.

``acc`` (strict): the answer is nothing but a value (``values.py``) and the program with it runs clean; a fence, backticks, a last
``;`` around it, or the whole assertion, are taken off first (``reading.py``). An answer whose text is the gold text is right
without a run. ``acc_flexible``: the same for the answer that a careful person reads. ``acc_official``: the program runs clean
that the published runner makes of the reply, whatever the answer is.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item, Source
from ct_tasks.benchmarks.cruxeval_x import reading, references, values
from ct_tasks.benchmarks.cruxeval_x.rows import GAP, Parts, take_apart
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.execution.jobs import Result
from ct_tasks.execution.languages import get
from ct_tasks.execution.languages.runner import Progress, run_programs
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Missed, visible
from ct_tasks.paradigms.readings import status_of
from ct_tasks.paradigms.tags import blocks
from ct_tasks.score import Score

log = logging.getLogger(__name__)
Side = Literal["output", "input"]
ROWS = {"cpp": 733, "cs": 670, "d": 629, "go": 699, "java": 698, "jl": 680, "js": 743, "lua": 741, "php": 755, "pl": 728, "py": 799, "r": 699,
        "rb": 748, "rkt": 681, "rs": 690, "scala": 712, "sh": 674, "swift": 654, "ts": 726}  # fmt: skip
SPLITS = {"cpp": "Cpp", "cs": "CS", "d": "D", "go": "Go", "java": "Java", "jl": "Julia", "js": "JavaScript", "lua": "Lua", "php": "PHP", "pl": "Perl",
          "py": "Python", "r": "R", "rb": "Ruby", "rkt": "Racket", "rs": "Rust", "scala": "Scala", "sh": "Shell", "swift": "Swift", "ts": "TypeScript"}  # fmt: skip
EXAMPLES = Source(local="cruxeval-x/fewshot_examples.jsonl.gz", rows=57)
# The benchmark's own instructions (inference/prompt.py of its repository).
_OUTPUT = (
    'Based on the given code, which may contain errors, complete the "????" in assert statement with the output when executing '
    "the {lang} code on the given test case. Do NOT output any extra information, even if the function is incorrect or "
    "incomplete. Do NOT output a description for the assert."
)
_INPUT = (
    "You will be given a {lang} function f and a check function, where you only know the output of the test case. Find any input "
    "such that executing f on the input leads to the given output. There may be multiple answers, but you should only output one. "
    "Think step by step before arriving at an answer. Finally, surround the answer, with no additional words, with [ANSWER] and "
    "[/ANSWER] tags. Express your answer as a function call that when executed will give the output."
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of one answer. ``program`` decides it, unless it is ``settled``, no value (``objection``), or ``wrong``."""

    text: str | None
    program: str | None = None
    settled: Score | None = None
    objection: str = ""
    wrong: str = ""

    def verdict(self, results: Mapping[str, Result], official: Result | None) -> Score:
        """``official``: how the program ran that the published runner makes of the same reply."""
        if self.settled is not None:
            return self.settled
        if official is not None and official.status == "harness_error":
            return Score("harness_error", self.text, None, official.error)
        clean = official is not None and official.status == "ok"
        if self.program is None:
            if official is not None and official.status == "timeout":
                return Score("timeout", self.text, False, "the program ran into its time limit")
            extra = "; the program runs clean all the same" if clean else ""
            reason = f"not a value: {self.objection or self.wrong}{extra}"
            return Score("unreadable" if self.objection else "wrong", self.text, clean, reason)
        result = results[self.program]
        if result.status == "harness_error":
            return Score("harness_error", self.text, None, result.error)
        if result.status == "timeout":
            return Score("timeout", self.text, clean, "the program ran into its time limit")
        right = result.status == "ok"
        return Score("right" if right else "wrong", self.text, clean, "" if right else f"{result.status}: {result.error[:300]}")


@dataclass(frozen=True, slots=True)
class _Case:
    strict: _Reading
    flexible: _Reading
    official: str | None  # the program that the published runner makes of the reply

    @property
    def programs(self) -> list[str]:
        return [p for p in (self.official, self.strict.program, self.flexible.program) if p is not None]


class CruxEvalX(Benchmark):
    """Prompts with the benchmark's three worked examples (``shots`` 0 to 3), greedy, 512 tokens (official defaults)."""

    version: int = 2  # 2: read in two ways, with statuses for answers that are no value and for lost tags
    domain: ClassVar[Domain] = "multilingual"
    paradigms = ("direct",)
    default_shots: ClassVar[int] = 3
    scoring_limit: ClassVar[str] = "CPU time, by language: build 15 to 45 s, run 5 to 15 s"

    def __init__(self, language: str, side: Side) -> None:
        self.language, self.side = get(language), side
        self.name = f"ct_cruxeval_x{'i' if side == 'input' else ''}_{language}"
        self.source = Source(
            local=f"cruxeval-x/{language}.jsonl.gz", rows=ROWS[language], hub="xhwl/cruxeval-x", config="default",
            split=SPLITS[language], licence="none stated",
        )  # fmt: skip

    def items(self, options: TaskOptions) -> list[Item]:
        rows = data.load_rows(self.source, columns=("id", "code", f"{self.side}_reasoning"), name=self.name)
        return [
            Item(str(row["id"]), {"code": row["code"], "check": row[f"{self.side}_reasoning"]}, group=str(row["id"]))
            for row in rows
        ]

    def item_id(self, row_id: str) -> str:
        return row_id.removeprefix("sample_")

    def parts(self, item: Item) -> Parts | None:
        """The item's program taken apart."""
        return take_apart(str(item.data["code"]), str(item.data["check"]))

    @cached_property
    def _programs(self) -> list[Item]:
        return self.items(TaskOptions())

    @cached_property
    def words(self) -> frozenset[str]:
        """Names that a value may use: those of the benchmark's own answers on this side."""
        golds = [p.gold for item in self._programs if (p := self.parts(item)) is not None]
        return values.words_of(golds, self.language)

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        """References that fail by themselves (``references.json``), and rows whose program and check do not belong together."""
        items = self._programs
        found = references.bad(self.language.name, [str(i.data["code"]) for i in items])
        for item in items:
            if self.parts(item) is None:
                found.setdefault(item.id, "bad: the program does not hold its own check")
        return found

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        shots = self.default_shots if options.shots is None else options.shots
        if shots > 3:
            raise ConfigError(f"{self.name} has three worked examples; shots={shots} asks for more")
        name = self.language.name
        text = (_OUTPUT if self.side == "output" else _INPUT).format(lang=name)
        examples = "".join(self._example(row) for row in self._examples[:shots]) if shots else ""
        parts = self.parts(item)
        shown = (parts.head + parts.check) if parts else str(item.data["check"])
        return f"{text}\n\n{examples.rstrip()}\n```{name}\n{shown}\n```\n" + (
            "" if chat else "[ANSWER]\n" if self.side == "output" else ""
        )

    @cached_property
    def _examples(self) -> list[dict[str, str]]:
        try:
            rows = data.load_rows(EXAMPLES, name=f"the worked examples of {self.name}")
        except DataError as error:
            raise DataError(f"{error} Or run without them: --metadata '{{\"shots\": 0}}'") from None
        return [row for row in rows if row["lang"] == self.language.name]

    def _example(self, row: Mapping[str, str]) -> str:
        check, answer = row[f"{self.side}_reasoning"], row[f"{self.side}s"]
        parts = take_apart(row["code"], check)
        shown = (parts.head + parts.check if parts else row["code"]).strip()
        return f"```{self.language.name}\n{shown}\n```\n[ANSWER]\n{answer}\n[/ANSWER]\n"

    def generation(self, options: TaskOptions) -> Generation:
        # The closing tag ends the reply; in the examples it is followed by a fence, which no answer holds.
        return Generation(
            ("[/ANSWER]\n```",), options.max_gen_toks or 512, options.temperature or 0.0, options.top_p or 1.0
        )

    def gold(self, item: Item, options: TaskOptions) -> str:
        parts = self.parts(item)
        answer = (
            ""
            if parts is None
            else parts.gold
            if self.side == "output"
            else self.language.slot.replace(GAP, parts.gold)
        )
        return f"[ANSWER]\n{answer}\n[/ANSWER]"

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        from ct_tasks.benchmarks.cruxeval_x.hostile import texts

        parts = self.parts(item)
        return {kind: f"[ANSWER]\n{text}\n[/ANSWER]" for kind, text in texts(self.language, parts, self.side).items()}

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        """Raises ``HarnessError`` when the engine or the image is missing."""
        bad = self.bad_references(options)
        judged = [self._judge(answer) for answer in answers]
        programs = list(dict.fromkeys(p for case in judged for p in case.programs))
        show = _progress(self.name) if len(programs) > 50 else None
        found = (
            dict(zip(programs, run_programs(self.language.name, programs, kept=_kept(), progress=show), strict=True))
            if programs
            else {}
        )
        scores = []
        for answer, case in zip(answers, judged, strict=True):
            ran = None if case.official is None else found[case.official]
            strict = case.strict.verdict(found, ran)
            loose = strict if case.flexible == case.strict else case.flexible.verdict(found, ran)
            score = replace(strict, status_flexible=loose.status, answer_flexible=case.flexible.text)
            if answer.item.id in bad and (case.strict.text is not None or case.flexible.text is not None):
                # The published runner scores these rows like all others, so its verdict stays beside.
                reason = f"the reference itself fails ({bad[answer.item.id][:100]}); not scored"
                score = Score("harness_error", score.answer, score.acc_official, reason, status_flexible="harness_error", answer_flexible=score.answer_flexible)
            scores.append(score)
        return scores

    def _judge(self, answer: Answer) -> _Case:
        """What has to run for one answer, or verdicts that need no run."""
        parts = self.parts(answer.item)
        text = self._answer_text(answer)
        loose = reading.flexible(answer, self.language, self.side, parts, text)
        whole = answer.extra.get("program")
        if text is None:
            missed = visible(answer.text, answer.thinking)
            why = missed if isinstance(missed, Missed) else Missed("no_answer", "no [ANSWER] in the text")
            strict = _Reading(None, settled=Score(status_of(why, answer), None, False, why.reason))
            return _Case(strict, self._reading(loose, parts) if loose is not None and parts is not None else strict, None)
        if parts is None:
            strict = _Reading(text, settled=Score("harness_error", text, None, "the program does not hold its own check"))
            return _Case(strict, strict, None)
        strict = self._reading(text, parts)
        if strict.settled is not None and _squeeze(self._filling(text) or "") == _squeeze(parts.gold):
            return _Case(strict, strict, None)
        official = str(whole) if whole is not None else self._official_program(parts, text)
        return _Case(strict, strict if loose in (None, text) else self._reading(loose, parts), official)

    def _reading(self, text: str | None, parts: Parts) -> _Reading:
        """One reading of an answer: settled, or the program that decides it."""
        assert text is not None
        filling = self._filling(reading.bare(text, self.language, self.side, parts))
        if filling is not None and _squeeze(filling) == _squeeze(parts.gold):
            return _Reading(text, settled=Score("right", text, True, "the answer is the gold text"))
        objection = "it is not a call of the function" if filling is None else self._objection(filling)
        if objection:
            return _Reading(text, objection=objection)
        if self.side == "output" and _kind(filling or "") != _kind(parts.gold):
            return _Reading(text, wrong="it is of another kind than the value (quoted or not)")
        assert filling is not None
        return _Reading(text, self._official_program(parts, filling if self.side == "output" else self.language.slot.replace(GAP, filling)))

    def _objection(self, filling: str) -> str:
        return values.objection(filling, self.language, self.words, arguments=self.side == "input")

    def _answer_text(self, answer: Answer) -> str | None:
        """The answer as the model wrote it; None when there is none."""
        if answer.extracted:
            return answer.text.strip()
        text = visible(answer.text, answer.thinking)
        if isinstance(text, Missed):
            return None
        found = [b for b in blocks(text, "[ANSWER]", "[/ANSWER]") if b.text.strip()]
        if found:
            return found[-1].text.strip() if found[-1].closed or not answer.truncated else None
        head, closed, _ = text.partition("[/ANSWER]")
        return (
            (head.strip() or None)
            if closed or (self.side == "output" and "```" not in head and "\n\n" not in head.strip())
            else None
        )

    def _filling(self, text: str) -> str | None:
        """What goes into the gap; on the input side the arguments of the call, None where the text is no call."""
        if self.side == "output":
            return text
        before, _, after = self.language.slot.partition(GAP)
        if text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after):
            return text[len(before) : len(text) - len(after)] if after else text[len(before) :]
        return None

    def _official_program(self, parts: Parts, text: str) -> str:
        if self.side == "output":
            return parts.program(text)
        return parts.head + parts.check.replace(self.language.slot, text)


def _kept() -> Path:
    """Where verdicts are kept from run to run."""
    return data.cache_dir() / "verdicts.sqlite"


def _squeeze(text: str) -> str:
    return text.strip()


def _kind(text: str) -> str:
    """Whether a value is quoted text or not: several languages' checks take ``"1"`` for ``1``."""
    bare = text.strip().lstrip("(").lstrip()
    return "text" if bare[:1] in ("'", '"', "`") else "other"


def _progress(name: str) -> Progress:
    def show(done: int, total: int) -> None:
        print(f"\r{name}: {done} of {total} programs", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return show
