"""Which programs may share a child with others: those that provably cannot reach anything that outlives them.

A program that shares an interpreter could patch it and so decide what later programs compute. No check made *afterwards*
inside the same process is proof against that, so sharing is decided *before*, from the syntax tree, by a closed list:
built-in functions that neither look anything up by name nor run text, a few modules with a few functions each, attribute
names that are methods of plain values, no class patterns, no special methods, no attribute stores where anything mutable
of ours is in reach. What is left can compute, and can neither name nor receive a frame, a module's dictionary, a code
object or the built-in scope. Everything else, harmless or not, gets a child of its own. ``Watch`` checks the interpreter
again after every program, in case this reasoning or CPython has a hole.
"""

from __future__ import annotations

import ast
import builtins
import functools
import gc
import importlib
import re
import sys
import types
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, Final

MAX_SOURCE: Final = 20_000


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILTINS: Final = _words(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset "
    "hash hex int isinstance issubclass iter len list map max min next object oct ord pow print range repr reversed "
    "round set slice sorted str sum tuple zip True False None Ellipsis NotImplemented __name__"
) | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and not name.startswith("_")
}
_HIDDEN: Final = frozenset(dir(builtins)) - _BUILTINS  # getattr, eval, open, type, vars, super, __import__ ...

_MODULES: Final[dict[str, frozenset[str]]] = {
    "math": frozenset(n for n in dir(importlib.import_module("math")) if not n.startswith("_")),
    "cmath": frozenset(n for n in dir(importlib.import_module("cmath")) if not n.startswith("_")),
    "itertools": frozenset(n for n in dir(importlib.import_module("itertools")) if not n.startswith("_")),
    "heapq": _words("heapify heappop heappush heappushpop heapreplace nlargest nsmallest"),
    "bisect": _words("bisect bisect_left bisect_right insort insort_left insort_right"),
    "collections": _words("Counter OrderedDict defaultdict deque"),
    "functools": _words("cache cmp_to_key lru_cache reduce"),
    "operator": _words("add and_ eq floordiv ge gt itemgetter le lt mod mul ne neg or_ sub truediv xor"),
    "string": _words(
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace"
    ),
    "re": _words(
        "compile escape findall finditer fullmatch match search split sub subn A I M S X ASCII DOTALL IGNORECASE MULTILINE "
        "VERBOSE"
    ),
    "copy": frozenset({"copy", "deepcopy"}),
    "typing": _words(
        "Any Callable DefaultDict Deque Dict FrozenSet Generator Iterable Iterator List Mapping Optional Sequence Set "
        "Tuple Type Union"
    ),
}


def _public(kind: object) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


_VALUES: Final = (
    str, bytes, bytearray, int, float, complex, bool, list, tuple, dict, set, frozenset, range, slice, deque, Counter,
    OrderedDict, defaultdict, re.Pattern, re.Match,
)  # fmt: skip


def _introspective() -> frozenset[str]:
    """Names that lead from a value to the machinery: never allowed, even where a program has a field of that name."""

    def generator() -> typing.Iterator[int]:
        yield 0

    async def coroutine() -> None:
        return None

    async def stream() -> typing.AsyncIterator[int]:
        yield 0

    waiting = coroutine()
    waiting.close()
    machinery: list[object] = [
        types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.CodeType, types.FrameType,
        types.TracebackType, types.ModuleType, types.CellType, types.MappingProxyType, type, property, staticmethod,
        classmethod, functools.partial, functools.lru_cache(lambda: 0), generator(), waiting, stream(),
    ]  # fmt: skip
    names = set().union(*map(_public, machinery))
    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            names |= _public(value)
    for module, exported in _MODULES.items():
        names |= _public(importlib.import_module(module)) - exported
    return frozenset(names - set().union(*map(_public, _VALUES)) - {"args", "value"})


_INTROSPECTIVE: Final = _introspective()
_METHODS: Final = frozenset(
    (set().union(*map(_public, _VALUES)) | set().union(*_MODULES.values()) | {"args", "value", "__name__"})
    - _INTROSPECTIVE
)
_SPECIAL_DEFINITIONS: Final = frozenset({"__init__", "__str__", "__repr__"})

_NODES: Final = frozenset(
    getattr(ast, name)
    for name in _words(
        "Module Expression Interactive FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For While If With Raise "
        "Try Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp Lambda IfExp "
        "Dict Set ListComp SetComp DictComp GeneratorExp Yield YieldFrom Compare Call FormattedValue JoinedStr Constant "
        "Attribute Subscript Starred Name List Tuple Slice Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift "
        "RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn comprehension "
        "ExceptHandler arguments arg keyword alias withitem Match match_case MatchValue MatchSingleton MatchSequence "
        "MatchMapping MatchStar MatchAs MatchOr"
    )
)


_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DOTTED: Final = re.compile(r"\.\s*([A-Za-z_]\w*)", re.ASCII)
_UNSEEN: Final = _HIDDEN | {"import", "class", "case", "async", "await", "yield"}


