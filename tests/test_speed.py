"""The speed benchmark: attributes as ours, ratios, resuming, and rivals that cannot be had. No rival is needed here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora import Task
from benchmarks.speed import __main__ as command
from benchmarks.speed import environments, measure
from benchmarks.speed.claims import CLAIMS, check
from benchmarks.speed.environments import Environment, Missing, find_environment
from benchmarks.speed.figures import FIGURES, compare, time_to
from benchmarks.speed.measure import Runner, percentiles, thin
from benchmarks.speed.report import missing_lines, ratio_rows, write_report
from benchmarks.speed.results import Results
from benchmarks.speed.systems import OURS, RIVALS, TEMPLATES
from benchmarks.speed.workspace import QUICK, Scale, Workspace, write_task
from tagwright import FeatureSet, datasets
from tagwright.attributes.templates import resolve

ROOT = Path(__file__).parents[1]
FIGURE = {figure.key: figure for figure in FIGURES}


def load_script(name: str) -> Any:
    """A module of benchmarks/rivals, which is no package: its files run in other environments."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "rivals" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STRANGE = [["U.S.", "iPhone", "Mc-98.", "3,5", "-", "ß", "été", "ÉTÉ", "B-52", "东京", "x", "Dr"], ["One"], ["a", "B"]]


@pytest.mark.parametrize("name", ["plain", "ner", "chunk", "pos"])
def test_rivals_get_the_attributes_of_our_templates(name: str) -> None:
    extract = load_script("attributes").SETS[name]
    X, y = datasets.sample()
    texts: list[list[Any]] = [*X[:60], *STRANGE]
    if name in ("ner", "chunk"):
        texts = [list(zip(words, labels, strict=True)) for words, labels in zip(X[:60], y, strict=False)]
    features = resolve("pos", 1) if name == "pos" else FeatureSet.parse(TEMPLATES[name])
    for items in texts:
        for t, row in enumerate(extract(items)):
            assert sorted(row) == sorted(features.explain(items, t))


def figures_of(scale: float = 1.0, dev: float = 90.0) -> dict[str, Any]:
    """Numbers of one system."""
    return {
        "seconds": 10.0 * scale, "dev": dev, "test": dev - 1, "pass_seconds": [scale, 2 * scale, 3 * scale],
        "list_rate": [100.0 / scale], "file_rate": [50.0 / scale], "p50": 1e-4 * scale, "p99": 2e-4 * scale,
        "start": [0.5 * scale], "model_bytes": 1_000_000, "train_peak_mib": 100.0, "tag_peak_mib": 50.0,
    }  # fmt: skip


def our_figures(scale: float) -> dict[str, Any]:
    curve = [[scale, 80.0], [2 * scale, 90.0], [3 * scale, 91.0]]
    return {**figures_of(scale, 91.0), "curve": curve}


def make_block(*names: str) -> dict[str, Any]:
    ours = {name: [our_figures(0.1), our_figures(0.2)] for name in names}
    return {"rival": figures_of(), "ours": ours, "version": "1", "minutes": 0.1}


def test_ratios_are_of_medians_and_have_a_spread() -> None:
    block = make_block("crf")
    found = compare(block, "crf", FIGURE["pass_seconds"])
    assert found.rival == 2.0
    assert found.ours == pytest.approx(0.25)  # of 0.1 0.2 0.2 0.3 0.4 0.6
    assert (found.ratio, found.low, found.high) == pytest.approx((8, 2 / 0.6, 20))
    rate = compare(block, "crf", FIGURE["list_rate"])
    assert rate.ratio == pytest.approx(7.5)  # of 1000 and 500, against 100
    assert (rate.low, rate.high) == pytest.approx((5, 10))


def test_training_counts_until_the_rivals_dev_score() -> None:
    assert time_to(90.0, [[1.0, 89.9], [2.0, 90.0], [3.0, 92.0]]) == 2.0
    assert time_to(93.0, [[1.0, 89.9]]) is None
    block = make_block("crf")
    assert compare(block, "crf", FIGURE["seconds"]).ours == pytest.approx(0.3)  # 0.2 before, 0.4 after
    block["rival"]["dev"] = 95.0
    found = compare(block, "crf", FIGURE["seconds"])
    assert (found.rival, found.ours, found.ratio) == (10.0, None, None)


def test_a_figure_that_a_rival_does_not_have(tmp_path: Path) -> None:
    results = Results(tmp_path / "speed.json")
    block = make_block("crf")
    del block["rival"]["list_rate"]
    block["rival"]["dev"] = 95.0
    results.keep("ewt/wapiti", block)
    (row,) = ratio_rows("ewt", results)[1]
    assert row[2] == "not reached"
    assert row[4] == "—"
    assert row[5].startswith("7.5×")


