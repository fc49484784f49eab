"""Our Tagger and python-crfsuite's, asked the same of the same model files."""

from __future__ import annotations

import math
import random
from collections import Counter, OrderedDict, UserDict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite as original
import pytest
from crfsuite.models import ALGORITHMS, random_data, train

from tagwright import pycrfsuite as ours
from tagwright.pycrfsuite.attribute_weights import ONE_ONLY, read_name
from tagwright.pycrfsuite.items import add_up, flatten, read_lists
from tagwright.pycrfsuite.tagging import HANDOVER_NAMES

pytestmark = pytest.mark.bounds
Item = Any


def open_both(path: Path) -> tuple[ours.Tagger, original.Tagger]:
    taggers = ours.Tagger(), original.Tagger()
    for tagger in taggers:
        tagger.open(str(path))
    return taggers


def compare(one: ours.Tagger, other: original.Tagger, sentence: list[Item], again: random.Random) -> None:
    """Tags, the probabilities of some labellings, and all marginals."""
    tags = one.tag(sentence)
    assert tags == other.tag(sentence)
    for labels in (tags, [again.choice(one.labels()) for _ in tags]):
        assert one.probability(labels) == pytest.approx(other.probability(labels), abs=1e-5)
    for t in range(len(tags)):
        for label in one.labels():
            assert one.marginal(label, t) == pytest.approx(other.marginal(label, t), abs=1e-4)


def mixed_item(chance: random.Random) -> Item:
    """Names that training has and others, as lists, tuples, dicts and nested ones."""
    names = [f"{chance.choice(['w', 'ü', '日', 'a:b', 'x y', 'n' * 12, '?'])}{chance.randint(0, 11)}" for _ in range(3)]
    kinds: list[Item] = [
        names,
        tuple(names + names),
        dict.fromkeys(names, chance.choice([1, 0.5, -2.25, True, False, "ß"])),
        {"n" * 11 + "1": {"a": 1.5, "b": ["c"]}, names[0]: 2.0},
        {name.encode(): b"\xc3\x9f" for name in names},
        [],
        {},
    ]
    return chance.choice(kinds)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tags_probabilities_and_marginals_are_the_originals(tmp_path: Path, algorithm: str) -> None:
    train(tmp_path / "a", *random_data(8), algorithm)
    one, other = open_both(tmp_path / "a")
    assert one.labels() == other.labels()
    chance = random.Random(5)
    fresh = [[mixed_item(chance) for _ in range(chance.randint(0, 7))] for _ in range(60)]
    for sentence in random_data(99)[0] + fresh:
        compare(one, other, sentence, chance)


@pytest.mark.parametrize("kind", [list, tuple])
def test_many_attributes_in_one_sentence(tmp_path: Path, kind: type) -> None:
    """More than a kernel takes at a time, and enough to give Python's lock up."""
    train(tmp_path / "a", *random_data(3))
    one, other = open_both(tmp_path / "a")
    chance = random.Random(1)
    sentence = [kind(f"w{chance.randint(0, 12)}" for _ in range(chance.randint(0, 90))) for _ in range(200)]
    assert sum(map(len, sentence)) > HANDOVER_NAMES
    compare(one, other, sentence, chance)


def same_keys() -> tuple[str, str]:
    """Two names that have the same key."""
    seen: dict[int, str] = {}
    for k in range(1 << 20):
        name = f"attribute {k}"
        key, _ = read_name(np.frombuffer(name.encode() + bytes(9), np.uint8), 0, ONE_ONLY)
        if key in seen:
            return seen[key], name
        seen[key] = name
    raise AssertionError("a key has more bits than it should")


def test_names_with_the_same_key_are_told_apart(tmp_path: Path) -> None:
    first, second = same_keys()
    train(tmp_path / "a", [[[first], ["b"], [first], ["c"]]], [list("ABAC")])
    train(tmp_path / "b", [[[first], [second], [first], [second]]], [list("ABAB")])
    for name in "ab":
        one, other = open_both(tmp_path / name)
        for sentence in ([[first], [second]], [[second], [first]], [{first: 0.5, second: 2.0}], [[second, first]]):
            compare(one, other, sentence, random.Random(0))


