r"""Template files of CRF++ and Wapiti, as entries of our own language.

    U05:%x[-1,0]/%x[0,0]        word[-1] & word[0]          %x[offset,column]; what stands around it is a name
    U:low=%X[0,0]               lower @ 0                   Wapiti: a capital letter drops the case
    U:%t[0,0,"^\u"]             capitalised, bias @ 0       Wapiti: whether the value matches a pattern
    U:%m[0,0,"^.?.?"]           prefix(2) @ 0               Wapiti: what matches
    B                           nothing: transitions have weights anyway

The entries tell apart what the file tells apart. Beyond the sentence CRF++ and Wapiti count (_B-1, _B-2 ...), ours has
one value on either side: where that is less, `edge @ -1` and its like are added, for the tokens nearer to the end. A
test that fails is a value there and no attribute here: so a test brings what it is joined with, or `bias`, along. What
has no equal is refused with its line: pairs of labels weighed by what is seen, two lines of one name, other patterns.

Used by templates.py, which takes a text for such a file by its content (`is_macro_text`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tagwright.attributes.language import Cell, Entry, Term, check_column, check_size
from tagwright.errors import DataWarning, TemplateError, warn

_MACRO_LINE = re.compile(r"^[ \t]*[UuBb*][^%\n]*%[A-Za-z]\[", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MACRO = re.compile(
    r"%(?P<kind>[xXtTmM])\[\s*(?P<absolute>@?)(?P<offset>[+-]?[0-9]{1,9})\s*,\s*(?P<column>[0-9]{1,9})\s*"
    r'(?:,"(?P<pattern>(?:[^"\\]|\\.)*)")?\]',
    re.ASCII,
)
TESTS = {
    r"^\u": "capitalised",
    r"\u": "has_capital",
    r"\d": "has_digit",
    r"^\d*$": "all_digits",
    r"^\d\d*$": "all_digits",
    r"^\p*$": "punctuation",
    r"^\p\p*$": "punctuation",
    "-": "has_hyphen",
    r"\-": "has_hyphen",
    r"\.": "has_dot",
}
"""Patterns of %t, and the function that holds for the same values."""
MOST_TESTS = 6
"""In one line: with each, the templates that a line needs are twice as many."""
_PREFIX, _SUFFIX = re.compile(r"\^(\.\??(?:\.\?)*)"), re.compile(r"((?:\.\?)*\.\??)\$")
"""Beginnings and ends of so many letters; a word that is shorter matches as a whole, and has no affix here."""
TRUE, FALSE = "true", "false"
FURTHEST = 4
"""Beyond the sentence Wapiti counts so far."""
_EDGE, _BIAS = Term("edge"), Term("bias")
_AT_EDGES = ("word", "lower")
"""Functions that have a value beyond the sentence."""


def is_macro_text(text: str) -> bool:
    """Whether a text is one of these files: our own language has no `%`."""
    return _MACRO_LINE.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that stands for attributes. name: what surrounds its macros, by which CRF++ and Wapiti know it."""

    number: int
    text: str
    name: tuple[str, ...]
    cells: tuple[Cell, ...]


def read_macros(text: str, *, location: str, n_columns: int | None = None) -> list[Entry]:
    """The entries that a template file of CRF++'s or Wapiti's stands for. location, n_columns: as in read_entries."""
    lines: list[_Line] = []
    named: dict[tuple[str, ...], _Line] = {}
    transitions = False
    for number, raw in enumerate(text.splitlines(), start=1):
        content = _COMMENT.sub("", raw).strip()
        if not content:
            continue
        try:
            line = _read_line(number, content, n_columns)
            _check_name(line, named.setdefault(line.name, line))
            check_size(len(lines))
        except TemplateError as error:
            raise TemplateError(str(error), location=f"{location}:{number}") from None
        transitions |= content[0] in "Bb*"
        if content[0] not in "Bb":
            lines.append(line)
    if not transitions:
        warn(
            f"{location}: no line `B`; CRF++ and Wapiti would weigh no label pairs then, here they have weights",
            DataWarning,
        )
    return _list_entries(lines)


def _read_line(number: int, content: str, n_columns: int | None) -> _Line:
    if content[0] not in "UuBb*":
        raise TemplateError(
            f"expected a line that begins with U, B or *, as in template files of CRF++ and Wapiti, found `{content}`"
        )
    names, cells = split_macros(content)
    for cell in cells:
        check_column(cell.term, n_columns)
    if (n_tests := sum(cell.term.flag for cell in cells)) > MOST_TESTS:
        raise TemplateError(f"`{content}` joins {n_tests} tests; at most {MOST_TESTS} can be joined")
    if cells and content[0] in "Bb*":
        cure = f"write `U{content[1:]}`, which weighs single labels, and one line `B` for the pairs"
        raise TemplateError(f"`{content}` weighs pairs of labels by what is seen, which no learner here can; {cure}")
    return _Line(number, content, (names[0][0].upper() + names[0][1:], *names[1:]), tuple(dict.fromkeys(cells)))


