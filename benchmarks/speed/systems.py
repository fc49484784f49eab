"""The rivals and their settings, and what of ours stands beside each.

Settings are those of one or two tries on the dev sets, as published with each tool: points of reference, not ceilings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PLAIN = """
word lower prefix(1..4) suffix(1..4) capitalised all_capitals has_digit has_hyphen has_dot @ 0
word @ -2, -1, 1, 2
"""
CHUNK = """
word @ -2..2
word[-1] & word[0] @ 0..1
word:1 @ -2..2
word:1[-1] & word:1[0] @ -1..2
word:1[-1] & word:1[0] & word:1[1] @ -1..1
"""
TEMPLATES = {"plain": PLAIN, "ner": f"{PLAIN}word:1 @ -2..2\n", "chunk": CHUNK}
ATTRIBUTES = {"ewt": "plain", "wsj": "plain", "ner": "ner", "chunk": "chunk"}
PRESETS = {"ewt": "pos", "wsj": "pos", "ner": "ner", "chunk": "chunk"}
WORDS_ALONE = ("ewt", "wsj")
C2 = 1.0

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rival:
    """A tool with one of its algorithms.

    job: its file in benchmarks/rivals, and its environment
    limit: the setting that says how long to train, and its value (smaller with --quick)
    beside: which of ours (OURS)
    tasks: those it can do
    """

    name: str
    title: str
    job: str
    settings: Settings
    limit: tuple[str, int]
    beside: tuple[str, ...]
    tasks: tuple[str, ...] = tuple(ATTRIBUTES)
    note: str = ""

    def settings_for(self, task: str, factor: float) -> Settings:
        """Settings of one task; `factor` scales the iterations."""
        key, value = self.limit
        settings = {"attributes": ATTRIBUTES[task], **self.settings}
        value = max(2, round(value * factor))
        if "parameters" in settings:
            return {**settings, "parameters": {**settings["parameters"], key: value}}
        return {**settings, key: value}


@dataclass(frozen=True, slots=True)
class Ours:
    """One of our learners. features: "same" as the rivals' attributes, or "preset"."""

    name: str
    title: str
    learner: str
    features: str
    parameters: Settings = field(default_factory=dict)
    limit: tuple[str, int] = ("max_iterations", 500)

    def settings_for(self, task: str, factor: float) -> Settings:
        features = TEMPLATES[ATTRIBUTES[task]] if self.features == "same" else PRESETS[task]
        key, value = self.limit
        parameters = {**self.parameters, key: max(4, round(value * factor))}
        return {"learner": self.learner, "features": features, "parameters": parameters}


TEXTBOOK = {"orders": 1, "margin": 0.0, "all_possible_states": False, "patience": 30}
OURS = {
    one.name: one
    for one in (
        Ours("crf", "CRF, L-BFGS", "crf", "same", {"c2": C2, "patience": 20}),
        Ours("crf-sgd", "CRF, stochastic", "crf", "same", {"c2": C2, "solver": "sgd"}, ("max_iterations", 30)),
        Ours("perceptron", "perceptron as `ap`", "perceptron", "same", TEXTBOOK, ("epochs", 20)),
        Ours("perceptron-default", "perceptron", "perceptron", "same", limit=("epochs", 12)),
        Ours("preset", "CRF, preset", "crf", "preset"),
        Ours("preset-dictionary", "CRF, preset, tag dictionary", "crf", "preset", {"tag_dictionary": 5}),
        Ours("preset-perceptron", "perceptron, preset", "perceptron", "preset", limit=("epochs", 12)),
    )
}


def crfsuite(name: str, algorithm: str, passes: int, beside: tuple[str, ...], **more: Any) -> Rival:
    parameters = {"c1": 0.0, "c2": C2} if algorithm == "lbfgs" else {}
    settings = {"algorithm": algorithm, "parameters": parameters, **more.pop("settings", {})}
    title = more.pop("title", f"python-crfsuite, {algorithm}")
    return Rival(name, title, "crfsuite", settings, ("max_iterations", passes), beside, **more)


RIVALS = {
    one.name: one
    for one in (
        crfsuite("crfsuite-lbfgs", "lbfgs", 150, ("crf", "crf-sgd", "preset")),
        crfsuite("crfsuite-pa", "pa", 20, ("crf", "crf-sgd", "perceptron-default")),
        crfsuite("crfsuite-ap", "ap", 20, ("perceptron", "perceptron-default", "preset-perceptron")),
        crfsuite(
            "crfsuite-pos", "lbfgs", 60, ("preset", "preset-dictionary"), tasks=WORDS_ALONE,
            settings={"attributes": "pos"}, title="python-crfsuite, lbfgs, attributes of `pos`",
        ),
        Rival(
            "wapiti", "Wapiti, lbfgs, 2 threads", "wapiti", {"threads": 2}, ("iterations", 150), ("crf", "crf-sgd"),
        ),
        Rival(
            "crfpp", "CRF++, 2 threads", "crfpp", {"threads": 2}, ("iterations", 150), ("crf", "crf-sgd"),
        ),
        Rival(
            "chaine-ap", "chaine, ap", "chaine", {"algorithm": "ap", "parameters": {}}, ("max_iterations", 20),
            ("perceptron",),
        ),
        Rival(
            "nltk-perceptron", "NLTK PerceptronTagger", "nltk", {"algorithm": "perceptron"}, ("epochs", 10),
            ("perceptron-default",), WORDS_ALONE, "its own features",
        ),
        Rival(
            "nltk-tnt", "NLTK TnT", "nltk", {"algorithm": "tnt"}, ("epochs", 1), ("perceptron-default",), WORDS_ALONE,
            "its own features",
        ),
        Rival(
            "udpipe", "UDPipe 1", "udpipe", {}, ("iterations", 5), ("perceptron-default",), WORDS_ALONE,
            "its own features; 5 of its default 20 iterations",
        ),
        Rival("morphodita", "MorphoDiTa", "morphodita", {}, ("iterations", 1), ("perceptron-default",), WORDS_ALONE),
    )
}  # fmt: skip
