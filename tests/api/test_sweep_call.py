"""Many settings in one call: a table, a data frame, a picture."""

import numpy as np
import pytest

import ratecheck as rc

KEY = "pfl/corollary-3.8"
RUN = {"n": 4, "T": 20}


@pytest.fixture(scope="module")
def found():
    """Two names that vary, one of them given as an array."""
    return rc.sweep(KEY, K=[1, 5], m=np.array([2, 4]), verb=rc.verify, **RUN)


def test_a_row_is_what_the_function_says_at_its_setting(found):
    """The last name varies fastest."""
    assert [(row["K"], row["m"]) for row in found.rows] == [(1, 2), (1, 4), (5, 2), (5, 4)]
    alone = rc.verify(KEY, K=5, m=2, **RUN)
    row = found.rows[2]
    assert (row["verdict"], row["slack"], row["left"], row["right"]) == ("HOLDS", alone.slack, alone.left, alone.right)
    assert found.results[2].slack == alone.slack
    assert repr(found) == f"<SweepResult {KEY} over K, m: 4 settings>"
    assert [line.split()[:2] for line in str(found).splitlines()] == [
        ["K", "m"], ["1", "2"], ["1", "4"], ["5", "2"], ["5", "4"],
    ]  # fmt: skip


def test_a_data_frame_has_the_rows(found):
    """The names of the columns are those of the rows."""
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame["slack"]) == [row["slack"] for row in found.rows]
    assert tuple(frame.columns) == found.columns


def test_the_picture_has_a_curve_for_every_value_of_what_varies_last(found, tmp_path):
    """The slack against K, for both m."""
    (axes,) = found.figure.axes
    assert [line.get_label() for line in axes.lines] == ["m=2", "m=4"]
    assert list(axes.lines[0].get_ydata()) == [found.rows[0]["slack"], found.rows[2]["slack"]]
    assert found.save(tmp_path / "sweep.svg").file.stat().st_size > 1000


def test_violated_points_are_marked():
    """A bound that is false where a stated error is large."""
    setting = {"m": 1, "s": 1, "T": 1, "lambda_": 1, "rho": 3}
    found = rc.sweep("flame/theorem-2-unbiased", eps_max=[0, 1000], show="right", **setting)
    assert [row["verdict"] for row in found.rows] == ["HOLDS", "VIOLATED"]
    (marked,) = [line for line in found.figure.axes[0].lines if line.get_label() == "violated"]
    assert list(marked.get_xdata()) == [1000]


def test_a_setting_that_is_refused_is_a_row():
    """The others have their results; where all are refused, that is an error."""
    found = rc.sweep("pfl/theorem-3.7", T=[10, 0], verb=rc.bound, n=4, m=2, K=1, L=1, F_0=1, b=1, gamma=0.01,
                     sigma_u=0, sigma_v=0)  # fmt: skip
    assert found.rows[0]["value"] > 0
    assert "T" in found.rows[1]["refused"]
    assert "value" not in found.rows[1]
    with pytest.raises(rc.InputError, match="all 2 settings are refused, the first: no parameter 'KK'"):
        rc.sweep(KEY, KK=[1, 2])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rc.sweep(KEY, K=3), "nothing varies: give a list or an array"),
        (lambda: rc.sweep(KEY, K=[]), "K has no values"),
        (lambda: rc.sweep(KEY, K=[1, 2], show="slak", **RUN), "no column 'slak' to show; did you mean 'slack'"),
        (lambda: rc.verify(KEY, K=[1, 2], T=20), r"K has 2 entries.*rc\.sweep takes several"),
        (
            lambda: rc.bound(KEY, T=np.arange(9)),
            r"T=0,1,2,3,\.\.\.: T is one number.*rc\.sweep\(\.\.\.\) takes several",
        ),
        (lambda: rc.simulate("fedavg-p"), "simulate needs problem, trace, K: give problem="),
        (lambda: rc.exact("fedavg-p", None, None), "exact needs K: give K="),
    ],
)
def test_what_cannot_be_used_is_one_line(call, said):
    """Lists where one number is wanted name the sweep; so does a missing argument itself."""
    with pytest.raises(rc.InputError, match=said) as error:
        call()
    assert "\n" not in str(error.value)


def test_what_is_shown_alone_takes_one_line():
    """Runs, problems, patterns, intervals, verdicts; a statement prints as it is set."""
    problem = rc.problems.Quadratic(np.tile(np.eye(2), (3, 1, 1)), np.ones((3, 2)), shared=1)
    pattern = rc.participation.Uniform(3, 2)
    run = rc.simulate("fedavg-p", problem, pattern, K=1, T=4, gamma_u=0.1, gamma_v=0.1, eta_u=1, eta_v=1, replicates=5)
    found = rc.stepsize("pfl/theorem-3.7", n=4, m=2, K=1, L=1, T=9, F_0=1, b=1, sigma_u=0, sigma_v=0)
    assert repr(problem) == "<Quadratic n=3: 1 shared and 1 personal variables>"
    assert repr(pattern) == "<Uniform n=3 size=2>"
    assert repr(rc.participation.Trace(np.ones((5, 3)))) == "<Trace n=3 size=3 T=5>"
    assert repr(run) == "<Run T=4, replicates=5: G_u, G_v, B>"
    assert repr(found.admissible["gamma"]) == "<Interval (0, 0.03125]>"
    assert repr(rc.get(KEY)) == f"<Statement {KEY}: {rc.get(KEY).title}>"
    assert str(rc.get(KEY)) == str(rc.show(KEY))
