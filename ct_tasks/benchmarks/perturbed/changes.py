"""The changes, as text: other inputs, other names, other constants, another structure. Nothing runs here."""

from __future__ import annotations

import ast
import copy
import random
import string
from collections.abc import Iterator

from ct_tasks.contra import literals

MISLEADING = (
    "length", "index", "count", "total", "result", "text", "items", "flag", "key", "value", "left", "right", "start", "end",
    "size", "words", "number", "found", "limit", "step", "lines", "letters", "pairs", "mapping",
)  # fmt: skip


# Inputs


def inputs(call: str, rng: random.Random) -> Iterator[str]:
    """Endless calls of the same function whose arguments have the type and shape of the given ones: numbers shifted, letters
    exchanged for letters of their class, elements in another order. Empty when an argument is no literal."""
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    try:
        args = [literals.from_node(a) for a in tree.args]
        named = [(k.arg, literals.from_node(k.value)) for k in tree.keywords]
    except literals.LiteralError:
        return
    while True:
        parts = [literals.dump(_other(a, rng)) for a in args]
        parts += [f"{name}={literals.dump(_other(value, rng))}" for name, value in named]
        yield f"{ast.unparse(tree.func)}({', '.join(parts)})"


def loose(call: str, rng: random.Random) -> Iterator[str]:
    """Endless calls whose arguments have the given types and any shape: to tell programs apart, not to ask about."""
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    try:
        args = [literals.from_node(a) for a in (*tree.args, *(k.value for k in tree.keywords))]
    except literals.LiteralError:
        return
    names = [*("" for _ in tree.args), *(f"{k.arg}=" for k in tree.keywords)]
    while True:
        parts = [name + literals.dump(_any(a, rng)) for name, a in zip(names, args, strict=True)]
        yield f"{ast.unparse(tree.func)}({', '.join(parts)})"


def _any(value: object, rng: random.Random) -> object:
    match value:
        case bool() | None:
            return rng.choice((True, False, None, 0, 1, 7))
        case int():
            return rng.randint(-20, 60)
        case float():
            return round(rng.uniform(-20, 60), 2)
        case str():
            return "".join(rng.choice((value or "aB1 ,") + "abZ9 -") for _ in range(rng.randint(0, 9)))
        case list() | tuple():
            kind = value[0] if value else rng.choice((1, "ab"))
            made = [_any(rng.choice(value) if value else kind, rng) for _ in range(rng.randint(0, 6))]
            return made if isinstance(value, list) else tuple(made)
        case dict():
            pairs = list(value.items()) or [("a", 1)]
            return {_any(k, rng): _any(v, rng) for k, v in rng.choices(pairs, k=rng.randint(0, 4))}
    return value


def _other(value: object, rng: random.Random) -> object:
    match value:
        case bool():
            return rng.random() < 0.5
        case int():
            step = rng.choice((-3, -2, -1, 0, 1, 2, 3))
            return value + step if value >= 3 or value < 0 else max(0, value + step)  # a small count stays a count
        case float():
            return round(value + rng.choice((-1.5, -0.5, 0.0, 0.5, 1.5)), 4)
        case str():
            return "".join(_letter(ch, value, rng) if rng.random() < 0.35 else ch for ch in value)
        case list():
            made = [_other(v, rng) for v in value]
            if len(made) > 1 and rng.random() < 0.5:
                i, j = rng.sample(range(len(made)), 2)
                made[i], made[j] = made[j], made[i]
            return made
        case tuple():
            return tuple(_other(v, rng) for v in value)
        case dict():
            return {k if rng.random() < 0.7 else _other(k, rng): _other(v, rng) for k, v in value.items()}
    return value


def _letter(ch: str, text: str, rng: random.Random) -> str:
    for letters in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        if ch in letters:
            known = [c for c in text if c in letters]
            return rng.choice(known) if rng.random() < 0.5 else rng.choice(letters)
    return ch


# Names


