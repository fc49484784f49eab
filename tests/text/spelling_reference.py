"""The spelling functions in plain Python, one string at a time: what text/spelling.py is compared with.

value("suffix", 3)("Running") == "ing"        None where the function gives no value, "" for a flag that holds
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby

WordFunction = Callable[[str], str | None]


def class_letter(character: str) -> str:
    """X capital, x lower case, d digit, o letter without case, nothing for accents, others themselves."""
    if character.istitle():
        return "X"
    if character.islower():
        return "x"
    if character.isdecimal():
        return "d"
    if character.isalpha():
        return "o"
    return "" if unicodedata.category(character).startswith("M") else character


def classes(text: str) -> str:
    return "".join(map(class_letter, text))


def is_capital(character: str) -> bool:
    return character.isupper() or character.istitle()


def prefix(text: str, n: int) -> str | None:
    return text[:n] if len(text) >= n else None


def suffix(text: str, n: int) -> str | None:
    return text[len(text) - n :] if len(text) >= n else None


def first_type(text: str) -> str | None:
    first = text[:1]
    if first.islower():
        return "lower"
    if first.istitle():
        return "upper"
    return "digit" if first.isdecimal() else "other" if first else None


def length(text: str) -> str:
    for most, name in ((5, str(len(text))), (7, "6-7"), (10, "8-10"), (14, "11-14")):
        if len(text) <= most:
            return name
    return "15+"


FLAGS: dict[str, Callable[[str], bool]] = {
    "capitalised": lambda text: text[:1].istitle(),
    "all_capitals": str.isupper,
    "has_capital": lambda text: any(map(is_capital, text)),
    "mixed_case": lambda text: any(map(is_capital, text[1:])) and not text.isupper(),
    "has_digit": lambda text: re.search(r"\d", text) is not None,
    "all_digits": str.isdecimal,
    "has_hyphen": lambda text: any(c in text for c in "-\u058a\u2010\u2011\ufe63\uff0d"),
    "has_dot": lambda text: "." in text,
    "capital_dot": lambda text: text[:1].istitle() and "." in text,
    "punctuation": lambda text: text != "" and re.search(r"[^\W_]", text) is None,
}
VALUES: dict[str, WordFunction] = {
    "word": lambda text: text,
    "lower": str.lower,
    "shape": lambda text: "".join(letter for letter, _ in groupby(classes(text[:64]))),
    "longshape": lambda text: classes(text[:12]),
    "digits": lambda text: re.sub(r"\d", "0", text) if re.search(r"\d", text) else None,
    "first_type": first_type,
    "length": length,
    "bias": lambda text: "",
    "edge": lambda text: None,
}
AFFIXES: dict[str, Callable[[str, int], str | None]] = {
    "prefix": prefix,
    "suffix": suffix,
    "lprefix": lambda text, n: prefix(text.lower(), n),
    "lsuffix": lambda text, n: suffix(text.lower(), n),
}


def value(name: str, argument: int | None = None) -> WordFunction:
    """The function that a template names."""
    if name in AFFIXES:
        assert argument is not None
        return lambda text: AFFIXES[name](text, argument)
    if name in FLAGS:
        return lambda text: "" if FLAGS[name](text) else None
    return VALUES[name]
