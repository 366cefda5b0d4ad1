"""REval's three probes of a run: is this line executed (C), which line comes next (P), value and type of a variable (S).

Each of the 3,152 probes of the official task set is an item of all three tasks, with the same id, so that incremental
consistency can be computed over one run (``consistency``). Truth comes from running the programs (``truth``). The strict
verdict takes only a clear answer: what is neither YES nor NO is ``unreadable``, never NO.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item
from ct_tasks.benchmarks.codegen.values import Opaque, load, same
from ct_tasks.benchmarks.reval import dataset, flexible, flexible_path, flexible_state, layout, official
from ct_tasks.benchmarks.reval.truth import Input, inputs, truth
from ct_tasks.contra import literals
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Missed
from ct_tasks.paradigms.readings import status_of
from ct_tasks.score import Score

_NO_LINE = "no line of the program"
STATE_ATOL = 1e-6  # for floats, as the published scorer


class Probe(Benchmark):
    """What the three share."""

    version: int = 2  # 2: read in two ways, with statuses for answers that are no value and for lost tags
    domain: ClassVar[Domain] = "reval"
    default_shots: ClassVar[int] = 1
    source = dataset.TASKS
    paradigms = ("direct", "cot")
    ask: ClassVar[str]
    example: ClassVar[layout.Example]

    def items(self, options: TaskOptions) -> list[Item]:
        return [Item(f"{given.id}/{line}", {"input": given.id, "line": line, "var": variable},
                     group=given.row["task_id"]) for given in inputs() for line, variable in given.probes]

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        failed = truth(options)["failed"]
        return {f"{given.id}/{line}": failed[given.id] for given in inputs() if given.id in failed for line, _ in given.probes}

    @staticmethod
    def input(item: Item) -> Input:
        return _by_id()[str(item.data["input"])]

    def fact(self, item: Item, options: TaskOptions) -> Mapping[str, Any]:
        """What the run shows at this probe: ``covered``, ``next``, ``values``."""
        given = self.input(item)
        position = given.probes.index((int(item.data["line"]), str(item.data["var"])))
        found: Mapping[str, Any] = truth(options)["trace"][given.id]["probes"][position]
        return found

    @abstractmethod
    def question(self, item: Item, where: str, line: str) -> str:
        """The question; ``where`` names the run, ``line`` is the source line asked about."""

    @abstractmethod
    def right_answer(self, item: Item, options: TaskOptions) -> str:
        """The answer text of a perfect model."""

    @abstractmethod
    def judge(self, item: Item, text: str, options: TaskOptions) -> Score:
        """The strict verdict on an extracted answer."""

    def program(self, given: Input) -> str:
        return str(given.row["code"]).rstrip("\n")

    def line(self, item: Item) -> str:
        return str(self.input(item).row["code"].split("\n")[int(item.data["line"]) - 1])

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        given = self.input(item)
        code, where = layout.invocation(given)
        return layout.build(self.ask, self.example, self.program(given), code, self.question(item, where, self.line(item)),
                            options, chat=chat)

    def generation(self, options: TaskOptions) -> Generation:
        return layout.generation(options)

    def gold(self, item: Item, options: TaskOptions) -> str:
        return layout.wrap(self.right_answer(item, options), "The run shows it.", options)

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        right = self.right_answer(item, options)
        return {
            "empty": "", "empty_answer": layout.wrap("", "?", options), "maybe": layout.wrap("maybe", "?", options),
            "hedge": layout.wrap("YES and NO", "?", options), "either": layout.wrap(f"{right} or not {right}", "?", options),
            "code": layout.wrap("__import__('os').getpid()", "?", options),
            "always_equal": layout.wrap("type('A', (), {'__eq__': lambda s, o: True})(); A", "?", options),
            "open_thinking": "<think>" + self.gold(item, options),
            "changed_mind": self.gold(item, options) + "\nNo, wait.\n" + layout.wrap("unknown", "?", options),
        }

    @abstractmethod
    def flexible(self, item: Item, text: str, *, truncated: bool) -> str | Missed:
        """The answer that a careful person reads, in the form that ``judge`` takes."""

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        scores = []
        verdicts = self.official([a.item for a in answers], [a.text for a in answers], options)
        for answer, verdict in zip(answers, verdicts, strict=True):
            found = layout.find(answer, options)
            score = self.verdict(answer, found, options)
            loose = self.loosely(self.verdict(answer, self._flexible(answer), options))
            if loose.status not in ("right", "wrong") and score.status in ("right", "wrong"):
                loose = score
            scores.append(replace(
                score, acc_official=verdict, values=self.values(answer.item, score, options), status_flexible=loose.status,
                answer_flexible=loose.answer if loose.status in ("right", "wrong") else None))
        return scores

    def verdict(self, answer: Answer, found: str | Missed, options: TaskOptions) -> Score:
        if isinstance(found, Missed):
            return Score(status_of(found, answer), found.text, reason=found.reason)
        return self.judge(answer.item, found, options)

    def _flexible(self, answer: Answer) -> str | Missed:
        shown = answer.text if answer.extracted else layout.shown(answer)
        return shown if isinstance(shown, Missed) else self.flexible(answer.item, shown, truncated=bool(answer.truncated))

    def loosely(self, score: Score) -> Score:
        """What the verdict on the flexible answer is called."""
        return score

    def values(self, item: Item, score: Score, options: TaskOptions) -> Mapping[str, float | None]:
        return {}

    @abstractmethod
    def official(self, items: Sequence[Item], texts: Sequence[str], options: TaskOptions) -> list[bool]:
        """The published verdicts."""


def _by_id() -> Mapping[str, Input]:
    given = inputs()
    if _INDEX.get("of") is not given:
        _INDEX.update(of=given, map={i.id: i for i in given})
    found: Mapping[str, Input] = _INDEX["map"]
    return found


_INDEX: dict[str, Any] = {}


class RevalC(Probe):
    """``ct_reval_c``: is this line executed?"""

    name = "ct_reval_c"
    ask = "Answer with YES or NO."
    example = layout.Example("Is line 3 (`        n = n + 1`) executed when `halve(7)` runs?",
                             "7 is odd, so the condition in line 2 holds and line 3 runs.", "YES")

    def question(self, item: Item, where: str, line: str) -> str:
        return f"Is line {item.data['line']} (`{line}`) executed when {where} runs?"

    def right_answer(self, item: Item, options: TaskOptions) -> str:
        return "YES" if self.fact(item, options)["covered"] else "NO"

    def judge(self, item: Item, text: str, options: TaskOptions) -> Score:
        # The answer, alone or as the first word of a sentence that does not also hold the other one.
        match = re.match(r"(YES|NO)(?=$|[\s]*[.,:;!\n]|\s*$)", text.strip(" \n\t*`'\"").upper())
        words = set(re.findall(r"\b(?:YES|NO)\b", text.upper()))
        if match is None or len(words) != 1:
            return Score("unreadable", text, reason="neither YES nor NO")
        said = match.group(1)
        return Score("right" if said == self.right_answer(item, options) else "wrong", said)

    def flexible(self, item: Item, text: str, *, truncated: bool) -> str | Missed:
        return flexible.coverage(text, truncated=truncated)

    def values(self, item: Item, score: Score, options: TaskOptions) -> Mapping[str, float | None]:
        """The cells of the table from which precision, recall and F1 come; an unclear answer says nothing."""
        truly = self.right_answer(item, options) == "YES"
        said = score.answer == "YES" and score.status in ("right", "wrong")
        return {"tp": float(said and truly), "fp": float(said and not truly), "fn": float(truly and not said)}

    def official(self, items: Sequence[Item], texts: Sequence[str], options: TaskOptions) -> list[bool]:
        return [official.coverage(text, layout.cot(options)) == self.fact(item, options)["covered"]
                for item, text in zip(items, texts, strict=True)]


class RevalP(Probe):
    """``ct_reval_p``: which line comes next?"""

    name = "ct_reval_p"
    ask = "Answer with one line of the program, or with -1."
    example = layout.Example("Line 3 (`        n = n + 1`) may be executed when `halve(7)` runs. Which line of the program "
                             "is executed right after it? Answer -1 if it is not executed or the program ends with it.",
                             "7 is odd, so line 3 runs; then the `if` is over and the function returns.", "return n // 2")

    def program(self, given: Input) -> str:
        return layout.numbered(str(given.row["code"]))

    def question(self, item: Item, where: str, line: str) -> str:
        return (f"Line {item.data['line']} (`{line}`) may be executed when {where} runs. Which line of the program "
                "is executed right after it? Answer -1 if it is not executed or the program ends with it.")

    def right_answer(self, item: Item, options: TaskOptions) -> str:
        following = self.fact(item, options)["next"]
        return "-1" if following == [-1] else str(self.input(item).row["code"].split("\n")[max(following) - 1]).strip()

    def flexible(self, item: Item, text: str, *, truncated: bool) -> str | Missed:
        lines = str(self.input(item).row["code"]).split("\n")
        return flexible_path.path(text, lines, int(item.data["line"]), truncated=truncated)

    def loosely(self, score: Score) -> Score:
        """A line of code that the program does not have is a wrong answer; only what names no line is none."""
        return replace(score, status="wrong") if score.reason == _NO_LINE else score

    def judge(self, item: Item, text: str, options: TaskOptions) -> Score:
        lines = [line.strip() for line in self.input(item).row["code"].split("\n")]
        said = text.split("\n")[0].strip().strip("`").strip()
        following = self.fact(item, options)["next"]
        if said == "-1":
            return Score("right" if -1 in following else "wrong", said)
        copied = re.match(r"(\d+)\t\s*(.*)$", said)  # a line copied with its number
        if copied and 0 < int(copied.group(1)) <= len(lines) and lines[int(copied.group(1)) - 1] == copied.group(2).strip():
            return Score("right" if int(copied.group(1)) in following else "wrong", said)
        named = [i for i, line in enumerate(lines, 1) if line and line == said]
        if not named and said.isdecimal():
            return Score("wrong", said, reason="a number, where the text of a line is asked for")
        if not named:
            return Score("unreadable", said, reason=_NO_LINE)
        return Score("right" if set(named) & set(following) else "wrong", said)

    def official(self, items: Sequence[Item], texts: Sequence[str], options: TaskOptions) -> list[bool]:
        return [bool(set(official.path(text, str(self.input(item).row["code"]), layout.cot(options)))
                     & set(self.fact(item, options)["next"])) for item, text in zip(items, texts, strict=True)]


_TYPE_ALIASES = {"string": "str", "integer": "int", "boolean": "bool", "nonetype": "nonetype", "np.ndarray": "numpy.ndarray",
                 "ndarray": "numpy.ndarray", "datetime": "datetime.datetime", "deque": "collections.deque",
                 "float64": "numpy.float64", "np.float64": "numpy.float64"}


class RevalS(Probe):
    """``ct_reval_s``: value and type of a variable after a line, or Nil."""

    name = "ct_reval_s"
    ask = ("Answer in the form `value; type` with a Python literal and a class name, or with Nil. Where there is more than "
           "one right answer, give one.")
    example = layout.Example("If line 3 (`        n = n + 1`) is executed when `halve(7)` runs, what are the value and the "
                             "type of `n` after it? Answer Nil if it is not executed.",
                             "7 is odd, so line 3 runs and makes n equal to 8.", "8; int")

    def question(self, item: Item, where: str, line: str) -> str:
        return (f"If line {item.data['line']} (`{line}`) is executed when {where} runs, what are the value and the type of "
                f"`{item.data['var']}` after it? Answer Nil if it is not executed.")

    def right_answer(self, item: Item, options: TaskOptions) -> str:
        values = self.fact(item, options)["values"]
        if values is None:
            return "Nil"
        text, kind, shown = values[0]
        if kind in ("numpy.ndarray", "collections.deque"):
            return f"{shown[shown.index('(') + 1:-1]}; {kind}"
        if kind == "bytearray":
            return f"{shown}; {kind}"
        value = load(text)
        try:
            return f"{literals.dump(value)}; {kind}" if not isinstance(value, Opaque) else f"{shown}; {kind}"
        except literals.LiteralError:
            return f"{shown}; {kind}"

    def flexible(self, item: Item, text: str, *, truncated: bool) -> str | Missed:
        return flexible_state.state(text, str(item.data["var"]), truncated=truncated)

    def judge(self, item: Item, text: str, options: TaskOptions) -> Score:
        values = self.fact(item, options)["values"]
        if text.strip("[].` ").lower() == "nil":
            return Score("right" if values is None else "wrong", "Nil")
        value, separator, kind = (part.strip() for part in text.rpartition(";"))
        if not separator:
            return Score("unreadable", text, reason="not of the form `value; type`")
        if values is None:
            return Score("wrong", text, reason="the variable has no value there")
        said = _type_said(kind)
        typed = [v for v in values if v[1].lower() == said]
        if not typed:
            return Score("wrong", text, reason=f"no value of this type was seen, only {sorted({v[1] for v in values})}")
        return Score("right" if any(_equal(value, dumped, shown) for dumped, _, shown in typed) else "wrong", text)

    def official(self, items: Sequence[Item], texts: Sequence[str], options: TaskOptions) -> list[bool]:
        parsed = [official.parse_state(text, layout.cot(options)) for text in texts]
        asked = [i for i, answer in enumerate(parsed) if isinstance(answer, tuple)]
        values = dict(zip(asked, official.evaluate([parsed[i][0] for i in asked], options.backend), strict=True))
        return [official.state(answer, values.get(i), self.fact(item, options)["values"])
                for i, (item, answer) in enumerate(zip(items, parsed, strict=True))]


def _type_said(text: str) -> str:
    """The class name of an answer: ``<class 'int'>``, ``List[int]``, ``(int, int)``: ``int``, ``list``, ``tuple``."""
    name = text.strip("`'\" .").lower()
    if match := re.match(r"<class '(.*)'>", name):
        name = match.group(1)
    name = re.sub(r"\[.*\]$", "", name).strip()
    if name.startswith("(") or "tuple" in name:
        return "tuple"  # (int, int) and Tuple[int, int]
    return _TYPE_ALIASES.get(name, name)


def _equal(said: str, dumped: str, shown: str) -> bool:
    """The said value against an observed one: as literals, typed, floats within 1e-6; others by their ``repr``."""
    if said.strip("`") == shown:
        return True
    try:
        value = literals.parse(said.strip("`"))
    except literals.LiteralError:
        match = re.fullmatch(r"(?:np\.|numpy\.|collections\.)?(?:array|deque|bytearray|float64)\((.*)\)", said.strip("`"),
                             re.DOTALL)
        inner = re.fullmatch(r"\w+\((.*)\)", shown, re.DOTALL)
        return bool(match and inner and re.sub(r"\s", "", match.group(1)) == re.sub(r"\s", "", inner.group(1)))
    true = load(dumped)
    if isinstance(true, Opaque):
        inner = re.fullmatch(r"\w+\((.*)\)", shown, re.DOTALL)
        return bool(inner and re.sub(r"\s", "", inner.group(1)) == re.sub(r"\s", "", said))
    if type(true) is not type(value):
        return False
    return literals.same(true, value) or (isinstance(true, float) and same(true, value, STATE_ATOL))