def renamed(code: str, rng: random.Random, *, misleading: bool) -> str | None:
    """The program with other names for its parameters and variables: ``v1``, ``v2`` ... or words that say something else. The
    layout stays. None where a name cannot be replaced in place (inside an f-string, after ``nonlocal`` ...)."""
    tree = ast.parse(code)
    bound: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef, ast.JoinedStr)):
            return None
        if isinstance(node, ast.ExceptHandler) and node.name:
            return None
        if isinstance(node, ast.arg):
            bound[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = None
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | set(bound)
    if misleading:
        free = [w for w in MISLEADING if w not in used]
        if len(free) < len(bound):
            return None
        new = dict(zip(bound, rng.sample(free, len(bound)), strict=True))
    else:
        new = {name: f"v{i}" for i, name in enumerate(bound, 1)}
        if set(new.values()) & (used - set(bound)):
            return None
    lines = [line.encode() for line in code.split("\n")]
    places = [(n.lineno, n.col_offset, n.id) for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in new]
    places += [(n.lineno, n.col_offset, n.arg) for n in ast.walk(tree) if isinstance(n, ast.arg)]
    for line, column, name in sorted(places, reverse=True):
        text, old = lines[line - 1], name.encode()
        if text[column : column + len(old)] != old:
            return None
        lines[line - 1] = text[:column] + new[name].encode() + text[column + len(old) :]
    return "\n".join(line.decode() for line in lines)


# Constants


def constants(code: str, rng: random.Random) -> Iterator[str]:
    """Endless versions of the program in which one number or one text of it is another; nothing when it has none."""
    tree = ast.parse(code)
    quiet = {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in ast.walk(n)}
    quiet |= {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    found = [
        n for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and type(n.value) in (int, str) and n.value != "" and id(n) not in quiet
        and n.lineno == n.end_lineno
    ]  # fmt: skip
    while found:
        node = rng.choice(found)
        value = node.value
        if isinstance(value, int):
            new: object = value + rng.choice((-2, -1, 1, 2))
        else:
            assert isinstance(value, str)
            at = rng.randrange(len(value))
            letters = string.ascii_lowercase.replace(value[at], "")
            new = value[:at] + rng.choice(letters) + value[at + 1 :]
        lines = [line.encode() for line in code.split("\n")]
        text = lines[node.lineno - 1]
        lines[node.lineno - 1] = text[: node.col_offset] + repr(new).encode() + text[node.end_col_offset :]
        yield "\n".join(line.decode() for line in lines)


# Structure


def restructured(code: str, rng: random.Random) -> str:
    """A program that means the same, written in another way. Everywhere in ``f`` that it applies: a ``for`` over a range becomes
    a ``while`` with a position, a list comprehension that is assigned or returned a loop, an ``and`` or ``or`` of an ``if`` its
    De Morgan form; and code without effect is put in front. Comments are lost and the layout is that of ``ast.unparse``."""
    tree = copy.deepcopy(ast.parse(code))
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f")
    rewriter = _Rewriter(used)
    function.body = rewriter.block(function.body)
    free = next(w for w in ("spare", "unused", "extra_", "unused_2") if w not in used)
    dead = ast.parse(f"{free} = {rng.randint(2, 99)}\nif {free} < 0:\n    {free} += 1").body
    first = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    function.body[int(first) : int(first)] = dead
    return ast.unparse(ast.fix_missing_locations(tree))


class _Rewriter:
    """Rewrites statements; ``used`` are names that are not free."""

    def __init__(self, used: set[str]) -> None:
        self.used = used

    def name(self, stem: str) -> str:
        found = next(n for n in (stem, *(f"{stem}_{i}" for i in range(2, 999))) if n not in self.used)
        self.used.add(found)
        return found

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            out += self.statement(statement)
        return out

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            scope = isinstance(node, (ast.FunctionDef, ast.ClassDef))
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt) and not scope:
                setattr(node, field, self.block(inner))
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.ListComp() as made) if _simple(made):
                return self.loop(made, target)
            case ast.Return(value=ast.ListComp() as made) if _simple(made):
                target = self.name("made")
                return [*self.loop(made, target), ast.Return(ast.Name(target, ast.Load()))]
            case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range")), orelse=[]):
                return self.counted(node)
            case ast.If(test=ast.BoolOp(op=op, values=values)):
                other: ast.boolop = ast.Or() if isinstance(op, ast.And) else ast.And()
                turned = [ast.UnaryOp(ast.Not(), v) for v in values]
                node.test = ast.UnaryOp(ast.Not(), ast.BoolOp(other, list[ast.expr](turned)))
        return [node]

    def loop(self, made: ast.ListComp, target: str) -> list[ast.stmt]:
        part = made.generators[0]
        assert isinstance(part.target, ast.Name)
        each = self.name("each")  # a comprehension's variable lives in it alone
        source, filters, element = (
            part.iter, [_put(c, part.target.id, each) for c in part.ifs], _put(made.elt, part.target.id, each)
        )  # fmt: skip
        result = self.name("gathered")
        body: list[ast.stmt] = [ast.parse(f"{result}.append(0)").body[0]]
        call = body[0]
        assert isinstance(call, ast.Expr)
        assert isinstance(call.value, ast.Call)
        call.value.args = [element]
        for test in reversed(filters):
            body = [ast.If(test, body, [])]
        return [
            ast.Assign([ast.Name(result, ast.Store())], ast.List([], ast.Load()), lineno=0),
            ast.For(ast.Name(each, ast.Store()), source, body, [], lineno=0),
            ast.Assign([ast.Name(target, ast.Store())], ast.Name(result, ast.Load()), lineno=0),
        ]

    def counted(self, node: ast.For) -> list[ast.stmt]:
        """A loop over a range as a while loop over the same range with a position of its own."""
        steps, at = self.name("steps"), self.name("at")
        head = ast.parse(f"{steps} = 0\n{at} = 0").body
        assert isinstance(head[0], ast.Assign)
        head[0].value = node.iter
        loop = ast.parse(f"while {at} < len({steps}):\n    x = {steps}[{at}]\n    {at} += 1").body[0]
        assert isinstance(loop, ast.While)
        assert isinstance(loop.body[0], ast.Assign)
        loop.body[0].targets = [node.target]
        loop.body += node.body
        return [*head, loop]


def _simple(made: ast.ListComp) -> bool:
    """One ``for`` over one name, and nothing inside that has a scope of its own."""
    scopes = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.NamedExpr, ast.Await)
    inner = any(isinstance(n, scopes) for n in ast.walk(made) if n is not made)
    return len(made.generators) == 1 and isinstance(made.generators[0].target, ast.Name) and not inner


def _put(node: ast.expr, old: str, new: str) -> ast.expr:
    node = copy.deepcopy(node)
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name.id == old:
            name.id = new
    return node