ODD_SENTENCES: list[tuple[str, Any]] = [
    ("names with what separates them", [["a\0b", "w1\1w2"], ["w1\1", ""], [""], ["\0", "\1"]]),
    ("as many pieces as names, but others", [["w1\1w2"], [], ["w1"]]),
    ("one separator for another", [["w1\1w2", "w3"], ["w4"]]),
    ("strings as items", ["w1", "", "ab"]),
    ("a dict among lists", [["w1"], {"w1": 0.5}, ["w2"]]),
    ("views and sets", [{"w1": 1}.keys(), {"w2"}, frozenset(["w3"])]),
    ("an iterator", (item for item in [["w1"], ["w2"]])),
    ("a dict of items", {"w1": 1, "w2": 2}),
    ("bytes", [[b"w1", "w2"], {b"w1": 2.0, "w2": b"x"}]),
    (
        "numbers of all kinds",
        [{"w1": np.float32(1.5), "w2": Decimal("0.5"), "w3": Fraction(1, 4), "w4": np.bool_(True)}],
    ),
    ("kinds of dicts", [OrderedDict(w1=2.0), Counter(["w1", "w1", "w2"]), UserDict(w1=5.0)]),
    ("nested ones that are empty", [{"w1": {}, "w2": [], "w3": set()}, {"w1": 1}]),
    ("NUL in a value", [{"a": "b1\0x", "w2": 2.0}]),
    ("an attribute named before its value", [{"a": "b1"}, {"a:b1": 1}, ["a:b1"], {"a": {"b1": 1}}, {"a": ["b1"]}]),
]


@pytest.mark.parametrize(("what", "sentence"), ODD_SENTENCES, ids=[what for what, _ in ODD_SENTENCES])
def test_odd_sentences_mean_what_they_mean_there(tmp_path: Path, what: str, sentence: Any) -> None:
    names = [*(f"w{k}" for k in range(5)), "w1\1w2", "w1\1", "\1", "a:b1", "a", "b", ""]
    labels = ["A", "B", "C"]
    train(
        tmp_path / "a",
        [[[name, f"{name}{k % 2}"] for k, name in enumerate(names)]] * 2,
        [(labels * 4)[: len(names)]] * 2,
    )
    one, other = open_both(tmp_path / "a")
    items = sentence if isinstance(sentence, list | dict) else list(sentence)
    assert one.tag(iter(items)) == other.tag(items)
    for t in range(len(items)):
        assert [one.marginal(y, t) for y in labels] == pytest.approx([other.marginal(y, t) for y in labels], abs=1e-9)


def test_sequences_show_the_same_items() -> None:
    chance = random.Random(2)
    sentences = [[mixed_item(chance) for _ in range(chance.randint(0, 5))] for _ in range(80)]
    for sentence in [*sentences, "abc", {"x": 1}, [[b"w", "w"], {"a\0b": 2, "c": [b"\0", "d"]}]]:
        one, other = ours.ItemSequence(sentence), original.ItemSequence(sentence)
        assert one.items() == other.items()
        assert (len(one), repr(one), str(one)) == (len(other), repr(other), str(other))
        assert ours.ItemSequence(one).items() == other.items()


def test_a_sequence_is_tagged_as_what_it_was_made_of(tmp_path: Path) -> None:
    train(tmp_path / "a", *random_data(4))
    one, other = open_both(tmp_path / "a")
    for sentence in random_data(5)[0]:
        assert one.tag(ours.ItemSequence(sentence)) == other.tag(original.ItemSequence(sentence)) == one.tag(sentence)


