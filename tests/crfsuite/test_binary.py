"""CRFsuite's files, beside CRFsuite: what it wrote is read right and written back the same; damage is an error."""

from __future__ import annotations

import random
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from crfsuite.models import ALGORITHMS, random_data, train

from tagwright.crfsuite import CrfsuiteModel, dump_text, pack_model, read_model, to_crf, unpack_model, write_model
from tagwright.crfsuite.lookup3 import hash_strings
from tagwright.errors import DataError, ModelFileError
from tagwright.scores.pattern import LabelWeights
from tagwright.text.strings import Strings

pytestmark = pytest.mark.bounds
HOSTILE_CASES = 3_000


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model of CRFsuite's."""
    return train(tmp_path_factory.mktemp("crfsuite") / "a.crfsuite", *random_data(3))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_what_crfsuite_wrote_is_written_back_byte_for_byte(tmp_path: Path, algorithm: str, seed: int) -> None:
    params = {"c1": 0.2} if algorithm == "lbfgs" else {}  # with L1, features and attributes are left out
    data = train(tmp_path / "a", *random_data(seed), algorithm, feature__possible_transitions=seed % 2, **params)
    assert pack_model(unpack_model(data)) == data
    write_model(tmp_path / "b", read_model(tmp_path / "a"))
    assert (tmp_path / "b").read_bytes() == data


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_content_is_what_crfsuite_says(tmp_path: Path, algorithm: str) -> None:
    data = train(tmp_path / "a", *random_data(5), algorithm)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "a"))
    info, model = tagger.info(), unpack_model(data)
    assert model.labels == tagger.labels()
    assert {name: int(number) for name, number in info.attributes.items()} == {
        name: a for a, name in enumerate(model.attributes)
    }
    for weights, owners, expected in (
        (model.transitions, model.labels, info.transitions),
        (model.states, model.attributes, info.state_features),
    ):
        sources = np.repeat(np.arange(len(owners)), np.diff(weights.pointers))
        found = {
            (owners[a], model.labels[y]): value
            for a, y, value in zip(sources, weights.labels, weights.values, strict=True)
        }
        assert found == pytest.approx(expected, abs=6e-7)  # six digits after the point
    tagger.dump(str(tmp_path / "dump"))
    assert dump_text(data) == (tmp_path / "dump").read_bytes().decode("utf-8")


def test_hash_is_lookup3() -> None:
    """As the definition, which gives what its author's own test prints."""
    strings = Strings.of(["", "a" * 11, "é" * 6 + "x"], 3)
    assert hash_strings(strings).tolist() == [plain_lookup3(s.encode() + b"\0") for s in ("", "a" * 11, "é" * 6 + "x")]
    assert plain_lookup3(b"") == 0xDEADBEEF
    assert plain_lookup3(b"Four score and seven years ago") == 0x17770551


def plain_lookup3(key: bytes) -> int:
    """The definition, with unsigned numbers of NumPy's."""
    a = b = c = np.uint32((0xDEADBEEF + len(key)) & 0xFFFFFFFF)
    words = lambda block: (np.uint32(w) for w in struct.unpack("<3I", block.ljust(12, b"\0")))  # noqa: E731
    rotate = lambda x, k: np.uint32((int(x) << k | int(x) >> (32 - k)) & 0xFFFFFFFF)  # noqa: E731
    with np.errstate(over="ignore"):
        while len(key) > 12:
            x, y, z = words(key[:12])
            a, b, c, key = a + x, b + y, c + z, key[12:]
            for k1, k2, k3 in ((4, 6, 8), (16, 19, 4)):
                a = (a - c) ^ rotate(c, k1)
                c = c + b
                b = (b - a) ^ rotate(a, k2)
                a = a + c
                c = (c - b) ^ rotate(b, k3)
                b = b + a
        if not key:
            return int(c)
        x, y, z = words(key)
        a, b, c = a + x, b + y, c + z
        for k in (14, 11, 25, 16, 4, 14, 24):  # c, a, b and again
            c = (c ^ b) - rotate(b, k)
            a, b, c = b, c, a
        return int(b)


def test_a_model_without_attributes_and_one_of_odd_names(tmp_path: Path) -> None:
    transitions = LabelWeights(np.array([0, 1, 1]), np.array([1], np.int32), np.array([2.0]))
    for attributes in ([], ["", "é" * 40, "a"]):
        n = len(attributes)
        states = LabelWeights(np.arange(n + 1), np.zeros(n, np.int32), np.arange(1.0, n + 1))
        data = pack_model(CrfsuiteModel(["", "日"], attributes, transitions, states))
        found = unpack_model(data)
        assert (found.labels, found.attributes) == (["", "日"], attributes)
        (tmp_path / "m").write_bytes(data)
        with pycrfsuite.Tagger().open(str(tmp_path / "m")) as tagger:
            assert tagger.tag([{}, {}]) == ["", "日"]
            tagger.dump(str(tmp_path / "dump"))
        assert dump_text(data) == (tmp_path / "dump").read_bytes().decode("utf-8")


def test_zeros_are_left_out(trained: bytes) -> None:
    model = unpack_model(trained)
    values = model.states.values.copy()
    values[model.states.pointers[4] : model.states.pointers[5]] = 0
    values[model.states.pointers[7]] = 0
    found = unpack_model(
        pack_model(
            CrfsuiteModel(model.labels, model.attributes, model.transitions, model.states._replace(values=values))
        )
    )
    assert found.attributes == model.attributes[:4] + model.attributes[5:]
    assert found.states.values.tolist() == values[values != 0].tolist()


