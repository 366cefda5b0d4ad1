"""The value that a phrase of prose states: ``**$18** per day``, ``eighteen (18)``, ``18 because 3 + 15``, ``42 and so on``."""

from __future__ import annotations

import re
from typing import Final

from ct_tasks.benchmarks.math.exact import rational

_POWER = r"(?:\s*(?:\\times|×|\*|x)\s*10\s*\^\s*(?:\{\s*-?\d+\s*\}|-?\d+))?"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_EXPONENT = r"(?:[eE][-+]?\d+(?![\w.]))?"
NUMBER = re.compile(
    rf"(?<![\w.])[-−]?\s?(?:\\?\$|€|£)?\s?(?:{_DIGITS}){_EXPONENT}{_POWER}(?:\s*/\s*\d+)?(?:\s?\\?%)?")
FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$\n]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_FILLER = re.compile(
    r"(?:therefore|thus|hence|then|so|simply|just|clearly|indeed|now|approximately|about|around|roughly|exactly|equal to|"
    r"given by|=|≈|:|,)\s*", re.IGNORECASE)
_REASON = re.compile(
    r"[,;]?\s+(?:because|since|as|given that|due to|where|which|so that|and so on|etc|after|when|if|but)\b|\s[–—]\s",
    re.IGNORECASE)
_STOP = re.compile(r"[.?](?=\s|$)|\n|;\s")
_STATED = re.compile(r"(?:=|≈|\bis\b|\bequals\b|\bare\b|:)\s*([^=≈:]*)$")
_GLUED = re.compile(r"\s*(?:[-+*/^_=({\[\\|<>!≤≥×·,]|[A-Za-z](?![A-Za-z])|°)")
_CLAUSE = re.compile(r"\d|\b(?:and|or|is|are|was|in|of|on|at|to|for|each)\b")
_MORE = re.compile(r"\s*(?:,\s*(?:and|or)?|and|or)\s*(?=\$|\\[(\[])")
_MARKS: Final = " \t*_`:"
_UNITS: Final = 4  # words after a number that can still be its unit


def head(text: str) -> str:
    """The answer at the head of a piece of prose, ``""`` where there is none: a formula, a number with its unit, or words.

    ``not 5 but 6`` is 6; ``not 5`` is nothing.
    """
    text = text.lstrip(_MARKS + "\n")
    while match := _FILLER.match(text):
        text = text[match.end():].lstrip(_MARKS)
    if denied := re.match(r"not\b[^.\n]*?\bbut\b\s*|not\b", text, re.IGNORECASE):
        return head(text[denied.end():]) if "but" in denied.group().lower() else ""
    formula = FORMULA.match(text)
    parts: list[str] = []
    while formula and not _is_money(text, formula):
        parts.append(next(group for group in formula.groups() if group is not None).strip())
        text = text[formula.end():]
        more = _MORE.match(text)
        text = text[more.end():] if more else text
        formula = FORMULA.match(text) if more else None
    if parts:
        return ", ".join(parts)  # $2$ and $3$
    sentence = re.sub(r"\*\*|__|`", "", _STOP.split(text, maxsplit=1)[0]).strip(_MARKS)
    sentence = (_REASON.split(sentence, maxsplit=1)[0] or sentence).strip(_MARKS + ",")
    return _stated(sentence)


def _is_money(text: str, formula: re.Match[str]) -> bool:
    """Two dollar signs that are no formula: ``$5 and $6``."""
    return text.startswith("$") and not text.startswith("$$") and re.match(r"\$\s*[\d,.]+\s+[A-Za-z]{2,}", text) is not None \
        and " " in formula.group()


def _stated(sentence: str) -> str:
    in_words = re.match(r"[A-Za-z][A-Za-z -]*?\s*\(\s*([^()A-Za-z]*\d[^()A-Za-z]*)\)\s*[A-Za-z ]*$", sentence)
    if in_words:  # eighteen (18)
        return plain_number(in_words.group(1))
    sides = [side.strip() for side in re.split(r"=|≈", sentence)]
    values = [rational(re.sub(r"[$,]", "", side)) for side in sides]
    if len(sides) > 1 and None not in values and len(set(values)) == 1:
        return plain_number(min(sides, key=len))
    number, later = NUMBER.match(sentence), _STATED.search(sentence)
    said = _alone(later.group(1)) if later and (number or len(sentence.split()) > 3 or ":" in sentence) else ""
    if number is None:
        return said or sentence
    rest = sentence[number.end():]
    if not rest.strip() or re.fullmatch(r"\s*\([A-Za-z][A-Za-z -]*\)\s*", rest) or re.match(r",\s+[A-Za-z]", rest):
        return plain_number(number.group())  # 18, 18 (eighteen), and 18, as shown
    if _GLUED.match(rest) or re.search(r"\band\s+\d", rest):
        return sentence  # a formula, or 3 hours and 20 minutes
    words = rest.split()
    return said or plain_number(number.group()) + ("" if len(words) > _UNITS or _CLAUSE.search(rest) else " " + " ".join(words))


def _alone(text: str) -> str:
    """The number that a text begins with, where it is no part of a formula."""
    number = NUMBER.match(text)
    return plain_number(number.group()) if number and not _GLUED.match(text[number.end():]) else ""


def plain_number(text: str) -> str:
    """A number without currency signs, and with its sign before it: ``-$3`` is ``-3``."""
    text = re.sub(r"\\?\$|€|£", "", text).replace("\\%", "%").strip()
    return re.sub(r"^[-−]\s*", "-", text).strip(" .,")


_UP_TO_19: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_SMALL: Final = {word: n for n, word in enumerate(_UP_TO_19.split())}
_TENS: Final = {word: 10 * n for n, word in enumerate(
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)}
_LARGE: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}


def spoken(text: str) -> int | None:
    """The whole number that is written out in English words, else ``None``."""
    words = re.findall(r"[a-z]+", text.lower()) if re.fullmatch(r"[A-Za-z][A-Za-z ,-]{1,120}", text.strip()) else []
    total = part = 0
    for word in (w for w in words if w != "and"):
        if word in _SMALL or word in _TENS:
            part += _SMALL.get(word, 0) + _TENS.get(word, 0)
        elif word == "hundred":
            part = 100 * (part or 1)
        elif word in _LARGE:
            total, part = total + _LARGE[word] * (part or 1), 0
        else:
            return None
    return total + part if words else None
