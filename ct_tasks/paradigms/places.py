"""Where a reply puts its answer: between tags in any spelling, or in a box."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PLACES = 256
_TAG = re.compile(
    r"\[(?P<close>[/\\]?) ?"
    r"(?P<name>(?i:(?:final )?answer)|RETURN|OUTPUT|RESULT|THOUGHT|PYTHON|TRACE|LOCALS|CODE|MONOLOGUE"
    r"|QUESTION|Python|python) ?(?:\]|(?=\n)|$)"
    r"|<(?P<xclose>/?)(?P<xname>(?i:answer|output|result|reasoning))>"
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_ANSWERS = ("answer", "final answer", "return", "output", "result")
_IN_CODE = re.compile(r"(?:\breturn|[=(,\[+])\s*$|[\w\])]$")


@dataclass(frozen=True, slots=True)
class Place:
    """One answer place. ``closed``: something ended it. ``lone``: only a closing tag stood there, and the text is what comes
    before it."""

    at: int
    end: int
    text: str
    closed: bool
    lone: bool = False
    box: bool = False


@dataclass(frozen=True, slots=True)
class _Tag:
    at: int
    end: int
    answer: bool
    close: bool


def places(text: str) -> list[Place]:
    """Answer places in order, the last ``MAX_PLACES`` at most."""
    return sorted(_tagged(text) + _boxed(text), key=lambda p: p.at)[-MAX_PLACES:]


def without_tags(text: str) -> str:
    """The text between the tags."""
    return _TAG.sub("", text)


def _tagged(text: str) -> list[Place]:
    tags = _tags(text)
    found = []
    used = -1  # an opening tag that closed the place before it opens none
    for i, tag in enumerate(tags):
        following = tags[i + 1] if i + 1 < len(tags) else None
        stop = following.at if following else len(text)
        inside = text[tag.end : stop]
        if tag.answer and not tag.close and i != used:
            again = following is not None and following.answer and not following.close
            if again and inside.strip() and _ends_here(text, tags, i + 1):
                used = i + 1
            found.append(Place(tag.at, following.end if following else stop, inside, following is not None))
        elif tag.close and tag.answer and (i == 0 or not _opens(tags[i - 1]) or i - 1 == used):
            before = text[tags[i - 1].end if i else 0 : tag.at]
            found.append(Place(tag.at - len(before), tag.end, before, True, lone=True))
    return found


def _opens(tag: _Tag) -> bool:
    return tag.answer and not tag.close


def _ends_here(text: str, tags: list[_Tag], i: int) -> bool:
    """Whether an opening tag stands where a closing one belongs: nothing of an answer follows it."""
    stop = tags[i + 1].at if i + 1 < len(tags) else len(text)
    return not text[tags[i].end : stop].strip() and (i + 1 == len(tags) or not tags[i + 1].close)


def _tags(text: str) -> list[_Tag]:
    found = []
    for match in _TAG.finditer(text):
        name = (match["name"] or match["xname"]).lower()
        close = bool(match["close"] or match["xclose"])
        before = text[max(0, match.start() - 12) : match.start()]
        if match["name"] and match["name"].islower() and not close and _IN_CODE.search(before):
            continue  # a list in the program, not a tag
        found.append(_Tag(match.start(), match.end(), name in _ANSWERS, close))
    return found[-2 * MAX_PLACES :]


def _boxed(text: str) -> list[Place]:
    found = []
    for match in list(_BOX.finditer(text))[-MAX_PLACES:]:
        depth, end = 1, -1
        for brace in re.compile(r"\\.|[{}]").finditer(text, match.end(), match.end() + 20_000):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                end = brace.start()
                break
        if end >= 0:
            inside = text[match.end() : end].replace("\\{", "{").replace("\\}", "}").replace("\\_", "_")
            found.append(Place(match.start(), end + 1, inside, True, box=True))
    return found
