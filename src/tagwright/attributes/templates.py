"""Feature sets: which attributes a token gets.

Stands between the spelling functions and the encoder. A `FeatureSet` holds cells (one function of one column at one
offset) and conjunctions of cells. It comes from a preset, a template file, text or a list of lines (`resolve`), and
`to_text` writes what a model stores. `explain` is the definition: the attributes of one token, by name. The encoder
computes the same by tables over distinct words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from os.path import isfile  # Path.is_file raises on a text too long for a file name
from pathlib import Path

from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.language import (
    CLUSTER,
    EDGES,
    Cell,
    ColumnItem,
    LabelTemplate,
    Term,
    attribute_name,
    check_column,
    check_conjunction,
    join_values,
    read_entries,
    write_entries,
)
from tagwright.attributes.macros import is_macro_text, read_macros
from tagwright.attributes.presets import CLUSTERS, PRESETS
from tagwright.errors import DataError, TemplateError

__all__ = ["EDGES", "Cell", "FeatureSet", "LabelTemplate", "Term", "attribute_name", "join_values", "resolve"]


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Templates of attributes; repeats are dropped, order is kept.

    singles: plain attributes, one term at one offset
    conjunctions: two or more cells joined; absent where one of them is
    labels: templates that look at labels, which one learner alone can do (GuidedTagger)
    clusters: what `cluster` looks words up in
    """

    name: str
    singles: tuple[Cell, ...] = ()
    conjunctions: tuple[tuple[Cell, ...], ...] = ()
    labels: tuple[LabelTemplate, ...] = ()
    clusters: WordClusters | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "singles", tuple(dict.fromkeys(self.singles)))
        object.__setattr__(self, "conjunctions", _distinct(self.conjunctions))
        object.__setattr__(self, "labels", tuple(dict.fromkeys(self.labels)))

    @classmethod
    def parse(cls, text: str, name: str = "custom", location: str = "file", n_columns: int | None = None) -> FeatureSet:
        """Read the template language (language.py), or a template file of CRF++ or Wapiti (macros.py).

        location: the file's name, for errors; n_columns: of the data, to refuse templates of other columns.
        """
        read = read_macros if is_macro_text(text) else read_entries
        found = read(text, location=location, n_columns=n_columns)
        singles = tuple(entry for entry in found if isinstance(entry, Cell))
        conjunctions = tuple(entry for entry in found if isinstance(entry, tuple))
        return cls(name, singles, conjunctions, tuple(entry for entry in found if isinstance(entry, LabelTemplate)))

    @classmethod
    def build(cls, name: str, lines: Iterable[str]) -> FeatureSet:
        """From template lines in Python: `FeatureSet.build("mine", ["word @ -1..1", "word[-1] & word[0]"])`."""
        return cls.parse("\n".join(lines), name=name, location="features")

    def to_text(self) -> str:
        """The templates as text; `parse` gives the same set back."""
        return write_entries(self.singles, self.conjunctions, self.labels)

    @property
    def groups(self) -> list[tuple[Cell, ...]]:
        """Singles and conjunctions as tuples of cells, in the order of `explain`."""
        return [*((cell,) for cell in self.singles), *self.conjunctions]

    @property
    def cells(self) -> list[Cell]:
        """All cells, those beside labels too, repeats included."""
        joined = [cell for template in self.labels for cell in template.cells]
        return [*(cell for cells in self.groups for cell in cells), *joined]

    @property
    def radius(self) -> int:
        """The largest distance that a cell looks at."""
        return max((abs(cell.offset) for cell in self.cells), default=0)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns used, in order."""
        return tuple(sorted({cell.term.column for cell in self.cells}))

    def explain(self, items: Sequence[ColumnItem], position: int) -> list[str]:
        """The names of all attributes of the token at `position`; labels are not looked at."""
        if not 0 <= position < len(items):
            raise DataError(f"expected 0 to {len(items) - 1}, found {position}", location="position")
        names = []
        for cells in self.groups:
            values = [value for cell in cells if (value := cell.value(items, position, self.clusters)) is not None]
            if len(values) == len(cells):
                names.append(attribute_name(cells, join_values(cells, values)))
        return names

    def with_clusters(self, clusters: WordClusters) -> FeatureSet:
        """The set with clusters, and with templates that look at them if it has none."""
        if any(cell.term.function == CLUSTER for cell in self.cells):
            return replace(self, clusters=clusters)
        return replace(self, singles=(*self.singles, *FeatureSet.parse(CLUSTERS).singles), clusters=clusters)

    def check_columns(self, n_columns: int) -> None:
        """Refuse a set that uses a column that the data does not have."""
        try:
            for cell in self.cells:
                check_column(cell.term, n_columns)
        except TemplateError as error:
            raise TemplateError(str(error), location=f"features {self.name!r}") from None


def resolve(features: object, n_columns: int) -> FeatureSet:
    """The feature set that a user means: a preset's name, a template file, template text, lines, or a set; or one of
    these with word clusters, as a pair.

    n_columns: columns of the data; presets use the columns beyond the word where there are some.
    """
    features, clusters = split_clusters(features)
    if clusters is not None:
        return resolve(features, n_columns).with_clusters(clusters)
    if isinstance(features, FeatureSet):
        features.check_columns(n_columns)
        return features
    if isinstance(features, str) and features in PRESETS:
        return FeatureSet.parse(_preset_text(features, n_columns), features, f"preset {features}", n_columns)
    text, location = _find_text(features)
    found = FeatureSet.parse(text, location=location, n_columns=n_columns)
    if not found.groups:
        raise TemplateError("there is no template; write for example `word @ -1..1`", location=location)
    return found


def split_clusters(features: object) -> tuple[object, WordClusters | None]:
    """What a user gives for `features`: templates, and word clusters where it is a pair."""
    if isinstance(features, tuple) and len(features) == 2 and isinstance(features[1], WordClusters):
        return features[0], features[1]
    return features, None


def _preset_text(name: str, n_columns: int) -> str:
    """The templates of a preset for data with `n_columns` columns."""
    preset, further = PRESETS[name], range(1, n_columns)
    return "\n".join([preset.words, *(preset.other_columns.replace(":C", f":{column}") for column in further)])


def _find_text(features: object) -> tuple[str, str]:
    """Template text and its location."""
    if isinstance(features, Path):
        return _read_text(features), str(features)
    if not isinstance(features, str):
        try:
            return "\n".join(features), "features"  # type: ignore[arg-type]
        except TypeError:
            found = type(features).__name__
            expected = "a preset's name, a template file, template text, template lines or a FeatureSet"
            raise TemplateError(f"expected {expected}, found {found}", location="features") from None
    if "\n" not in features and isfile(features):
        return _read_text(Path(features)), features
    if any(mark in features for mark in "\n@&%"):
        return features, "features"
    near = get_close_matches(features, PRESETS, n=1)
    cure = f"did you mean {near[0]!r}? " if near else ""
    known = ", ".join(PRESETS)
    raise TemplateError(
        f"no preset and no file is called {features!r}; {cure}The presets are: {known}", location="features"
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TemplateError(f"not a UTF-8 text file (byte {error.start})", location=str(path)) from None
    except OSError as error:
        raise TemplateError(f"cannot read the template file: {error.strerror}", location=str(path)) from None


def _distinct(conjunctions: Iterable[Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """Conjunctions without repeats; the order of cells within one makes no difference."""
    distinct: dict[frozenset[Cell], tuple[Cell, ...]] = {}
    for cells in conjunctions:
        check_conjunction(cells)
        distinct.setdefault(frozenset(cells), tuple(cells))
    return tuple(distinct.values())
