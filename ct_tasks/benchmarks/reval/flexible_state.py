"""Value and type that a reply gives a variable, as ``value; type`` or ``Nil``: from a tag, a line of its own or a sentence.

The type of a lone literal is its own. A pair that is no literal or no known type is read as written, and then it is wrong.
"""

from __future__ import annotations

import re

from ct_tasks.benchmarks.reval.flexible import find
from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import pieces
from ct_tasks.paradigms.extraction import Missed

_TYPE = r"`?(?:<class\s+)?['\"`]?(?P<kind>[A-Za-z_][\w.]*(?:\[[^\n]*\])?)['\"`]?>?`?"
_PAIR = re.compile(
    rf"(?:(?:the\s+)?value(?:\s+of\s+`?\w+`?)?\s*(?::|=|is)\s*)?(?P<value>.+?)\s*"
    rf"(?:[;,|\n]\s*(?:and\s+)?(?:(?:the\s+)?type(?:\s+of\s+`?\w+`?)?\s*(?::|=|is)\s*)?|\s+of\s+type\s+|\s+\((?:type:?\s*)?|:\s+|\s+){_TYPE}\)?",
    re.DOTALL | re.IGNORECASE,
)
_PAIR_THEN_WORDS = re.compile(
    r"(?P<value>[^;\n]+);\s*`?(?P<kind>[A-Za-z_][\w.]*)`?(?=\s*(?:[,.(\n—–]|-\s)|\s+(?:because|since|as|where|which)\b)"
)
_SAID = re.compile(rf"\b(?:answer|result)\b[^\n;]{{0,40}}?(?:\bis\b|:)\s*`?(?P<value>[^`\n;]+);\s*{_TYPE}", re.IGNORECASE)
_NAMES = re.compile(
    r"^(?:[^\n'\"\[({]{0,80}\b(?:answer|result)\s*(?:is|:)|(?:the\s+)?value\s*(?::|=|is)|\w+\s*=(?!=)"
    r"|[^\n'\"\[({;]{0,80}\b(?:is|be|becomes|equals)(?=\s+[-+\d'\"\[({TFN`]))\s*",
    re.IGNORECASE,
)
_NIL = re.compile(r"[\[`*\"']*nil[`*\"'\]]*(?=\s*(?:[;.,:(\n—–]|-\s|$)|\s+(?:because|since|as)\b)", re.IGNORECASE)
_NOT_RUN = re.compile(
    r"(?<!\bif it )(?<!\bif this )(?<!\bif line )\b(?:is|was|will)\s+(?:not|never)\s+(?:be\s+)?executed\b"
    r"|\b(?:answer\s*(?:is|:)|values?\b[^.\n]{0,80}\b(?:is|are))\s*[`*\"']*nil\b(?![`*\"']*\s+(?:if|when|unless)\b)",
    re.IGNORECASE,
)
_KNOWN = (
    r"(?:int(?:eger)?|str(?:ing)?|float|bool(?:ean)?|list|tuple|dict(?:ionary)?|set|frozenset|none(?:type)?|bytes|complex|bytearray"
    r"|(?:datetime\.)?datetime|(?:collections\.)?deque|(?:numpy\.|np\.)?ndarray|array|function|module|object|range|(?:numpy\.|np\.)?float64)"
)
_TURNED = re.compile(
    rf"(?:type:?\s*)?[`'\"]*{_KNOWN}[`'\"]*\s*[;,:]\s*"
    rf"(?:value:?\s*)?(?P<value>[^\n]+)", re.IGNORECASE
)
_TYPE_AFTER = re.compile(
    rf"[`*]{{0,3}}(?:\s*\((?:type:?\s*)?|,?\s*(?:(?:and|with|of|which\s+is|it\s+is)\s+|[;.]\s+|\n\s*)?(?:(?:its|the|a|an|of)\s+)?(?:data\s+)?"
    rf"(?:type\s*)?(?:of\s+(?:`?\w+`?|the\s+variable)\s+)?(?:is\s+|:\s*|of\s+)?(?:an?\s+|the\s+)?)"
    rf"[`*]{{0,2}}(?:<class\s+)?['\"]?(?P<kind>{_KNOWN})\b(?:\[[^\n`]*\])?",
    re.IGNORECASE,
)
_NAMED_TYPE = re.compile(  # any class, where the word says that it is one
    r"[`*]{0,3},?\s*(?:;|and|with|of)?\s*(?:(?:its|the|a)\s+)?type\s*(?:of\s+`?[\w.]+`?\s+)?(?:is|:|of)?\s*`(?P<kind>[A-Za-z_][\w.]*)`",
    re.IGNORECASE,
)
_TYPE_BEFORE = re.compile(
    rf"(?:\b(?:is|of)\s+(?:of\s+)?type\s+|\btype\b[^.\n;]{{0,60}}?(?:\bis\b|:)\s*(?:an?\s+)?)"
    rf"[`*'\"]*(?P<kind>{_KNOWN})\b[^.\n]{{0,40}}$",
    re.IGNORECASE,
)
_KIND_FIRST = re.compile(
    rf"(?:an?|the)\s+(?:empty\s+)?(?P<kind>{_KNOWN})(?:\s+of\s+\w+|\s+containing)?\s*:?\s*(?:value\s+)?[`*]{{0,3}}",
    re.IGNORECASE)
