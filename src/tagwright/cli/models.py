"""A model as the commands use it: loaded, with the layout of the file it was trained on."""

from __future__ import annotations

from dataclasses import dataclass

from tagwright.io import FORMATS, Layout
from tagwright.io.crfsuite import LAYOUT as CRFSUITE_LAYOUT
from tagwright.learners import SequenceTagger, load


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model and its training layout; `layout.label` is None for a model that was trained in Python."""

    model: SequenceTagger
    layout: Layout


def open_model(path: str) -> LoadedModel:
    """Load a model file."""
    model = load(path)
    stored = model.info_.get("layout")
    return LoadedModel(model, default_layout(model) if stored is None else Layout.from_json(stored, FORMATS))


def default_layout(model: SequenceTagger) -> Layout:
    """How to read files for a model that does not say: as many columns as its items have."""
    if model.encoder_.width == 0:
        return CRFSUITE_LAYOUT
    return Layout("columns", None, tuple(range(model.encoder_.width)))
