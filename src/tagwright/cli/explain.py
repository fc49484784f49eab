"""Why a token got its label: its attributes and what each of them weighs, for `tagwright inspect --attributes`."""

from __future__ import annotations

from typing import Any

from tagwright.cli.learned import list_weights
from tagwright.errors import DataError
from tagwright.learners import SequenceTagger


def explain(model: SequenceTagger, text: str) -> list[dict[str, Any]]:
    """Every token of a sentence with its label, its attributes, and their weights for that label; None where the model
    does not know the attribute. With more than one column, a token is written word/column/column.
    """
    features = model.encoder_.features
    if features is None:
        raise DataError("the model takes ready-made attributes: there are no templates", location="--attributes")
    weights = list_weights(model)
    if weights is None:
        raise DataError("the model compares tokens by a kernel: attributes have no weights", location="--attributes")
    tokens = text.split()
    if not tokens:
        raise DataError("found no tokens, expected a sentence with spaces between its tokens", location="--attributes")
    items: list[Any] = [_read_item(token, model.encoder_.width) for token in tokens]
    labels = model.predict([items])[0]
    numbers = {name: a for a, name in enumerate(model.encoder_.attribute_names())}
    explained = []
    for t, (token, label) in enumerate(zip(tokens, labels, strict=True)):
        y, names = model.labels_.index(label), features.explain(items, t)
        known = {name: weights.find(numbers[name], y) if name in numbers else None for name in names}
        explained.append({"token": token, "label": label, "attributes": known})
    return explained


def _read_item(token: str, width: int) -> str | tuple[str, ...]:
    if width == 1:
        return token
    fields = token.rsplit("/", width - 1)
    if len(fields) != width or "" in fields:
        raise DataError(
            f"found the token {token!r}, expected {width} columns joined by slashes, as the model was trained on",
            location="--attributes",
        )
    return tuple(fields)


def format_explained(explained: list[dict[str, Any]]) -> str:
    """A block for each token: attributes by weight, those unknown to the model last."""
    blocks = []
    for one in explained:
        known = [(name, weight) for name, weight in one["attributes"].items() if weight is not None]
        lines = [f"  {weight:8.3f}  {name}" for name, weight in sorted(known, key=lambda pair: -pair[1])]
        lines += [f"  {'new':>8}  {name}" for name, weight in one["attributes"].items() if weight is None]
        blocks.append("\n".join([f"{one['token']}  →  {one['label']}", *lines]))
    return "\n\n".join(blocks)
