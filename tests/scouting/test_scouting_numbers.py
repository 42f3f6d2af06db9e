"""Step sizes of many instances at once against the feasible set of each, and conditions that are not monotone."""

from __future__ import annotations

import numpy as np
import pytest

import bounds
from bounds.symbols import Role
from bounds.theorem import theorem
from ratecheck.families.coordinates import inside
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.scouting import numbers
from ratecheck.scouting.scout import Scout
from ratecheck.settings.applicability import foreign, method_of
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.filling import follows
from ratecheck.stepsizes.interval import Interval

STATEMENTS = {
    statement.key: (statement, cube.free_steps)
    for statement in bounds.statements("pfl")
    if method_of(statement) is not None and not statement.order_only and not foreign(statement)
    for cube in [Cube(statement, shapes(statement)[0])]
    if cube.free_steps and not cube.restricted
}
# Coordinates at the largest admissible value, the smallest one that is tried, and between.
AT = (1.0, 0.0, 0.3)


def drawn(statement, rng):
    """Sizes, noise and constants of one instance."""
    sizes = {"n": 5.0, "m": float(rng.integers(1, 6)), "K": float(rng.integers(1, 30)), "T": float(rng.integers(2, 99))}
    names = [q.name for q in statement.vocabulary if q.name in statement.parameters and q.role is not Role.STEP_SIZE]
    return {name: sizes.get(name, float(10 ** rng.uniform(-1, 1))) for name in names if name not in statement.settings}


def test_there_are_statements_with_step_sizes_to_choose():
    """Otherwise the next test is empty."""
    assert len(STATEMENTS) >= 4


@pytest.mark.parametrize("key", STATEMENTS)
def test_ends_are_those_of_the_feasible_set(key):
    """Of the last step size that is chosen, all others being known; to nine digits, at both ends and between."""
    statement, steps = STATEMENTS[key]
    rng, compared = np.random.default_rng(0), 0
    for _ in range(6):
        values = drawn(statement, rng)
        name = steps[-1]
        for other in steps[:-1]:
            interval = FeasibleSet.of(statement, values).admissible()[other]
            values[other] = inside(interval, 0.5)
        wanted = FeasibleSet.of(statement, values).admissible().get(name)
        arrays = {each: np.full(len(AT), value) for each, value in values.items()}
        if wanted is None:
            assert follows(statement, name, arrays.keys())
            continue
        found = numbers.chosen(statement, name, arrays, np.array(AT))
        assert found == pytest.approx([inside(wanted, x) for x in AT], rel=1e-8)
        compared += 1
    assert compared


@pytest.mark.parametrize("key", STATEMENTS)
def test_what_is_chosen_in_turn_is_admissible(key):
    """All of them together break no condition in most instances, and where one is broken that is said."""
    statement, steps = STATEMENTS[key]
    rng = np.random.default_rng(1)
    rows = [drawn(statement, rng) for _ in range(12)]
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for k, name in enumerate(steps):
        if not follows(statement, name, values.keys()):
            values[name] = numbers.chosen(statement, name, values, rng.random(len(rows)), steps[k + 1 :])
    full = numbers.completed(statement, values)
    assert {name for condition in statement.hypotheses for name in condition.symbols} <= full.keys()
    admitted = numbers.admitted(statement, full, len(rows))
    assert admitted.mean() > 0.5
    for b in np.flatnonzero(np.all([np.isfinite(value) for value in values.values()], axis=0)).tolist():
        point = {name: float(np.broadcast_to(value, len(rows))[b]) for name, value in full.items()}
        assert admitted[b] == all(condition.check(key, point).holds for condition in statement.hypotheses)


def bowl(condition):
    """A theorem with one condition on its step size."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u", over="mean_of_rounds", right="2*F_0/(gamma_u*T)", conditions=[condition], vocabulary="textbook",
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        # Between the roots of a parabola.
        ("L*gamma_u*(3 - L*gamma_u) >= 2", 1.0, 2.0),
        # Below its smaller root, and above its larger one: 14 powers of 10 are more than 7.
        ("(L*gamma_u - 0.01)*(L*gamma_u - 30) >= 0", 0.0, 0.01),
        ("L*gamma_u > 5", 5.0, np.inf),
    ],
)
def test_conditions_that_are_not_monotone(condition, low, high):
    """Ends of the largest interval, in units of 1/L, for instances with curvatures of their own."""
    statement, L = bowl(condition), np.array([0.5, 3.0])
    for at in AT:
        found = numbers.chosen(statement, "gamma_u", {"L": L}, np.full(2, at))
        wanted = [inside(Interval(low / each, high / each), at) for each in L]
        assert found == pytest.approx(wanted, rel=1e-8)


def test_nothing_is_chosen_where_nothing_is_admissible():
    """NaN, instance by instance."""
    found = numbers.chosen(bowl("gamma_u*(1 - L) >= 1"), "gamma_u", {"L": np.array([0.5, 3.0])}, np.ones(2))
    assert np.isfinite(found).tolist() == [True, False]


def test_conditions_hold_or_not_instance_by_instance():
    """At the end itself, beyond it by less than rounding, and by more."""
    statement, L = bowl("L*gamma_u <= 1"), np.array([2.0, 2.0, 2.0, np.nan])
    gamma = np.array([0.5, 0.5 * (1 + 1e-15), 0.5 * (1 + 1e-6), 0.5])
    assert numbers.admitted(statement, {"L": L, "gamma_u": gamma}, 4).tolist() == [True, True, False, False]
    assert numbers.admitted(statement, {"L": L}, 4).all()


@pytest.mark.parametrize("when", ["gamma*L >= 6/10, gamma*L <= 9/10", "gamma*L > 6/10, gamma*L < 61/100"])
def test_an_interval_between_two_values_of_the_grid_is_found(when):
    """None of these is inside it; a strict end is no value either."""
    narrow = theorem("mean grad2 <= 2*F_0/(gamma*T)", method="gd", given="smooth", when=when)
    values = {"L": np.full(len(AT), 2.0), "F_0": np.ones(len(AT)), "T": np.ones(len(AT))}
    found = numbers.chosen(narrow, "gamma", values, np.array(AT))
    assert found[0] == pytest.approx(0.45 if "9/10" in when else 0.305)
    assert found[1] == pytest.approx(0.3)
    assert numbers.admitted(narrow, {**values, "gamma": found}, len(AT)).all()


def test_values_between_are_those_of_every_instance_alone(monkeypatch):
    """Step sizes of a batch, some of which need a closer look and what is chosen later, are those of each by itself."""
    statement = bounds.get("flame/theorem-2-unbiased-repaired")
    cube = Cube(statement, next(shape for shape in shapes(statement, {}) if shape.n == 2))
    looked, of = [], numbers._Trial.of

    def some(trial, rows):
        looked.append((trial.joint, int(rows.sum()), len(rows)))
        return of(trial, rows)

    monkeypatch.setattr(numbers._Trial, "of", some)
    rng = np.random.default_rng(3)
    points = np.array([cube.drawn(rng) for _ in range(40)])
    whole = Scout(cube).sight(points).instances
    assert any(joint and 0 < closer < every for joint, closer, every in looked)
    for instance, point in zip(whole, points, strict=True):
        alone = Scout(cube).sight(point[None]).instances[0]
        assert (instance is None) == (alone is None)
        if instance is not None:
            assert dict(instance.given) == pytest.approx(dict(alone.given), rel=1e-12)
