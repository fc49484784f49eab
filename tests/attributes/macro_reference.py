"""What CRF++ and Wapiti make of their templates at a position: the definition that ours are compared with."""

from __future__ import annotations

import re


def c_class(pattern: str) -> str:
    """A pattern of Wapiti's as Python has it; only those classes that are used below."""
    for ours, theirs in ((r"\u", "[A-Z]"), (r"\p", r"[!-/:-@\[-`{-~]"), (r"\d", "[0-9]")):
        pattern = pattern.replace(ours, theirs)
    return pattern


def observations(text: str, sentence: list[tuple[str, ...]], position: int) -> list[str]:
    """The strings of the unigram templates at a position, as Wapiti counts beyond the sentence (CRF++: _B-1)."""

    def expand(found: re.Match[str]) -> str:
        kind, offset, column, pattern = found.groups()
        t = position + int(offset)
        inside = 0 <= t < len(sentence)
        value = sentence[t][int(column)] if inside else f"_x{t}" if t < 0 else f"_x+{t - len(sentence) + 1}"
        if pattern is not None:
            match = re.search(c_class(pattern), value)
            value = (match[0] if match else "") if kind in "mM" else ("true" if match else "false")
        return value.lower() if kind.isupper() else value

    lines = [line for line in text.splitlines() if line[:1] in ("U", "u", "*")]
    return [re.sub(r'%(\w)\[ *(-?\d+), *(\d+)(?:,"(.*?)")?\]', expand, line) for line in lines]
