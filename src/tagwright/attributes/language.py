"""The template language: the terms and cells that templates are made of, and their text.

    word lower prefix(1..4) suffix(1..4) @ 0     # terms @ offsets: every term at every offset
    word shape @ -1, 1                           # a list of offsets
    word:1 @ -2..2                               # a range of offsets; column 1
    word[-1] & word[0]                           # a conjunction: cells joined
    word[-1] & word[0] @ 0..1                    # the conjunction, shifted by each offset
    label @ -1, 1                                # labels that are known already (GuidedTagger)
    label[-1] & label[1] & word[0]               # joined with each other and with cells

One entry a line, `#` starts a comment, blank lines are skipped. `suffix(1..3)` in a conjunction makes three of them.

A `Term` is one spelling function (text/spelling.py) of one column of an item. A `Cell` is a term at an offset from the
token that is tagged. Both refuse what cannot be used. The encoder runs terms; people read the names made here.

Used by templates.py; what is written here is also what a model file stores, so `read_entries(write_entries(...))` gives
back the same cells in the same order, and a hostile text cannot grow without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, groupby, product
from math import prod

from tagwright.attributes.clusters import WordClusters
from tagwright.errors import DataError, TemplateError
from tagwright.text.spelling import FUNCTIONS, LONGEST_AFFIX, Speller
from tagwright.text.strings import Strings

EDGES = ("<s>", "</s>")  # what stands left and right of a sentence
LARGEST_OFFSET = 32
LARGEST_COLUMN = 255
CLUSTER = "cluster"  # the one function that needs more than the string
LABEL = "label"  # a cell of this name is a label that is known already
FURTHEST_LABEL = 2
LARGEST_SET = 10_000  # attributes that a line, or a text, may stand for

_TERM = re.compile(r"\s*(?P<name>[^\W\d]\w*)(?:\((?P<arguments>[^()]*)\))?(?::(?P<column>\w*))?(?=\s|$)")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,9}\s*", re.ASCII)
_LABEL = re.compile(rf"\b{LABEL}\b")
_LABEL_CELL = re.compile(rf"\s*{LABEL}\s*\[([^\[\]]*)\]\s*")

ColumnItem = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One function of one column."""

    function: str
    argument: int | None = None
    column: int = 0

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise TemplateError(_unknown_function(self.function))
        if FUNCTIONS[self.function].n_arguments == 0:
            if self.argument is not None:
                raise TemplateError(f"`{self.function}` takes no argument, found {self.argument}; leave it out")
        elif self.argument is None:
            raise TemplateError(
                f"`{self.function}` needs a length: write `{self.function}(3)` or `{self.function}(1..3)`"
            )
        elif not 1 <= self.argument <= LONGEST_AFFIX:
            raise TemplateError(f"`{self.function}` takes a length from 1 to {LONGEST_AFFIX}, found {self.argument}")
        if not 0 <= self.column <= LARGEST_COLUMN:
            raise TemplateError(f"a column is a number from 0 to {LARGEST_COLUMN}, found {self.column}")

    @property
    def name(self) -> str:
        """The term as attributes show it: "suffix3", "suffix3:1" on column 1."""
        argument = "" if self.argument is None else str(self.argument)
        return f"{self.function}{argument}{self._column_mark}"

    @property
    def text(self) -> str:
        """The term as templates write it: "suffix(3)", "suffix(3):1"."""
        argument = "" if self.argument is None else f"({self.argument})"
        return f"{self.function}{argument}{self._column_mark}"

    @property
    def flag(self) -> bool:
        """Whether the value is always "": the name alone identifies the attribute."""
        return FUNCTIONS[self.function].flag

    @property
    def _column_mark(self) -> str:
        return f":{self.column}" if self.column else ""

    def value(self, text: str, clusters: WordClusters | None = None) -> str | None:
        """What the function makes of a string, None where it gives no value."""
        pieces = Speller([(self.function, self.argument)], clusters).spell(Strings.of([text], 1))
        return None if pieces.ends[0, 0] < pieces.begins[0, 0] else pieces.of_term(0).decode()[0]

    def edge_value(self, side: int) -> str | None:
        """The value beyond the sentence: side 0 is left, 1 is right; None where the term is absent there."""
        if self.function in ("word", "lower", "edge"):
            return EDGES[side]
        return "" if self.function == "bias" else None


