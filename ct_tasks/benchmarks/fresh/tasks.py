"""The tasks of ct_fresh: output and input of a call, and four questions about its run."""

from __future__ import annotations

import dataclasses
import random
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Generation, Item, Source
from ct_tasks.benchmarks.fresh import editions, pool, questions
from ct_tasks.benchmarks.fresh.pool import Seen
from ct_tasks.benchmarks.fresh.questions import Question
from ct_tasks.benchmarks.input import InputBenchmark
from ct_tasks.benchmarks.output import OutputBenchmark, PredictionBenchmark
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.execution.tracing import Call, trace_all
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Layout, Problem

SOURCE = Source(local=data.BUNDLED, rows=editions.SIZE, licence="the project's own")


class Fresh(PredictionBenchmark):
    """What the tasks share: the programs that the options choose. Items of the tasks with one id are about one program."""

    source = SOURCE

    def load(self) -> list[Item]:
        return self.items(TaskOptions())

    def items(self, options: TaskOptions) -> list[Item]:
        which = pool.Set.of(options)
        return [self._item(seen, which.label) for seen in self.programs(options)]

    def programs(self, options: TaskOptions) -> list[Seen]:
        """The runs that this task asks about."""
        return pool.programs(options, self.fits, lambda jobs: self.run(options, jobs))

    def fits(self, seen: Seen) -> bool:
        """Whether this task can ask about the program."""
        return True

    def generation(self, options: TaskOptions) -> Generation:
        pool.Set.of(options)  # refused before a model loads
        pool.size(options)
        return super().generation(options)

    def _item(self, seen: Seen, label: str) -> Item:
        draft = seen.draft
        asked = {"code": draft.code, "entry": draft.entry, "call": draft.call, "output": seen.output}
        measured = {"rounds": seen.rounds, "call_depth": seen.depth, "dials": dataclasses.asdict(draft.setting)}
        return Item(_id(seen, label), {**asked, **measured})


class FreshOutput(Fresh, OutputBenchmark):
    """What does the call return? All answer formats, ConTra first."""

    name = "ct_fresh"


class FreshInput(Fresh, InputBenchmark):
    """With which arguments does the call return this value? Programs that return it for empty arguments are left out."""

    name = "ct_fresh_i"

    def fits(self, seen: Seen) -> bool:
        return seen.plain != seen.output


class RunQuestion(Fresh, OutputBenchmark):
    """A question about the run whose answer is a literal; read, compared and attacked like an output.

    ``problem`` gives it the shape of an output problem: the call is ``answer()``, the output its literal.
    """

    default_paradigm: ClassVar[str] = "direct"
    paradigms: tuple[str, ...] = ("direct", "cot")
    how: ClassVar[dict[str, str]] = {
        "direct": "Write the answer between [ANSWER] and [/ANSWER], as a plain Python literal, and nothing else.",
        "cot": (
            "First execute the call step by step between [THOUGHT] and [/THOUGHT]. Then write the answer between [ANSWER] and "
            "[/ANSWER], as a plain Python literal and nothing else."
        ),
    }

    @abstractmethod
    def question(self, seen: Seen, item_id: str, options: TaskOptions) -> Question | None:
        """The question about one run, or None where there is nothing to ask."""

    def items(self, options: TaskOptions) -> list[Item]:
        which = pool.Set.of(options)
        found = []
        for seen in self.programs(options):
            item = self._item(seen, which.label)
            asked = self.question(seen, item.id, options)
            assert asked is not None, "fits() let a program through that has no question"
            found.append(
                Item(item.id, {**item.data, "question": asked.text, "returned": seen.output, "output": asked.answer})
            )
        return found

    def layout(self, options: TaskOptions, *, chat: bool) -> Layout:
        if options.shots:
            raise ConfigError(f"{self.name} has no worked example, shots={options.shots} asks for one")
        return super().layout(options, chat=chat)

    def problem(self, item: Item) -> Problem:
        return Problem(_shown(item), "answer", "answer()", item.data["output"])

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        name = self.paradigm(options).name
        head = (
            "Below is a Python program with numbered lines, a call of it, and a question about what happens when the call runs "
            f"exactly as written. {self.how[name]}"
        )
        opening = "" if chat else {"direct": "\n[ANSWER]\n", "cot": "\n[THOUGHT]\n"}[name]
        return f"{head}\n\n{_shown(item)}{opening}"

    def gold(self, item: Item, options: TaskOptions) -> str:
        asked = self.problem(item)
        return self.paradigm(options).gold(asked).replace(asked.assertion, asked.output)


