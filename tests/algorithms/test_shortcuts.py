"""Ways to the same law at less cost: local steps in eigenbases, and the sum of all clients' messages as one draw."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import leap, stepwise
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed
PERSONAL = {"gamma_u": 0.1, "gamma_v": 0.07, "eta_u": 0.8, "eta_v": 1.1}
SHARED = {"eta_g": 0.05, "eta_l": 0.1}
METHODS = {
    "fedavg-p": PERSONAL, "scaffold-p": PERSONAL, "fedsum": SHARED, "fedsum-cr": SHARED, "mifa": SHARED,
    "fedadmm": {"rho": 1.3, **SHARED},
}  # fmt: skip
methods = pytest.mark.parametrize("name", METHODS)


def problem_of(name, coupling=0.0):
    """Five clients with five variables, the last two personal where the method has such."""
    return Quadratic.synthetic(5, 5, 3 if name.endswith("-p") else 5, coupling=coupling, curvature=0.5, seed=3)


def noise_of(name):
    """Noise that differs between the blocks."""
    return {"sigma_u": 0.9, "sigma_v": 0.4} if name.endswith("-p") else {"sigma": 0.9}


def record_of(name):
    """A record that every method has."""
    return ("G_u", "G_v") if name.endswith("-p") else ("G_u",)


def ready(name, problem, trace, K, **options):
    """A prepared run."""
    return setup.prepare(name, problem, trace, K=K, T=4, step_sizes=METHODS[name], **options)


@methods
def test_eigenbases_are_used_where_they_may_be(name):
    """From more than twice as many steps as local variables on, and only for matrices that do not couple blocks."""
    slots = ready(name, problem_of(name), Trace.full(5), 2).maps.local.slots
    for K, used in ((2 * slots, False), (2 * slots + 1, True)):
        kernel = stepwise.StepKernel(ready(name, problem_of(name), Trace.full(5), K))
        assert kernel.method.diagonal.used.all() == kernel.method.diagonal.used.any() == used
    if name.endswith("-p"):
        kernel = stepwise.StepKernel(ready(name, problem_of(name, coupling=0.5), Trace.full(5), 9))
        assert not kernel.method.diagonal.used.any()


@methods
@pytest.mark.parametrize("m", [2, 5])
def test_steps_in_eigenbases_are_the_same_steps(name, m, monkeypatch):
    """Without noise, to ten digits of the run that never changes basis."""
    run = {"K": 9, "T": 6, "replicates": 3, "x0": np.arange(problem_of(name).d_u), "records": record_of(name)}

    def simulate():
        return rc.simulate(name, problem_of(name), Trace.uniform(5, m), **run, **METHODS[name]).records

    found = simulate()
    original = stepwise.diagonal

    def unused(*arguments):
        diagonal = original(*arguments)
        return diagonal._replace(used=np.zeros_like(diagonal.used))

    monkeypatch.setattr(stepwise, "diagonal", unused)
    for key, values in simulate().items():
        np.testing.assert_allclose(found[key], values, rtol=1e-10, atol=1e-20)


@methods
@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize("m", [2, 5])
def test_the_law_is_that_of_the_exact_engine(name, engine, m):
    """Means of all records within 4.5 standard errors, which are small enough to say something."""
    if name == "fedsum-cr" and m < 5:
        pytest.skip("delays: no exact moments under sampling")
    run = {"K": 9, "T": 4, **noise_of(name), "records": record_of(name), **METHODS[name]}
    expected = rc.exact(name, problem_of(name), Trace.uniform(5, m), **run).records
    found = rc.simulate(
        name, problem_of(name), Trace.uniform(5, m), engine=engine, replicates=6000, seed=2, **run
    ).records
    for key, values in found.items():
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (np.abs(values.mean(axis=0) - expected[key]) <= BAND * error + 1e-10 * expected[key]).all(), key
        assert (error <= 0.05 * expected[key] + 1e-300).all(), key


@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize("trace", [Trace.full(5), Trace.uniform(5, 2), Trace.bernoulli(0.8, 5), Trace(np.tri(6, 5))])
def test_a_replicate_has_the_same_bits_alone(engine, trace):
    """Whoever takes part beside it: shortcuts depend on the setup alone, not on who happens to take part."""
    steps = {"gamma_u": 0.1, "eta_u": 0.8}
    prepared = setup.prepare(
        "fedavg", problem_of("fedavg"), trace, K=9, T=5, noise={"sigma": 0.5}, records=("G_u",), step_sizes=steps
    )

    def simulate(**replicates):
        kernel = leap.LeapKernel(prepared) if engine == "leap" else None
        return stepwise.simulate(prepared, kernel=kernel, seed=4, **replicates).records["G_u"]

    together = simulate(replicates=70)
    for first, count in ((0, 1), (3, 9), (63, 7)):
        part = simulate(replicates=count, first_replicate=first, threads=1)
        np.testing.assert_array_equal(part, together[first : first + count])


def test_the_sum_of_messages_is_used_where_it_may_be():
    """In rounds of everybody, for methods without client state."""
    steps = {"gamma_u": 0.1, "eta_u": 1.0}
    given = Trace([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    problem = Quadratic.synthetic(3, 2, 2)
    kernel = leap.LeapKernel(setup.prepare("fedavg", problem, given, K=3, step_sizes=steps))
    assert kernel.together.tolist() == [True, False, True]
    assert kernel.leap.whole_rows.shape == (2, 2)
    kernel = leap.LeapKernel(setup.prepare("scaffold", problem, given, K=3, step_sizes=steps))
    assert kernel.leap.whole_offset.size == 0
    sampled = setup.prepare("fedavg", problem, Trace.bernoulli(0.5, 3), K=3, T=3, step_sizes=steps)
    assert not leap.LeapKernel(sampled).together.any()
