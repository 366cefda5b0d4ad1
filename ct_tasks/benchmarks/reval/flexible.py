"""The flexible reading of REval's tasks: what a careful person takes as the answer to a probe or as the completed test.

The answer is made into the form that the strict reading judges: YES or NO, a source line or -1, ``value; type`` or Nil, test
code. As for output prediction an answer place in any spelling comes first and the last word counts, then a line or a sentence
that answers; what is taken back is none, and of a reply that was cut only a closed place, a place on
finished lines, its first words or line, or what it repeats until the end counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ct_tasks.paradigms import pieces
from ct_tasks.paradigms.extraction import Missed
from ct_tasks.paradigms.flexible import MAX_TEXT, certain, taken_back
from ct_tasks.paradigms.places import places

Read = Callable[[str], str | None]
_TAG_LINE = re.compile(r"^\s*\[/?(?:THOUGHT|PYTHON|QUESTION)\]\s*$|^\s*(?:THOUGHT|ANSWER|Thought|Answer):\s*$", re.MULTILINE)
_CLOSED_FENCE = re.compile(r"```[\w+-]*\n(.*?)\n[ \t]*```", re.DOTALL)
_VALUE_IS = re.compile(
    r"\b(?:(?:missing|completed?|correct|expected|final|returned?)\s+value|answer|output|result)\b[^\n]{0,100}?"
    r"(?:\b(?:is|be)\b|:)\s*`?",
    re.IGNORECASE,
)
_ASSERTION = re.compile(r"(?:self\.)?assert\w+\((?:(?!\?\?).)+\)")
_FENCE = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)


def find(text: str, piece: Read, prose: Read, *, truncated: bool, head: bool = False) -> str | Missed:
    """The answer of a visible reply. ``piece`` reads an answer place or a line of its own, ``prose`` running text; each gives
    None where there is none. ``head``: the first words alone can answer, so they count in a cut reply too."""
    text = text[-MAX_TEXT:]
    unreadable = None
    for spot in reversed(places(text)):
        inside = spot.text if not spot.lone else _TAG_LINE.sub("", spot.text).strip().rpartition("\n\n")[2]
        if truncated and not spot.closed:
            inside = inside.rpartition("\n")[0]
        if not inside.strip(" `*.\n") or inside.strip(" `*.\n").lower() == "and":
            continue
        found = piece(inside) or (None if spot.lone else prose(inside))
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
    found = prose(bare if not truncated else re.split(r"[,.\n]", bare, maxsplit=1)[0] if head else "")
    if found is None and truncated and certain(text) and (sure := certain(bare)):  # not inside a thought
        found = piece(sure) or prose(sure)
    if found is None or taken_back(bare, min(len(bare), 40)):
        return Missed("no_answer", "no answer in the text")
    return found


# -- coverage ---------------------------------------------------------------------------------------------------------

_YES_NO = re.compile(r"(YES|NO)(?=$|\s*[.,:;!(\n—–-]|\s*$|\s+(?:because|since|as)\b)", re.IGNORECASE)
_SAYS = re.compile(
    r"(?:\banswer\s*(?:is|:)|^[ \t]*(?:therefore|thus|hence|so),?)[\s:`*\"'\[]*(YES|NO)\b(?!\s+(?:line|other|such|more)\b)",
    re.IGNORECASE | re.MULTILINE,
)
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


# -- class outputs ------------------------------------------------------------------------------------------------------


def completed_test(text: str, masked: str, *, truncated: bool) -> str | Missed:
    """The completed test: an answer place, else the last fence that asserts something, else the assertions on lines of their own
    or in backticks. ``masked`` is the test with its gaps: a literal alone completes a test that has one."""

    def filled(said: str) -> str | None:
        value = pieces.whole(pieces.clean(said))
        return masked.replace("??", value.text) if value and masked.count("??") == 1 else _code(said)

    found = find(text, filled, _code_in_fence, truncated=truncated)
    if not isinstance(found, Missed) or found.status != "no_answer" or taken_back(text, 0):
        return found
    if truncated:
        closed = [match[1] for match in _CLOSED_FENCE.finditer(text) if _code(match[1])]
        return closed[-1].strip("\n") if closed else found
    return _code(text) or _assertions(text) or _value_in_words(text, masked) or found


def _value_in_words(text: str, masked: str) -> str | None:
    """The test with its one gap filled by what "the missing value is `6`" says, the last time it is said."""
    for match in reversed(list(_VALUE_IS.finditer(text[-20_000:]))):
        value = pieces.literal_at(text[-20_000:], match.end())
        if value and masked.count("??") == 1 and not pieces.goes_on(text[-20_000:], value[0], code=False):
            return masked.replace("??", value[1].text)
    return None


def _code(text: str) -> str | None:
    fences = [match[1] for match in _FENCE.finditer(text)]
    code = (next((f for f in reversed(fences) if "assert" in f), fences[-1]) if fences else text).strip("\n")
    prose = not fences and re.search(r"(?:\b[a-z]+ ){5}", code)
    return code if re.search(r"\bassert\w*\b", code) and "??" not in code and not prose else None


def _code_in_fence(text: str) -> str | None:
    return _code(text) if "```" in text else None


def _assertions(text: str) -> str | None:
    """The assertions on lines of their own, else the last one in backticks."""
    own = [row.strip() for row in text.split("\n") if _ASSERTION.fullmatch(row.strip())]
    ticked = [match[1] for match in re.finditer(r"`([^`\n]+)`", text) if _ASSERTION.fullmatch(match[1].strip())]
    return "\n".join(dict.fromkeys(own)) or (ticked[-1].strip() if ticked else None)
