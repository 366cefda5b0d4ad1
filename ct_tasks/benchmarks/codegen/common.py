"""What the code-generation benchmarks share: prompts, sampling, extraction, statuses, hostile replies."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item
from ct_tasks.benchmarks.codegen.extract import Program, find_program
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

log = logging.getLogger(__name__)

CHAT = ("Write a self-contained Python solution to the following problem. Reply with one Python code block that defines "
        "`{entry}`.\n\n{problem}")


class CodeBenchmark(Benchmark):
    """A program is taken from each reply, run on the benchmark's inputs in the sandbox, and its outputs are judged here."""

    domain: ClassVar[Domain] = "codegen"
    version = 2  # the program is chosen by what a piece of code is
    paradigms = ("direct",)
    max_gen_toks: ClassVar[int] = 1024
    scoring_limit: ClassVar[str] = "a call: max(4 s, 4 × the reference's time)"

    def generation(self, options: TaskOptions) -> Generation:
        """Greedy. No stop strings: the authors' (``\\ndef``, ``\\nclass``, ``\\n#`` ...) would cut chat replies; extraction
        leaves out what follows the definitions."""
        return Generation(until=(), max_gen_toks=options.max_gen_toks or self.max_gen_toks,
                          temperature=options.temperature or 0.0, top_p=options.top_p or 1.0)

    def entry(self, item: Item) -> str:
        """The name that a program has to define."""
        return str(item.data["entry_point"])

    def program(self, answer: Answer, *, flexible: bool = False) -> Program:
        """The program in a reply, by the strict or the flexible reading; an extracted text is the program itself."""
        if answer.extracted:
            return Program(answer.text if answer.text.strip() else None)
        return find_program(answer.text, self.entry(answer.item), prompt=str(answer.item.data.get("head", "")),
                            truncated=answer.truncated, thinking=answer.thinking, flexible=flexible)

    @abstractmethod
    def judge(self, items: Sequence[Item], programs: Sequence[str], options: TaskOptions) -> list[Score]:
        """Run the programs and judge them, in order."""

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        """Both readings of each reply; a program that both read, or that occurs twice for an item, runs once."""
        readings = []
        for answer in answers:
            strict = self.program(answer)  # the flexible reading adds to it, and never replaces it
            readings.append((strict, self.program(answer, flexible=True) if strict.source is None else strict))
        asked = {(answer.item.id, p.source): answer.item for answer, pair in zip(answers, readings, strict=True)
                 for p in pair if p.source is not None}
        judged: dict[tuple[str, str | None], Score] = dict(zip(asked, self.judge(list(asked.values()), [source or "" for _, source in asked], options), strict=True))
        if not asked and len(answers) > 4:
            log.warning("%s: none of %d replies holds a program that defines the entry point; do prompt, chat template and "
                        "stop strings fit this model?", self.name, len(answers))
        scores = []
        for answer, (strict, flexible) in zip(answers, readings, strict=True):
            one, other = (self._verdict_of(answer, program, judged.get((answer.item.id, program.source)))
                          for program in (strict, flexible))
            scores.append(replace(one, status_flexible=other.status, answer_flexible=other.answer))
        return scores

    def _verdict_of(self, answer: Answer, program: Program, judged: Score | None) -> Score:
        if judged is None:
            words = {"truncated": "the reply was cut before its program", "unclosed": "the thinking part never ends",
                     "unreadable": f"there is code, but none that defines {self.entry(answer.item)}"}
            return Score(program.missing, None, False, words.get(program.missing, "the reply holds no code"))
        if program.cut and judged.status == "wrong":
            return replace(judged, status="truncated", reason=f"the reply was cut inside its program: {judged.reason}")
        return judged

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        entry = self.entry(item)
        name, _, method = entry.partition(".")
        always = ("class Always:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"
                  "    def __hash__(self): return 0\n    def __bool__(self): return True\n")

        def block(body: str, before: str = "") -> str:
            if method:
                lines = "\n".join("        " + line for line in body.split("\n"))
                return f"```python\n{before}class {name}:\n    def {method}(self, *args):\n{lines}\n```"
            lines = "\n".join("    " + line for line in body.split("\n"))
            return f"```python\n{before}def {entry}(*args, **kwargs):\n{lines}\n```"

        return {
            "empty": "",
            "prose": f"I would solve `{name}` with a loop.",
            "stub": block("raise NotImplementedError"),
            "always_equal": block("return Always()", always),
            "leave": block("import os\nos._exit(0)"),
            "leave_quietly": block("raise SystemExit(0)"),
            "print_pass": block("print('ok', 'passed', True)\nraise RuntimeError('ok')"),
            "changed_mind": f"{self.gold(item, options)}\nThat is wrong. Corrected:\n{block('raise ValueError')}",
            "only_imported": f"```python\nfrom solution import {name}\nprint({name})\n```",
            "other_name": block("return None").replace(name, name + "_other"),
            "open_thinking": "<think>" + self.gold(item, options),
            "commented_out": "```python\n" + "\n".join("# " + line for line in self.gold(item, options).split("\n")
                                                       if not line.startswith("```")) + "\n```",
            "frames": block("import sys\nframe = sys._getframe()\nwhile frame.f_back:\n    frame = frame.f_back\n"
                            "    for key in ('expected', 'exp', 'results', 'outputs'):\n"
                            "        if key in frame.f_locals:\n            return frame.f_locals[key]\nraise KeyError"),
        }


def fenced(source: str) -> str:
    """A gold reply: the program in a fenced block, as a chat model writes it."""
    return f"Here is the solution.\n\n```python\n{source.strip()}\n```\n"