@pytest.mark.parametrize(
    "bad", [[[5]], [{5: 1}], [{"a": None}], [{"a": object()}], [{"a": ("b",)}], [{"a": frozenset("b")}], [None], [5], 5,
            [(x for x in "a")], [{"a": {"b": None}}], [{"a": bytearray(b"1")}], [{"a": 1j}]],
)  # fmt: skip
def test_what_cannot_be_an_item_is_refused(tmp_path: Path, bad: Any) -> None:
    """There, Trainer.append refuses it with a TypeError, and Tagger.tag with a SystemError by accident."""
    train(tmp_path / "a", *random_data(4))
    one, other = open_both(tmp_path / "a")
    one.tag([["w1"]])
    with pytest.raises(TypeError):
        one.tag(bad)
    with pytest.raises(TypeError):
        ours.ItemSequence(bad)
    with pytest.raises((TypeError, SystemError)):
        other.tag(bad)
    assert one.tag() == one.tag([["w1"]])


def test_halves_of_surrogate_pairs_are_no_names(tmp_path: Path) -> None:
    """In lists they are refused, as there; in dicts they are names that no model has."""
    train(tmp_path / "a", *random_data(4))
    one, _ = open_both(tmp_path / "a")
    for bad in ([["\ud800"]], [["w1"], {"a": "\ud800"}], ({"\ud800": 1}, ["w1"])):
        with pytest.raises(UnicodeEncodeError):
            one.tag(bad)
        with pytest.raises(UnicodeEncodeError):
            ours.ItemSequence(bad)
    for unknown in ([{"a": "\ud800"}], [{"\ud800": 1}], [{"a": {"b": "\ud800"}}]):
        one.tag(unknown)
        assert one.marginal(one.labels()[0], 0) == pytest.approx(1 / len(one.labels()))


def test_lists_of_names_need_no_second_look(tmp_path: Path) -> None:
    """They are read by a join, and what the kernel makes of the letters is sure."""
    train(tmp_path / "a", *random_data(4))
    one, other = open_both(tmp_path / "a")
    model = one._opened()
    for sentence in ([["w1", "ü2"], ["w1"]], [("日3",), ["w" * 20, "w2"], ["w1"] * 300]):
        rows, labels = np.empty((2 * len(sentence), model.width)), np.empty(len(sentence), np.int32)
        letters = read_lists(sentence)
        assert letters is not None
        assert math.isfinite(model._tag_letters(letters, rows, labels))
        assert [model.labels[y] for y in labels] == other.tag(sentence)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_spoil_the_score_of_one_label_are_refused(tmp_path: Path, value: float) -> None:
    """The best labels may be others."""
    train(tmp_path / "a", [[[name] for name in "abcdefgh"]], [list("ABCDEFGH")])
    one, _ = open_both(tmp_path / "a")
    for sentence in ([{"a": value}, ["b"]], [{"b": value}, {"a": 1.0}], ours.ItemSequence([["a"], {"c": value}])):
        with pytest.raises(ValueError, match="not finite"):
            one.tag(sentence)


@pytest.mark.parametrize("kind", [list, ours.ItemSequence])
def test_scores_beyond_all_numbers_are_refused(tmp_path: Path, kind: type) -> None:
    train(tmp_path / "a", *random_data(4))
    one, _ = open_both(tmp_path / "a")
    with pytest.raises(ValueError, match="not finite"):
        one.tag(kind([{f"w{k}": 1.7e308 for k in range(10)}] * 3))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_give_no_scores_are_refused(tmp_path: Path, value: float) -> None:
    train(tmp_path / "a", *random_data(4))
    one, _ = open_both(tmp_path / "a")
    assert one.tag([{"never seen": value}]) == one.tag([[]])
    for sentence in ([{"w1": value}, ["w2"]], ours.ItemSequence([["w2"], {"w1": value}])):
        with pytest.raises(ValueError, match="not finite"):
            one.tag(sentence)


def raises(call: Any, *args: Any) -> type[BaseException]:
    try:
        call(*args)
    except Exception as error:
        return type(error)
    raise AssertionError("nothing was raised")


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("labels", ()), ("tag", ([["a"]],)), ("set", ([["a"]],)), ("probability", (["A"],)), ("marginal", ("A", 0)),
    ("dump", ("never-written",)), ("info", ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), CALLS)