def test_names_that_crfsuite_cannot_hold_are_refused() -> None:
    none = LabelWeights(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0))
    one = LabelWeights(np.arange(2), np.zeros(1, np.int32), np.ones(1))
    for name, wanted in (("a\0b", "NUL"), ("\ud800", "surrogate")):
        with pytest.raises(ModelFileError, match=wanted):
            pack_model(CrfsuiteModel(["x"], [name], none, one))


# ---- wrong files ----


def put(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + struct.pack("<I", number) + data[at + 4 :]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda d: b"", "it is empty"),
        (lambda d: b"lCRFfoo" * 100, "its type is"),
        (lambda d: d[:40], "header of 48 bytes"),
        (lambda d: d[:-1], "its header says"),
        (lambda d: d + b"\0", "its header says"),
        (lambda d: put(d, 12, 101), "version 101"),
        (lambda d: put(d, 20, 1 << 31), "labels; at most"),
        (lambda d: put(d, 20, 1), "the header of the file says 1"),
        (lambda d: put(d, 28, 1 << 31), "FEAT is not where"),
        (lambda d: put(d, 32, 0xFFFFFFFF), "section of labels"),
        (lambda d: put(d, 48 + 8, 1 << 31), "FEAT has"),
        (lambda d: put(d, 48 + 12 + 12, 0) [: 48 + 12 + 16] + b"\0\0\xf0\x7f" + d[48 + 12 + 20 :], "not finite"),
        (lambda d: put(d, 48 + 12 + 8, 77), "label 77"),
        (lambda d: put(d, 48 + 12 + 4, 77), "does not belong"),
        (lambda d: put(d, 48 + 12, 7), "does not belong"),
    ],
)  # fmt: skip
def test_wrong_files_are_errors(trained: bytes, change, wanted: str) -> None:
    with pytest.raises(ModelFileError, match=wanted) as caught:
        unpack_model(change(trained), "my.crfsuite")
    assert str(caught.value).startswith("my.crfsuite: no usable CRFsuite model: ")


def test_names_that_are_not_utf8_or_there_twice_are_errors(tmp_path: Path) -> None:
    data = train(tmp_path / "a", [[["first"], ["other"]]] * 3, [["A", "B"]] * 3)
    for new, wanted in ((b"firs\xe9", "number 0 of the attributes is not UTF-8"), (b"other", "the same name twice")):
        with pytest.raises(ModelFileError, match=wanted):
            unpack_model(data.replace(b"first", new))


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A damaged or hostile copy."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        kind, at = chance.randrange(6), chance.randrange(len(found))
        if kind == 0:
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            found[at] = chance.randrange(256)
        elif kind in (2, 3):  # a number in the header, or anywhere
            at = chance.randrange(12) * 4 if kind == 2 else at & ~3
            wild = [0, 1, 0xFFFFFFFF, 1 << 31, (1 << 31) - 1, len(data), len(data) - 1, chance.randrange(len(data))]
            found[at : at + 4] = struct.pack("<I", chance.choice(wild))
        elif kind == 4:
            begin = chance.randrange(len(found))
            found[at : at + 16] = found[begin : begin + 16]
        else:
            del found[at : at + chance.choice([1, 4, 100])]
        if not found:
            break
    if chance.random() < 0.5 and len(found) >= 8:  # so that more than the length is looked at
        found[4:8] = struct.pack("<I", len(found))
    return bytes(found)


def check_mutations(data: bytes, seed: int, n: int, *, use: int = 8) -> int:
    """Each is refused with a clear error, or is a model that can be used and written; how many were refused.
    One of `use` is used."""
    chance, refused = random.Random(seed), 0
    for _ in range(n):
        changed = mutate(data, chance)
        try:
            model = unpack_model(changed)
        except ModelFileError:
            refused += 1
            continue
        assert unpack_model(pack_model(model)).labels == model.labels
        if chance.randrange(use):
            continue
        try:
            tags = to_crf(model).predict([[dict.fromkeys(model.attributes[:9], 1.0), {}]])
        except DataError:  # weights of 1e308
            continue
        assert set(tags[0]) <= set(model.labels)
    return refused


def test_mutated_files_are_errors_or_models(trained: bytes) -> None:
    assert HOSTILE_CASES // 2 < check_mutations(trained, 0, HOSTILE_CASES) < HOSTILE_CASES


def test_hostile_sizes_ask_for_little_memory(trained: bytes) -> None:
    """All attributes share one record of a megabyte: together they would be gigabytes."""
    none = LabelWeights(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0))
    ones = LabelWeights(np.arange(5_002), np.zeros(5_001, np.int32), np.ones(5_001))
    model = CrfsuiteModel(["A"], ["x" * 1_000_000, *map(str, range(5_000))], none, ones)
    data = pack_model(model)
    begin = struct.unpack_from("<I", data, 36)[0]
    size, backward = struct.unpack_from("<I", data, begin + 4)[0], struct.unpack_from("<I", data, begin + 20)[0]
    assert unpack_model(data).attributes == model.attributes
    first = data[begin + backward : begin + backward + 4]
    hostile = data[: begin + backward] + first * 5_001 + data[begin + backward + 4 * 5_001 :]
    assert size == backward + 4 * 5_001
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="not numbered"):
        unpack_model(hostile)
    for number in range(1, 5_001):  # every record says that it is as large
        at = begin + struct.unpack_from("<I", data, begin + backward + 4 * number)[0]
        data = put(data, at + 4, 1_000_000)
        if number == 20:
            break
    with pytest.raises(ModelFileError, match="does not end in its section"):
        unpack_model(data)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
