"""Answers in running words: "the output is `6`", "the final value of x is 6", "**Answer:** 6", "it returns 6"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ct_tasks.paradigms import claims, pieces
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.extraction import Found

MAX_PHRASES = 200
_STRONG = r"(?:final|expected|correct|missing|returned?|resulting|overall|computed|predicted|actual)"
_VERB = (
    r"(?:(?:will|would|should|must)\s+be(?:come)?|(?:will|would|should|must)\s+(?:return|output|print|give)|is|are|was|becomes?|be|"
    r"returns?|"
    r"outputs?|prints?|equals?|evaluates?\s+to|gives?|yields?|produces?|results?\s+in)"
)
_KIND = (
    r"(?:(?:a|an|the)\s)?(?:(?:new|empty|final|expected|following|modified|boolean|same|original|integer)\s){0,2}"
    r"(?:(?:value|list|string|tuple|pair|dictionary|dict|integer|number|boolean|set|result|output|literal|assertion|call)"
    r"(?:\s+of|\s+is|\s+to\s+be)?)?"
)
_PHRASE = re.compile(
    rf"(?:\b(?P<what>(?:{_STRONG}\s+)?(?:answer|output|result|assertion|return(?:ed)?[ -]value|{_STRONG}\s+value|value\s+returned|"
    rf"function(?:\scall)?|call|program|code|arguments?|inputs?|it|and|"
    rf"(?<=[Tt]he\s)value(?=\s(?:is|will\s+be|would\s+be)\s))|{_STRONG}\s+\w+)\b|\?\?`?)(?P<mid>(?:[^.\n]|\.(?=\S)){{0,90}}?)"
    rf"(?P<verb>\b{_VERB}\b|:|=)[\s*_]{{0,4}}{_KIND}[\s*_]{{0,3}}:?\s{{0,4}}(?:```\w*\n)?[`*]{{0,3}}",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"answer|output|result|return|value|assert|function|call|program|code|argument|input|final|expected|correct|computed|predicted"
    r"|actual|overall|\?\?|\bit\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|finally|in conclusion|as a result|final|answer|consequently|returned value|return value"
    r"|expected output)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:if|unless|when|whether|suppose|assume|would have been|instead of|might|could|maybe|not)\b", re.IGNORECASE
)
_NOT_THE_RESULT = re.compile(
    r"\bof\s+`?(?:len|the\s+(?:first|second|third|loop|condition|comparison|expression)|`?\w+\s*[+*/%<>-])"
    r"|\b(?:first|second|third|next)\b",
    re.IGNORECASE,
)
_RETURNS = re.compile(r"(?:will |would |should |must )?(?:return|output|print|evaluate|give|yield|produce)")
_ACTORS = ("it", "and", "function", "function call", "call", "program", "code")


@dataclass(frozen=True, slots=True)
class Phrase:
    """An answer said in words. ``final``: the sentence concludes, or names the answer as such."""

    at: int
    end: int
    found: Found
    final: bool


def last(text: str, problem: Problem) -> Phrase | None:
    """The last such answer; one that concludes goes before others."""
    found = phrases(text, problem)
    return next((p for p in reversed(found) if p.final), found[-1] if found else None)


def phrases(text: str, problem: Problem) -> list[Phrase]:
    """Answers said in words, in order; at most the last few of a long text."""
    if not _ANY.search(text):
        return []
    found = []
    for match in list(_PHRASE.finditer(text))[-MAX_PHRASES:]:
        phrase = _read(text, match, problem)
        if phrase is not None:
            found.append(phrase)
    return found


def _read(text: str, match: re.Match[str], problem: Problem) -> Phrase | None:
    what = (match["what"] or "gap").lower()
    if problem.side == "input":
        return _arguments(text, match, problem) if what.startswith(("argument", "input", "answer")) or "answer" in what else None
    if what.startswith(("argument", "input")) or _NOT_THE_RESULT.search(match["mid"]) or _HEDGE.search(match["mid"]):
        return None
    if what in _ACTORS and not _RETURNS.match(match["verb"].lower()):
        return None
    value = pieces.literal_at(text, match.end())
    if value is None:
        return None
    end, answer = value
    # "the call returns 6 when x is 3" speaks of the one call asked about, "the function returns 6 when ..." of all.
    condition = "if|for|otherwise|unless|or" if what in ("call", "function call") else "if|when|for|otherwise|unless|or"
    if pieces.goes_on(text, end, code=False) or re.match(rf"[`*\s]*(?:{condition})\b", text[end : end + 20]):
        return None
    sentence = text[max(text.rfind("\n", 0, match.start()), text.rfind(". ", 0, match.start())) + 1 : match.end()]
    return Phrase(match.start(), end, answer, bool(_CONCLUDES.search(sentence)))


def _arguments(text: str, match: re.Match[str], problem: Problem) -> Phrase | None:
    newline = text.find("\n", match.end())
    line = text[match.end() : newline if newline >= 0 else len(text)]
    inside = line.partition("`")[0] if text[match.end() - 1 : match.end()] == "`" else line.rstrip(" .`*")
    given = claims.as_arguments(inside, problem)
    return Phrase(match.start(), match.end() + len(inside), given, True) if given else None
