"""The flexible reading: what a careful person takes as a reply's final answer, whatever its format.

The ladder, strongest first:

1. an answer place: ``[ANSWER]`` in any spelling (unclosed, lower case, bold, closed by a second opening tag, a lone tag before
   or after the value), ``[RETURN]``, ``<answer>``, ``\\boxed{}``, and CodeIO's JSON object;
2. an assertion or equation about the asked call: ``assert f(3) == 6, 'msg'``, ``6 == f(3)``, ``f(3) -> 6``, in a fence or in
   backticks, with or without the program before it; then one about the same function with other arguments;
3. a phrase: "the output is 6", "**Answer:** 6", "`f(3)` returns 6";
4. the whole text, its last fence or its last line, where that is a value and nothing else.

On each rung the last word counts, and rungs 1 and 2 are as strong as each other where both follow one another. An answer that
is taken back ("wait, no", "that is wrong") is none, unless another one follows. An answer in a place that is no value is
``unreadable`` and is not replaced by an earlier draft; a place that holds only prose is passed over. More than ``MAX_DIFFERENT``
different answers are none. A bare word is a string only where ``pieces.unquoted`` says so. A reply that the length limit cut
has an answer only where that answer is certainly complete: a closed place, an open one whose value stands on finished lines, an
assertion on a finished line, a call whose ``==`` follows where arguments are asked for; or a statement that is the reply's first
line, or the one that it repeats until it is cut (``certain``).

It looks at the reply and at the problem's program, call and question, never at the reference answer. Nothing is executed. Work
is linear in the text, of which the last ``MAX_TEXT`` characters are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ct_tasks.contra import literals
from ct_tasks.paradigms import claims, phrases, piece, pieces
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.extraction import Extraction, Found, Missed
from ct_tasks.paradigms.places import Place, places, without_tags

MAX_TEXT = 100_000
MAX_DIFFERENT = 16
_TAKEN_BACK = re.compile(
    r"\bwait\b(?=[,.!:;—–-]|\s+(?:no|that|I|let|a)\b)"
    r"|\bno,\s+(?:that|this|wait|it|the|I)\b|\b(?:that|this|which|it)(?:'s| is| was)\s+"
    r"(?:wrong|incorrect|not (?:right|correct)|a mistake)"
    r"|\b(?:my|the|this)\s+(?:(?:previous|above|earlier|first|last)\s+)?(?:answer|assertion|output)\s+"
    r"(?:above\s+)?(?:is|was)\s+(?:wrong|incorrect|not (?:right|correct))"
    r"|\bI (?:made|have made) (?:a|an) (?:mistake|error)|\bscratch that\b|\bon second thought"
    r"|\bhold on\b|\b(?:disregard|ignore) (?:that|the above|my (?:previous|earlier))|^\s*correction\b",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_PROBLEM = re.compile(r"\n\s{0,8}(?:\[PYTHON\]|\[Python\]|\[NEXT PROGRAM\]|\[NEXT QUESTION\]|<\|trace_context_start\|>)")
_FENCE = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_PROSE = re.compile(r"(?:\b[A-Za-z]+,? ){4}")  # five words in a row are no attempt at a value
_THOUGHT = re.compile(r"\s*\[(?:THOUGHT|TRACE|MONOLOGUE)\]", re.IGNORECASE)
_NAMES_ANSWER = re.compile(r"\b(?:output|answer|result)\b", re.IGNORECASE)
_MAX_PERIOD = 6  # lines that a reply repeats
_PLACE, _ASSERTED, _LOOSE, _PHRASE, _LINE = 5, 4, 3, 2, 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that may be the answer. ``complete``: certainly so, even where the text is known to be cut. ``tag``: from an
    answer place. ``other``: an assertion about the function with other arguments than the asked ones."""

    at: int
    end: int
    rank: int
    found: Extraction
    complete: bool
    tag: bool = False
    other: bool = False


