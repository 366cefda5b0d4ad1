"""Answers as text: one spelling for each way of writing a mathematical answer, units and percent signs set apart.

Models write the same value as ``\\dfrac{1}{2}``, ``\\frac12``, ``1/2``, ``$0.5$``, ``50\\%``, ``\\$0.50`` or ``0.5 dollars``.
``tidy`` removes what is only typography; ``split_unit`` takes a trailing unit off a value. Neither changes a value.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNICODE = str.maketrans({
    "−": "-", "–": "-", "—": "-", "×": r"\times ", "·": r"\cdot ", "÷": r"\div ", "π": r"\pi ", "∞": r"\infty ",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "±": r"\pm ", "∓": r"\mp ",
    "°": r"^\circ ", "²": "^{2}", "³": "^{3}", "√": r"\sqrt ", "θ": r"\theta ", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}", "“": '"', "”": '"', "’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "⟨": r"\langle ",
    "⟩": r"\rangle ", "€": "", "£": "", "，": ",", "（": "(", "）": ")", "∅": r"\emptyset ",
})

_TEXT_COMMANDS = re.compile(r"\\(?:mbox|textrm|textbf|textit|textnormal|mathrm|mathbf|mathit|operatorname|text)\s*(?=\{)")
_CONSTANT = re.compile(r"\\(?:mathrm|operatorname|mathop|textrm|rm)\s*\{\s*([ei])\s*\}|\{\s*\\rm\s+([ei])\s*\}")
_SPACES = re.compile(r"(?<!\\)\\[,;:!> ]|\\q?quad(?![A-Za-z])|~|\\(?:displaystyle|textstyle|limits)(?![A-Za-z])")
_SIZES = re.compile(r"\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|bigg|Bigg)(?![A-Za-z])")
_SYNONYMS = (
    (re.compile(r"\\[dtc]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\(?:leq|leqslant)(?![A-Za-z])"), r"\\le"),
    (re.compile(r"\\(?:geq|geqslant)(?![A-Za-z])"), r"\\ge"),
    (re.compile(r"\\lt(?![A-Za-z])"), "<"),
    (re.compile(r"\\gt(?![A-Za-z])"), ">"),
    (re.compile(r"<="), r"\\le "),
    (re.compile(r">="), r"\\ge "),
    (re.compile(r"\\lbrace(?![A-Za-z])"), r"\\{"),
    (re.compile(r"\\rbrace(?![A-Za-z])"), r"\\}"),
    (re.compile(r"\\(?:varnothing|empty)(?![A-Za-z])"), r"\\emptyset"),
    (re.compile(r"\\(?:lvert|rvert|vert|mid)(?![A-Za-z])"), "|"),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"\^\s*\{\s*\\(?:circ|degree)\s*\}|\^\s*\\circ(?![A-Za-z])|\\degrees?(?![A-Za-z])"), r"\\text{ degrees}"),
)
_BRACED = r"\{[^{}]*\}"


def match_brace(text: str, start: int) -> int:
    """Index of the brace that closes the one at ``start``, or -1. An escaped brace (``\\{``) does not count."""
    depth = 0
    i = start
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return -1


def _complete_arguments(text: str) -> str:
    """``\\frac12``, ``\\frac 1{2}`` and ``\\sqrt2`` with the braces that LaTeX lets a writer leave out."""
    out: list[str] = []
    i = 0
    while i < len(text):
        match = re.compile(r"\\(frac|sqrt)(?![A-Za-z])").match(text, i)
        if not match:
            out.append(text[i])
            i += 1
            continue
        out.append(match.group(0))
        i = match.end()
        if match.group(1) == "sqrt":
            root = re.compile(r"\s*\[[^\]]*\]").match(text, i)
            if root:
                out.append(root.group(0).strip())
                i = root.end()
        for _ in range(2 if match.group(1) == "frac" else 1):
            while i < len(text) and text[i] == " ":
                i += 1
            if i >= len(text):
                break
            if text[i] == "{":
                end = match_brace(text, i)
                if end < 0:
                    break
                out.append("{" + _complete_arguments(text[i + 1:end]) + "}")
                i = end + 1
                continue
            token = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})?|\w|.").match(text, i)
            if token is None:
                break
            out.append("{" + token.group(0) + "}")
            i = token.end()
    return "".join(out)


@lru_cache(maxsize=65536)
def tidy(text: str) -> str:
    """The answer without typography: delimiters, sizes, spacing commands, currency signs, thousands separators."""
    text = re.sub(r"^\*+|\*+$", "", text.strip()).translate(_UNICODE).strip()
    text = re.sub(r"\\boxed\s*\{(.*)\}\s*$", r"\1", text, flags=re.DOTALL) if text.startswith("\\boxed") else text
    text = re.sub(r",\s*\\!\s*|\{,\}", ",", text)
    text = re.sub(r"(?<=\d)\\[, ](?=\d{3}(?!\d))", "", text)
    text = text.replace(r"\$", "").replace("$", "").replace(r"\(", " ").replace(r"\)", " ")
    text = re.sub(r"^\s*\\\[(.*)\\\]\s*$", r"\1", text, flags=re.DOTALL)
    text = _SIZES.sub("", text)
    text = _SPACES.sub(" ", text)
    text = _CONSTANT.sub(lambda m: f" {m.group(1) or m.group(2)} ", text)  # upright e and i are the numbers, no words
    text = _TEXT_COMMANDS.sub(lambda _: r"\text", text)
    for pattern, replacement in _SYNONYMS:
        text = pattern.sub(replacement, text)
    text = text.replace(r"\%", "%")
    text = re.sub(r"\s*(?:\\text\{\s*percent\s*\}|\bpercent\b)", "%", text)
    text = _complete_arguments(text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^=\s*", "", text)
    text = re.sub(r"(?:\s|[.;,:](?!\d))+$", "", text)
    text = re.sub(r"^\\text\{([-+\d.,/ ]+)\}$", r"\1", text)
    while text.startswith("{") and match_brace(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    return _thousands(text)


def _thousands(text: str) -> str:
    """``1,234,567`` as ``1234567``, where no bracket is open: inside brackets a comma separates."""
    if not re.search(r"\d,\s?\d{3}(?!\d)", text) or re.search(r"[(\[]|\\\{|\\begin", text):
        return text
    return re.sub(r"(?<![\d.,])(\d{1,3})((?:,\d{3})+)(?![\d,])",
                  lambda m: m.group(1) + m.group(2).replace(",", ""), text)


_UNIT_ALIASES = {
    "cm": ("centimeter", "centimetre"), "mm": ("millimeter", "millimetre"), "km": ("kilometer", "kilometre"),
    "m": ("meter", "metre"), "in": ("inch", "inches"), "ft": ("foot", "feet"), "yd": ("yard",), "mi": ("mile",),
    "g": ("gram",), "kg": ("kilogram",), "mg": ("milligram",), "lb": ("pound", "lbs"), "oz": ("ounce",),
    "s": ("second", "sec"), "min": ("minute", "mins"), "h": ("hour", "hr", "hrs"), "day": (), "week": (), "month": (),
    "year": ("yr",), "l": ("liter", "litre"), "ml": ("milliliter", "millilitre"), "mph": (), "dollar": ("usd", "buck"),
    "cent": (), "degree": ("deg",), "unit": (), "point": (), "person": ("people",),
}
_CANONICAL = {alias: unit for unit, names in _UNIT_ALIASES.items() for alias in (unit, *names)}
_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3, "squared": 2, "cubed": 3}
_WORD_UNIT = re.compile(r"^(?P<value>.*[\d)}\]%!])\s*(?P<unit>(?:\s|(?<=\d))[A-Za-z][A-Za-z /.^{}\d-]*)$")
_TEXT_UNIT = re.compile(
    r"^(?P<value>.*?[\d)}\]%!a-zA-Z])\s*(?P<unit>\\text\{[^{}]*\}(?:\s*\^\s*\{?\d+\}?)?(?:\s*/\s*\\text\{[^{}]*\})?)$")


def canonical_unit(unit: str) -> str:
    """One spelling of a unit: ``square inches``, ``inches^2`` and ``in^2`` are all ``in^2``."""
    words = re.sub(r"\\text\{([^{}]*)\}", r"\1", unit)
    power = 1
    exponent = re.search(r"\^\s*\{?(\d+)\}?", words)
    if exponent:
        power = int(exponent.group(1))
        words = words[:exponent.start()] + words[exponent.end():]
    parts: list[str] = []
    for word in re.findall(r"[A-Za-z]+|/", words.lower()):
        if word in _POWERS:
            power = _POWERS[word]
            continue
        if word in ("a", "an", "of", "the"):
            continue
        word = "/" if word == "per" else word
        singular = word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word
        parts.append(_CANONICAL.get(word, _CANONICAL.get(singular, singular)))
    name = " ".join(parts)
    return f"{name}^{power}" if power != 1 and name else name


def split_unit(text: str) -> tuple[str, str]:
    """``(value, canonical unit)`` of a tidy text; the unit is ``""`` where there is none.

    Only a *value* carries a unit: a text without digits, such as ``\\text{even}``, is left whole.
    """
    for pattern in (_TEXT_UNIT, _WORD_UNIT):
        match = pattern.match(text)
        if not match or not re.search(r"\d|\\pi|\\sqrt", match.group("value")):
            continue
        unit = canonical_unit(match.group("unit"))
        # A lone letter glued to digits (``5x``, ``3e``) is a variable unless it stands apart and is a known unit.
        if pattern is _WORD_UNIT:
            raw = match.group("unit")
            words = re.findall(r"[A-Za-z]+", raw)
            if words[0].lower() in ("and", "or", "to", "if", "for", "e", "i", "x", "y", "z", "mod"):
                continue
            if len(words) == 1 and len(words[0]) == 1 and not (raw.startswith(" ") and words[0] in _CANONICAL):
                continue
            if not raw.startswith(" ") and words[0].lower() not in _CANONICAL:
                continue
            if "\\" in raw:
                continue
        return match.group("value").strip(), unit
    return text, ""


def plain_words(text: str) -> str | None:
    """Lower-case words of an answer that is text (``\\text{(C)}``, ``Evelyn``, ``True``), else ``None``."""
    inner = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", text).strip()
    inner = re.sub(r"^\((\w)\)$", r"\1", inner)
    words = re.fullmatch(r"[A-Za-z]{3}[A-Za-z0-9' .,]*|[A-Za-z][A-Za-z' .,-]*", inner)
    if words and (r"\text" in text or len(inner) != 2):
        return re.sub(r"[\s.,'-]+", " ", inner).strip().lower()
    return None
