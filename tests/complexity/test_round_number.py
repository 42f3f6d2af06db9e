"""Bounds on x^t: solved for t, compared at the last of T rounds; and an index that is off by one."""

import json
import math

import pytest
from click.testing import CliRunner

import bounds
import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.cli import group
from ratecheck.complexity.rounds import horizon
from ratecheck.errors import InputError

DESCENT = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
SIZES = {"n": 4.0, "L": 1.0, "dist2_0": 2.0, "gamma_u": 0.5}


def descent(over, right, left="gap", *more, **fields):
    """Gradient descent on convex functions."""
    return theorem(
        key="mine/descent",
        title="Gradient descent on convex functions",
        algorithm="fedavg",
        assumptions=["smoothness", "convexity", "full_participation", "no_personal", *more],
        left=left,
        over=over,
        right=right,
        settings=DESCENT,
        vocabulary="textbook",
        **{"conditions": ["gamma_u <= 1/L"], **fields},
    )


@pytest.mark.parametrize(
    ("over", "right", "bound", "first"),
    [
        ("every_round_but_first", "dist2_0/(2*gamma_u*t)", lambda t: 2 / t, 1),
        ("every_round", "L*dist2_0/(4*gamma_u*L*t + 2)", lambda t: 2 / (2 * t + 2), 0),
        ("every_round", "(1 - gamma_u*L/10)**t*dist2_0", lambda t: 2 * 0.95**t, 0),
        ("every_round_but_first", "dist2_0*log(1 + t)/t**2", lambda t: 2 * math.log(1 + t) / t**2, 1),
    ],
)
@pytest.mark.parametrize("eps", [5.0, 0.9, 0.07, 1e-3])
def test_the_smallest_t(over, right, bound, first, eps):
    """Of a plain search from the first round on; so many rounds come before x^t, and cost as much."""
    found = horizon(descent(over, right), SIZES, eps)
    t = first
    while bound(t) > eps:
        t += 1
    assert (found.counter, found.rounds) == ("t", t)
    assert found.point.value == pytest.approx(bound(t), rel=1e-12)
    assert found.budget.calls == t * 4


def test_step_sizes_that_are_left_open_are_best_at_this_t():
    """1/L for values of gradient descent."""
    found = horizon(
        descent("every_round_but_first", "dist2_0/(2*gamma_u*t)"), {"n": 4.0, "L": 2.0, "dist2_0": 2.0}, 0.1
    )
    assert found.point.steps["gamma_u"] == pytest.approx(0.5)
    assert found.rounds == 20


def test_a_bound_that_never_gets_there():
    """What it does not fall below is said, and a noise floor of 1/4 is none of 1/8."""
    floor = descent("every_round_but_first", "dist2_0/(2*gamma_u*t) + L*dist2_0/8")
    assert "does not fall below about 0.25" in horizon(floor, SIZES, 0.1).why


def test_a_step_size_of_t_rounds():
    """Where T sets the step size x^t is that of the last round."""
    statement = descent(
        "every_round_but_first", "dist2_0/(2*gamma_u*t)", step_rules={"gamma_u": "1/(L*sqrt(T))"}, conditions=[]
    )
    found = horizon(statement, {"n": 4.0, "L": 1.0, "dist2_0": 2.0}, 0.5)
    T = next(T for T in range(2, 100) if math.sqrt(T) / (T - 1) <= 0.5)
    assert (found.counter, found.rounds) == ("T", T)


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ("classics/gradient-descent-values", {**SIZES, "t": 3.0}, "t=3: the number of rounds is the unknown"),
        (
            "classics/gradient-descent-potential-values",
            SIZES,
            "contains dist2_prev, gap, gap_prev, quantities of a run",
        ),
        ("classics/gradient-descent-distances", SIZES, "does not depend on the number of rounds"),
    ],
)
def test_what_is_refused(key, given, message):
    """In one line."""
    with pytest.raises(InputError, match=message):
        horizon(bounds.get(key), given, 0.1)