@dataclass(frozen=True, slots=True)
class Cell:
    """A term at an offset from the token that is tagged."""

    term: Term
    offset: int = 0

    def __post_init__(self) -> None:
        if abs(self.offset) > LARGEST_OFFSET:
            raise TemplateError(
                f"an offset is a number from -{LARGEST_OFFSET} to {LARGEST_OFFSET}, found {self.offset}"
            )

    @property
    def name(self) -> str:
        """The cell as attributes show it: "suffix3[-1]"."""
        return f"{self.term.name}[{self.offset}]"

    @property
    def text(self) -> str:
        """The cell as templates write it in a conjunction: "suffix(3)[-1]"."""
        return f"{self.term.text}[{self.offset}]"

    def value(self, items: Sequence[ColumnItem], position: int, clusters: WordClusters | None = None) -> str | None:
        """The value for the token at `position`: the definition that the encoder's tables must agree with."""
        index = position + self.offset
        if not 0 <= index < len(items):
            return self.term.edge_value(0 if index < 0 else 1)
        item = items[index]
        columns = (item,) if isinstance(item, str) else item
        if self.term.column >= len(columns):
            found = f"the item has {len(columns)} column(s), the template `{self.text}` needs column {self.term.column}"
            raise DataError(found, location=f"item {index}")
        return self.term.value(columns[self.term.column], clusters)


@dataclass(frozen=True, slots=True)
class LabelTemplate:
    """Labels around the token that is tagged, joined with each other and with cells: `label[-1] & label[1] & word[0]`.

    Such a feature is there only where all of its labels are known. offsets: of the labels, ascending.
    """

    offsets: tuple[int, ...]
    cells: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        for offset in self.offsets:  # those that no search knows: the one that is asked for, and those too far away
            if offset == 0:
                raise TemplateError(
                    f"`{LABEL}[0]` is the label that is asked for; every feature is joined with it already"
                )
            if abs(offset) > FURTHEST_LABEL:
                raise TemplateError(
                    f"labels up to {FURTHEST_LABEL} tokens away are known, found `{LABEL}[{offset}]`; "
                    f"use an offset from -{FURTHEST_LABEL} to {FURTHEST_LABEL}"
                )
        if len(set(self.offsets)) < len(self.offsets):
            raise TemplateError(f"the same label twice in `{self.text}`; name it once")
        if len(set(self.cells)) < len(self.cells):
            raise TemplateError(f"the same cell twice in `{self.text}`; name it once")
        object.__setattr__(self, "offsets", tuple(sorted(self.offsets)))

    @property
    def text(self) -> str:
        """As templates write it."""
        if len(self.offsets) == 1 and not self.cells:
            return f"{LABEL} @ {self.offsets[0]}"
        return " & ".join([*(f"{LABEL}[{offset}]" for offset in self.offsets), *(cell.text for cell in self.cells)])


def check_conjunction(cells: Sequence[Cell]) -> None:
    """Refuse a conjunction of fewer than two cells, or of the same cell twice."""
    if len(cells) < 2 or len(set(cells)) < len(cells):
        text = " & ".join([cell.text for cell in cells])
        raise TemplateError(f"a conjunction needs two different cells or more, found `{text}`")


def join_values(cells: Sequence[Cell], values: Sequence[str]) -> str:
    """One string for the values of some cells; different values give different strings ("of&the", "AT\\&T&shares").

    Flags add nothing: their value is always "".
    """
    shown = [value for cell, value in zip(cells, values, strict=True) if not cell.term.flag]
    if len(shown) == 1:
        return shown[0]
    return "&".join([value.replace("\\", "\\\\").replace("&", "\\&") for value in shown])


