"""A run on a problem that was seen before is the same run, and what was made of the problem is made once."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.engines.monte_carlo import leap, prepared, stepwise

KERNELS = {"step": stepwise.StepKernel, "leap": leap.LeapKernel}


@pytest.fixture
def made(monkeypatch):
    """Counts the kernels that are made; what earlier tests left is out of sight."""
    counts = dict.fromkeys(KERNELS, 0)
    for name, kind in KERNELS.items():
        own = kind.__init__

        def counted(self, *arguments, name=name, own=own):
            counts[name] += 1
            own(self, *arguments)

        monkeypatch.setattr(kind, "__init__", counted)
    monkeypatch.setattr(prepared, "_known", weakref.WeakKeyDictionary())
    return counts


def play(problem, engine, m=3, **others):
    """One run of FedAvg with noise."""
    arguments = {"K": 4, "T": 3, "sigma": 0.3, "seed": 5, "replicates": 3, "gamma_u": 0.1, "eta_u": 1.0, **others}
    trace = rc.participation.Trace.uniform(problem.n, m)
    return rc.simulate("fedavg", problem, trace, engine=engine, threads=1, **arguments).metric


def fresh():
    """The same problem as another object."""
    return rc.problems.Quadratic.synthetic(n=5, d=4, shared=4, seed=1)


@pytest.mark.parametrize("engine", KERNELS)
def test_a_problem_seen_before_is_prepared_once_and_runs_as_a_new_one_does(engine, made):
    """Rounds, replicates, seeds and participants may differ; every one of them is the run of a new object."""
    problem = fresh()
    runs = ({}, {"seed": 6}, {"T": 7}, {"replicates": 9}, {"m": 2}, {})
    found = [play(problem, engine, **each) for each in runs]
    assert made[engine] == 1
    for each, metric in zip(runs, found, strict=True):
        assert np.array_equal(metric, play(fresh(), engine, **each))


def test_coefficients_that_depend_on_the_length_of_a_run_are_computed_for_each(monkeypatch):
    """In stretches of any length, of which the last one ends where the run does."""
    problem = fresh()

    def played(where, T):
        trace = rc.participation.Trace.full(problem.n)
        return rc.simulate("optimized-gradient", where, trace, engine="step", K=1, T=T, sigma=0.3, gamma_u=0.1).metric

    found = [played(problem, T) for T in (5, 9, 5)]
    monkeypatch.setattr(stepwise, "_TABLED_ROUNDS", 2)
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 1)
    for T, metric in zip((5, 9, 5), found, strict=True):
        assert np.array_equal(metric, played(fresh(), T))


@pytest.mark.parametrize("engine", KERNELS)
@pytest.mark.parametrize(
    "other",
    [
        {"K": 5},
        {"sigma": 0.2},
        {"gamma_u": 0.2},
        {"eta_u": 0.5},
        {"x0": np.ones(4)},
        {"records": ("G_u", "G_v", "gap")},
    ],
)
def test_what_a_run_depends_on_is_prepared_anew(engine, other, made):
    """Everything else that a user sets."""
    problem = fresh()
    play(problem, engine)
    found = play(problem, engine, **other)
    assert made[engine] == 2
    assert np.array_equal(found, play(fresh(), engine, **other))


@pytest.mark.parametrize("engine", KERNELS)
def test_everybody_and_some_are_prepared_apart(engine):
    """With everybody in every round leaps go another way."""
    problem = fresh()
    for m in (5, 3, 5):
        assert np.array_equal(play(problem, engine, m=m), play(fresh(), engine, m=m))


@pytest.mark.parametrize("engine", KERNELS)
def test_arrays_that_were_written_into_are_noticed(engine):
    """A problem whose numbers were changed in place is another problem."""
    problem, other = fresh(), fresh()
    play(problem, engine)
    for each in (problem, other):
        each.H *= 0.5
        each.g[0] = 2.0
    assert np.array_equal(play(problem, engine), play(other, engine))


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("engine", KERNELS)
def test_what_is_kept_goes_with_its_problem_and_is_bounded(engine):
    """Nothing that is kept holds on to the problem."""
    problem = fresh()
    for k in range(1, 8):
        play(problem, engine, gamma_u=0.01 * k)
    (kept,) = (each for each in prepared._known.values())
    assert len(kept.kernels) == 4
    gone = weakref.ref(problem)
    del problem, kept
    gc.collect()
    assert gone() is None
    assert not prepared._known


def test_threads_share_what_is_kept():
    """Runs that begin at the same time are the runs that they are alone."""
    from concurrent.futures import ThreadPoolExecutor

    problem = fresh()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: play(problem, "leap", seed=seed, gamma_u=0.01 * (seed % 6 + 1)), range(24)))
    for seed, metric in enumerate(found):
        assert np.array_equal(metric, play(fresh(), "leap", seed=seed, gamma_u=0.01 * (seed % 6 + 1)))
