"""The five mathematical benchmarks: GSM8K, GSM-Hard, MATH, MATH-500 and AIME 2024, zero-shot by default.

Sources: GSM8K (Cobbe et al. 2021, answer after ``####``), GSM-Hard (Gao et al. 2023, a float target, tolerance 1e-3 in
PAL's code), MATH (Hendrycks et al. 2021, answer in the last ``\\boxed``), MATH-500 (Lightman et al. 2023), AIME 2024
(integers 0 to 999). The prompt asks for the final answer in a box, as MATH's authors mark it; nothing else is shown.
``acc`` is mathematical equality (``equal.py``); ``acc_official`` is the scorer that each benchmark is mostly reported
with: lm-eval's ``flexible-extract`` for GSM8K, PAL's tolerance for GSM-Hard, Hendrycks' ``is_equiv`` for the others.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item, Source
from ct_tasks.benchmarks.data import load_rows
from ct_tasks.benchmarks.math.child import Comparison, shared_comparer
from ct_tasks.benchmarks.math.equal import same_number
from ct_tasks.benchmarks.math.exact import rational
from ct_tasks.benchmarks.math.extract import Found, find_answer
from ct_tasks.benchmarks.math.latex import tidy
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score, Status

INSTRUCTION = "Solve the problem step by step. Put your final answer within \\boxed{}."

# Worked examples of our own for the few-shot option: in no benchmark, so no item can meet its own answer.
EXAMPLES = (
    ("A baker fills 4 trays with 6 rolls each and sells 9 rolls. How many rolls are left?",
     "The trays hold 4 * 6 = 24 rolls. After selling 9 there are 24 - 9 = 15 rolls. The final answer is \\boxed{15}."),
    ("A train travels 90 kilometres in 2 hours. At the same speed, how many kilometres does it travel in 3 hours?",
     "Its speed is 90 / 2 = 45 kilometres an hour. In 3 hours it travels 45 * 3 = 135. The final answer is \\boxed{135}."),
    ("What is the sum of the two solutions of $x^2 - 7x + 10 = 0$?",
     "The equation factors as $(x-2)(x-5) = 0$, so the solutions are 2 and 5. The final answer is \\boxed{7}."),
    ("Write $\\frac{6}{8}$ in lowest terms.",
     "Both numbers are divisible by 2, so $\\frac{6}{8} = \\frac{3}{4}$. The final answer is \\boxed{\\frac{3}{4}}."),
)


class MathBenchmark(Benchmark):
    """What the five share: prompt, extraction and comparison. Subclasses name the columns and the official rule."""

    domain: ClassVar[Domain] = "math"
    version = 2  # values are taken out of their prose
    paradigms = ("direct", "cot")
    max_gen_toks: ClassVar[int] = 2048
    scoring_limit: ClassVar[str] = "a comparison: 5 s of CPU time in a child"

    @abstractmethod
    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        """One item from one row; ``data`` has ``problem``, ``answer`` and ``solution``."""

    @abstractmethod
    def _official(self, item: Item, text: str, found: Found) -> bool:
        """The verdict of the scorer named in the module's text."""

    def items(self, options: TaskOptions) -> list[Item]:
        items = [self._row(i, row) for i, row in enumerate(load_rows(self.source, name=self.name))]
        for item in items:
            if not str(item.data["answer"]).strip():
                raise DataError(f"{self.name}: item {item.id} has no gold answer; an empty gold equals nothing")
        return items

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        shots = options.shots or 0
        if shots > len(EXAMPLES):
            raise ConfigError(f"{self.name} has {len(EXAMPLES)} worked examples, shots={shots} asks for more")
        examples = "".join(f"Problem: {question}\nSolution: {solution}\n\n" for question, solution in EXAMPLES[:shots])
        problem = item.data["problem"]
        if chat and not shots:
            return f"{problem}\n\n{INSTRUCTION}"
        return f"{INSTRUCTION}\n\n{examples}Problem: {problem}\nSolution:"

    def generation(self, options: TaskOptions) -> Generation:
        """Greedy. No stop strings: servers apply them inside the reasoning part, and scoring cuts at a next problem itself."""
        return Generation(until=(), max_gen_toks=options.max_gen_toks or self.max_gen_toks,
                          temperature=options.temperature or 0.0, top_p=options.top_p or 1.0)

    def gold(self, item: Item, options: TaskOptions) -> str:
        """The authors' own solution text, closed by the boxed answer where it has no box."""
        solution = str(item.data["solution"])
        if "\\boxed" in solution or "####" in solution:
            return solution
        return f"{solution}\n\nThe final answer is \\boxed{{{item.data['answer']}}}.".lstrip()

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        gold = str(item.data["answer"])
        value = rational(tidy(gold))
        other = "987654321987" if value is None else str(value + 1)
        texts = {
            "empty": "",
            "empty_box": "The final answer is \\boxed{}.",
            "other_answer": f"The final answer is \\boxed{{{other}}}.",
            "changed_mind": f"First I get \\boxed{{{gold}}}. That is wrong. The final answer is \\boxed{{{other}}}.",
            "taken_back": f"The final answer is \\boxed{{{gold}}}. Wait, that is wrong.",
            "either": f"The final answer is \\boxed{{{gold} \\text{{ or }} {other}}}.",
            "open_thinking": f"<think>So it must be \\boxed{{{gold}}}, but let me check",
            "open_box": f"The final answer is \\boxed{{{gold}",
            "code": f"The final answer is \\boxed{{__import__('os').system('echo {other}')}}.",
            "echo": self.prompt(item, options, chat=True).replace("\\boxed{}", "a box") + " I cannot solve this, sorry: 0.5319",
            "tower": "\\boxed{\\frac{1}{" + "5^{" * 8 + "5" + "}" * 8 + "}}",
        }
        if value:
            texts["negated"] = f"The final answer is \\boxed{{{-value}}}."
            texts["thousandfold"] = f"The final answer is \\boxed{{{value * 1000}}}."
        return texts

    def _compare(self, golds: Sequence[Item], found: Sequence[Found]) -> list[Comparison]:
        pairs = [(str(item.data["answer"]), f.answer or "") for item, f in zip(golds, found, strict=True)]
        return shared_comparer().compare_all(pairs)

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        found = [Found(a.text.strip() or None) if a.extracted else find_answer(a.text, truncated=a.truncated, thinking=a.thinking)
                 for a in answers]
        asked = [i for i, f in enumerate(found) if f.answer is not None]
        compared = dict(zip(asked, self._compare([answers[i].item for i in asked], [found[i] for i in asked]), strict=True))
        return [self._score(a, f, compared.get(i)) for i, (a, f) in enumerate(zip(answers, found, strict=True))]

    def _score(self, answer: Answer, found: Found, comparison: Comparison | None) -> Score:
        """One verdict for both readings: finding the last answer in free text is a careful reader's way already."""
        official = self._official(answer.item, answer.text, found)
        status: Status = found.missing
        reason = {"truncated": "the reply was cut before its answer", "unclosed": "the thinking part or the box never ends",
                  "no_answer": "no answer found"}[found.missing]
        if comparison is not None:
            reason = comparison.reason
            if comparison.verdict == "yes":
                status = "right"
            elif comparison.timed_out:
                status = "timeout"
            else:
                status = "wrong" if comparison.verdict == "no" else "harness_error"
        return Score(status, found.answer, official, reason, detail={"found_by": found.how} if found.answer else {},
                     status_flexible=status, answer_flexible=found.answer)


