"""Pieces of work on numbers and lists of numbers. Each takes variables of the scope and returns its lines.

Every loop ends by construction: it goes over a finite value, or it counts down, or it has a counter of its own.
"""

from __future__ import annotations

from ct_tasks.benchmarks.fresh.scope import Scope, indent

Lines = list[str]


def accumulate(s: Scope) -> Lines:
    """A running total with a branch, sometimes two."""
    source = s.pick("ints")
    each = s.each(source)
    old = s.of("int")
    if old and s.rng.random() < 0.4:
        total, head = s.rng.choice(old), []
    else:
        total = s.new("int", "total", "score", "balance")
        head = [f"{total} = {s.rng.choice((0, 0, 1, s.number()))}"]
    lines = [f"for {each} in {source}:", f"    if {s.test(each)}:", f"        {total} += {s.on_number(each)}"]
    shape = s.rng.random()
    if shape < 0.3:
        lines += [f"    elif {s.test(each)}:", f"        {total} -= {s.on_number(each)}"]
    if shape < 0.6:
        lines += ["    else:", f"        {total} += {s.small(1, 9)}"]
    elif shape > 0.85:
        lines.insert(1, f"    if {each} == {s.middle()}:")
        lines.insert(2, "        continue")
    s.wrote(total)
    return head + lines


def search(s: Scope) -> Lines:
    """Early exit from a loop, sometimes with the loop's else."""
    source = s.pick("ints")
    each = s.each(source)
    found = s.new("int", "position", "found", "first")
    count = "at" if "at" not in s.kinds else "i"
    lines = [f"{found} = -1", f"for {count}, {each} in enumerate({source}):", f"    if {s.test(each)}:"]
    lines += [f"        {found} = {count}", "        break"]
    if s.rng.random() < 0.4:
        lines += ["else:", f"    {found} = len({source}) + {s.small(1, 9)}"]
    return lines


def shrink(s: Scope) -> Lines:
    """A while loop on one number, with a counter that also bounds it."""
    target = s.pick("int")
    steps = s.new("int", "steps", "rounds", "moves")
    k, floor = s.small(2, 4), s.small(1, 6)
    body = s.rng.choice((
        [f"    {target} //= {k}"],
        [f"    {target} -= {s.number(2)}"],
        [f"    if {target} % {k} == 0:", f"        {target} //= {k}", "    else:", f"        {target} -= 1"],
        [f"    {target} = {target} - {k} if {s.test(target)} else {target} // {k}"],
    ))  # fmt: skip
    s.wrote(target)
    return [f"{steps} = 0", f"while {target} > {floor} and {steps} < {s.setting.trips}:", *body, f"    {steps} += 1"]


def grid(s: Scope) -> Lines:
    """Nested counted loops."""
    rows, columns = s.small(2, 3), s.small(2, max(2, min(4, s.setting.trips)))
    cell = s.rng.choice(
        (f"row * {columns} + col", f"(row + {s.small(1, 4)}) * (col + 1)", f"abs(row - col) * {s.small(2, 9)}")
    )
    total = s.new("int", "total", "area", "cells")
    lines = [f"{total} = 0", f"for row in range({rows}):", f"    for col in range({columns}):"]
    if s.rng.random() < 0.5:
        lines += [f"        if {s.rng.choice(('row == col', 'col > row', f'(row + col) % {s.small(2, 3)} == 0'))}:"]
        lines += [f"            {s.rng.choice(('continue', 'break', f'{total} -= 1'))}"]
    return [*lines, f"        {total} += {cell}"]


def pairs(s: Scope) -> Lines:
    """All pairs of a list, by two indices."""
    source = s.pick("ints")
    k = s.small(2, 4)
    close = s.rng.choice((
        f"({source}[i] + {source}[j]) % {k} == {s.rng.randrange(k)}", f"{source}[i] > {source}[j]",
        f"abs({source}[i] - {source}[j]) < {s.middle()}",
    ))  # fmt: skip
    count = s.new("int", "pairs", "hits", "swaps")
    lines = [
        f"{count} = 0",
        f"for i in range(len({source})):",
        f"    for j in range(i + 1, len({source})):",
        f"        if {close}:",
    ]
    lines += [f"            {count} += {s.rng.choice(('1', 'j - i', 'i + j'))}"]
    if s.rng.random() < 0.3:
        lines += ["            break"]
    return lines


def keep(s: Scope) -> Lines:
    """A list comprehension with a condition."""
    source = s.pick("ints")
    each = s.each(source)
    made = s.new("ints", "kept", "picked", "chosen")
    return [f"{made} = [{s.on_number(each)} for {each} in {source} if {s.test(each)}]"]


