"""The worked example of one-shot prompts. Its values are computed: ``python -m ct_tasks.paradigms.example`` writes
``example.json`` from the program below, and a test compares the two."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ct_tasks.contra.trace import Truth
from ct_tasks.options import SEGMENTATIONS
from ct_tasks.paradigms.base import Problem, Side

CODE = """\
def weave(words, width):
    out = []
    for word in words:
        if len(word) > width:
            out.append(word[:width])
        else:
            out.insert(0, word)
    total = sum(len(w) for w in out)
    return out, total"""
ENTRY = "weave"
CALL = 'weave(["plum", "fig", "cherry"], 4)'

THOUGHTS = (
    'The function starts with words = ["plum", "fig", "cherry"] and width = 4. out is a new empty list.',
    'The loop takes the three words in turn. "plum" has 4 letters, not more than 4, so it goes to the front: ["plum"]. '
    '"fig" has 3 letters and goes to the front: ["fig", "plum"]. "cherry" has 6 letters, more than 4, so its first four '
    'letters go to the end: ["fig", "plum", "cher"]. word keeps the last word, "cherry".',
    "The lengths 3, 4 and 4 add up to 11, so total is 11. The name w exists only inside the generator. The function "
    "returns the pair (out, total).",
)
BACKWARD = (
    "The result is a pair: three words and the number 11, the sum of their lengths. A word that is too long is cut and put "
    'at the end, a short one is put at the front. "cher" stands last, so it can be the cut of a longer word with width 4, '
    'handled last. Before it the list was ["fig", "plum"]: "fig" came after "plum", both at most 4 letters long. So the '
    'words "plum", "fig", "cherry" and the width 4 give this result.'
)
MONOLOGUE = """\
# [L1] The call starts with words = ["plum", "fig", "cherry"] and width = 4.
# [L2] out becomes an empty list.
# [L3] The loop takes "plum", then "fig", then "cherry".
# [L4] "plum" has 4 letters and "fig" has 3: neither is longer than 4. "cherry" has 6: it is.
# [L7] So "plum" and then "fig" go to the front, which gives ["fig", "plum"].
# [L5] "cherry" is cut to "cher" and goes to the end: ["fig", "plum", "cher"].
# [L8] total is 3 + 4 + 4 = 11.
# [L9] The function returns (["fig", "plum", "cher"], 11)."""

_FILE = Path(__file__).with_name("example.json")


@cache
def truth(segmentation: str) -> Truth:
    """The true trace of the example."""
    return Truth.from_json(json.loads(_FILE.read_text())["truths"][segmentation])


@cache
def problem(side: Side) -> Problem:
    """The example as a problem."""
    return Problem(CODE, ENTRY, CALL, json.loads(_FILE.read_text())["output"], side)


def prose(asked: Problem) -> str:
    """The example's reasoning in plain words; empty for any other problem."""
    if asked.code != CODE:
        return ""
    return "\n".join(THOUGHTS) if asked.side == "output" else BACKWARD


def compute() -> str:
    """The text of ``example.json``. Runs the example program in this process, which is our own."""
    from ct_tasks.contra import literals
    from ct_tasks.contra.tracer import trace_call

    truths = {name: trace_call(CODE, CALL, segmentation=name) for name in SEGMENTATIONS}
    value = truths["statement"].returned
    return json.dumps({"output": literals.dump(value), "truths": {k: t.to_json() for k, t in truths.items()}}, indent=1) + "\n"


if __name__ == "__main__":
    _FILE.write_text(compute())