_TICKED = re.compile(r"(?<=`)[^`\n]+(?=`)")
MAX_VERBS = 64  # the last ones
_VERB = re.compile(
    r"(?:\b(?:is|are|was|will be|would be|becomes|equals|"
    r"(?:set|equal)\s+to|has\s+(?:the|a)\s+value(?:\s+of)?)\b|=(?!=)|:)\s*:?\s*[`*]{0,3}",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\banswer\s+is\s+`(?P<said>[^`;\n]+)`", re.IGNORECASE)
_VALUE_WORD = re.compile(r"\bvalues?\b", re.IGNORECASE)
_RESPECTIVELY = re.compile(rf"\s*\band\s+[`*'\"]*(?P<kind>{_KNOWN})\b", re.IGNORECASE)


def state(text: str, variable: str = "", *, truncated: bool) -> str | Missed:
    """``value; type`` or ``Nil``; ``variable`` is the one asked about."""
    return find(text, _state, lambda said: _in_words(said, variable), truncated=truncated)


def _state(text: str) -> str | None:
    text = pieces.clean(text)
    if text.strip("[]. \"'").lower() == "nil" or _NIL.match(text):
        return "Nil"
    if re.fullmatch(r"`?value`?;\s*`?type`?\.?", text, re.IGNORECASE):
        return None  # the form, not an answer in it
    listed = text[:1] == "[" and pieces.bracket_end(text, 0) == len(text) and not _literal(text)
    inner = text[1:-1] if listed else text
    pair = _PAIR_THEN_WORDS.match(inner)
    if pair and ";" not in inner[pair.end() :] and _known(pair["kind"]) and _literal(_bare(pair["value"])):
        return _joined(pair["value"], pair["kind"])
    head, separator, tail = inner.rpartition(";")
    if separator and head.strip() and re.fullmatch(_TYPE, tail.strip()):
        return _joined(head, tail.strip().strip("`"))
    if separator and (of := re.fullmatch(rf"\s*[`'\"]*(?P<kind>{_KNOWN})\s+(?:of|with|object)\b[^;\n]*", tail, re.IGNORECASE)):
        return _joined(head, of["kind"])
    match = _PAIR.fullmatch(inner)
    if match and _known(match["kind"]) and (_literal(_bare(match["value"])) or ";" in inner):
        return _joined(match["value"], match["kind"])
    if value := _literal(text):
        return f"{text.strip()}; {value}"
    turned = _TURNED.fullmatch(inner.strip())
    return inner.strip() if turned and _literal(turned["value"].strip("` ")) else None