def read(text: str, problem: Problem, *, truncated: bool = False) -> Extraction:
    """The final answer of a visible reply (``thinking.visible``). ``truncated``: the length limit is known to have cut it."""
    if len(text) > MAX_TEXT:
        text = text[-MAX_TEXT:]
    text = _one_reply(text)
    if not text.strip():
        return Missed("no_answer", "the reply is empty")
    found = _strong(text, problem)
    begin = _begin(text, found)
    if not any(c.rank >= _ASSERTED and c.end > begin for c in found):
        found += _phrases(text, problem)
        found = found or _last(text, problem)
        begin = _begin(text, found)
    if not truncated:
        return _choose(found, begin)
    chosen = _choose([c for c in found if c.complete], begin)
    if isinstance(chosen, Missed) and not any(c.tag for c in found) and (part := certain(text)):
        said = [c for c in _strong(part, problem) + _phrases(part, problem) if isinstance(c.found, Found)]
        said = [c for c in said if c.rank >= _PHRASE or _NAMES_ANSWER.search(part, c.at, c.end)]
        return _choose(said, 0) if said else chosen
    return chosen


def _phrases(text: str, problem: Problem) -> list[Candidate]:
    return [Candidate(p.at, p.end, _PHRASE if p.final else _LINE, p.found, False) for p in phrases.phrases(text, problem)]


def certain(text: str) -> str:
    """What of a cut reply can be read as if nothing followed: all its finished lines where the reply only repeats itself, else
    its first line; ``""`` where that line is not finished, or where the reply opens a thought that it does not close."""
    finished = text.rpartition("\n")[0].strip()
    if not finished or _THOUGHT.match(text):
        return ""
    return finished if repeated(text) else finished.partition("\n")[0].strip()


def repeated(text: str) -> list[str]:
    """The lines that a cut reply says three times and more until its end; empty where it does not repeat itself."""
    lines = [row.strip() for row in text.split("\n")[:-1] if row.strip()]
    for period in range(1, _MAX_PERIOD + 1):
        last = lines[-period:]
        if len(lines) >= 3 * period and last == lines[-2 * period : -period] == lines[-3 * period : -2 * period]:
            return last
    return []


def taken_back(text: str, end: int) -> bool:
    """Whether the text takes back, after ``end``, what it said before."""
    return _TAKEN_BACK.search(text, end) is not None


def _begin(text: str, found: list[Candidate]) -> int:
    """Where the part begins that nothing takes back."""
    begin = 0
    for match in list(_TAKEN_BACK.finditer(text))[-64:]:
        if any(c.end <= match.start() for c in found):
            begin = match.end()
    return begin


def _choose(found: list[Candidate], begin: int) -> Extraction:
    """The last candidate of the strongest rung, from ``begin`` on."""
    kept = [c for c in found if c.end > begin]
    if len({c.found.text for c in kept if c.tag}) > MAX_DIFFERENT:
        return Missed("no_answer", f"more than {MAX_DIFFERENT} different answers")
    if not kept:
        return Missed("no_answer", "the answer is taken back" if found else "no answer in the text")
    return max(kept, key=lambda c: (min(c.rank, _ASSERTED), c.at)).found


def _strong(text: str, problem: Problem) -> list[Candidate]:
    """Answer places and statements about the asked call."""
    found: list[Candidate] = []
    weak: list[Candidate] = []
    for spot in places(text):
        candidate = _of_place(spot, problem, any(c.tag for c in found))
        if candidate is not None:
            (found if candidate.rank == _PLACE else weak).append(candidate)
    if problem.side == "output" and any(not c.other for c in found):
        found = [c for c in found if not c.other]  # a further problem, or a worked example
    taken = [(c.at, c.end) for c in found if c.tag]
    for claim in claims.claims(text, problem):
        if any(begin <= claim.at < end for begin, end in taken):
            continue
        rank = _ASSERTED if claim.exact else _LOOSE if claim.asserted else _PHRASE
        if problem.side == "input" and not claim.asserted:
            rank = _LINE
        found.append(Candidate(claim.at, claim.end, rank, claim.found, claim.alone))
    return found or weak