def attribute_name(cells: Sequence[Cell], value: str) -> str:
    """The readable name: "suffix3[-1]=ing", "word[-1]&word[0]=of&the", "capitalised[0]".

    value: of the one cell, or what `join_values` made of several.
    """
    name = "&".join([cell.name for cell in cells])
    return name if all(cell.term.flag for cell in cells) else f"{name}={value}"


def _unknown_function(name: str) -> str:
    near = get_close_matches(name, FUNCTIONS, n=1)
    arguments = "(n)" if near and FUNCTIONS[near[0]].n_arguments else ""
    cure = f"did you mean `{near[0]}{arguments}`? " if near else ""
    return f"unknown function `{name}`; {cure}The functions are: {', '.join(FUNCTIONS)}"


Entry = Cell | tuple[Cell, ...] | LabelTemplate
"""A single cell, a conjunction of cells, or a template of labels."""


def read_entries(text: str, *, location: str, n_columns: int | None = None) -> list[Entry]:
    """What a text says, in its order, repeats included.

    location: the file's name, for errors; n_columns: of the data, where known: a template may not name another column.
    """
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        try:
            found = _read_entry(entry)
            for cell in chain.from_iterable(map(_cells_of, found)):
                check_column(cell.term, n_columns)
            entries += found
            check_size(len(entries))
        except TemplateError as error:
            raise TemplateError(str(error), location=f"{location}:{number}") from None
    return entries


def check_column(term: Term, n_columns: int | None) -> None:
    if n_columns is not None and term.column >= n_columns:
        raise TemplateError(
            f"`{term.text}` needs column {term.column}, but the data has {n_columns} column(s) (from 0)"
        )


def _cells_of(entry: Entry) -> Sequence[Cell]:
    if isinstance(entry, Cell):
        return [entry]
    return entry if isinstance(entry, tuple) else entry.cells


def _read_entry(entry: str) -> Sequence[Entry]:
    left, at, right = entry.partition("@")
    if left.strip() == LABEL:
        if not at:
            raise TemplateError(f"no offsets in `{entry}`; write `{LABEL} @ -1` for the label before")
        return [LabelTemplate((offset,)) for offset in _read_offsets(right)]
    if "&" in entry or "[" in entry or _LABEL.search(entry):
        return _read_joined(entry, left, _read_offsets(right) if at else [0])
    if not at:
        raise TemplateError(f"no offsets in `{entry}`; write `{entry} @ 0` for the current token")
    terms = list(_read_terms(left))
    if not terms:
        raise TemplateError(f"no terms before `@` in `{entry}`; write for example `word {entry}`")
    offsets = _read_offsets(right)
    check_size(len(terms) * len(offsets))
    return [Cell(term, offset) for offset in offsets for term in terms]


def _read_joined(entry: str, joined: str, shifts: Sequence[int]) -> list[Entry]:
    """Cells joined by `&` are a conjunction; with labels among them, a template of labels."""
    labels: list[int] = []
    choices: list[list[Cell]] = []
    for part in joined.split("&"):
        if found := _LABEL_CELL.fullmatch(part):
            labels.append(_read_integer(found[1]))
        elif _LABEL.search(part):
            expected = f"a label such as `{LABEL}[-1]`, or `{LABEL} @ -1` alone"
            raise TemplateError(f"expected {expected}, found `{part.strip()}`")
        else:
            choices.append(_read_cell(part))
    if not labels and len(choices) < 2:
        raise TemplateError(f"a conjunction needs two cells or more, found `{entry}`; {_as_single(choices[0])}")
    check_size(prod(map(len, choices)) * len(shifts))
    entries: list[Entry] = []
    for shift, cells in product(shifts, product(*choices)):
        shifted = tuple(Cell(cell.term, cell.offset + shift) for cell in cells)
        if labels:
            entries.append(LabelTemplate(tuple(offset + shift for offset in labels), shifted))
        else:
            check_conjunction(shifted)
            entries.append(shifted)
    return entries


