"""Pieces of work in which something raises, is caught, and the work goes on."""

from __future__ import annotations

from ct_tasks.benchmarks.fresh.scope import Scope, indent

Lines = list[str]


def parse(s: Scope) -> Lines:
    """Texts read as numbers, some of which are none."""
    odd = (s.word()[:3], f"{s.number()}{s.letter()}", "", f"-{s.number()}")
    texts = [str(s.number()) if s.rng.random() < 0.6 else s.rng.choice(odd) for _ in range(s.setting.trips)]
    made, bad = s.new("ints", "parsed", "numbers", "entries"), s.new("int", "invalid", "bad", "rejected")
    lines = [
        f"{made} = []",
        f"{bad} = 0",
        f"for token in {texts!r}:",
        "    try:",
        f"        {made}.append(int(token){s.rng.choice(('', ' * 2', f' % {s.small(3, 9)}'))})",
    ]
    lines += ["    except ValueError:", f"        {bad} += {s.rng.choice(('1', 'len(token)', str(s.number())))}"]
    if s.rng.random() < 0.3:
        lines += ["        break"]
    return lines


def look_up(s: Scope) -> Lines:
    """A dict asked for keys that it may not have."""
    source, table = s.pick("words"), s.pick("counts")
    each = s.each(source)
    total, missing = s.new("int", "cost", "worth", "sum_found"), s.new("words", "missing", "unknown", "absent")
    lines = [
        f"{total} = 0",
        f"{missing} = []",
        f"for {each} in {source}:",
        "    try:",
        f"        {total} += {table}[{s.rng.choice((each, each, s.on_word(each)))}]",
    ]
    lines += ["    except KeyError:", f"        {missing}.append({s.on_word(each)})"]
    lines += [*(["    else:", f"        {total} += {s.small(1, 9)}"] if s.rng.random() < 0.4 else [])]
    return lines


def divide(s: Scope) -> Lines:
    """Division by a number that may be zero."""
    source = s.pick("ints")
    each = s.each(source)
    k = s.small(2, 4)
    total = s.new("int", "ratio", "quota", "portion")
    lines = [
        f"{total} = {s.number(2)}",
        f"for {each} in {source}:",
        "    try:",
        f"        {total} += {s.number(4)} // ({each} % {k})",
    ]
    lines += ["    except ZeroDivisionError:", f"        {total} {s.rng.choice(('-=', '+='))} {s.number()}"]
    return lines + (["    finally:", f"        {total} %= {s.modulus()}"] if s.rng.random() < 0.5 else [])


def at_index(s: Scope) -> Lines:
    """A list asked for a position that it may not have."""
    source = s.pick("ints", "words")
    kind = "int" if s.kinds[source] == "ints" else "str"
    numbers = s.of("int")
    where = (
        f"{s.rng.choice(numbers)} % {s.setting.trips + s.small(1, 4)}"
        if numbers
        else str(s.small(1, s.setting.trips + 3))
    )
    made = s.new(kind, "picked", "chosen", "winner")
    lines = ["try:", f"    {made} = {source}[{where}]"]
    if s.rng.random() < 0.4:
        lines += [f"    {source}.remove({made})"]
        s.wrote(source)
    return [*lines, "except IndexError:", f"    {made} = {s.number() if kind == 'int' else repr(s.word())}"]


def guard(s: Scope) -> Lines:
    """A raise of the program's own, caught outside the loop, so that it also ends the loop."""
    source = s.pick("ints")
    each = s.each(source)
    total, status = s.new("int", "credit", "stored", "loaded"), s.new("str", "status", "outcome", "state")
    kind = s.rng.choice(("ValueError", "RuntimeError", "OverflowError"))
    loop = [
        f"for {each} in {source}:",
        f"    if {s.test(each)}:",
        f"        raise {kind}(f'{s.word()} {{{each}}}')",
        f"    {total} += {s.on_number(each)}",
    ]
    lines = [
        f"{total} = {s.number()}",
        "try:",
        *indent(loop),
        f"    {status} = {s.word()!r}",
        f"except {kind} as error:",
        f"    {status} = str(error)",
    ]
    return lines + (["finally:", f"    {total} += {s.small(1, 9)}"] if s.rng.random() < 0.4 else [])


ALL = (parse, look_up, divide, at_index, guard)
