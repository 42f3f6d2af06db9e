"""``ratecheck plot``: files, table, JSON, errors, and a figure in which nothing hides anything."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from each_key import each_key

import bounds
from ratecheck.cli import _run
from ratecheck.exponents.sweep import survey
from ratecheck.problems import Quadratic
from ratecheck.verification.verify import Options
from ratecheck.views.drawing import panels, style

SMALL = ("n=4", "d=4", "m=3", "K=4", "T=20")


@pytest.fixture
def plot(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = _run(["plot", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_png_is_written_under_the_key_and_the_table_printed(plot, tmp_path):
    """The default file, and one row per parameter."""
    code, out, err = plot("pfl/theorem-3.7", *SMALL)
    assert (code, err) == (0, "")
    content = (tmp_path / "pfl-theorem-3.7.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000
    lines = out.splitlines()
    assert lines[-1] == "written to pfl-theorem-3.7.png"
    header = next(k for k, line in enumerate(lines) if line.startswith("parameter"))
    assert [line.split()[0] for line in lines[header + 1 : header + 4]] == ["K", "m", "gamma"]
    assert "predicted exponent" in lines[header]
    assert "contains m itself" in out


def test_svg_is_xml_with_the_legend_and_the_same_every_time(plot, tmp_path):
    """Texts stay texts, and no date or random identifier gets in."""
    for name in ("one.svg", "two.svg"):
        code, _, _ = plot("pfl/corollary-3.8", *SMALL, "--vary", "K", "--out", name)
        assert code == 0
    content = (tmp_path / "one.svg").read_bytes()
    assert content == (tmp_path / "two.svg").read_bytes()
    texts = "".join(ET.fromstring(content).itertext())  # noqa: S314  # we wrote it ourselves
    for wanted in ("pfl/corollary-3.8", "fitted exponent", "predicted exponent", "smoothness alone", "prescribed"):
        assert wanted in texts


def test_pdf_is_written_into_a_new_folder(plot, tmp_path):
    """The folder is made."""
    code, _, _ = plot("pfl/parallel-sgd", "n=4", "d=4", "T=20", "--out", "new/figure.pdf")
    assert code == 0
    assert (tmp_path / "new" / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_json_has_curves_and_sweeps(plot):
    """The keys that scripts rely on, with arrays of one length; no NaN or infinity."""
    code, out, err = plot("pfl/theorem-4.5", *SMALL, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["key"], data["file"]) == ("pfl/theorem-4.5", "pfl-theorem-4.5.png")
    rounds = data["rounds"]
    assert rounds["T"][-1] == 20
    assert len({len(rounds[k]) for k in ("T", "metric", "metric_error", "mean", "mean_error", "bound")}) == 1
    assert list(data["sweeps"]) == ["K", "m", "gamma"]
    for swept in data["sweeps"].values():
        assert len({len(swept[k]) for k in ("values", "measured", "error", "bound")}) == 1
        low, high = swept["interval"]
        # Two points have a slope, but nothing to judge it by.
        assert (low is None) == (len(swept["values"]) == 2)
        assert low is None or low <= swept["fitted_exponent"] <= high
        assert isinstance(swept["predicted_exponent"], float)
    assert data["sweeps"]["gamma"]["predicted_exponent"] == pytest.approx(-1, abs=0.1)


def test_seed_and_replicates_reach_the_engine(plot):
    """Monte Carlo: another seed, other numbers; the same seed, the same numbers."""
    options = ("pfl/corollary-3.8", *SMALL, "--engine", "step", "--vary", "m", "--json", "--replicates", "5")
    first, again, other = (json.loads(plot(*options, "--seed", seed)[1]) for seed in ("1", "1", "2"))
    assert first == again
    assert first["replicates"] == 5
    assert first["sweeps"]["m"]["measured"] != other["sweeps"]["m"]["measured"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pfl/theorem-9.9",), "did you mean"),
        (("pfl/scaffold",), "such as pfl/scaffold-explicit"),
        (("pfl/lemma-a.2", "--vary", "m"), "no run"),
        (("pfl/lemma-3.1", "--vary", "K"), "such as pfl/theorem-3.7"),
        (("flame/proposition-2",), "no run measures"),
        (("pfl/theorem-3.7", "--out", "figure.jpg"), "the ending has to be one of .png, .svg, .pdf"),
        (("pfl/theorem-3.7", "--out", "figure"), "the ending has to be"),
        (("pfl/theorem-3.7", "--out", "file/figure.png"), "is not a folder"),
        (("pfl/theorem-3.7", "--out", "folder.png"), "it is a folder"),
        (("pfl/theorem-3.7", "--out", "x" * 300 + ".png"), "too long"),
        (("pfl/theorem-3.7", *SMALL, "gamma=1"), "Largest admissible gamma"),
        (("pfl/corollary-3.8", *SMALL, "--vary", "gamma"), "prescribes gamma"),
        (("pfl/theorem-3.7", "--vary", "L"), "is not one of"),
        (("pfl/theorem-3.7", *SMALL, "--engine", "fast"), "no engine 'fast'"),
        (("pfl/theorem-3.7", "speed=3"), "no parameter 'speed' of the statement or the problem"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(plot, tmp_path, arguments, message):
    """Exit code 2, nothing on stdout, one line on stderr, no figure."""
    (tmp_path / "file").touch()
    (tmp_path / "folder.png").mkdir()
    code, out, err = plot(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.png"]


def test_command_line_help_is_quick_and_lists_plot():
    """In a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "ratecheck", "plot", "--help"], capture_output=True, text=True, check=True
    )
    assert "--vary" in done.stdout