def inert(job: dict[str, Any]) -> bool:
    """Whether all program text of the job is on the closed list. A hook's program is under ``source``, ``call`` and
    ``prelude`` of its payload; a hook without ``source`` is not judged, and so not shared."""
    if job.get("stdin") is not None:
        return False
    texts = [job["code"], job.get("expr")]
    if job.get("hook"):
        payload = job.get("payload", {})
        if not isinstance(payload.get("source"), str):
            return False
        texts += [payload.get(key) for key in ("source", "call", "prelude")]
    present = [text for text in texts if isinstance(text, str) and text]
    if sum(map(len, present)) > MAX_SOURCE:
        return False
    if all(map(_lexically_inert, present)):
        return True
    try:
        trees = [ast.parse(text.lstrip(" \t") if text is job.get("expr") else text) for text in present]
        return _Judge(trees).inert()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _lexically_inert(text: str) -> bool:
    """A fast answer for most programs, from words alone: no import, class, generator, class pattern or comment (which
    could stand between a dot and a name), no hidden name anywhere, and after every dot a method of plain values. False
    means: look closer."""
    if not text.isascii() or "#" in text or "\\\n" in text or "\\\r" in text or "\f" in text:
        return False
    return _UNSEEN.isdisjoint(_WORD.findall(text)) and _METHODS.issuperset(_DOTTED.findall(text)) and "__" not in text


class _Judge:
    """Walks the trees once for what they define, once for what they use."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.nodes = [node for tree in trees for node in ast.walk(tree)]
        self.fields: set[str] = set()
        self.imports = False
        self.finalisers = False  # a generator that is thrown away runs its finally, at whatever time that is
        self.compared: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                self.fields |= {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
                self.fields |= {
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                self.fields.add(node.attr)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imports = True
            elif isinstance(node, ast.Try | ast.With) and any(map(_yields, ast.walk(node))):
                self.finalisers = True
            elif isinstance(node, ast.Compare):  # type(x) may be compared; as a value it would be a constructor
                self.compared |= {id(side) for side in [node.left, *node.comparators]}

    def inert(self) -> bool:
        return not self.finalisers and all(self._allowed(node) for node in self.nodes)

    def _allowed(self, node: ast.AST) -> bool:
        if type(node) not in _NODES:
            return False
        match node:
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(attr=attr, ctx=ast.Load()):
                return attr in _METHODS or (attr in self.fields and attr not in _INTROSPECTIVE and _plain(attr))
            case ast.Attribute(attr=attr):
                return not self.imports and attr not in _INTROSPECTIVE and _plain(attr)
            case ast.Call(func=ast.Name(id="type") as called, args=[_], keywords=[]):
                if id(node) not in self.compared:
                    return False
                called.id = "object"  # judged here; its own visit must not refuse it
                return True
            case ast.FunctionDef(name=name):
                return _plain(name) or name in _SPECIAL_DEFINITIONS
            case ast.ClassDef(name=name):
                return _plain(name) and not node.keywords
            case ast.arg(arg=name) | ast.keyword(arg=name) | ast.MatchStar(name=name) | ast.MatchAs(name=name):
                return name is None or _plain(name)
            case ast.ExceptHandler(name=name) | ast.MatchMapping(rest=name):
                return name is None or _plain(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return all(map(_plain, names))
            case ast.Import(names=names):
                return all(a.name in _MODULES and _plain(a.asname or "x") for a in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                exported = _MODULES.get(module or "", frozenset())
                return all((a.name in exported or a.name == "*") and _plain(a.asname or "x") for a in names) and bool(
                    exported
                )
            case ast.ImportFrom():
                return False
        return True

    @staticmethod
    def _name(name: str) -> bool:
        return name in _BUILTINS or (name not in _HIDDEN and _plain(name))


def _yields(node: ast.AST) -> bool:
    return isinstance(node, ast.Yield | ast.YieldFrom)


def _plain(name: str) -> bool:
    return not name.startswith("__") and name.isascii()


class Watch:
    """What the interpreter looked like before the first program, to be compared after each."""

    def __init__(self) -> None:
        shared = {id(v): v for n in _MODULES for k, v in vars(sys.modules[n]).items() if k in _MODULES[n]}
        heap_types = [v for v in shared.values() if isinstance(v, type) and v.__flags__ & _HEAP_TYPE]
        spaces = [vars(sys.modules[n]) for n in [*_MODULES, "builtins", "sys", __name__]]
        self.spaces: list[typing.Mapping[str, object]] = [*spaces, *map(vars, heap_types)]
        self.before = [dict(space) for space in self.spaces]  # kept alive, so that no identity can be used twice
        self.expected = self._identities()

    def _identities(self) -> list[object]:
        loaded = sum(not name.startswith(_CODECS) for name in sys.modules)
        traced = sys.gettrace(), sys.getprofile()
        found: list[object] = [loaded, *traced, sys.getrecursionlimit(), sys.get_int_max_str_digits(), gc.isenabled()]
        for space in self.spaces:
            found += map(id, space.values())
        return found

    def unchanged(self) -> bool:
        """Throw away what the last program left (caches, cycles), and say whether all else is as it was."""
        re.purge()
        for clear in typing._cleanups:  # type: ignore[attr-defined]
            clear()
        gc.collect()
        return self._identities() == self.expected


_HEAP_TYPE: Final = 1 << 9
_CODECS: Final = ("encodings.", "_codecs_", "_multibytecodec", "stringprep")  # what str.encode(name) loads by itself