def test_a_closed_tagger_answers_with_the_same_kind_of_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, args: tuple[Any, ...]
) -> None:
    monkeypatch.chdir(tmp_path)  # the original leaves an empty file where it cannot dump
    train(tmp_path / "a", *random_data(4))
    for close in (False, True):
        one, other = (open_both(tmp_path / "a")) if close else (ours.Tagger(), original.Tagger())
        one.close(), other.close()
        expected = raises(getattr(other, name), *args) if name != "set" else ValueError
        assert issubclass(raises(getattr(one, name), *args), expected)


def test_wrong_questions_get_the_same_kinds_of_errors(tmp_path: Path) -> None:
    train(tmp_path / "a", *random_data(4))
    one, other = open_both(tmp_path / "a")
    for tagger in (one, other):
        tagger.tag([["w1"], ["w2"]])
    label = one.labels()[0]
    for name, args in [
        ("probability", ([label],)), ("probability", ([label, "?"],)), ("probability", (5,)),
        ("probability", ([1, 2],)),
        ("marginal", (label, 2)), ("marginal", (label, -1)), ("marginal", ("?", 0)),
        ("marginal", (label, "0")), ("marginal", (None, 0)), ("open", (str(tmp_path / "nothing"),)),
        ("open", (str(tmp_path),)), ("open", (__file__,)), ("open_inmemory", (b"",)), ("open_inmemory", (b"lCRFabc",)),
        ("open_inmemory", ("lCRF",)),
    ]:  # fmt: skip
        found, expected = raises(getattr(one, name), *args), raises(getattr(other, name), *args)
        assert issubclass(found, expected), (name, args, found, expected)
    assert one.probability([label.encode(), label]) == pytest.approx(other.probability([label.encode(), label]))
    assert one.tag() == other.tag()  # the last sentence is still there


def test_an_empty_sentence_has_no_labels_and_probability_0(tmp_path: Path) -> None:
    train(tmp_path / "a", *random_data(4))
    for tagger in open_both(tmp_path / "a"):
        assert tagger.tag() == []
        tagger.set([])
        assert (tagger.tag(), tagger.probability([]), tagger.probability(["?"]), tagger.marginal("?", 7)) == (
            [],
            0,
            0,
            0,
        )


def test_set_and_tag_work_on_the_last_sentence(tmp_path: Path) -> None:
    data = train(tmp_path / "a", *random_data(4))
    X = [sentence for sentence in random_data(6)[0] if sentence]
    with ours.Tagger().open_inmemory(data) as one, original.Tagger().open_inmemory(data) as other:
        for tagger in (one, other):
            tagger.tag(X[0])
            tagger.set(X[1])
        assert one.tag() == other.tag() == one.tag(X[1])
        one.open_inmemory(data)
        assert one.tag() == []
    with pytest.raises(ValueError, match="not open"):
        one.labels()


def test_dump_and_info_are_the_originals(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    train(tmp_path / "a", *random_data(7))
    one, other = open_both(tmp_path / "a")
    (tmp_path / "ours").write_text("x" * 100_000)  # whatever was there before is replaced
    one.dump(str(tmp_path / "ours")), other.dump(str(tmp_path / "theirs"))
    text = (tmp_path / "ours").read_bytes()
    assert text == (tmp_path / "theirs").read_bytes()
    assert vars(one.info()) == vars(other.info())
    one.dump()
    assert capfd.readouterr().out == text.decode()


def test_the_parser_of_dumps_understands_one(tmp_path: Path) -> None:
    from pycrfsuite._dumpparser import CRFsuiteDumpParser as OriginalParser

    from tagwright.pycrfsuite._dumpparser import CRFsuiteDumpParser

    train(tmp_path / "a", *random_data(7))
    one, _ = open_both(tmp_path / "a")
    one.dump(str(tmp_path / "text"))
    parsers = CRFsuiteDumpParser(), OriginalParser()
    for line in (tmp_path / "text").read_text(encoding="utf-8").splitlines(keepends=True):
        for parser in parsers:
            parser.feed(line)
    assert vars(parsers[0].result) == vars(parsers[1].result)
    with pytest.raises(ValueError, match="outside"):
        CRFsuiteDumpParser().feed("x")


def test_threads_get_their_own_labels(tmp_path: Path) -> None:
    train(tmp_path / "a", *random_data(4))
    one, other = open_both(tmp_path / "a")
    X = random_data(9)[0] * 5
    expected = [other.tag(sentence) for sentence in X]

    def tag_all(_: int) -> list[list[str]]:
        return [one.tag(sentence) for sentence in X]

    with ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(tag_all, range(8)))