def _joined(value: str, kind: str) -> str:
    """The answer in its form. A word of which the reply says itself that it is a str is that string."""
    value, kind = _bare(value), kind.rstrip(".")
    if kind.lower() in ("str", "string") and not _literal(value) and re.fullmatch(r"[^\"'`\n()=]+", value):
        value = repr(value)
    return f"{value}; {kind}"


def _in_words(text: str, variable: str) -> str | None:
    text = text[-20_000:]
    for row in reversed(text.split("\n")):
        pair = re.fullmatch(rf"(?P<value>[^;]+);\s*{_TYPE}\.?", pieces.clean(row).strip())
        if pair and _known(pair["kind"]) and _literal(_bare(pair["value"])):
            return _joined(pair["value"], pair["kind"])
    for match in reversed(list(_SAID.finditer(text))):
        if _known(match["kind"]) and _literal(_bare(match["value"])):
            return _joined(match["value"], match["kind"])
    weak = None
    for match in reversed(list(_VERB.finditer(text))[-MAX_VERBS:]):
        before = text[max(text.rfind("\n", 0, match.start()) + 1, match.start() - 160) : match.start()]
        subject = _VALUE_WORD.search(before) or re.search(rf"(?<![\w.])`?{re.escape(variable) or 'value'}`?\s*$", before)
        assigned = match[0].startswith("=") and "value" not in before and "\n" in text.strip()  # by the program
        if assigned or (subject is None and "value" not in match[0].lower()):
            continue
        found = _value_at(text, before, match.end())
        if found and (other := _OTHER.search(text, match.end())) and not found[0].startswith(other["said"].strip()):
            return None  # the answer is said to be something else, which is no pair
        if found is not None and found[1]:
            return found[0]
        weak = weak or (found[0] if found else None)
    return "Nil" if _NOT_RUN.search(text) or _NIL.match(text) else weak


def _value_at(text: str, before: str, at: int) -> tuple[str, bool] | None:
    """The pair that a sentence gives from ``at`` on, and whether it names the type. ``before``: how its line begins."""
    first = _KIND_FIRST.match(text, at)
    at = first.end() if first else at
    value = pieces.literal_at(text, at)
    if value is None:
        return None if first else _ticked(text, at)
    end = value[0]
    while end < len(text) and text[end] in "`*":
        end += 1
    if pieces.goes_on(text, value[0], code=False) and not re.match(r"\s*\(", text[end : end + 4]):
        return _ticked(text, at)
    if re.match(r"\s*(?:if|or|unless)\b", text[end : end + 12]):
        return None
    if first:
        return f"{text[at : value[0]]}; {first['kind']}", True
    both = re.search(r"\bvalues?\s+and\s+(?:the\s+)?type\b", before, re.IGNORECASE)
    kind = (_RESPECTIVELY.match(text, end) if both else None) or _TYPE_AFTER.match(text, end)
    kind = kind or _NAMED_TYPE.match(text, end) or _TYPE_BEFORE.search(before)
    written = text[at : value[0]]
    return (f"{written}; {kind['kind']}", True) if kind else (f"{written}; {_literal(written)}", False)


def _ticked(text: str, at: int) -> tuple[str, bool] | None:
    """A value in backticks that is no literal, with its type: as it is written."""
    value = _TICKED.match(text, at)
    kind = (_TYPE_AFTER.match(text, value.end() + 1) or _NAMED_TYPE.match(text, value.end() + 1)) if value else None
    return (_joined(value[0], kind["kind"]), True) if value and kind else None


def _bare(text: str) -> str:
    text = text.strip()
    if not _literal(text):
        text = _NAMES.sub("", text)
    return text.strip("`").strip() if text.count("`") in (1, 2) else text


def _known(kind: str) -> bool:
    return re.fullmatch(_KNOWN, re.sub(r"\[.*", "", kind, flags=re.DOTALL).rstrip("."), re.IGNORECASE) is not None


def _literal(text: str) -> str | None:
    """The type's name where the text is a literal."""
    try:
        return type(literals.parse(text)).__name__
    except LiteralError:
        return None
