"""Pictures: written in each format, the same bytes each time, and refused in time where they cannot be."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tagwright import plots
from tagwright.errors import DataError, ParameterError
from tagwright.plots import Series, plot_bars, plot_lines, plot_points, require_plots, save_figure

pytest.importorskip("matplotlib")

SERIES = [Series("crf", [10, 20, 40], [80.0, 85.0, 88.0], [1.0, 0.5, 0.2]), Series("_a$b$", [10, 40], [70.0, 75.0])]
LABELS = {"title": "p$x$ <&>", "x_label": "sentences", "y_label": "F1"}


def texts(path: Path) -> list[str]:
    return [
        (node.text or "").replace("\u200b", "") for node in ElementTree.parse(path).iter() if node.tag.endswith("}text")
    ]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_formats(tmp_path: Path, ending: str) -> None:
    written = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.{ending}"
        save_figure(plot_lines(SERIES, **LABELS), path)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith({"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    save_figure(plot_points(SERIES, **LABELS, log_x=True), tmp_path / "a.svg")
    shown = texts(tmp_path / "a.svg")
    assert {"crf", "_a$b$", "p$x$ <&>", "sentences", "F1", "20"} <= set(shown)


def test_points_lines_and_error_bars() -> None:
    for plot, style in ((plot_points, "None"), (plot_lines, "-")):
        (axes,) = plot(SERIES, **LABELS).axes
        first = axes.containers[0]
        assert first.lines[0].get_xydata().tolist() == [[10, 80], [20, 85], [40, 88]]
        assert first.lines[0].get_linestyle() == style
        (bars,) = first.lines[2]
        assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[79, 81], [84.5, 85.5], [87.8, 88.2]]


def test_bars() -> None:
    groups = [Series("a", ["x", "y"], [1.0, 2.0], [0.1, 0.2]), Series("b", ["x", "y"], [3.0, 4.0])]
    (axes,) = plot_bars(groups, **LABELS).axes
    bars = list(axes.patches)
    assert [bar.get_height() for bar in bars] == [1, 2, 3, 4]
    assert [round(bar.get_x() + bar.get_width() / 2, 6) for bar in bars] == [-0.2, 0.8, 0.2, 1.2]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y"]
    with pytest.raises(ParameterError, match="the same names in x"):
        plot_bars([*groups, Series("c", ["x"], [1.0])], **LABELS)


def test_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    require_plots("a.PNG")
    with pytest.raises(DataError, match=r"found the ending '.jpg', expected one of .png, .svg, .pdf"):
        require_plots("a.jpg")
    monkeypatch.setattr(plots, "find_matplotlib", lambda: None)
    with pytest.raises(ParameterError, match=r"install it with: pip install 'tagwright\[plot\]'"):
        require_plots("a.png")
