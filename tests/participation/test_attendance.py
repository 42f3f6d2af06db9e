"""Who takes part, drawn: numbers of a matrix that was counted by hand."""

import pytest

import ratecheck as rc
from ratecheck.participation import Trace


def test_rounds_away_of_three_clients():
    """Client 1 always, client 2 in rounds 1 and 4, client 3 from round 2 on."""
    rows = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1], [1, 1, 1]]
    found = rc.plot_participation(Trace(rows), n=3, T=5)
    away = [[0, 1, 1], [0, 0, 2], [0, 1, 0], [0, 2, 0], [0, 0, 0]]
    assert found.attendance.away.tolist() == away
    assert found.to_dict()["tau_max"] == 2
    assert found.to_dict()["tau_avg"] == pytest.approx((1 + 2 + 1 + 2 + 0) / 5)
    assert "tau_max  2" in str(found)
    assert len(found.figure.axes) == 3


def test_what_cannot_be_drawn_is_said_in_one_line():
    """Too many clients per round, and clients that the run itself chooses."""
    with pytest.raises(rc.InputError, match="m=7"):
        rc.plot_participation("uniform", n=5, m=7)
    with pytest.raises(rc.InputError, match="no participation"):
        rc.plot_participation("unifrom")
