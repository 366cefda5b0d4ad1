"""The task of one language and one side, scored by running programs in its container.

``acc`` (strict): the answer is nothing but a value (``values.py``) and the program with it runs clean. An answer whose text
is the gold text is right without a run. ``acc_official``: the program runs clean, whatever the answer is.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item, Source
from ct_tasks.benchmarks.cruxeval_x import references, values
from ct_tasks.benchmarks.cruxeval_x.rows import GAP, Parts, take_apart
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.execution.jobs import Result
from ct_tasks.execution.languages import get
from ct_tasks.execution.languages.runner import Progress, run_programs
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Missed, visible
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


class CruxEvalX(Benchmark):
    """Prompts with the benchmark's three worked examples (``shots`` 0 to 3), greedy, 512 tokens (official defaults)."""

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
        programs = [p for p, settled, _ in judged if p is not None and settled is None]
        show = _progress(self.name) if len(programs) > 50 else None
        found = (
            dict(zip(programs, run_programs(self.language.name, programs, kept=_kept(), progress=show), strict=True))
            if programs
            else {}
        )
        scores = []
        for answer, (program, settled, objection) in zip(answers, judged, strict=True):
            if settled is None:
                assert program is not None
                score = _verdict(found[program], objection, self._answer_text(answer) or "")
            else:
                score = settled
            if answer.item.id in bad and score.status not in ("no_answer", "truncated"):
                # The published runner scores these rows like all others, so its verdict stays beside.
                reason = f"the reference itself fails ({bad[answer.item.id][:100]}); not scored"
                score = Score("harness_error", score.answer, score.acc_official, reason)
            scores.append(score)
        return scores

    def _judge(self, answer: Answer) -> tuple[str | None, Score | None, str]:
        """The program to run, or a verdict that needs no run; and why the answer is not just a value."""
        parts = self.parts(answer.item)
        text = self._answer_text(answer)
        whole = answer.extra.get("program")
        if text is None:
            missed = visible(answer.text)
            cut = answer.truncated or isinstance(missed, Missed)
            return None, Score("truncated" if cut else "no_answer", None, False, "no [ANSWER] in the text"), ""
        if parts is None:
            return None, Score("harness_error", text, None, "the program does not hold its own check"), ""
        filling, replaced = self._filling(text)
        if filling is not None and _squeeze(filling) == _squeeze(parts.gold):
            return None, Score("right", text, True, "the answer is the gold text"), ""
        objection = (
            "it is not a call of the function"
            if filling is None
            else self._objection(filling)
        )
        if not objection and self.side == "output" and _kind(filling or "") != _kind(parts.gold):
            objection = "it is of another kind than the value (quoted or not)"
        program = str(whole) if whole is not None else self._official_program(parts, replaced)
        return program, None, objection

    def _objection(self, filling: str) -> str:
        return values.objection(filling, self.language, self.words, arguments=self.side == "input")

    def _answer_text(self, answer: Answer) -> str | None:
        """The answer as the model wrote it; None when there is none."""
        if answer.extracted:
            return answer.text.strip()
        text = visible(answer.text)
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

    def _filling(self, text: str) -> tuple[str | None, str]:
        """What goes into the gap, and the text that the official runner puts into the program."""
        if self.side == "output":
            return text, text
        before, _, after = self.language.slot.partition(GAP)
        if text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after):
            return text[len(before) : len(text) - len(after)] if after else text[len(before) :], text
        return None, text

    def _official_program(self, parts: Parts, text: str) -> str:
        if self.side == "output":
            return parts.program(text)
        return parts.head + parts.check.replace(self.language.slot, text)


def _verdict(result: Result, objection: str, text: str) -> Score:
    if result.status == "harness_error":
        return Score("harness_error", text, None, result.error)
    ran_clean = result.status == "ok"
    if result.status == "timeout":
        return Score("timeout", text, False, "the program ran into its time limit")
    if objection:
        extra = "; the program runs clean all the same" if ran_clean else ""
        return Score("wrong", text, ran_clean, f"not a value: {objection}{extra}")
    return Score(
        "right" if ran_clean else "wrong",
        text,
        ran_clean,
        "" if ran_clean else f"{result.status}: {result.error[:300]}",
    )


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
