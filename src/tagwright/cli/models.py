"""A model as the commands use it: loaded, with the layout of the file it was trained on."""

from __future__ import annotations

from dataclasses import dataclass

from tagwright.io import Layout
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
    return LoadedModel(model, default_layout(model) if stored is None else Layout.from_json(stored))


def default_layout(model: SequenceTagger) -> Layout:
    """How to read files for a model that does not say: as many columns as its items have."""
    if model.encoder_.width == 0:
        return Layout("crfsuite", 0, (1,))
    return Layout("columns", None, tuple(range(model.encoder_.width)))