def split_macros(content: str) -> tuple[list[str], list[Cell]]:
    """The cells of a line, and what stands before, between and behind them."""
    names, cells, end = [], [], 0
    for found in _MACRO.finditer(content):
        names.append(content[end : found.start()])
        cells.append(_read_macro(found))
        end = found.end()
    names.append(content[end:])
    for name in names:
        if "%" in name:
            raise TemplateError(f"expected `%x[-1,0]`, `%X`, `%t` or `%m`, found `{name[name.index('%') :]}`")
    return names, cells


def _read_macro(found: re.Match[str]) -> Cell:
    kind, pattern = found["kind"], found["pattern"]
    if found["absolute"]:
        raise TemplateError(
            f"`{found[0]}` counts from the end of the sentence; offsets count from the token: `%x[-1,0]`"
        )
    if (pattern is None) != (kind in "xX"):
        expected = "no pattern" if kind in "xX" else 'a pattern, as in `%t[0,0,"^\\u"]`'
        raise TemplateError(f"`{found[0]}`: `%{kind}` takes {expected}")
    function, argument = _find_function(kind, pattern or "", found[0])
    return Cell(Term(function, argument, int(found["column"])), int(found["offset"]))


def _find_function(kind: str, pattern: str, macro: str) -> tuple[str, int | None]:
    """Our function for a macro, and its argument."""
    if kind in "xX":
        return ("word" if kind == "x" else "lower"), None
    if kind in "tT" and pattern in TESTS:
        return TESTS[pattern], None
    lowered = "l" if kind == "M" else ""
    if kind in "mM" and (prefix := _PREFIX.fullmatch(pattern)):
        return f"{lowered}prefix", prefix[1].count(".")
    if kind in "mM" and (suffix := _SUFFIX.fullmatch(pattern)):
        return f"{lowered}suffix", suffix[1].count(".")
    known = f"the patterns {', '.join(TESTS)}" if kind in "tT" else "beginnings such as ^.?.? and ends such as .?.?$"
    raise TemplateError(
        f"`{macro}`: no function here has the values of this pattern; `%{kind}` can be used with {known}. Leave the "
        "line out, or put the value into a column of the data"
    )


def _check_name(line: _Line, first: _Line) -> None:
    """Refuse a second line of one name: CRF++ and Wapiti would give both one weight."""
    if first.cells != line.cells:
        raise TemplateError(
            f"`{line.text}` has the name of line {first.number}, so that CRF++ and Wapiti take the values of both for "
            "the same; here every line has its own weights: give each a name, such as U01: and U02:"
        )


def _list_entries(lines: Sequence[_Line]) -> list[Entry]:
    """The entries of all lines: what they name, then what they need at the edges."""
    groups = [cells for line in lines for cells in _without_tests(line.cells)]
    told = {cells[0].offset for cells in groups if len(cells) == 1 and cells[0].term.function in _AT_EDGES}
    more: list[tuple[Cell, ...]] = []
    for cells in groups:
        for offset in missing_edges(cells):
            if len(cells) > 1:
                outside = [c for c in cells if c.term.function not in _AT_EDGES and _beyond(c.offset, offset)]
                more.append((*(c for c in cells if c not in outside), Cell(_EDGE, offset)))
            elif offset not in told:
                more.append((Cell(_EDGE, offset),))
    return [cells[0] if len(cells) == 1 else cells for cells in dict.fromkeys([*groups, *more])]


def _without_tests(cells: tuple[Cell, ...]) -> list[tuple[Cell, ...]]:
    """The cells, and the same without one test or several of them: what is there where these fail."""
    tests = [cell for cell in cells if cell.term.flag]
    groups = []
    for n in range(len(tests) + 1):
        for failed in combinations(tests, n):
            left = tuple(cell for cell in cells if cell not in failed)
            groups.append(left or (Cell(_BIAS),))
    return groups


def missing_edges(cells: Sequence[Cell]) -> list[int]:
    """Offsets j for which `edge[j]` tells apart what these cells do not: how far beyond the sentence they look."""
    told = {cell.offset for cell in cells if cell.term.function in _AT_EDGES}
    wanted = {j for cell in cells for j in _edges_of(cell)}
    return sorted(wanted - told)


def _edges_of(cell: Cell) -> list[int]:
    """The edges that the values of one cell tell apart. A test that fails beyond the sentence is absent there, as it is
    anywhere; one that holds there is told from those inside, which is more than the file tells."""
    values = [value_outside(cell, distance) for distance in range(1, abs(cell.offset) + 1)]
    if cell.term.flag and values[:1] == [FALSE]:
        return []
    side = -1 if cell.offset < 0 else 1
    return [cell.offset - side * d for d, value in enumerate(values) if d == 0 or value != values[d - 1]]


def value_outside(cell: Cell, distance: int) -> str:
    """What Wapiti makes of a cell so far beyond the sentence, where it sees _x-1, _x+2 ..., _x-#."""
    text = f"_x{'-' if cell.offset < 0 else '+'}{distance if distance <= FURTHEST else '#'}"
    value = cell.term.value(text)
    if cell.term.flag:
        return FALSE if value is None else TRUE
    return text if value is None else value


def _beyond(offset: int, edge: int) -> bool:
    """Whether a cell at `offset` looks beyond the sentence wherever `edge[edge]` is there."""
    return offset <= edge < 0 or 0 < edge <= offset
