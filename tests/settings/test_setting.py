"""The resolved inputs of a verification: whole when built, frozen, and of what they were built from."""

import dataclasses

import pytest

import bounds
import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Bernoulli, Trace, Uniform
from ratecheck.problems import Certificate, Quadratic
from ratecheck.settings.on_trace import certify, on_trace, step_values
from ratecheck.settings.setting import Options, resolve

PROBLEM = Quadratic.synthetic(5, 3, 3, seed=1)
FEDSUM = {"K": 2.0, "T": 12.0, "sigma": 0.3}


def test_each_number_says_where_it_comes_from():
    """Given, of the problem, fixed by the statement, of the participation."""
    statement = bounds.get("fedsum/theorem-4.1")
    setting = resolve(statement, PROBLEM, Uniform(5, 2), FEDSUM)
    assert setting.values == {**FEDSUM, "N": 5.0, "S": 2.0}
    given = dict.fromkeys(FEDSUM, "given")
    assert setting.sources == {**given, "N": "the problem", "S": "the participation"}
    full = resolve(bounds.get("pfl/theorem-3.11"), Quadratic.synthetic(5, 3, 1, seed=1), None, {"K": 2.0, "T": 3.0})
    assert (full.values["m"], full.sources["m"]) == (5.0, "fixed by the statement")
    assert full.pattern.rate == 1.0


def test_nothing_is_changed_after_it_is_built():
    """Neither the setting nor what the caller gave; the latter may change afterwards."""
    given, statement = dict(FEDSUM), bounds.get("fedsum/theorem-4.1")
    setting = resolve(statement, PROBLEM, Uniform(5, 2), given)
    on = on_trace(setting, setting.traces()[0])
    constants = dict(on.constants)
    first = step_values(on)
    assert given == FEDSUM
    given["K"] = 7.0
    assert (setting.given, setting.sizes["local_steps"]) == (FEDSUM, 2.0)
    again = step_values(on_trace(setting, setting.traces()[0]))
    assert (on.constants, again) == (constants, first)
    for each, name in ((setting, "values"), (on, "constants"), (first, "values")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(each, name, {})


def test_constants_of_another_trial_leave_the_first_alone():
    """What is tried along a trajectory is another object."""
    setting = resolve(bounds.get("fedsum/theorem-4.1"), PROBLEM, Trace.cyclic(5, 2), FEDSUM)
    on = on_trace(setting, setting.pattern)
    larger = dataclasses.replace(on.constants["L"], value=2 * on.constants["L"].value)
    other = on.with_constants({"L": larger})
    assert other.constants["L"].value == 2 * on.constants["L"].value
    assert step_values(other).values["L"] == 2 * step_values(on).values["L"]


def test_traces_are_sampled_for_a_statement_about_each_of_them():
    """As many as the options say, the same ones again; a fixed trace is its own."""
    statement = bounds.get("fedsum/theorem-4.1")
    setting = resolve(statement, PROBLEM, Bernoulli(0.5, 5), FEDSUM, Options(traces=4))
    drawn, again = setting.traces(), setting.traces()
    assert len(drawn) == 4
    assert all((one.matrix == other.matrix).all() for one, other in zip(drawn, again, strict=True))
    assert resolve(statement, PROBLEM, Trace.cyclic(5, 2), FEDSUM).traces()[0].fixed(12) is not None


def test_constants_are_those_of_the_setting():
    """A weaker one may be given, a stronger one may not."""
    statement = bounds.get("fedsum/theorem-4.1")
    certified = certify(statement, PROBLEM, {**FEDSUM, "S": 2.0})["L"].value
    weaker = certify(statement, PROBLEM, {**FEDSUM, "S": 2.0, "L": 2 * certified})["L"]
    assert (weaker.value, weaker.certificate) == (2 * certified, Certificate.UPPER_BOUND)
    with pytest.raises(InputError, match="Smallest admissible L"):
        certify(statement, PROBLEM, {**FEDSUM, "S": 2.0, "L": certified / 2})


def test_clients_with_one_minimiser_differ_all_the_same():
    """A statement under interpolation about m of n clients is tested where the draw matters, in exact arithmetic."""
    found = theorem("mean gap <= 2*R_0**2/(gamma*T)", method="fedavg", when="gamma <= 1/(2*L), K == 1, eta == 1",
                    given="smooth, convex, interpolation, sampling")  # fmt: skip
    few, everybody = (rc.verify(found, n=4, m=m, T=20, sigma=0) for m in (1, 4))
    assert few.outcome is Outcome.HOLDS
    assert few.left > everybody.left * 1.001


@pytest.mark.parametrize("settings", [{"eta_u": 3}, {}])
def test_a_step_size_that_the_method_sets_is_no_other_one(settings):
    """Gradient descent ascent has eta_u = 1: of another one nothing is run, and a verdict would be one of another."""
    own = theorem("mean G_u <= 2*F_0/(gamma_u*T) + 0*eta_u", method="gda", given="smooth, full participation",
                  when="gamma_u <= 1/L, eta_u <= 3", vocabulary="textbook",
                  settings={"K": 1, "n": 1, "m": 1, "sigma_u": 0, **settings})  # fmt: skip
    found = rc.verify(own, problem=rc.problems.Quadratic(H=[[[1.0]]], g=[[1.0]], shared=1), T=4)
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert "gradient descent ascent sets eta_u to 1, and the statement does not" in str(found)
