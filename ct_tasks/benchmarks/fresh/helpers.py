"""Functions, closures and classes that a program calls: each gives the definition above the entry function and the lines that
use it. How far the calls go down is the ``depth`` dial.
"""

from __future__ import annotations

from ct_tasks.benchmarks.fresh.scope import VOWELS, Scope, indent, listed

Lines = list[str]
_FUNCTIONS = listed("adjust clamp convert scaled penalty discount surcharge weigh rescale normalise")


def use(s: Scope) -> tuple[Lines, Lines]:
    """(definition, lines of the entry function), with call chains as long as the dial says."""
    styles = [chain, recursion] if s.setting.depth > 1 else [chain, closure]
    if s.setting.depth <= 2:
        styles.append(account)
    return s.rng.choice(styles)(s)


def chain(s: Scope) -> tuple[Lines, Lines]:
    """Functions on a number, each calling the next."""
    source = s.pick("ints")
    names = s.rng.sample(_FUNCTIONS, min(s.setting.depth, len(_FUNCTIONS)))
    defined: Lines = []
    for name, inner in zip(reversed(names), [None, *reversed(names[1:])], strict=True):
        body = [f"if {s.test('n', alone=True)}:", f"    return {_then(s, inner)}", f"return {_then(s, inner)}"]
        if inner is None and s.rng.random() < 0.3:
            body.insert(0, f"for k in range({s.small(1, 3)}):")
            body.insert(1, f"    n += k * {s.small(1, 4)}")
        defined += [f"def {name}(n):", *indent(body), ""]
    each = s.each(source)
    if s.rng.random() < 0.5:
        made = s.new("ints", "adjusted", "charges", "outputs")
        return defined, [f"{made} = [{names[0]}({each}) for {each} in {source}]"]
    total = s.new("int", "total", "bill", "outcome")
    lines = [
        f"{total} = 0",
        f"for {each} in {source}:",
        f"    if {s.test(each)}:",
        f"        {total} += {names[0]}({each})",
        "    else:",
    ]
    return defined, [*lines, f"        {total} -= {s.rng.choice((each, '1', f'{names[0]}({total})'))}"]


def _then(s: Scope, inner: str | None) -> str:
    if inner is None:
        return s.on_number("n")
    return s.rng.choice((f"{inner}({s.on_number('n')})", f"{inner}(n) + {s.number()}", f"{s.number()} - {inner}(n)"))


def recursion(s: Scope) -> tuple[Lines, Lines]:
    """A function that calls itself, as often as the dial says at most."""
    return s.rng.choice((_on_text, _on_numbers, _on_number))(s)


def _on_text(s: Scope) -> tuple[Lines, Lines]:
    source = s.pick("str")
    name, made = s.rng.choice(("peel", "fold", "unwind", "braid")), s.new("str", "peeled", "folded", "woven")
    test = s.rng.choice((f"text[0] in {VOWELS}", "text[0] < text[-1]", f"{s.letter()!r} in text", "len(text) % 2 == 0"))
    one, two = s.rng.sample([
        f"text[-1] + {name}(text[:-1], left - 1)", f"{name}(text[1:], left - 1) + text[0]",
        f"{name}(text[1:-1], left - 1) + text[-1] * 2",
        f"text[0].upper() + {name}(text[1:], left - 1)", f"{name}(text[::-1][1:], left - 1)",
    ], 2)  # fmt: skip
    body = [
        "if left == 0 or len(text) < 3:",
        f"    return {s.rng.choice(('text', 'text[::-1]', 'text.upper()'))}",
        f"if {test}:",
        f"    return {one}",
        f"return {two}",
    ]
    return [f"def {name}(text, left):", *indent(body), ""], [f"{made} = {name}({source}, {s.setting.depth})"]


def _on_numbers(s: Scope) -> tuple[Lines, Lines]:
    source = s.pick("ints")
    name, made = (
        s.rng.choice(("merge", "reduce_all", "combine", "blend")),
        s.new("int", "merged", "combined", "blended"),
    )
    one, two = s.rng.sample(
        [
            f"head - {name}(rest)",
            f"head + {name}(rest) * {s.small(2, 3)}",
            f"max(head, {name}(rest))",
            f"{name}(rest) - {s.number()}",
        ],
        2,
    )
    body = [
        "if not values:",
        f"    return {s.small(0, 3)}",
        "head, *rest = values",
        f"if {s.test('head', alone=True)}:",
        f"    return {one}",
        f"return {two}",
    ]
    return [f"def {name}(values):", *indent(body), ""], [f"{made} = {name}({source}[:{s.setting.depth}])"]