def test_results_are_kept_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "speed.json"
    results = Results.open(path)
    results.keep_missing("ewt/wapiti", "no compiler")
    results.keep("ewt/crfsuite-lbfgs", make_block("crf", "preset"))
    again = Results.open(path)
    assert again.blocks == results.blocks
    assert again.missing == {"ewt/wapiti": "no compiler"}
    assert again.machine["cores"] >= 1
    again.keep("ewt/wapiti", make_block("crf"))
    assert Results.open(path).missing == {}
    assert [file.name for file in path.parent.iterdir()] == ["speed.json"]


def test_report_names_what_is_missing(tmp_path: Path) -> None:
    results = Results(tmp_path / "speed.json")
    results.keep("ewt/crfsuite-lbfgs", make_block("crf", "crf-sgd"))
    results.keep_missing("ewt/crfpp", "no crf_learn")
    lines = missing_lines("ewt", results)
    assert "CRF++, 2 threads: no crf_learn" in lines
    assert "NLTK TnT: not measured yet" in lines
    assert "NLTK TnT: takes words alone" in missing_lines("ner", results)
    text = write_report(["ewt", "ner"], results).read_text()
    assert "| python-crfsuite, lbfgs | CRF, L-BFGS | 33.3× (25.0–50.0) |" in text
    assert "no crf_learn" in text
    for picture in ("speed-ewt-rate.svg", "speed-ewt-seconds.svg"):
        assert f"]({picture})" in text
        assert (tmp_path / picture).exists()
    assert not (tmp_path / "speed-ner-rate.svg").exists()
    results.keep("ner/crfsuite-lbfgs", make_block("crf"))
    both = write_report(["ner"], results).read_text()  # what was measured before stays in the report
    assert both.index("UD English EWT") < both.index("speed-ewt-rate.svg") < both.index("speed-ner-rate.svg")


def test_claims_are_checked(tmp_path: Path) -> None:
    results = Results(tmp_path / "speed.json")
    training, latency = CLAIMS[0], next(claim for claim in CLAIMS if claim.figure == "p50")
    assert check(training, results) == (None, "not measured")
    results.keep("ewt/crfsuite-lbfgs", make_block("crf"))
    results.keep("ewt/crfsuite-pos", make_block("preset", "preset-dictionary"))
    assert check(training, results)[0] is True  # 33 times
    assert check(latency, results)[0] is True  # 15 µs
    assert check(CLAIMS[6], results)[0] is False  # 750 tokens a second
    assert all(check(claim, results)[1] for claim in CLAIMS)


def test_every_rival_is_complete() -> None:
    for rival in RIVALS.values():
        assert set(rival.beside) <= set(OURS)
        known = rival.job in environments.NOT_TO_BE_HAD or (ROOT / f"benchmarks/rivals/{rival.job}_job.py").exists()
        assert known, rival.name
        for task in rival.tasks:
            assert rival.settings_for(task, 1.0) != {}
    assert RIVALS["crfsuite-lbfgs"].settings_for("ner", 1.0) == {
        "attributes": "ner", "algorithm": "lbfgs", "parameters": {"c1": 0.0, "c2": 1.0, "max_iterations": 150},
    }  # fmt: skip


def test_rivals_that_cannot_be_had_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Missing, match="can tag but not train"):
        find_environment("morphodita", tmp_path)
    with pytest.raises(Missing, match="neither PyPI nor Debian"):
        find_environment("crfpp", tmp_path)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(Missing, match="no C compiler"):
        find_environment("wapiti", tmp_path)
    with pytest.raises(Missing, match="failed: last words"):
        environments.call([sys.executable, "-c", "import sys; sys.exit('first\\nlast words')"])


SENTENCES = [["The", "dog", "barks"], ["A", "cat"]]
LABELS = [["DT", "NN", "VBZ"], ["DT", "NN"]]
TINY = Scale((2, 2, 2), 25, 3, 1, 1, 1, 0.1)
FAKE_JOB = """
import json, sys
order = json.load(open(sys.argv[1]))
if order["action"] == "train":
    open(order["model"], "w").write("model")
    print(json.dumps({"seconds": 2.0, "reading_seconds": 1.0, "pass_seconds": [0.5, 0.7]}))
elif order["action"] == "predict":
    labels = {part: json.load(open(f"{order['data']}/{part}.json"))["y"] for part in ("dev", "test")}
    json.dump(labels, open(order["output"], "w"))
    print("{}")
elif order["action"] == "tag":
    print(json.dumps({"tokens_per_second": [100.0], "latencies": [0.001, 0.002, 0.003]}))
elif order["action"] == "start":
    print("DT NN")
else:
    print("{}")
"""


def make_workspace(folder: Path) -> Workspace:
    text = SENTENCES, LABELS
    return write_task(Task("wsj", text, text, text), folder, TINY)


def test_workspace_has_files_for_all(tmp_path: Path) -> None:
    work = make_workspace(tmp_path)
    assert work.tokens == {"train": 5, "text": 10, "columns": 30}
    assert len(work.columns.read_text().split()) == 30
    assert work.sentence.read_text().startswith("The\ndog\nbarks\nA\n")
    job = load_script("job")
    assert list(job.read_columns(work.columns)) == SENTENCES * 6
    job.write_columns([[("a", "X"), ("b", "Y")]], tmp_path / "two", [["1", "2"]])
    assert list(job.read_columns(tmp_path / "two")) == [[["a", "X", "1"], ["b", "Y", "2"]]]