def test_a_model_of_no_data_is_opened(tmp_path: Path) -> None:
    original.Trainer(verbose=False).train(str(tmp_path / "a"))
    one, other = open_both(tmp_path / "a")
    assert (one.labels(), one.tag([])) == (other.labels(), other.tag([])) == ([], [])
    assert vars(one.info()) == vars(other.info())
    with pytest.raises(ValueError, match="no labels"):
        one.tag([["a"]])


def test_damaged_models_get_clear_errors(tmp_path: Path) -> None:
    """Bytes of a model changed at random, and models cut: an error with a reason, or a model that tags."""
    data = train(tmp_path / "a", *random_data(2, n=8))
    chance, refused = random.Random(0), []
    for _ in range(400):
        wrong = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            wrong[chance.randrange(len(wrong))] = chance.choice([0, 255, chance.randrange(256)])
        if chance.random() < 0.2:
            del wrong[chance.randrange(len(wrong)) :]
        try:
            tagger = ours.Tagger()
            tagger.open_inmemory(bytes(wrong))
            tagger.tag([["w1", "ü2"], {"日3": 2.0}])
            tagger.info()
        except ValueError as error:
            refused.append(str(error))
    assert 50 < len(refused) < 400
    assert not any("\n" in message for message in refused)


def define_sums(item: Item) -> dict[str, float]:
    """What add_up is to give: all that `flatten` says of an item, the same names added up."""
    found: Counter[str] = Counter()
    for name, value in flatten(item):
        found[name.decode()] += value  # type: ignore[assignment]
    return dict(found)


@pytest.mark.parametrize(
    "item",
    [
        {"w": "Paris", "n": 2, "x": 0.5, "cap": True, "no": False},
        {"": "", "a:b": 1, "a": {"b": 0.25, "": 3}, "ü": "日"},
        {"a": {"b": "c"}, "a:b": ["c", "d", "c"], "e": {"f": {"g": ["h"]}}},
        {"s": {"u"}, "l": [], "d": {}},
        {"b": b"c", b"b": "c", "n": Decimal(2), "t": {"x": b"y"}},
        {"l": ["a", b"b"], "n": 1},
        {"n": 1, "w": "a", "b": b"c"},
        {"a:b": "c", "a": {"b": "c"}},
        OrderedDict(a=1, b="c"),
        ["a", "b", "a"],
        {"a": 1, "f": float("inf")},
    ],
)
def test_attributes_of_an_item_are_added_up(item: Item) -> None:
    assert add_up(item) == define_sums(item)
    assert list(add_up(item)) == list(define_sums(item))
    assert all(type(value) is float for value in add_up(item).values())


@pytest.mark.parametrize("item", [{"a": {"b": None}}, {1: 2}, {"a": {1: 2}}, {"a": ["b", 3]}])
def test_items_that_are_wrong_get_the_same_errors(item: Item) -> None:
    assert raises(add_up, item) is raises(lambda: list(flatten(item)))


def test_a_model_that_is_opened_again_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seed in (("a", 4), ("b", 5)):
        train(tmp_path / name, *random_data(seed))
    one, other = ((tmp_path / name).read_bytes() for name in "ab")
    tagger = ours.Tagger()
    tagger.open_inmemory(one)
    first = tagger._model
    tagger.close()
    tagger.open_inmemory(bytes(bytearray(one)))
    assert tagger._model is first
    tagger.open_inmemory(other)
    assert tagger._model is not first
    assert tagger._model.data == other
    monkeypatch.setattr("tagwright.pycrfsuite.tagger.SMALL", len(other) - 1)
    second = tagger._model
    tagger.open_inmemory(other)
    assert tagger._model is not second
