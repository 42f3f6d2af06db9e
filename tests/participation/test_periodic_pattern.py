"""Participation that repeats: its rows, its delays against the long way, and how it is written."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.participation import Cyclic, Periodic, Trace, build, delays
from ratecheck.participation.largest import Largest

RANDOM = np.random.default_rng(5)
# Everybody, nobody, clients that never come, or only at first.
SCHEDULES = [
    ([[1, 0], [0, 1]], None),
    ([[1, 1, 1]], None),
    ([[0, 0]], None),
    ([[1, 0], [1, 0]], [[0, 0], [0, 1], [0, 0]]),
    ([[1, 0, 0], [1, 1, 0]], None),
    *[(RANDOM.random((p, 3)) < 0.3, RANDOM.random((q, 3)) < 0.4 if q else None) for p in (1, 4, 7) for q in (0, 1, 6)],
]


@pytest.mark.parametrize(("schedule", "first"), SCHEDULES)
def test_delays_are_those_of_the_matrix(schedule, first):
    """Every T up to several periods, by the definitions on the matrix that is written out."""
    pattern = Periodic(schedule, first)
    for T in range(1, 45):
        matrix = pattern.fixed(T + 1)
        found = delays.counted(pattern, T)
        assert found == (delays.maximum(matrix, T), delays.average(matrix, T))
        assert delays.expectation(pattern, T) == found


@pytest.mark.parametrize(("n", "S"), [(5, 2), (6, 3), (7, 7), (4, 3)])
def test_blocks_repeat(n, S):
    """Cyclic participation by its definition S_t = {(t S + k) mod n : k < S}, and a billion rounds of it."""
    pattern = Cyclic(n, S)
    for t, row in enumerate(pattern.fixed(40)):
        assert {*np.flatnonzero(row)} == {(t * S + k) % n for k in range(S)}
    assert delays.counted(pattern, 10**9).tau_max == -(-n // S) - 1


def test_a_billion_rounds_are_not_written_out():
    """Delays in closed form: clients that come every 3 and every 5 rounds; the matrix is refused."""
    pattern = Periodic.every([3, 5], [2, 4])
    found = delays.counted(pattern, 15 * 10**8)
    # Over 15 rounds: max(t mod 3 of the last, t mod 5 of the last).
    tau = [max((t - 2) % 3, (t - 4) % 5) for t in range(15)]
    assert found.tau_max == 4
    assert found.tau_avg == pytest.approx(np.mean(tau), abs=1e-8)
    with pytest.raises(rc.InputError, match="written out"):
        pattern.fixed(15 * 10**8)


def test_what_is_made_from_numbers_has_a_size():
    """Refused before it is written out, whatever the numbers are; and a kind is a word."""
    with pytest.raises(rc.InputError, match=r"period=1000000000 breaks .1 <= period <= 10000000. \(at most 1e\+08"):
        build.build("periodic:1e9", 10, None)
    with pytest.raises(rc.InputError, match="least common multiple is more than 33333333 rounds"):
        Periodic.every([2**62, 3**30, 5**20])
    with pytest.raises(rc.InputError, match=r"a participation of the kind \['uniform'\] is not known"):
        build.read({"kind": ["uniform"]})
    with pytest.raises(rc.InputError, match="'1_0' is not a number"):
        build.build("periodic:1_0", 10, None)
    with pytest.raises(rc.InputError, match="c=True: needed a number"):
        Largest(4, 2, c=True)


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n"])
def test_a_mixing_matrix_has_rows(text, tmp_path):
    """Said in one line, without a warning of the reader's."""
    (tmp_path / "w.csv").write_text(text)
    with pytest.raises(rc.InputError, match=r"w\.csv: needed a \.csv file with the mixing matrix: it holds no rows"):
        build.build(f"graph:{tmp_path / 'w.csv'}", 3, None)


def test_makers_and_files():
    """Staggered clients, the command line's form, and the form in files."""
    staggered = Periodic.staggered(5, 3)
    assert staggered.schedule.astype(int).tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]
    assert (build.build("periodic:3", 5, None).schedule == staggered.schedule).all()
    pattern = Trace.periodic([[1, 0], [0, 1]], [[1, 1]])
    again = build.read(build.fields(pattern))
    assert (again.fixed(9) == pattern.fixed(9)).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1, 2]],), "not 0 or 1"),
        (([],), "rounds x clients"),
        (([[1, 0]], [[1, 0, 1]]), "first has 3 clients"),
    ],
)
def test_what_is_no_schedule(arguments, words):
    """One line each."""
    with pytest.raises(rc.InputError, match=words):
        Periodic(*arguments)


def test_what_is_no_period():
    """Offsets lie inside their periods."""
    with pytest.raises(rc.InputError, match="offset"):
        Periodic.every([3], [3])
    with pytest.raises(rc.InputError, match="one each"):
        Periodic.every([3], [0, 1])
    with pytest.raises(rc.InputError, match="period"):
        Periodic.staggered(4, 0)