def slices(s: Scope) -> Lines:
    """A part of a list, a rotation or a stride."""
    source = s.pick("ints", "words")
    k = s.small(1, max(1, s.setting.trips - 1))
    made = s.new(s.kinds[source], "part", "rotated", "rest")
    cut = s.rng.choice(
        (
            f"{source}[{k}:] + {source}[:{k}]",
            f"{source}[::-1][:{k}]",
            f"{source}[::2]",
            f"{source}[-{k}:]",
            f"{source}[1:-1]",
        )
    )
    lines = [f"{made} = {cut}"]
    if s.rng.random() < 0.5:
        lines.append(f"{made}[{s.rng.choice(('0:1', '-1:', f'1:{k + 1}'))}] = {source}[:{s.small(1, 2)}]")
    return lines


def stack(s: Scope) -> Lines:
    """A stack from which a while loop pops."""
    source = s.pick("ints")
    each = s.each(source)
    made = s.new("ints", "stack", "pile")
    popped = s.new("int", "popped", "dropped")
    test = s.rng.choice(
        (f"{made}[-1] < {each}", f"{made}[-1] > {each}", f"({made}[-1] + {each}) % {s.small(2, 3)} == 0")
    )
    lines = [f"{made} = []", f"{popped} = 0", f"for {each} in {source}:", f"    while {made} and {test}:"]
    lines += [
        f"        {popped} += {s.rng.choice(('1', f'{made}[-1]'))}",
        f"        {made}.pop()",
        f"    {made}.append({each})",
    ]
    return lines


def two_ends(s: Scope) -> Lines:
    """Two positions that meet."""
    source = s.pick("ints")
    meet = s.new("int", "matches", "meetings", "crossed")
    rule = s.rng.choice(
        (
            f"{source}[left] < {source}[right]",
            f"({source}[left] + {source}[right]) % 2 == 0",
            f"{source}[left] + {source}[right] > {s.number()}",
        )
    )
    lines = [
        "left, right = 0, len(" + source + ") - 1",
        f"{meet} = 0",
        "while left < right:",
        f"    if {rule}:",
        "        left += 1",
    ]
    lines += [f"        {meet} += {s.rng.choice(('1', 'right - left'))}", "    else:", "        right -= 1"]
    return lines


def checksum(s: Scope) -> Lines:
    """A number folded with a factor and a modulus."""
    source = s.pick("ints", "str")
    each = s.each(source) if s.kinds[source] == "ints" else "ch"
    term = each if s.kinds[source] == "ints" else f"ord({each})"
    made = s.new("int", "checksum", "digest", "seal")
    return [
        f"{made} = {s.number()}",
        f"for {each} in {source}:",
        f"    {made} = ({made} * {s.small(2, 7)} + {term}) % {s.modulus()}",
    ]


def ladder(s: Scope) -> Lines:
    """A chain of branches on one number."""
    subject = s.pick("int")
    first, low = s.test(subject), s.middle()
    target = s.new("str", "band", "tier", "verdict") if s.rng.random() < 0.5 else s.new("int", "fee", "rate", "toll")
    words = [repr(w) for w in s.rng.sample(s.words, 3)]
    values = (
        words
        if s.kinds[target] == "str"
        else [str(s.number()), f"{subject} // {s.small()}", f"{subject} - {s.number()}"]
    )
    lines = [f"if {first}:", f"    {target} = {values[0]}", f"elif {subject} > {low}:", f"    {target} = {values[1]}"]
    lines += ["else:", f"    {target} = {values[2]}"]
    if s.rng.random() < 0.4:
        lines.append(f"    {subject} += {s.number()}")
        s.wrote(subject)
    return lines


def update(s: Scope) -> Lines:
    """Elements of a list changed where they stand."""
    source = s.pick("ints")
    each = f"{source}[i]"
    lines = [
        f"for i in range({s.rng.choice((f'len({source})', f'0, len({source}), 2', f'len({source}) - 1, -1, -1'))}):"
    ]
    lines += [f"    if {s.test(each)}:", f"        {each} = {s.on_number(each)}"]
    if s.rng.random() < 0.5:
        lines += [f"    elif i > {s.small(1, 3)}:", f"        {each} += {source}[i - 1] % {s.modulus()}"]
    s.wrote(source)
    return lines


def unpack(s: Scope) -> Lines:
    """First and rest of a sorted list, in one assignment."""
    source = s.pick("ints")
    first, rest = s.new("int", "first", "lowest", "front"), s.new("ints", "others", "rest", "tail")
    order = s.rng.choice(
        (
            f"sorted({source})",
            f"sorted({source}, reverse=True)",
            f"sorted({source}, key=lambda n: (n % {s.small()}, n))",
        )
    )
    return [
        f"if {source}:",
        *indent([f"{first}, *{rest} = {order}"]),
        "else:",
        *indent([f"{first}, {rest} = {s.number()}, []"]),
    ]


ALL = (accumulate, search, shrink, grid, pairs, keep, slices, stack, two_ends, checksum, ladder, update, unpack)