# --- The figure itself ---


@pytest.fixture(
    scope="module", params=["pfl/theorem-3.7", "pfl/corollary-3.8", "pfl/theorem-3.11-tuned", "pfl/parallel-sgd"]
)
def figure(request):
    """Figures with four, three, two panels and one, drawn."""
    statement = bounds.get(request.param)
    setting = {"m": 3.0, "K": 25.0, "T": 20.0, "sigma_u": 0.3, "sigma_v": 0.3}
    personal = request.param == "pfl/parallel-sgd"
    found = survey(
        statement, Quadratic.synthetic(n=10, d=4, shared=0 if personal else 2),
        {k: v for k, v in setting.items() if k not in statement.settings}, Options(engine="exact"), name="a quadratic",
    )  # fmt: skip
    with style.styled():
        drawn = panels.draw(found)
        drawn.canvas.draw()
        yield drawn


@pytest.mark.every(2)
def test_legends_hide_nothing_and_lie_inside_the_figure(figure):
    """No legend overlaps a panel, another legend or the title."""
    legends = [axes.get_legend().get_window_extent() for axes in figure.axes]
    panels = [axes.get_window_extent() for axes in figure.axes]
    title = figure._suptitle.get_window_extent()
    for box, other in [*itertools.combinations([*legends, title], 2), *itertools.product(legends, panels)]:
        assert not box.padded(-1).overlaps(other.padded(-1))
    for box in [*legends, title]:
        assert box.x0 >= figure.bbox.x0
        assert box.x1 <= figure.bbox.x1


def test_curves_differ_without_colour(figure):
    """In every panel, line style and marker together tell the curves apart; every curve is in the legend."""
    for axes in figure.axes:
        looks = [(line.get_linestyle(), line.get_marker(), line._unscaled_dash_pattern) for line in axes.lines]
        assert len(set(map(str, looks))) == len(looks)
        assert len(axes.get_legend().get_texts()) == len(axes.lines)
        assert len({line.get_marker() for line in axes.lines if line.get_color() != "black"}) >= 2


def test_axes_are_logarithmic_and_in_the_papers_symbols(figure):
    """Both scales, and mathematics in the labels."""
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert "$" in axes.get_xlabel()
        assert axes.get_ylabel().startswith(r"$\dfrac{1}{T}")
        labels = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
        shown = [box for box in labels if box.x1 > axes.bbox.x0 and box.x0 < axes.bbox.x1]
        for left, right in itertools.pairwise(sorted(shown, key=lambda box: box.x0)):
            assert left.x1 <= right.x0


@each_key(bounds.keys())
def test_every_left_side_can_be_set(key):
    """Matplotlib can set the mathematics of the whole catalogue, none falls back to plain text."""
    for claim in bounds.get(key).claims:
        assert panels.mathematics(claim.metric.latex, "plain") != "plain"


def test_unknown_mathematics_falls_back_to_plain_text():
    """A macro that matplotlib lacks does not break the figure."""
    assert panels.mathematics(r"\unheardof{x}", "x") == "x"