def _on_number(s: Scope) -> tuple[Lines, Lines]:
    subject = s.pick("int")
    name, made = s.rng.choice(("descend", "unroll", "route", "walk")), s.new("ints", "trail", "visits", "stops")
    k = s.small(2, 3)
    one = s.rng.choice((f"n // {k}", f"n // {k} + 1", "n - 1"))
    two = s.rng.choice((f"n * {k} + 1", f"n - {s.small(1, 4)}", f"n + {s.number()}"))
    join = s.rng.choice(("[n] + {}", "{} + [n]", "[n % 10] + {}"))
    body = [
        "if left == 0 or n < 1:",
        f"    return [{s.rng.choice(('n', 'left', '-n'))}]",
        f"if {s.test('n', alone=True)}:",
    ]
    body += [
        f"    return {join.format(f'{name}({one}, left - 1)')}",
        f"return {join.format(f'{name}({two}, left - 1)')}",
    ]
    return [f"def {name}(n, left):", *indent(body), ""], [f"{made} = {name}({subject}, {s.setting.depth})"]


def closure(s: Scope) -> tuple[Lines, Lines]:
    """A function that remembers a number between its calls."""
    source = s.pick("ints")
    maker, inner, kept = s.rng.choice(
        (("make_meter", "advance", "count"), ("make_counter", "bump", "state"), ("make_gate", "admit", "inside"))
    )
    step = s.name("advance", "meter", "counter")
    made = s.new("ints", "trace", "history", "snapshots")
    body = ["nonlocal " + kept, f"if {s.test('by', alone=True)}:", f"    {kept} += {s.on_number('by')}"]
    body += [
        "else:",
        f"    {kept} = {s.rng.choice((f'{kept} - 1', f'{kept} // 2 + by', 'start', f'({kept} + by) % {s.modulus()}'))}",
        f"return {kept}",
    ]
    defined = [
        f"def {maker}(start):",
        f"    {kept} = start",
        f"    def {inner}(by):",
        *indent(body, 2),
        f"    return {inner}",
        "",
    ]
    each = s.each(source)
    lines = [
        f"{step} = {maker}({s.number()})",
        f"{made} = []",
        f"for {each} in {source}:",
        f"    if {s.test(each)}:",
        f"        {made}.append({step}({each}))",
    ]
    return defined, [*lines, "    else:", f"        {step}({s.rng.choice((str(s.number()), f'{each} + 1'))})"]


def account(s: Scope) -> tuple[Lines, Lines]:
    """A class with state, one method that may refuse, and at depth 2 one that calls another."""
    source = s.pick("ints")
    kind, field, method = s.rng.choice(
        (
            ("Account", "funds", "withdraw"),
            ("Tank", "litres", "drain"),
            ("Depot", "stored", "ship"),
            ("Battery", "charge", "draw"),
        )
    )
    error = s.rng.choice(("ValueError", "RuntimeError"))
    item, refused, left = (
        s.name(kind.lower()),
        s.new("int", "refused", "denied", "failed"),
        s.new("int", "remaining", "leftover", "reserve"),
    )
    cost = "amount"
    methods: Lines = []
    if s.setting.depth > 1:
        cost = "self.cost(amount)"
        methods = [
            "def cost(self, amount):",
            f"    if {s.test('amount', alone=True)}:",
            f"        return {s.on_number('amount')}",
            f"    return amount + len(self.{kind.lower()}_log)",
        ]
    log = f"self.{kind.lower()}_log"
    act = [
        f"def {method}(self, amount):",
        f"    cost = {cost}",
        f"    if cost > self.{field}{s.rng.choice(('', f' + {s.number()}'))}:",
        f"        raise {error}('{s.word()}')",
    ]
    act += [f"    self.{field} -= cost", f"    {log}.append({s.rng.choice(('amount', 'cost', f'self.{field}'))})"]
    start = ["def __init__(self, opening):", f"    self.{field} = opening", f"    {log} = []"]
    defined = [f"class {kind}:", *indent([*start, *methods, *act]), ""]
    each = s.each(source)
    lines = [
        f"{item} = {kind}({s.number(2) + s.number(2)})",
        f"{refused} = 0",
        f"for {each} in {source}:",
        "    try:",
        f"        {item}.{method}({each})",
    ]
    lines += [f"    except {error}:", f"        {refused} += {s.rng.choice(('1', each))}"]
    return defined, [
        *lines,
        f"{left} = {item}.{field} + {s.rng.choice((f'len({item}.{kind.lower()}_log)', f'sum({item}.{kind.lower()}_log)'))}",
    ]
