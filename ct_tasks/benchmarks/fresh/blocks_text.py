"""Pieces of work on text, words, dicts and sets."""

from __future__ import annotations

from ct_tasks.benchmarks.fresh.scope import VOWELS, Scope

Lines = list[str]


def spell(s: Scope) -> Lines:
    """A text built letter by letter, with branches."""
    source = s.pick("str")
    made = s.new("str", "result", "built", "mixed")
    tests = [
        f"ch in {VOWELS}",
        f"i % {s.small(2, 3)} == 0",
        f"ch > {s.letter()!r}",
        f"ch in {made}",
        f"ch == {source}[-1]",
    ]
    first, second = s.rng.sample(tests, 2)
    acts = [
        f"{made} += ch.upper()",
        f"{made} = ch + {made}",
        f"{made} += ch * 2",
        f"{made} += '{s.rng.choice('-_.')}'",
        f"{made} = {made}[1:] + ch",
    ]
    one, two, three = s.rng.sample(acts, 3)
    lines = [f"{made} = ''", f"for i, ch in enumerate({source}):", f"    if {first}:", f"        {one}"]
    if s.rng.random() < 0.7:
        lines += [f"    elif {second}:", f"        {two if s.rng.random() < 0.75 else 'continue'}"]
    return [*lines, "    else:", f"        {three}"]


def methods(s: Scope) -> Lines:
    """A short chain of string methods."""
    source = s.pick("str")
    made = s.new("str", "clean", "tidy", "short")
    k = s.small(1, 4)
    steps = s.rng.sample([
        f".replace({s.letter()!r}, {s.letter()!r})", ".upper()", f"[{k}:]", f"[:-{k}]", "[::-1]", ".title()",
        f".strip({s.letter()!r})",
        f".zfill({s.setting.trips + s.small()})", f".center({s.setting.trips + 2 * s.small()}, '*')", ".swapcase()",
        f".removeprefix({s.letter()!r})", f".ljust({s.setting.trips + s.small()}, '.')",
    ], 3)  # fmt: skip
    return [f"{made} = {source}{''.join(steps)}"]


def split_join(s: Scope) -> Lines:
    """Words joined, cut at a letter, and joined again."""
    source = s.pick("words")
    each = s.each(source)
    made = s.new("str", "line", "joined", "path")
    mark = s.rng.choice(("'-'", "'/'", "', '", "'|'"))
    lines = [f"{made} = {mark}.join({source})"]
    if s.rng.random() < 0.6:
        pieces = s.new("words", "pieces", "parts", "chunks")
        piece = s.rng.choice((each, f"{each}.strip()", f"{each}[::-1]"))
        lines += [f"{pieces} = [{piece} for {each} in {made}.split({s.letter()!r}) if {each}]"]
    return lines


def transform(s: Scope) -> Lines:
    """Words that pass a test are kept and changed, the others counted."""
    source = s.pick("words")
    each = s.each(source)
    made, count = s.new("words", "kept", "short_list", "renamed"), s.new("int", "skipped", "ignored", "left_out")
    lines = [
        f"{made} = []",
        f"{count} = 0",
        f"for {each} in {source}:",
        f"    if {s.word_test(each)}:",
        f"        {made}.append({s.on_word(each)})",
    ]
    if s.rng.random() < 0.3:
        lines += [f"        if len({made}) == {s.small(2, 3)}:", "            break"]
    return [*lines, "    else:", f"        {count} += {s.rng.choice(('1', s.from_word(each)))}"]


def order(s: Scope) -> Lines:
    """Words in another order; ties are broken by the word itself."""
    source = s.pick("words")
    made = s.new("words", "ranked", "ordered", "queue")
    key = s.rng.choice(("(len(w), w)", "(-len(w), w)", "(w[-1], w)", "w[::-1]", f"(w.count({s.letter()!r}), w)"))
    return [f"{made} = sorted({source}, key=lambda w: {key})"]


def tally(s: Scope) -> Lines:
    """Counting into a dict."""
    source = s.pick("words", "str")
    each = s.each(source) if s.kinds[source] == "words" else "ch"
    made = s.new("counts", "tally", "counts", "seen")
    key = s.rng.choice((f"{each}[0]", f"{each}[-1]", each)) if s.kinds[source] == "words" else each
    lines = [f"{made} = {{}}", f"for {each} in {source}:"]
    if s.rng.random() < 0.4:
        lines += [
            f"    if {s.word_test(each) if s.kinds[source] == 'words' else f'{each} in {VOWELS}'}:",
            "        continue",
        ]
    step = s.from_word(each) if s.kinds[source] == "words" else str(s.small(1, 3))
    return [*lines, f"    {made}[{key}] = {made}.get({key}, {s.rng.choice((0, 0, s.small()))}) + {step}"]