class Gsm8k(MathBenchmark):
    """GSM8K, test split, 1,319 word problems with whole-number answers."""

    name = "ct_gsm8k"
    source = Source("gsm8k/test.jsonl.gz", 1319, "openai/gsm8k", "main", "test", "MIT")
    max_gen_toks = 1024

    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        solution = re.sub(r"<<[^<>]*>>", "", str(row["answer"]))
        return Item(str(index), {"problem": row["question"], "answer": solution.rsplit("####", 1)[1].strip(),
                                 "solution": solution})

    def _official(self, item: Item, text: str, found: Found) -> bool:
        """lm-eval's gsm8k ``flexible-extract``: last number-like piece, commas, dollar signs and a last stop removed."""
        groups = re.findall(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", text)
        last = next((g for g in groups[-1] if g), "") if groups else ""
        return bool(re.sub(r",|\$|\.$", "", last) == re.sub(r",", "", str(item.data["answer"])))


class GsmHard(MathBenchmark):
    """GSM-Hard, 1,319 rows: GSM8K with large numbers; targets are floats, right within 1e-3 · min(1, |target|)."""

    name = "ct_gsm_hard"
    source = Source("gsm_hard/train.jsonl.gz", 1319, "reasoning-machines/gsm-hard", None, "train", "Apache-2.0")
    max_gen_toks = 1024

    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        target = float(row["target"])
        written = str(int(target)) if target.is_integer() else repr(target)
        return Item(str(index), {"problem": row["input"], "answer": written, "target": target, "solution": ""})

    def _compare(self, golds: Sequence[Item], found: Sequence[Found]) -> list[Comparison]:
        """A number against a number: no algebra, so no child process."""
        return [Comparison("yes" if same_number(Fraction(item.data["target"]), f.answer or "", tolerance=Fraction(1, 1000))
                           else "no") for item, f in zip(golds, found, strict=True)]

    def _official(self, item: Item, text: str, found: Found) -> bool:
        """PAL's rule on the extracted number: an absolute difference below 1e-3, whatever the size of the target."""
        value = rational(tidy(found.answer or "").rstrip("%"))
        return value is not None and abs(value - Fraction(item.data["target"])) < Fraction(1, 1000)


class _Boxed(MathBenchmark):
    """MATH and its relatives: expressions in boxes."""

    def _official(self, item: Item, text: str, found: Found) -> bool:
        """Hendrycks' ``is_equiv`` on the last box of the reply, as in lm-eval and in the authors' repository."""
        from lm_eval.tasks.hendrycks_math.utils import is_equiv, last_boxed_only_string, remove_boxed

        boxed = last_boxed_only_string(text)
        try:
            inner = remove_boxed(boxed) if boxed else None
        except AssertionError:  # their code asserts on boxes that it cannot cut
            return False
        return inner is not None and bool(is_equiv(inner, str(item.data["answer"])))


class Math(_Boxed):
    """MATH, the whole test set of 5,000 problems."""

    name = "ct_math"
    source = Source("math/test.jsonl.gz", 5000, "EleutherAI/hendrycks_math", "all", "test", "MIT")

    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        found = find_answer(str(row["solution"]))
        return Item(str(index), {"problem": row["problem"], "answer": found.answer or "", "solution": row["solution"],
                                 "level": row["level"], "type": row["type"]})


class Math500(_Boxed):
    """MATH-500, the subset of PRM800K; ids are the published ``unique_id``."""

    name = "ct_math500"
    source = Source("math500/test.jsonl.gz", 500, "HuggingFaceH4/MATH-500", None, "test", "MIT")

    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        return Item(str(row["unique_id"]), {"problem": row["problem"], "answer": row["answer"], "solution": row["solution"],
                                            "level": row["level"], "subject": row["subject"]})


class Aime24(_Boxed):
    """AIME 2024 I and II, 30 problems with whole answers from 0 to 999."""

    name = "ct_aime24"
    source = Source("aime24/train.jsonl.gz", 30, "HuggingFaceH4/aime_2024", None, "train", "MIT; problems (c) MAA")
    max_gen_toks = 8192

    def _row(self, index: int, row: Mapping[str, Any]) -> Item:
        number = str(int(row["answer"]))  # published with leading zeros, as the answer sheet wants them
        return Item(str(row["id"]), {"problem": row["problem"], "answer": number, "solution": ""})
