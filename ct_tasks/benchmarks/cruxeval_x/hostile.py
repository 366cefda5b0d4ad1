"""Answers that must not score in any language: they would pass the benchmark's own check without knowing the value."""

from __future__ import annotations

from ct_tasks.benchmarks.cruxeval_x.rows import GAP, Parts
from ct_tasks.execution.languages.base import Language

_EXITS = {
    "cpp": "(std::exit(0), 0)", "cs": "(new System.Func<int>(() => { System.Environment.Exit(0); return 0; }))()", "d": "(() { import core.stdc.stdlib; exit(0); return 0; }())",
    "go": "func() int { os.Exit(0); return 0 }()", "java": "((java.util.function.Supplier<Object>) () -> { System.exit(0); return null; }).get()", "jl": "exit(0)",
    "js": "process.exit(0)", "ts": "process.exit(0)", "lua": "os.exit(0)", "php": "exit(0)", "pl": "exit(0)", "py": "__import__('os')._exit(0)", "r": "quit(status = 0)",
    "rb": "exit!(0)", "rkt": "(exit 0)", "rs": "{ std::process::exit(0); 0 }", "scala": "{ System.exit(0); 0 }", "sh": "$(kill $$)", "swift": "{ exit(0) }()",
}  # fmt: skip
_TRUE = {
    "jl": "true",
    "lua": "true or true",
    "pl": "1 || 1",
    "py": "0 or True",
    "r": "TRUE || TRUE",
    "rkt": "#t",
    "sh": "* ",
    "php": "0 || true",
}
_ASSIGNMENT = {"sh": '"${x:=0}"'}  # to a shell ``x := 0`` is three plain words, an input like any other
_COMMENT = {
    "jl": "0) #",
    "lua": "0) --",
    "pl": "0)) { } #",
    "py": "0 or True #",
    "r": "0) #",
    "rb": "0) #",
    "rkt": "0) ;",
    "sh": '"" ]] || true #',
    "php": "0 || true) { } //",
}


def texts(language: Language, parts: Parts | None, side: str) -> dict[str, str]:
    """Kind to answer, for one item."""
    name = language.name
    call = _call(language, parts)
    found = {
        "echoed call": call, "echoed call in brackets": f"({call})", "true at the end": f"0 {'||' if name not in _TRUE else ''} {_TRUE.get(name, 'true')}",
        "exit": _EXITS[name], "comment": _COMMENT.get(name, "0 || true) //"), "closed early": "0)); (", "semicolon": "0; 0", "the gap itself": GAP,
        "empty": "", "prose": "I think the answer is the same as before.", "prompt echo": parts.check if parts else GAP, "two lines": "0\n0",
        "open string": '"abc', "brackets": "[" * 5000, "NUL": "\x00", "huge number": "9" * 30_000, "another function": f"{'g' if name != 'rkt' else '(g'}(1)",
        "shell": "$(true)", "backquote": "`echo true`", "format": 'f"{f(1)}"', "assignment": _ASSIGNMENT.get(name, "x := 0"), "lambda": "(lambda: 0)()", "wrong value": '"no such value \\u2603 at all"',
        "condition": "1 == 1 ? 0 : 0", "pattern": "*",
    }  # fmt: skip
    if side == "input":
        before, _, after = language.slot.partition(GAP)
        found = {
            kind: before + text + after if kind not in ("empty", "prose") else text for kind, text in found.items()
        }
        found.pop("wrong value")
        found.pop("huge number")
        found["no call"] = "0"
        found["another call"] = "print(0)"
    return found


def _call(language: Language, parts: Parts | None) -> str:
    """The call that the check itself makes, taken from the check."""
    if parts is None:
        return language.slot.replace(GAP, "0")
    before = language.slot.partition(GAP)[0]
    at = parts.check.find(before)
    if at < 0:
        return language.slot.replace(GAP, "0")
    depth, position = 0, at
    while position < len(parts.check):
        depth += parts.check[position] in "([{"
        depth -= parts.check[position] in ")]}"
        position += 1
        if depth == 0 and parts.check[position - 1] in ")]}":
            break
    return parts.check[at:position]
