"""The flexible reading of REval's tasks: what a careful person takes as the answer to a probe or as the completed test.

The answer is made into the form that the strict reading judges: YES or NO, a source line or -1, ``value; type`` or Nil, test
code. As for output prediction an answer place in any spelling comes first and the last word counts, then a line or a sentence
that answers; what is taken back is none, and of a reply that was cut only a closed place or its very first word counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import pieces
from ct_tasks.paradigms.extraction import Missed
from ct_tasks.paradigms.flexible import MAX_TEXT, taken_back
from ct_tasks.paradigms.places import places

Read = Callable[[str], str | None]
_TAG_LINE = re.compile(r"^\s*\[/?(?:THOUGHT|PYTHON|QUESTION)\]\s*$|^\s*(?:THOUGHT|ANSWER|Thought|Answer):\s*$", re.MULTILINE)
_FENCE = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)


def find(text: str, piece: Read, prose: Read, *, truncated: bool, head: bool = False) -> str | Missed:
    """The answer of a visible reply. ``piece`` reads an answer place or a line of its own, ``prose`` running text; each gives
    None where there is none. ``head``: the first words alone can answer, so they count in a cut reply too."""
    text = text[-MAX_TEXT:]
    unreadable = None
    for spot in reversed(places(text)):
        inside = spot.text if not spot.lone else _TAG_LINE.sub("", spot.text).strip().rpartition("\n\n")[2]
        if (truncated and not spot.closed) or not inside.strip(" `*.\n") or inside.strip(" `*.\n").lower() == "and":
            continue
        found = piece(inside)
        if found is not None and taken_back(text, spot.end):
            break
        if found is not None:
            return found
        unreadable = unreadable or (None if spot.lone else inside.strip()[:300])
    bare = _TAG_LINE.sub("", text).strip()
    if unreadable is not None:
        return Missed("unreadable", "the answer is not of the form asked for", unreadable)
    if not truncated:
        for part in (bare, bare.rpartition("\n")[2]):
            found = piece(part)
            if found is not None:
                return found
    found = prose(bare) if not truncated else prose(re.split(r"[,.\n]", bare, maxsplit=1)[0]) if head else None
    if found is None or taken_back(bare, min(len(bare), 40)):
        return Missed("no_answer", "no answer in the text")
    return found


# -- coverage ---------------------------------------------------------------------------------------------------------

_YES_NO = re.compile(r"(YES|NO)(?=$|\s*[.,:;!\n—–-]|\s*$)", re.IGNORECASE)
_SAYS = re.compile(r"\banswer\s*(?:is|:)[\s:`*\"'\[]*(YES|NO)\b", re.IGNORECASE)
_EXECUTED = re.compile(
    r"\b(?:is|was|are|were|will|would|does|do|did|gets?)\s*(?P<no>n['’]t|not|never)?\s*(?:be\s+|get\s+)?(?:actually\s+|ever\s+)?"
    r"(?:executed|execute|run|reached|reach)\b",
    re.IGNORECASE,
)


def coverage(text: str, *, truncated: bool) -> str | Missed:
    """``YES`` or ``NO``."""
    return find(text, _yes_no, _executed, truncated=truncated, head=True)


def _yes_no(text: str) -> str | None:
    text = pieces.clean(text).strip(" \n\t*`'\"[]")
    match = _YES_NO.match(text)
    words = {w.upper() for w in re.findall(r"\b(?:YES|NO)\b", text)} | ({match[1].upper()} if match else set())
    return match[1].upper() if match and len(words) == 1 else None


def _executed(text: str) -> str | None:
    if (first := _YES_NO.match(text.lstrip("*`\"' "))) and not _SAYS.search(text):
        return first[1].upper()
    if said := _SAYS.findall(text):
        return str(said[-1]).upper()
    found = list(_EXECUTED.finditer(text))
    return None if not found else "NO" if found[-1]["no"] else "YES"


# -- path -------------------------------------------------------------------------------------------------------------

_LINE_NUMBER = re.compile(r"(?:the\s+)?(?:line\s+|L)?(\d{1,4})(?:\s*[:.)\t]\s*.*|\s*[(`].*)?", re.IGNORECASE | re.DOTALL)
_NEXT = re.compile(
    r"(?:next\s+line|(?:executed|comes?|runs?)\s+(?:right\s+|immediately\s+|directly\s+)?(?:after|next))"
    r"(?:[^.\n]|\.(?=\S)){0,160}?\bis\b:?\s*(?:line\s+(?P<number>\d+)|`(?P<code>[^`\n]+)`)",
    re.IGNORECASE,
)
_COMES = re.compile(
    r"\bline\s+(?:(?P<number>\d+)\b|`(?P<code>[^`\n]+)`)[^.\n]{0,40}?\b(?:is|will be|gets)\s+executed\s+"
    r"(?:right\s+|immediately\s+|directly\s+)?(?:after|next)",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\banswer\s*(?:is|:)\s*:?\s*(?:line\s+(?P<number>\d+)\b|`(?P<code>[^`\n]+)`|(?P<none>-1)\b)", re.IGNORECASE)


def path(text: str, lines: Sequence[str], *, truncated: bool) -> str | Missed:
    """A line of the program (stripped) or ``-1``; ``lines`` are the program's. A number stands for the line that has it, and
    for itself where that line is empty."""
    stripped = [line.strip() for line in lines]
    squeezed = {"".join(line.split()): line for line in stripped if line}

    def line(said: str) -> str | None:
        said = pieces.clean(said).strip()
        said = said.partition("\n")[0].strip().strip("`").strip() if said.strip() not in stripped else said
        if said.rstrip(".") == "-1":
            return "-1"
        if said in stripped and said:
            return said
        if (bare := re.sub(r"^(?:line\s+)?\d+\s*[:.)\t]?\s*", "", said, flags=re.IGNORECASE).strip("` ")) and bare in stripped:
            return bare
        if (near := squeezed.get("".join((bare or said).split()))) is not None:
            return near
        match = _LINE_NUMBER.fullmatch(said.rstrip("."))
        if match and 0 < int(match[1]) <= len(stripped):
            return stripped[int(match[1]) - 1] or match[1]
        return said if said.isdecimal() else None

    def prose(said: str) -> str | None:
        if re.match(r"`?-1`?(?=[\s.,])", said):
            return "-1"
        for pattern in (_ANSWER, _NEXT, _COMES):
            for match in reversed(list(pattern.finditer(said))):
                named = match.groupdict()
                found = line(next(v for v in named.values() if v is not None))
                if found is not None:
                    return found
        return None

    return find(text, line, prose, truncated=truncated)


# -- state ------------------------------------------------------------------------------------------------------------

_TYPE = r"`?(?:<class\s+)?['\"`]?(?P<kind>[A-Za-z_][\w.]*(?:\[[^\n]*\])?)['\"`]?>?`?"
_PAIR = re.compile(
    rf"(?:(?:the\s+)?value(?:\s+of\s+`?\w+`?)?\s*(?::|=|is)\s*)?(?P<value>.+?)\s*"
    rf"(?:[;,|\n]\s*(?:and\s+)?(?:(?:the\s+)?type(?:\s+of\s+`?\w+`?)?\s*(?::|=|is)\s*)?|\s+of\s+type\s+|\s+\((?:type:?\s*)?|:\s+|\s+){_TYPE}\)?",
    re.DOTALL | re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"\bvalues?\b(?:[^\n]){{0,160}}?\b(?:is|are|will be|would be|becomes)\s*:?\s*(?P<value>`[^`\n]+`|[^`\n]+?)"
    rf",?\s*(?:;|and|with)\s+(?:(?:its|the|a|of)\s+)?(?:type\s*)?(?:of\s+`?\w+`?\s+)?(?:is\s+)?(?:a\s+)?{_TYPE}",
    re.IGNORECASE,
)
_SAID = re.compile(rf"\b(?:answer|result)\b[^\n;]{{0,40}}?(?:\bis\b|:)\s*`?(?P<value>[^`\n;]+);\s*{_TYPE}", re.IGNORECASE)
_NAMES = re.compile(
    r"^(?:[^\n'\"\[({]{0,80}\b(?:answer|result)\s*(?:is|:)|(?:the\s+)?value\s*(?::|=|is)|\w+\s*=(?!=))\s*", re.IGNORECASE
)
_NOT_RUN = re.compile(r"\b(?:is|was|will)\s+(?:not|never)\s+(?:be\s+)?executed\b|\banswer\s+is\s+`?nil\b", re.IGNORECASE)
_KINDS = frozenset(
    ("int", "integer", "str", "string", "float", "bool", "boolean", "list", "tuple", "dict", "dictionary", "set", "frozenset",
     "none", "nonetype", "bytes", "complex", "bytearray", "datetime", "deque", "collections.deque", "numpy.ndarray", "np.ndarray",
     "ndarray",
     "array", "datetime.datetime", "function", "module", "object", "range", "numpy.float64", "np.float64", "float64")
)  # fmt: skip


def state(text: str, *, truncated: bool) -> str | Missed:
    """``value; type`` or ``Nil``."""
    return find(text, _state, _state_in_words, truncated=truncated)


def _state(text: str) -> str | None:
    text = pieces.clean(text)
    if text.strip("[]. \"'").lower() == "nil" or re.match(r"nil\s*;", text, re.IGNORECASE):
        return "Nil"
    listed = text[:1] == "[" and pieces.bracket_end(text, 0) == len(text) and not _literal(text)
    inner = text[1:-1] if listed else text
    head, separator, tail = inner.rpartition(";")
    if separator and head.strip() and re.fullmatch(_TYPE, tail.strip()):
        return _joined(head, tail.strip().strip("`"))
    match = _PAIR.fullmatch(inner)
    if match and _known(match["kind"]) and (_literal(_bare(match["value"])) or ";" in inner):
        return _joined(match["value"], match["kind"])
    value = _literal(text)
    return f"{text.strip()}; {value}" if value else None


def _joined(value: str, kind: str) -> str:
    """The answer in its form. A word of which the reply says itself that it is a str is that string."""
    value, kind = _bare(value), kind.rstrip(".")
    if kind.lower() in ("str", "string") and not _literal(value) and re.fullmatch(r"[^\"'`\n()=]+", value):
        value = repr(value)
    return f"{value}; {kind}"


def _state_in_words(text: str) -> str | None:
    for match in reversed(list(_SAID.finditer(text[-20_000:]))):
        if _known(match["kind"]) and _literal(_bare(match["value"])):
            return _joined(match["value"], match["kind"])
    for match in reversed(list(_SENTENCE.finditer(text[-20_000:]))):
        if _known(match["kind"]) and _literal(_bare(match["value"])):
            return _joined(match["value"], match["kind"])
    return "Nil" if _NOT_RUN.search(text) else None


def _bare(text: str) -> str:
    text = text.strip()
    text = _NAMES.sub("", text)
    return text.strip("`").strip() if text.count("`") in (1, 2) else text


def _known(kind: str) -> bool:
    return re.sub(r"\[.*", "", kind).rstrip(".").lower() in _KINDS


def _literal(text: str) -> str | None:
    """The type's name where the text is a literal."""
    try:
        return type(literals.parse(text)).__name__
    except LiteralError:
        return None


# -- class outputs ------------------------------------------------------------------------------------------------------


def test_code(text: str, *, truncated: bool) -> str | Missed:
    """The completed test: an answer place, else the last fence that asserts something, else the whole text."""
    found = find(text, _code, _code_in_fence, truncated=truncated)
    if isinstance(found, Missed) and found.status == "no_answer" and "assert" in text and not truncated and "??" not in text:
        return _code(text) or found
    return found


def _code(text: str) -> str | None:
    fences = [match[1] for match in _FENCE.finditer(text)]
    code = (next((f for f in reversed(fences) if "assert" in f), fences[-1]) if fences else text).strip("\n")
    prose = not fences and re.search(r"(?:\b[a-z]+ ){5}", code)
    return code if re.search(r"\bassert\w*\b", code) and "??" not in code and not prose else None


def _code_in_fence(text: str) -> str | None:
    return _code(text) if "```" in text else None