def _of_place(spot: Place, problem: Problem, answered: bool) -> Candidate | None:
    text = _tail(spot.text) if spot.lone else spot.text
    bare = pieces.clean(text).strip(" .`*_-\n\t,:")
    if not bare or bare.lower() in ("and", "and/or", "to", "or", "tags"):
        if spot.closed and not spot.lone and answered and not bare:
            return Candidate(spot.at, spot.end, _PLACE, Missed("no_answer", "the last answer is empty"), True, True)
        return None
    found = piece.read(text, problem)
    if isinstance(found, Missed):
        if found.status == "no_answer" or spot.lone:
            return None
        prose = _PROSE.search(text) and not re.search(rf"\bassert\b|==|\b{re.escape(problem.entry)}\(", text)
        return Candidate(spot.at, spot.end, _LINE if prose or spot.box else _PLACE, found, spot.closed, True)
    said = claims.claims(text, problem)
    other = bool(said) and not any(claim.exact for claim in said)
    return Candidate(spot.at, spot.end, _PLACE, found, spot.closed or _on_finished_lines(spot.text, found, problem), True, other)


def _on_finished_lines(text: str, found: Found, problem: Problem) -> bool:
    """Whether an open place gives the same answer without its last line, which may be cut."""
    finished, newline, _ = text.rpartition("\n")
    if problem.side == "input" and "==" in text:
        finished, newline = text.rpartition("==")[:2]  # the arguments are complete, whatever their value is said to be
    again = piece.read(finished, problem) if newline and finished.strip() else None
    return isinstance(again, Found) and again.text == found.text


def _tail(text: str) -> str:
    """What stands right before a lone closing tag: the last fence, or the last lines."""
    text = text.strip()
    if text.endswith("```"):
        begin = text.rfind("```", 0, len(text) - 3)
        return text[begin:] if begin >= 0 else text
    return re.split(r"\n[ \t]*\n", text)[-1]


def _last(text: str, problem: Problem) -> list[Candidate]:
    """The whole text, its last fence or its last line, where that is an answer by itself."""
    whole = piece.read(text, problem) if len(text) < literals.MAX_TEXT else Missed("no_answer", "too long")
    if isinstance(whole, Found):
        return [Candidate(0, len(text), _LINE, whole, False)]
    fences = list(_FENCE.finditer(text))
    lines = [line for line in text.rstrip().split("\n") if line.strip()]
    for part, at in ((fences[-1][1], fences[-1].start()) if fences else ("", 0), (lines[-1], text.rfind(lines[-1]))):
        tidy = pieces.clean(re.sub(r"^(?:[-*>]|\d+\.)\s+", "", part.strip()))
        value = pieces.whole(tidy) or pieces.whole(tidy.rstrip("."))
        if value is not None and problem.side == "output":
            return [Candidate(at, at + len(part), _LINE, value, False)]
    return [Candidate(0, len(text), 0, whole, False)] if len(lines) == 1 and _is_code(without_tags(text)) else []


def _is_code(text: str) -> bool:
    """Whether a line without a value is an expression, a statement or the beginning of a literal, rather than words."""
    tidy = pieces.clean(text)
    if tidy[:1] in ("[", "(", "{", "'", '"') or tidy.startswith("assert "):
        return "??" not in tidy
    try:
        literals.parse_node(tidy)
    except literals.LiteralError:
        return False
    return True


def _one_reply(text: str) -> str:
    """Without what a model adds after its answer: a next problem of its own making."""
    for match in _NEXT_PROBLEM.finditer(text):
        if re.search(r"\[/(?:ANSWER|RETURN|TRACE)\]|</answer>|\}\s*$", text[: match.start()][-2000:]):
            return text[: match.start()]
    return text