def _as_single(cells: Sequence[Cell]) -> str:
    return f"for one cell write `{' '.join(_write_terms([cell.term for cell in cells]))} @ {cells[0].offset}`"


def _read_cell(text: str) -> list[Cell]:
    """The cells of `suffix(1..3)[-1]`: several where the argument is a range."""
    name, bracket, offset = text.strip().rpartition("[")
    if not bracket or not offset.endswith("]"):
        raise TemplateError(f"expected a cell such as `word[-1]`, found `{text.strip()}`")
    terms = list(_read_terms(name))
    if len({(term.function, term.column) for term in terms}) != 1:
        raise TemplateError(f"expected one term before the bracket, found `{text.strip()}`; join cells with `&`")
    return [Cell(term, _read_integer(offset[:-1])) for term in terms]


def _read_terms(text: str) -> Iterator[Term]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TERM.match(text, position)
        if found is None:
            raise TemplateError(
                f"expected a term such as `word`, `suffix(3)` or `word:1`, found `{text[position:].strip()}`"
            )
        position = found.end()
        column = 0 if found["column"] is None else _read_integer(found["column"])
        arguments: Iterable[int | None] = [None] if found["arguments"] is None else _read_range(found["arguments"])
        for argument in arguments:
            yield Term(found["name"], argument, column)


def _read_offsets(text: str) -> list[int]:
    offsets = [offset for part in text.split(",") for offset in _read_range(part)]
    for offset in offsets:
        Cell(Term("word"), offset)  # refuses what is too far
    return offsets


def _read_range(text: str) -> list[int]:
    """`3` or `1..4`."""
    first, dots, last = text.partition("..")
    start = _read_integer(first)
    stop = _read_integer(last) if dots else start
    if stop < start:
        raise TemplateError(f"the range `{text.strip()}` runs backwards; write `{stop}..{start}`")
    if stop - start > 2 * LARGEST_OFFSET:
        raise TemplateError(f"the range `{text.strip()}` is too long")
    return list(range(start, stop + 1))


def _read_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise TemplateError(f"expected a number, found `{text.strip()}`")
    return int(text)


def check_size(n_attributes: int) -> None:
    if n_attributes > LARGEST_SET:
        raise TemplateError(f"{n_attributes} attributes a token; the limit is {LARGEST_SET}")


def write_entries(
    singles: Sequence[Cell], conjunctions: Sequence[Sequence[Cell]], labels: Sequence[LabelTemplate] = ()
) -> str:
    """The text of these cells: neighbours that share terms or offsets share a line."""
    rows: list[tuple[list[Term], list[int]]] = []
    for offset, cells in groupby(singles, key=lambda cell: cell.offset):
        terms = [cell.term for cell in cells]
        if rows and rows[-1][0] == terms:
            rows[-1][1].append(offset)
        else:
            rows.append((terms, [offset]))
    lines = [f"{' '.join(_write_terms(terms))} @ {_write_offsets(offsets)}" for terms, offsets in rows]
    lines += [" & ".join([cell.text for cell in cells]) for cells in conjunctions]
    lines += [template.text for template in labels]
    return "".join([f"{line}\n" for line in lines])


def _write_terms(terms: Sequence[Term]) -> list[str]:
    """`suffix(1..3)` for three neighbours that go up by one: argument − index is the same in a run."""
    texts = []
    numbered = enumerate(terms)
    for _, run in groupby(
        numbered, key=lambda pair: (pair[1].function, pair[1].column, (pair[1].argument or 0) - pair[0])
    ):
        alike = [term for _, term in run]
        first, last = alike[0], alike[-1]
        texts.append(first.text if first == last else first.text.replace(")", f"..{last.argument})"))
    return texts


def _write_offsets(offsets: Sequence[int]) -> str:
    parts = []
    for _, run in groupby(enumerate(offsets), key=lambda pair: pair[1] - pair[0]):
        numbers = [offset for _, offset in run]
        parts.append(f"{numbers[0]}..{numbers[-1]}" if len(numbers) > 2 else ", ".join(map(str, numbers)))
    return ", ".join(parts)
