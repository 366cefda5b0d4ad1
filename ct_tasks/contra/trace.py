"""The true trace of one call, and the perfect ConTra text for it (spec section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.program import Program

TAGS = (
    "[TRACE]",
    "[/TRACE]",
    "[CODE]",
    "[/CODE]",
    "[THOUGHT]",
    "[/THOUGHT]",
    "[LOCALS]",
    "[/LOCALS]",
    "[RETURN]",
    "[/RETURN]",
)


@dataclass(frozen=True)
class Block:
    """One executed block: its lines from ``LINENO start`` on, the locals at its end (plain values), its weight."""

    start: int
    lines: tuple[str, ...]
    locals: Mapping[str, object]
    weight: int = 1

    @property
    def stop(self) -> int:
        return self.start + len(self.lines)

    @cached_property
    def locals_text(self) -> str:
        """The locals as the LOCALS section shows them."""
        return literals.dump(dict(self.locals))


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened: the blocks that ran, in order, and the value returned (plain)."""

    program: Program
    call: str
    blocks: tuple[Block, ...]
    returned: object = field(default=None)

    @property
    def weights(self) -> tuple[int, ...]:
        return tuple(block.weight for block in self.blocks)

    def to_json(self) -> dict[str, Any]:
        """JSON-able form; values travel as literal text, so that tuples, sets and ``inf`` survive."""
        program = self.program
        return {
            "lines": list(program.lines),
            "entry": program.entry,
            "before": program.before,
            "after": program.after,
            "call": self.call,
            "returned": literals.dump(self.returned),
            "blocks": [
                {"start": b.start, "stop": b.stop, "weight": b.weight, "locals": b.locals_text} for b in self.blocks
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Truth:
        """Inverse of ``to_json``."""
        program = Program(tuple(data["lines"]), data["entry"], data["before"], data["after"])
        blocks = []
        for row in data["blocks"]:
            values = literals.parse(row["locals"])
            assert isinstance(values, dict)
            blocks.append(Block(row["start"], program.lines[row["start"] : row["stop"]], values, row["weight"]))
        return cls(program, data["call"], tuple(blocks), literals.parse(data["returned"]))


def render(truth: Truth, thoughts: Sequence[str] | None = None) -> str:
    """The ConTra text of a true trace, with one THOUGHT a block (empty by default).

    Raises ``ValueError`` when the number of thoughts is not the number of blocks or a thought holds a tag: such a text
    would not pass the format check.
    """
    if thoughts is None:
        thoughts = [""] * len(truth.blocks)
    if len(thoughts) != len(truth.blocks):
        raise ValueError(f"{len(thoughts)} thoughts for {len(truth.blocks)} blocks")
    out = ["[TRACE]"]
    for block, thought in zip(truth.blocks, thoughts, strict=True):
        tag = next((t for t in TAGS if t in thought), None)
        if tag:
            raise ValueError(f"a thought must not hold the tag {tag}")
        out += ["[CODE]", *code_lines(block), "[/CODE]", "[THOUGHT]"]
        out += [thought] if thought else []
        out += ["[/THOUGHT]", "[LOCALS]", block.locals_text, "[/LOCALS]"]
    out += ["[RETURN]", f"assert {truth.call} == {literals.dump(truth.returned)}", "[/RETURN]", "[/TRACE]"]
    return "\n".join(out)


def code_lines(block: Block) -> list[str]:
    """The CODE section's lines: ``[LINENO X]``, four spaces, the source line."""
    return [f"[LINENO {block.start + i}]    {line}" for i, line in enumerate(block.lines)]