def group(s: Scope) -> Lines:
    """Words grouped under a key, then the groups looked at in order."""
    source = s.pick("words")
    each = s.each(source)
    made = s.new("table", "groups", "shelves", "buckets")
    key = s.rng.choice((f"{each}[0]", f"{each}[-1]", f"{each}[:2]"))
    lines = [
        f"{made} = {{}}",
        f"for {each} in {source}:",
        f"    {made}.setdefault({key}, []).append({s.on_word(each)})",
    ]
    if s.rng.random() < 0.6:
        biggest = s.new("int", "largest", "widest", "fullest")
        lines += [f"{biggest} = max((len(group) for group in {made}.values()), default=0)"]
    return lines


def over_dict(s: Scope) -> Lines:
    """A dict's items in their order, with an early exit."""
    source = s.pick("counts")
    total = s.new("int", "spent", "used", "sold")
    lines = [
        f"{total} = 0",
        f"for key, number in {source}.items():",
        f"    if {s.word_test('key')}:",
        f"        {total} += {s.on_number('number')}",
    ]
    if s.rng.random() < 0.5:
        lines += [f"    elif {s.test('number')}:", f"        {s.rng.choice(('break', 'continue', f'{total} -= 1'))}"]
    if s.rng.random() < 0.5:
        lines += [f"    if {total} > {s.number(3)}:", "        break"]
    return lines


def prune(s: Scope) -> Lines:
    """Entries of a dict changed or deleted while going over a copy of its keys."""
    source = s.pick("counts")
    value = f"{source}[key]"
    lines = [f"for key in {s.rng.choice((f'list({source})', f'sorted({source})'))}:", f"    if {s.test(value)}:"]
    lines += [
        f"        {s.rng.choice((f'del {value}', f'{value} = {s.on_number(value)}', f'{source}[key.upper()] = {source}.pop(key)'))}"
    ]
    lines += ["    else:", f"        {value} {s.rng.choice(('+=', '-='))} {s.number()}"] if s.rng.random() < 0.6 else []
    s.wrote(source)
    return lines


def unique(s: Scope) -> Lines:
    """First occurrences, with a set of what was seen."""
    source = s.pick("words", "ints")
    each = s.each(source)
    made = s.new(s.kinds[source], "unique", "distinct", "fresh")
    key = (
        s.rng.choice((f"{each}[0]", f"{each}[-1]", f"len({each})", each))
        if s.kinds[source] == "words"
        else s.rng.choice((f"{each} % {s.small(3, 7)}", each))
    )
    seen = s.name("known", "used_keys", "visited")
    lines = [
        f"{seen} = set()",
        f"{made} = []",
        f"for {each} in {source}:",
        f"    if {key} in {seen}:",
        f"        {s.rng.choice(('continue', 'break'))}",
    ]
    return [*lines, f"    {seen}.add({key})", f"    {made}.append({each})"]


def compare_sets(s: Scope) -> Lines:
    """Two sets of letters combined, and sorted."""
    names = s.of("words", "str")
    if not names:
        s.pick("words")
    one, other = s.rng.choice(names), s.rng.choice([*names, repr(s.word())])
    made = s.new("words", "common", "shared", "letters")
    left, right = (f"set(''.join({n}))" if s.kinds.get(n) == "words" else f"set({n})" for n in (one, other))
    return [f"{made} = sorted({left} {s.rng.choice('&|-^')} {right if other != one else f'set({s.word()!r})'})"]


def zipped(s: Scope) -> Lines:
    """A dict made of two lists side by side."""
    keys, values = s.pick("words"), s.pick("ints")
    one, two = s.each(keys), s.each(values)
    made = s.new("counts", "prices_by_name", "catalog", "lookup")
    test = f" if {s.rng.choice((s.test(two), s.word_test(one)))}" if s.rng.random() < 0.6 else ""
    key = s.rng.choice((one, f"{one}[:3]", f"{one}[::-1]"))
    return [f"{made} = {{{key}: {s.on_number(two)} for {one}, {two} in zip({keys}, {values}){test}}}"]


def balance(s: Scope) -> Lines:
    """How deep the brackets of a text go, with an early exit."""
    source = s.pick("str")
    opening, closing = f"'{s.letter()}{s.letter()}{s.letter()}'", VOWELS
    level, deepest = s.new("int", "level", "open_now", "nesting"), s.new("int", "deepest", "peak", "top")
    lines = [
        f"{level} = {deepest} = 0",
        f"for ch in {source}:",
        f"    if ch in {opening}:",
        f"        {level} += {s.small(1, 3)}",
    ]
    lines += [f"        {deepest} = max({deepest}, {level})", f"    elif ch in {closing}:", f"        {level} -= 1"]
    return [*lines, f"    if {level} < {-s.small(1, 2)}:", "        break"] if s.rng.random() < 0.6 else lines


ALL = (
    spell,
    methods,
    split_join,
    transform,
    order,
    tally,
    group,
    over_dict,
    prune,
    unique,
    compare_sets,
    zipped,
    balance,
)
