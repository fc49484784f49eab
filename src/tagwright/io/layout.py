"""Where the inputs and the label stand in a file: what a model remembers of how it was trained.

`Layout` is made by a format from the file's first lines and the user's choice of columns, is stored in the model file
as JSON, and tells writers which column to fill.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, TypeAlias

from tagwright.errors import DataError, ModelFileError

Column: TypeAlias = int | str  # a number from 0, a negative number from the end, or a name


class ColumnChoice(NamedTuple):
    """The columns that the user asks for, and those that the model was trained on."""

    label: Column | None = "auto"  # "auto": as in training, or the format's own default; None: no labels are read
    inputs: Sequence[Column] | None = None
    n_inputs: int | None = None  # without `inputs` and `trained`: this many columns from the left
    separator: str | None = None  # between word and tag, where the user says it
    trained: Layout | None = None  # how the training file was read, where there is a model
    labelled: bool = True  # whether labels are read; else `label` is the column they are written into


@dataclass(frozen=True, slots=True)
class Layout:
    """A format, the numbers of the columns that are inputs, and the number of the label's column.

    `names` are the inputs' names where the file gave them, else (). `label` is None where the file has no such column.
    Formats without columns have one input, 0. `width` is the number of columns of a line, 0 where that is not fixed.
    `separator` stands between word and tag. `given`: the user said which format it is, so it cannot be told from the
    file for sure.
    """

    format: str
    label: int | None = None
    inputs: tuple[int, ...] = (0,)
    names: tuple[str, ...] = ()
    width: int = 0
    label_name: str = ""
    separator: str = "/"
    given: bool = False

    @property
    def n_inputs(self) -> int:
        return len(self.inputs)

    def to_json(self) -> dict[str, object]:
        """A JSON object for the model file."""
        return asdict(self) | {"inputs": list(self.inputs), "names": list(self.names)}

    @classmethod
    def from_json(cls, stored: object, formats: Container[str]) -> Layout:
        """The layout that `to_json` stored, in one of `formats`; anything else is a ModelFileError."""
        if not isinstance(stored, Mapping):
            raise ModelFileError(f"the layout is not an object: {str(stored)[:60]}")
        format, label, width = stored.get("format"), stored.get("label"), stored.get("width", 0)
        inputs, names = stored.get("inputs"), stored.get("names", [])
        more = {
            name: stored[name] for name in ("label_name", "separator", "given") if name in stored
        }  # not in old files
        well_formed = (
            isinstance(format, str)
            and format in formats
            and (label is None or _is_number(label))
            and _is_number(width)
            and isinstance(inputs, list)
            and len(inputs) > 0
            and all(map(_is_number, inputs))
            and isinstance(names, list)
            and len(names) in (0, len(inputs))
            and all(isinstance(name, str) for name in names)
            and isinstance(more.get("label_name", ""), str)
            and is_separator(more.get("separator", "/"))
            and isinstance(more.get("given", False), bool)
        )
        if not well_formed:
            raise ModelFileError(f"the layout cannot be used: {str(dict(stored))[:200]}")
        return cls(str(format), label, tuple(inputs or ()), tuple(names), width, **more)

    def describe_inputs(self) -> str:
        """The input columns, for a message: "0 WORD, 1 POS"."""
        names = self.names or ("",) * self.n_inputs
        return ", ".join([f"{i} {name}".rstrip() for i, name in zip(self.inputs, names, strict=True)])


def is_separator(text: object) -> bool:
    """Whether this can stand between word and tag."""
    return isinstance(text, str) and text != "" and not any(character.isspace() for character in text)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def find_column(column: Column, width: int, names: Sequence[str], *, location: str) -> int:
    """The number from 0 of a column given by number or name. Names are compared without regard to case."""
    if isinstance(column, str):
        if column.casefold() in [name.casefold() for name in names]:
            return [name.casefold() for name in names].index(column.casefold())
        try:
            column = int(column)
        except ValueError:
            cure = "" if names else "; columns have names only where line 1 is '# global.columns = NAME NAME ...'"
            raise DataError(
                f"no column is called {column!r}; {_list_columns(width, names)}{cure}", location=location
            ) from None
    if not -width <= column < width:
        raise DataError(f"there is no column {column}; {_list_columns(width, names)}", location=location)
    return column % width


def _list_columns(width: int, names: Sequence[str]) -> str:
    """The columns there are, for a message."""
    if names:
        return "the columns are " + ", ".join(f"{i} {name}" for i, name in enumerate(names)) + ": choose one of them"
    if width == 1:
        return "the line has one column, 0"
    return f"the line has {width} columns: choose from 0 to {width - 1}, or -1 for the last"


def choose_columns(
    choice: ColumnChoice, width: int, names: Sequence[str], location: str
) -> tuple[int | None, tuple[int, ...]]:
    """The label's column and the input columns as numbers.

    Without `inputs`: the first `n_inputs` columns, or else all columns left of the label (in CoNLL files, columns
    to the right are later analyses), or else all columns.
    """
    label, inputs, n_inputs = choice[:3]
    target = None if label is None else find_column(label, width, names, location=location)
    if inputs is not None:
        chosen = tuple(find_column(column, width, names, location=location) for column in inputs)
    elif n_inputs is not None:
        chosen = tuple(find_column(i, width, names, location=location) for i in range(n_inputs))
    else:
        chosen = tuple(range(width if target is None else target))
    if not chosen:
        raise DataError(
            f"no input columns are left of the label's column: column {target} is the first; expected a word and then "
            "its label, or say which columns are inputs",
            location=location,
        )
    if target in chosen:
        raise DataError(
            f"column {target} is asked for as an input and as the label; choose another for one of them",
            location=location,
        )
    return target, chosen
