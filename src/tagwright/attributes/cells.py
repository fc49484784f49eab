"""Terms and cells: what a template is made of.

A `Term` is one spelling function of one column of an item (`suffix(3)`, `word:1`). A `Cell` is a term at an offset
from the token that is tagged. Stands between text/spelling.py (the functions) and templates.py (sets of cells). The
encoder runs terms; people read the names made here. Both classes refuse what cannot be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

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
