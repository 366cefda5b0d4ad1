"""Prompts of REval's four probes and its class-level outputs, and how their answers are read.

The parts and tags are the authors' (Chen et al. 2024: program, test code, question, answer between ``[ANSWER]`` tags,
chain of thought between ``[THOUGHT]`` tags); the words and the worked example are ours, since the authors' repository has
no licence. Room and stop string are theirs: 256 tokens direct, 1,024 with chain of thought, ``[/ANSWER]``. They sample at
temperature 0.8; the default here is greedy, as for every task, and ``temperature`` sets theirs.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ct_tasks.benchmarks.base import Answer, Generation
from ct_tasks.benchmarks.reval.truth import Input
from ct_tasks.errors import ConfigError
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Missed, visible

TEMPERATURE = 0.0
DIRECT_TOKENS, COT_TOKENS = 256, 1024

INTRO = "Below is a Python program, code that runs it, and a question about that run. {ask} {how}"
DIRECT = "Write the answer between [ANSWER] and [/ANSWER], and nothing else."
COT = ("First reason in a few short steps between [THOUGHT] and [/THOUGHT], then write the answer between [ANSWER] and "
       "[/ANSWER].")

EXAMPLE_CODE = """def halve(n):
    if n % 2:
        n = n + 1
    return n // 2"""
EXAMPLE_CALL = "halve(7)"


@dataclass(frozen=True, slots=True)
class Example:
    """The worked example of a task: question, thoughts, answer, all about ``halve(7)``."""

    question: str
    thought: str
    answer: str


def invocation(given: Input) -> tuple[str, str]:
    """``(code that runs the program, how the question names it)``: the call, or a class's test with its set-up code."""
    if not given.is_class:
        call = f"{given.row['entry_point']}{given.row['inputs'][given.number][:-2]})"
        return call, f"`{call}`"
    text = given.row["inputs"][given.number].rstrip()
    setup = setup_of(given)
    return (f"# executed before the test:\n{setup}\n{text}" if setup else text), "the test code"


def setup_of(given: Input) -> str:
    """The ``setUp`` body of the input's test class, as comment lines; empty where it has none."""
    classes = [node for node in ast.parse(given.row["test"]).body
               if isinstance(node, ast.ClassDef) and node.name.startswith(f"{given.row['entry_point']}Test")]
    for node in classes[given.number].body:
        if isinstance(node, ast.FunctionDef) and node.name == "setUp":
            return "\n".join("# " + line for statement in node.body for line in ast.unparse(statement).split("\n"))
    return ""


def cot(options: TaskOptions) -> bool:
    return (options.paradigm or "direct") == "cot"


def build(ask: str, example: Example, program: str, code: str, question: str, options: TaskOptions, *, chat: bool) -> str:
    """A whole prompt. One worked example unless ``shots`` is 0; a base model's text ends where its answer begins."""
    shots = 1 if options.shots is None else options.shots
    if shots > 1:
        raise ConfigError(f"REval's probes have one worked example, shots={shots} asks for more")
    parts = [INTRO.format(ask=ask, how=COT if cot(options) else DIRECT)]
    if shots:
        thought = f"[THOUGHT]\n{example.thought}\n[/THOUGHT]\n" if cot(options) else ""
        parts.append(_problem(_numbered_like(program, EXAMPLE_CODE), EXAMPLE_CALL, example.question)
                     + f"{thought}[ANSWER]\n{example.answer}\n[/ANSWER]")
    opening = "" if chat else ("[THOUGHT]\n" if cot(options) else "[ANSWER]\n")
    parts.append(_problem(program, code, question) + opening)
    return "\n\n".join(parts)


def _numbered_like(program: str, example: str) -> str:
    return numbered(example) if program.startswith("1\t") else example


def _problem(program: str, code: str, question: str) -> str:
    asked = f"[QUESTION]\n{question}\n[/QUESTION]\n" if question else ""
    return f"[PYTHON]\n{program}\n\n{code}\n[/PYTHON]\n{asked}"


def numbered(code: str) -> str:
    """Each line with its number and a tab before it, as the authors show programs for path questions."""
    return "\n".join(f"{i}\t{line}" for i, line in enumerate(code.rstrip("\n").split("\n"), 1))


def generation(options: TaskOptions) -> Generation:
    tokens = COT_TOKENS if cot(options) else DIRECT_TOKENS
    return Generation(until=("[/ANSWER]",), max_gen_toks=options.max_gen_toks or tokens,
                      temperature=TEMPERATURE if options.temperature is None else options.temperature,
                      top_p=1.0 if options.top_p is None else options.top_p)


def wrap(answer: str, thought: str, options: TaskOptions) -> str:
    """A perfect reply in the format asked for."""
    return (f"[THOUGHT]\n{thought}\n[/THOUGHT]\n" if cot(options) else "") + f"[ANSWER]\n{answer}\n[/ANSWER]"


def shown(answer: Answer) -> str | Missed:
    """The reply without its thinking part, with the tag that a stop string took away."""
    text = answer.text
    if answer.truncated is False and "[ANSWER]" in text.rpartition("[/ANSWER]")[2]:
        text += "[/ANSWER]"
    return visible(text, answer.thinking)


def find(answer: Answer, options: TaskOptions) -> str | Missed:
    """The last tagged answer. Without tags, the reply itself (the prompt of a base model opened the tag)."""
    if answer.extracted:
        return answer.text.strip() or Missed("no_answer", "the answer is empty")
    reply = shown(answer)
    if isinstance(reply, Missed):
        return reply
    if "[ANSWER]" in reply:
        reply = reply.rsplit("[ANSWER]", 1)[1]
    elif cot(options):
        if "[/THOUGHT]" not in reply:
            cut = "[THOUGHT]" in reply
            return Missed("unclosed" if cut else "no_answer", "no [ANSWER] in the text")
        reply = reply.rsplit("[/THOUGHT]", 1)[1]
    closed = "[/ANSWER" in reply
    found = reply.split("[/ANSWER", 1)[0].strip()
    if not found:
        return Missed("no_answer" if closed or not reply else "unclosed", "no answer between [ANSWER] tags")
    if answer.truncated and not closed:
        return Missed("unclosed", "the length limit cut the reply before its answer was complete", found)
    return found
