"""From words on the command line to a learner: its name, and --set KEY=VALUE read as the parameter's type."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tagwright.attributes.presets import PRESETS
from tagwright.attributes.templates import FeatureSet, resolve
from tagwright.cli.corpus import clean_name
from tagwright.errors import ParameterError
from tagwright.learners import LEARNERS, SequenceTagger

# Parameters with an option of their own, or without a meaning here.
ELSEWHERE = {"features": "--features", "random_state": "--seed", "n_jobs": "--threads", "verbose": "", "callbacks": ""}
NOT_HERE = {*ELSEWHERE, "warm_start", "label_weights"}
FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def make_learner(
    name: str, settings: Iterable[tuple[str, str]], *, seed: int | None = None, threads: int | None = None
) -> SequenceTagger:
    """The learner called `name`, its parameters set and checked. Without `threads`, all cores."""
    check_learner(name, "--learner")
    model = LEARNERS[name](**read_settings(name, settings))
    model.set_params(random_state=seed, n_jobs=-1 if threads is None else threads)
    model.check_params()
    return model


def check_learner(name: str, option: str) -> None:
    """Refuse a name that no learner has."""
    if name not in LEARNERS:
        raise ParameterError(f"{option}: there is no learner {name!r}; choose one of {', '.join(LEARNERS)}")


def share_settings(names: Iterable[str], settings: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """--set for several learners: LEARNER.KEY=VALUE is for one, KEY=VALUE for all that have the parameter."""
    shares: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for key, text in settings:
        learner, dot, parameter = key.rpartition(".")
        learner = learner.replace("_", "-")  # as _pair in options.py left it
        if dot and learner not in shares:
            raise ParameterError(f"--set: {learner!r} is not compared; compared are {', '.join(shares)}")
        takers = [learner] if dot else [n for n in shares if key in LEARNERS[n].parameters]
        if not takers:
            raise ParameterError(f"--set: none of {', '.join(shares)} has a parameter {key!r}")
        for name in takers:
            shares[name].append((parameter, text))
    return shares


def read_settings(name: str, settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The values of KEY=VALUE pairs as the learner's parameters take them; the last of a key counts."""
    known = {key: p for key, p in inspect.signature(LEARNERS[name]).parameters.items() if key not in NOT_HERE}
    values: dict[str, Any] = {}
    for key, text in settings:
        if key not in known:
            raise ParameterError(f"--set: {_explain_key(key, name, known)}")
        values[key] = read_value(text, str(known[key].annotation), key)
    return values


def _explain_key(key: str, name: str, known: Mapping[str, object]) -> str:
    if ELSEWHERE.get(key):
        return f"{key} has an option of its own; use {ELSEWHERE[key]}"
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    cure = f"; did you mean {near[0]!r}?" if near else "."
    return f"{name} has no parameter {key!r}{cure} It has: {', '.join(known)}"


def read_value(text: str, annotation: str, key: str) -> object:
    """`text` as the first type of `annotation` ("int | None", "bool" ...) that fits it."""
    kinds = [kind.strip() for kind in annotation.split("|")]
    if "None" in kinds and text.casefold() == "none":
        return None
    if "bool" in kinds and text.casefold() in FLAGS:
        return FLAGS[text.casefold()]
    for kind, convert in (("int", int), ("float", float)):
        if kind in kinds:
            try:
                return convert(text)
            except ValueError:
                continue
    if "str" in kinds or "object" in kinds:
        return text
    expected = {"bool": "true or false", "int": "a whole number", "float": "a number", "None": "none"}
    raise ParameterError(
        f"--set: {key} must be {' or '.join(expected.get(kind, kind) for kind in kinds)}, found {text!r}"
    )


def find_features(name: str, n_columns: int) -> str | FeatureSet:
    """What --features means: a preset stays a name, a file becomes a set called as the file is."""
    if name == "auto" or name in PRESETS:
        return name
    return replace(resolve(name, n_columns), name=Path(clean_name(name)).stem)