def test_no_classic_is_refused_for_t():
    """Each that has t on its right side, and nothing else that a run shows, is solved or asks for a number."""
    asked, refused = 0, []
    for statement in bounds.statements("classics"):
        names = {s.name for s in statement.claims[0].bound.free_symbols}
        if "t" not in names:
            continue
        numbers = {"L": 1.0, "n": 2.0, "dist2_0": 1.0, "F_0": 1.0, "mu": 0.1, "gamma_u": 0.05}
        taken = {k: v for k, v in numbers.items() if k in statement.parameters and k not in statement.settings}
        try:
            found = horizon(statement, taken, 1e-2)
        except InputError as error:
            refused.append(str(error))
        else:
            asked += 1
            assert found.counter == "t"
    assert asked >= 15
    assert not any("number of rounds" in each for each in refused)


def test_the_command():
    """Text and JSON name t."""
    words = ["rounds", "classics/gradient-descent-values", "L=1", "dist2_0=1", "n=3", "eps=0.1"]
    text = CliRunner().invoke(group, words).stdout
    assert "the smallest t with a bound of at most 0.1" in text
    found = json.loads(CliRunner().invoke(group, [*words, "--json"]).stdout)
    assert (found["rounds"], found["counter"]) == (2, "t")


def test_bounds_on_t_and_on_all_rounds_are_compared():
    """At t = T-1; two bounds on t at a t, or over it."""
    one, all_of_them = "classics/sgd-distances", "classics/sampled-values"
    given = {"L": 1, "mu": 0.1, "dist2_0": 2, "n": 4, "m": 4, "sigma_u": 0.1, "b_star": 0, "gamma_u": 0.1}
    by_T, by_t = (rc.compare(one, all_of_them, over=over, parameters=given) for over in ("T=2:50:6", "t=1:49:6"))
    for found, last, rounds in ((by_T, -1, 0), (by_t, 0, 1)):
        for x, first, second in zip(found.comparison.axes[0].values, *found.comparison.values[:, :, 0], strict=True):
            # ||x^t - x*||^2 <= q^t D + (1 - q^t) gamma sigma^2/(n mu (2 - gamma mu)), and the mean of T values.
            q = (1 - 0.1 * 0.1) ** 2
            assert first == pytest.approx(rc.bound(one, t=x + last, parameters=given).value, rel=1e-12)
            assert second == pytest.approx(rc.bound(all_of_them, T=x + rounds, parameters=given).value, rel=1e-12)
            assert first == pytest.approx(q ** (x + last) * 2, abs=2e-3)
    assert any("the last of T rounds is T-1" in note for note in by_T.comparison.notes)


@pytest.mark.parametrize(
    ("over", "right", "said"),
    [
        ("last_round", "(1 - gamma_u*mu)**(2*T)*dist2_0", "is a bound on x^T meant?"),
        ("every_round", "(1 - gamma_u*mu)**(2*t + 2)*dist2_0", "is a bound on x^(t+1) meant?"),
        ("last_round", "(1 - gamma_u*mu)**(2*T + 2)*dist2_0", ""),
        ("every_round", "(1 - gamma_u*mu)**(2*t + 4)*dist2_0", ""),
        ("last_round", "dist2_0/1000", ""),
    ],
)
def test_an_index_that_is_off_by_one(over, right, said):
    """Where T-1 or t-1 would make it hold on the run, the verdict says so; else nothing of it."""
    problem = rc.problems.Quadratic([[[1.0, 0.0], [0.0, 0.1]]] * 2, [[0.0, 0.3]] * 2, 2)
    statement = descent(over, right, "dist2", "strong_convexity")
    found = rc.verify(statement, problem=problem, T=6, gamma_u=0.1)
    assert found.outcome.value == "VIOLATED"
    notes = [note for note in found.verdict.notes if "is a bound on" in note]
    assert [note.endswith(said) for note in notes] == ([True] if said else [])


def test_a_right_index_is_not_spoken_of():
    """What holds has no such note."""
    statement = descent("last_round", "(1 - gamma_u*mu)**(2*(T - 1))*dist2_0", "dist2", "strong_convexity")
    found = rc.verify(statement, n=3, T=6)
    assert found.outcome.value == "HOLDS"
    assert not any("meant?" in note for note in found.verdict.notes)
