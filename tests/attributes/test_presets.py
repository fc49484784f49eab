"""The presets: the papers' sets by name, and the others for what they promise."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tagwright.attributes.presets import PRESETS
from tagwright.attributes.templates import FeatureSet, resolve

SENTENCE = ["Mr.", "B-52", "runs"]


def names(preset: str, items: list[str], position: int) -> set[str]:
    return set(resolve(preset, 1).explain(items, position))


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_reads_and_round_trips(name: str, n_columns: int) -> None:
    features = resolve(name, n_columns)
    assert features.name == name
    assert FeatureSet.parse(features.to_text(), name) == features
    assert set(features.columns) in ({0}, set(range(n_columns)))


def test_s1() -> None:
    assert names("s1", SENTENCE, 1) == {"word[0]=B-52"}


def test_s2() -> None:
    assert names("s2", SENTENCE, 0) == {
        *("word[0]=Mr.", "suffix1[0]=.", "suffix2[0]=r.", "suffix3[0]=Mr.", "first_type[0]=upper"),
        *("capital_dot[0]", "has_dot[0]", "edge[-1]=<s>"),
    }
    assert names("s2", SENTENCE, 1) == {
        *("word[0]=B-52", "suffix1[0]=2", "suffix2[0]=52", "suffix3[0]=-52", "first_type[0]=upper"),
        *("all_capitals[0]", "has_hyphen[0]", "has_digit[0]"),
    }


def test_s3_is_s2_in_a_window() -> None:
    expected = {
        name.replace("[0]", f"[{offset}]")
        for offset in (-1, 0, 1)
        for name in names("s2", SENTENCE, 1 + offset)
        if not name.startswith("edge")
    }
    assert names("s3", SENTENCE, 1) == expected
    assert "word[-1]=<s>" in names("s3", SENTENCE, 0)


def test_ratnaparkhi() -> None:
    assert names("ratnaparkhi", SENTENCE, 1) == {
        *("word[0]=B-52", "word[-1]=Mr.", "word[-2]=<s>", "word[1]=runs", "word[2]=</s>"),
        *("prefix1[0]=B", "prefix2[0]=B-", "prefix3[0]=B-5", "prefix4[0]=B-52"),
        *("suffix1[0]=2", "suffix2[0]=52", "suffix3[0]=-52", "suffix4[0]=B-52"),
        *("has_digit[0]", "has_capital[0]", "has_hyphen[0]"),
    }


def test_chunk_is_the_crfsuite_tutorial_and_more() -> None:
    items = [(word, word.upper()) for word in "abcde"]
    found = resolve("chunk", 2).explain(items, 2)
    tutorial = {
        *("word[-2]=a", "word[-1]=b", "word[0]=c", "word[1]=d", "word[2]=e"),
        *("word[-1]&word[0]=b&c", "word[0]&word[1]=c&d"),
        *("word:1[-2]=A", "word:1[-1]=B", "word:1[0]=C", "word:1[1]=D", "word:1[2]=E"),
        *("word:1[-2]&word:1[-1]=A&B", "word:1[-1]&word:1[0]=B&C"),
        *("word:1[0]&word:1[1]=C&D", "word:1[1]&word:1[2]=D&E"),
        *("word:1[-2]&word:1[-1]&word:1[0]=A&B&C", "word:1[-1]&word:1[0]&word:1[1]=B&C&D"),
        "word:1[0]&word:1[1]&word:1[2]=C&D&E",
    }
    assert tutorial <= set(found)
    more = {"lower[0]=c", "prefix1[0]=c", "suffix1[0]=c", "shape[-1]=x", "shape[0]=x", "shape[1]=x"}
    more |= {"word[-1]&word:1[-1]=b&B", "word[0]&word:1[0]=c&C", "word[1]&word:1[1]=d&D"}
    more |= {"word[-1]&word:1[0]=b&C", "word[0]&word:1[1]=c&D", "word:1[-1]&word[0]=B&c", "word:1[0]&word[1]=C&d"}
    more |= {"word:1[-2]&word:1[-1]&word:1[0]&word:1[1]=A&B&C&D", "word:1[-1]&word:1[0]&word:1[1]&word:1[2]=B&C&D&E"}
    assert set(found) - tutorial == more


def test_ner_uses_other_columns() -> None:
    items = [("Mr.", "NNP"), ("Bell", "NNP"), ("ran", "VBD")]
    found = set(resolve("ner", 2).explain(items, 1))
    assert {"word:1[-2]=<s>", "word:1[1]=VBD", "word:1[2]=</s>", "word:1[0]&word:1[1]=NNP&VBD"} <= found
    assert {"shape[-1]&shape[0]=Xx.&Xx", "shape[0]&shape[1]=Xx&x", "word[-1]&word[0]=Mr.&Bell"} <= found


def test_the_sets_of_the_guided_paper_grow() -> None:
    sets = [resolve(name, 1) for name in "abcde"]
    for smaller, larger in pairwise(sets):
        assert set(smaller.singles) <= set(larger.singles)
        assert set(smaller.labels) <= set(larger.labels)
        assert smaller != larger
    texts = [[template.text for template in features.labels] for features in sets]
    assert texts[0] == ["label @ -1", "label[-2] & label[-1]"]
    assert texts[1][2:] == ["label @ 1", "label[-1] & label[1]", "label[1] & label[2]"]
    assert [len(text) for text in texts] == [2, 5, 14, 14, 14]
    assert [len(features.conjunctions) for features in sets] == [0, 0, 0, 2, 2]
    e = set(sets[4].explain(["Understandings"], 0))
    assert {"prefix9[0]=Understan", "suffix9[0]=standings", "has_capital[0]"} <= e
    assert set(resolve("ratnaparkhi", 1).singles) == set(sets[0].singles)