class FreshTrips(RunQuestion):
    """How many rounds does this loop make?"""

    name = "ct_fresh_trips"

    def fits(self, seen: Seen) -> bool:
        return any(count for _, count in seen.trips)

    def question(self, seen: Seen, item_id: str, options: TaskOptions) -> Question | None:
        return questions.trips(seen, random.Random(f"trips {item_id}"))


class FreshBranch(RunQuestion):
    """Which branch runs?"""

    name = "ct_fresh_branch"

    def fits(self, seen: Seen) -> bool:
        return any(taken for _, taken in seen.branches)

    def question(self, seen: Seen, item_id: str, options: TaskOptions) -> Question | None:
        return questions.branch(seen, random.Random(f"branch {item_id}"))


class FreshRaises(RunQuestion):
    """Which line raises first?"""

    name = "ct_fresh_raises"

    def fits(self, seen: Seen) -> bool:
        return questions.raises(seen, random.Random(0)) is not None

    def question(self, seen: Seen, item_id: str, options: TaskOptions) -> Question | None:
        return questions.raises(seen, random.Random(f"raises {item_id}"))


class FreshState(RunQuestion):
    """What is this variable after this block?"""

    name = "ct_fresh_state"

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, Question | None] = {}

    def programs(self, options: TaskOptions) -> list[Seen]:
        """Only a trace shows whether a block changed a variable, so programs are traced in batches until there are enough."""
        label, count = pool.Set.of(options).label, pool.size(options)
        everything = dataclasses.replace(options, fresh_items=min(pool.MAX_ITEMS, count + count // 8 + 8))
        found: list[Seen] = []
        while True:
            candidates = super().programs(everything)
            self._ask(candidates, label, options)
            found = [seen for seen in candidates if self._asked[_id(seen, label)] is not None][:count]
            if len(found) == count or everything.fresh_items == pool.MAX_ITEMS:
                return found
            everything = dataclasses.replace(everything, fresh_items=min(pool.MAX_ITEMS, 2 * len(candidates)))

    def question(self, seen: Seen, item_id: str, options: TaskOptions) -> Question | None:
        return self._asked[item_id]

    def _ask(self, candidates: Sequence[Seen], label: str, options: TaskOptions) -> None:
        new = [seen for seen in candidates if _id(seen, label) not in self._asked]
        calls = [Call(seen.draft.code, seen.draft.call, seen.draft.entry) for seen in new]
        for seen, truth in zip(
            new, trace_all(calls, run=lambda jobs: self.run(options, jobs)) if calls else [], strict=True
        ):
            if not isinstance(truth, Truth):
                raise HarnessError(f"ct_fresh: program {seen.draft.number} ran, but has no trace: {truth}")
            self._asked[_id(seen, label)] = questions.state(seen, truth, random.Random(f"state {_id(seen, label)}"))


def _id(seen: Seen, label: str) -> str:
    return f"fresh/{label}/{seen.draft.number}"


def _shown(item: Item) -> str:
    """Program, call and question."""
    lines = "\n".join(f"{i:>2}  {line}".rstrip() for i, line in enumerate(item.data["code"].split("\n"), 1))
    return (
        f"[PYTHON]\n{lines}\n[/PYTHON]\nThe call: {item.data['call']}\n[QUESTION]\n{item.data['question']}\n[/QUESTION]"
    )
