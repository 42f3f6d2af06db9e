"""Constants near the ends of floating point: an answer, or one line that says why there is none."""

import itertools
import math
import warnings

import numpy as np
import pytest
from stepsize_oracle import random_constants, step_names, with_step_sizes

import bounds
from bounds.statement import number
from bounds.theorem import symbol, theorem
from ratecheck.complexity import compare
from ratecheck.complexity import tuned_bound as curve
from ratecheck.complexity.rounds import horizon
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.nearest import nearest
from ratecheck.views.theory.horizon import horizon_text
from ratecheck.views.theory.stepsizes import step_sizes_text

KEYS = with_step_sizes(bounds.keys(), bounds.get)
EXTREME = (1e308, 1e-308, 1e200, 1e-200, 1e100, 1e-100)
PFL = {"n": 10, "m": 9, "K": 25, "L": 1, "b": 0.4, "sigma_u": 0.3, "sigma_v": 0.3}


def extreme(number):
    """A statement, and constants of which some are extreme."""
    statement, rng = bounds.get(KEYS[number % len(KEYS)]), np.random.default_rng([11, number])
    constants = random_constants(statement, rng, 2.0)
    for name in rng.permutation(sorted(constants))[:3]:
        if not float(constants[name]).is_integer():
            constants[str(name)] = float(rng.choice(EXTREME))
    for smaller, larger in statement.vocabulary.ordered:
        if {smaller, larger} <= constants.keys():
            constants[smaller], constants[larger] = sorted((constants[smaller], constants[larger]))
    return statement, constants


def check_step_sizes(statement, given):
    """Ends are no NaN and in order, and what is proposed is a positive number."""
    answer = step_sizes(statement, given)
    found = {} if answer.feasible else nearest(answer.problem, given, answer.core).steps
    assert all(0.0 < x < math.inf for x in (*answer.optimal.values(), *found.values()))
    if answer.feasible:
        assert all(0.0 <= interval.low <= interval.high for interval in answer.admissible.values())
        assert not math.isnan(answer.optimal_bound or 0.0)
        assert answer.optimal_bound != math.inf
    assert "nan" not in step_sizes_text(answer)


@pytest.mark.parametrize(
    "number", [*range(len(KEYS)), *(pytest.param(len(KEYS) + k, marks=pytest.mark.long) for k in range(len(KEYS)))]
)
def test_extreme_constants(number):
    """An answer without NaN or one line, and never a warning, in `stepsize`, `bound`, `rounds` and `compare`."""
    statement, constants = extreme(number)
    calls = [
        lambda: check_step_sizes(statement, constants),
        lambda: check_step_sizes(statement, {**constants, step_names(statement)[0]: 1e-3}),
        lambda: curve.at(statement, constants),
    ]
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                call()
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(("name", "value"), list(itertools.product(["F_0", "sigma_u", "b", "L"], EXTREME)))
def test_extreme_constants_in_rounds_and_compare(name, value):
    """A number of rounds, a bound, or one line."""
    keys = ("pfl/theorem-3.7", "pfl/corollary-3.8")
    given = {**PFL, "F_0": 1.0, name: value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for key in keys:
            try:
                text = horizon_text(horizon(bounds.get(key), given, 0.01))
                assert "nan" not in text
                assert " inf" not in text
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017
        statements = [bounds.get("pfl/corollary-3.8"), bounds.get("pfl/corollary-4.6")]
        try:
            found = compare.compare(statements, given, compare.read_axes(statements, ["T=1:1000:3"]))
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert not np.isinf(found.values).any()
            assert np.isfinite(found.values).all(axis=(1, 2)).tolist() == [k not in found.why for k in range(2)]


def test_a_minimiser_beyond_the_range_is_refused():
    """With F_0 = 1e-308 the best gamma is about 1e-154, not zero."""
    given = {**PFL, "T": 1000, "F_0": 1e-308}
    with pytest.raises(InputError, match="the gamma that minimises"):
        step_sizes(bounds.get("pfl/theorem-3.7"), given)


def test_the_open_end_of_a_step_size_that_others_restrict():
    """A bound that is least as gamma -> 0 is so although the conditions tie gamma to the other step sizes."""
    tied = theorem(
        "mean grad2 <= 2*F_0/(eta*T) + L*F_0/(share*T) + share*sigma**2 + (gamma*K*L)**2*sigma**2", method="fedavg",
        given="smooth, noise", symbols=symbol("share", "a share", role="step_size"),
        when="eta*L <= share/4, gamma*K*L**2*eta*T*share <= 1/8, share <= 1",
    )  # fmt: skip
    found = step_sizes(tied, {"n": 4, "K": 3, "T": 1000, "L": 1, "F_0": 1, "sigma": 1})
    assert found.approached == {"gamma": 0.0}
    assert found.optimal_bound == pytest.approx(2 * math.sqrt(9 / 1000))
    assert number(tied.claims[0].bound, {**found.values, **found.optimal}) <= 1.01 * found.optimal_bound