def make_runner(folder: Path, source: str) -> Runner:
    job = folder / "fake_job.py"
    job.write_text(source)
    return Runner(Path(sys.executable), ["-S", str(job)], None, {}, make_workspace(folder), "fake")


def test_everything_of_a_rival_is_measured(tmp_path: Path) -> None:
    found = measure.measure(make_runner(tmp_path, FAKE_JOB), ours=False)
    assert (found["dev"], found["test"], found["model_bytes"]) == (100.0, 100.0, 5)
    assert (found["seconds"], found["reading_seconds"], found["pass_seconds"]) == (2.0, 1.0, [0.5, 0.7])
    assert found["list_rate"] == [100.0]
    assert found["p50"] == pytest.approx(0.002)
    assert len(found["file_rate"]) == 3
    assert 0 < found["start"][0] < 60
    assert 1 < found["tag_peak_mib"] < 100
    assert set(found) >= {figure.key for figure in FIGURES}


def test_a_job_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(measure.Failed, match="fake: out of luck"):
        measure.measure(make_runner(tmp_path, "import sys; sys.exit('out of luck')"), ours=False)


def test_an_answer_may_follow_other_lines_but_must_be_json(tmp_path: Path) -> None:
    talkative = make_runner(tmp_path, "print('[INFO] training'); print('{}')")
    assert talkative.order("train")[0] == {}
    with pytest.raises(measure.Failed, match="expected JSON from its job, found 'done'"):
        make_runner(tmp_path, "print('done')").order("train")


def test_finished_blocks_are_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def fake(runner: Runner, *, ours: bool) -> dict[str, Any]:
        if runner.name == "crfsuite-pa":
            raise measure.Failed("it broke")
        measured.append(runner.name)
        return our_figures(0.1) if ours else figures_of()

    monkeypatch.setattr(command, "measure", fake)
    monkeypatch.setattr(command, "find_environment", lambda job, folder: Environment(Path("python"), "1"))
    monkeypatch.setattr(command, "open_workspace", lambda *_: make_workspace(tmp_path / "work"))
    path = tmp_path / "speed.json"
    options = command.read_options(
        ["--tasks", "wsj", "--rivals", "crfsuite-ap,nltk-perc,crfsuite-pa", "--json", str(path)]
    )
    command.measure_task("wsj", options.rivals, options, Results.open(path))
    ours = ["perceptron", "perceptron-default", "preset-perceptron"]
    pa_before = ["crf", "crf-sgd", "perceptron-default"]
    # after `ap`, the default perceptron is fresh for the next rival
    assert measured == [*pa_before, *ours, "crfsuite-ap", *ours, "nltk-perceptron", "perceptron-default"]
    assert Results.open(path).missing == {"wsj/crfsuite-pa": "failed: it broke"}
    measured.clear()
    command.measure_task("wsj", ["crfsuite-ap", "nltk-perceptron"], options, Results.open(path))
    assert measured == []


def test_our_failure_is_not_blamed_on_the_rival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(runner: Runner, *, ours: bool) -> dict[str, Any]:
        raise measure.Failed("ours broke")

    monkeypatch.setattr(command, "measure", broken)
    monkeypatch.setattr(command, "find_environment", lambda job, folder: Environment(Path("python"), "1"))
    session = command.Session("wsj", make_workspace(tmp_path), Results(tmp_path / "speed.json"))
    with pytest.raises(measure.Failed, match="ours broke"):
        session.measure_block(RIVALS["crfsuite-ap"])
    assert session.results.missing == {}


def test_options() -> None:
    options = command.read_options(["--rivals", "crfsuite", "--tasks", "ewt,ner", "--quick"])
    assert options.tasks == ["ewt", "ner"]
    assert options.rivals == ["crfsuite-lbfgs", "crfsuite-pa", "crfsuite-ap", "crfsuite-pos"]
    assert options.json.parts[-3:] == ("out", "speed-quick", "speed.json")
    with pytest.raises(SystemExit):
        command.read_options(["--tasks", "ptb"])
    with pytest.raises(SystemExit):
        command.read_options(["--rivals", "spacy"])


def test_samples_are_thinned_and_percentiles_found() -> None:
    assert thin([9.0, 9.0, *map(float, range(150))])[:3] == [0.0, 10.0, 20.0]
    assert len(thin([1.0] * 152)) == 15
    assert thin([1.0, 2.0]) == [1.0, 2.0]
    assert percentiles([float(n) for n in range(101)]) == (50.0, 99.0)
    assert QUICK.factor < 1
    assert json.dumps(measure.tidy([1.23456789, {"a": 1}, 3])) == '[1.2346, {"a": 1}, 3]'
