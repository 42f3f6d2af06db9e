"""Searches over two levels whose first and second derivatives are sampled: wrong statements are caught, true ones not.

Wrong statements are true ones of the catalogue in which one term is left out or too small.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.papers.simfbo.symbols import sigma_f, sigma_gg
from bounds.statement import Assumption
from ratecheck.engines import exact, setup
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.searched import Searched
from ratecheck.falsification.shrink import shrink
from ratecheck.families.cube import Cube
from ratecheck.families.family import InstanceShape
from ratecheck.families.registry import shapes
from ratecheck.families.two_levels import OWN_HESSIANS, SAMPLES, TWO_LEVELS
from ratecheck.outcome import Outcome
from ratecheck.participation import Uniform
from ratecheck.problems import Bilevel, BilevelSamples
from ratecheck.verification.instance import Instance, read
from ratecheck.views.checks.counterexample import WrittenCounterexample

DIRECTIONS = "simfbo/lemma-9-repaired"
BOUNDED = "simfbo/lemma-2-repaired"


def changed(name, label, change):
    """The claim ``name`` on the sampled directions alone, with another term; without it where that is None."""
    statement = bounds.get(DIRECTIONS)
    claim = next(each for each in statement.claims if each.name == name)
    terms = {**claim.terms, label: change(claim.terms[label])}
    terms = {key: term for key, term in terms.items() if term is not None}
    return dataclasses.replace(
        statement, key="own/wrong", claims=(dataclasses.replace(claim, terms=terms),), repairs=""
    )


def of_means():
    """The bound on the local v with constants of the means, although v moves along samples."""
    statement = bounds.get(BOUNDED)
    kept = tuple(each for each in statement.assumptions if each is not Assumption.EVERY_SAMPLE)
    return dataclasses.replace(statement, key="own/means", assumptions=(*kept, Assumption.BILEVEL_NOISE), repairs="")


WRONG = {
    "no noise of mixed derivatives": lambda: changed("x", "noise", lambda term: term.subs(sigma_gg, 0)),
    "no noise of Hessians": lambda: changed("v", "noise", lambda term: term.subs(sigma_gg, 0)),
    "no noise of upper gradients": lambda: changed("v", "noise", lambda term: term.subs(sigma_f, 0)),
    "an eighth of the noise": lambda: changed("x", "noise", lambda term: term / 8),
    "a quarter of the lower noise": lambda: changed("y", "noise", lambda term: term / 4),
    "no curvature of f in y": lambda: changed("v", "error of y", lambda _: None),
    "bounds of the means": of_means,
}


@pytest.fixture(scope="module")
def searches():
    """Every search once: the default seed, without what comes after it."""
    found = {}

    def of(case):
        if case not in found:
            found[case] = falsify(WRONG[case](), Budget(evaluations=1000, by_term=False, functions=False))
        return found[case]

    return of


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_term_is_caught(case, searches):
    """Within a third of the default budget."""
    found = searches(case)
    assert found.by_instance
    assert found.evaluations <= 300


@pytest.mark.every(2)
@pytest.mark.parametrize("key", [BOUNDED, DIRECTIONS])
def test_a_true_statement_is_not_accused(key):
    """Although it is searched with samples."""
    found = falsify(bounds.get(key), Budget(evaluations=80, by_term=False, functions=False), seed=2)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.applicable > 40


@pytest.mark.parametrize("case", ["no noise of Hessians", "bounds of the means"])
def test_it_shrinks_to_what_can_be_read(case, searches):
    """Few digits, and one kind of noise."""
    found = searches(case)
    small = shrink(found.instance)
    problem = small.instance.problem
    assert isinstance(problem, BilevelSamples)
    text = WrittenCounterexample(small.instance, small.verdict).text
    if case == "bounds of the means":
        # v = -1 goes on to -2 where the sample of df/dy is 2 instead of 1: the ball of the means has the radius 1.
        assert text.startswith("one client, f(x, y) = -y, g(x, y) = y^2/2, sampled df/dy +- 1, ")
        assert text.endswith("left ~ 2 > right ~ 1")
    else:
        assert "sampled d2g_2/dy2 +- 1/2" in text
        assert [name for name in ("noise_f", "noise_g", "noise_A", "noise_B") if getattr(problem, name).any()] == [
            "noise_A"
        ]
        # By hand: both clients are at rest at v0, and client 2's sample adds v0/2 to half of the direction.
        assert small.verdict.worst.left == pytest.approx(1 / 16, rel=1e-9)
        assert small.verdict.worst.right == pytest.approx(0.0, abs=1e-12)
        latex = WrittenCounterexample(small.instance, small.verdict).latex
        assert r"\text{sampled }\nabla_{yy}^2 g_{2} \pm \frac{1}{2}" in latex


def test_an_instance_reads_back_as_it_is(searches):
    """Noise included."""
    found = searches("no noise of Hessians").instance
    again = read(found.fields(), statement=found.statement)
    assert again.fields() == found.fields()
    assert again.verdict(SEARCHED).outcome is Outcome.VIOLATED


def test_shapes_and_what_was_searched():
    """What is tried, and in words."""
    statement = bounds.get(DIRECTIONS)
    found = shapes(statement)
    assert all(shape.n == 2 for shape in found), "n >= 2 is a condition"
    assert [(shape.size, shape.family) for shape in found] == [
        (2, TWO_LEVELS), (2, OWN_HESSIANS), (2, SAMPLES), (1, SAMPLES)
    ]  # fmt: skip
    assert str(found[-1]) == "n=2, d=1+1, 1 per round, own Hessians on both levels, samples"
    searched = Searched.of(statement, [Cube(statement, shape) for shape in found])
    assert searched.families[-1] == (
        "bilevel quadratics with one variable on each level, Hessians of each client's own, of any sign above, noise "
        "of two values in first and second derivatives, n in {2}, d in {2}, tau_bar to 4, T to 8"
    )
    assert "noise of more than two values, or in runs of more than 512 outcomes" in searched.missed
    assert not any(shape.family is SAMPLES for shape in shapes(bounds.get("simfbo/lemma-5")))


def test_decoded_instances_are_those_of_the_assumptions():
    """beta_gh, a lower level that is convex for every sample, Phi bounded below, v in its ball, few outcomes."""
    statement = bounds.get("simfbo/theorem-1-repaired")
    rng, seen = np.random.default_rng(0), 0
    for shape in shapes(statement):
        if shape.family is TWO_LEVELS:
            continue
        cube = Cube(statement, shape)
        for _ in range(30):
            coordinate = dict(zip(cube.coordinates, cube.drawn(rng), strict=True))
            problem = cube.problem(coordinate)
            start = cube.family.start(cube, coordinate, problem)
            constants = problem.certified({"v0": np.array(start["v0"])}, {})
            assert np.isfinite(constants["beta_gh"].value)
            assert float(problem.hypergradient_map()[0].min()) >= -1e-9
            # L_f is at least the largest gradient at the start, mu_g at most the least curvature.
            assert abs(start["v0"][0]) <= np.linalg.norm(problem.q, axis=1).max() / problem.A.min() * (1 + 1e-12)
            if shape.family is SAMPLES:
                assert constants["mu_g_samples"].value > 0
                given = cube.family.shortened(cube, {"tau_bar": 4.0, "T": 8.0, "P": float(shape.size)}, problem, 1)
                bits = problem.n * sum(problem.sampled) * given["tau_bar"] + (shape.size < shape.n)
                assert bits * given["T"] <= 9
            seen += 1
    assert seen == 90


def test_numbers_that_are_given_stay():
    """Noise that is given is that of the samples."""
    statement = bounds.get(DIRECTIONS)
    cube = Cube(statement, shapes(statement)[2], {"sigma_f": 0.25, "eta_v": 0.5})
    instance = cube.decode(cube.drawn(np.random.default_rng(1)))
    assert np.linalg.norm(instance.problem.noise_f, axis=1) == pytest.approx(0.25)
    assert instance.given["eta_v"] == 0.5
    assert "sigma_f" not in instance.given
    assert instance.verdict(SEARCHED).values["sigma_f"] == pytest.approx(0.25)


def test_a_statement_that_has_no_noise_is_searched_without():
    """Settings of a statement rule."""
    statement = dataclasses.replace(bounds.get(DIRECTIONS), settings={"sigma_gg": sp.Integer(0)})
    cube = Cube(statement, shapes(statement)[2])
    for _ in range(10):
        problem = cube.decode(cube.drawn(np.random.default_rng(1))).problem
        assert not problem.noise_A.any()
        assert not problem.noise_B.any()


def test_bounds_of_every_sample():
    """Of sampled constants, with points and signs at random: no sample exceeds them, and some point comes near."""
    rng = np.random.default_rng(0)
    problem = BilevelSamples(
        [[[2.0, 0.3], [0.3, 1.0]]], [[[1.0], [0.5]]], [[0.0, 1.0]], np.zeros((1, 3, 3)), [[1.0, 2.0, 2.0]],
        noise_f=[[0.0, 0.5, 0.0]], noise_g=[[0.6, 0.8]], noise_A=[[[0.1, 0.2], [0.2, 0.0]]], noise_B=[[[0.3], [0.0]]],
    )  # fmt: skip
    found = problem.certified({}, {})
    E = np.array([[0.0, -0.3, 0.0], [-0.3, 0.1, 0.2], [0.0, 0.2, 0.0]])
    assert found["sigma_gg"].value == pytest.approx(np.sqrt((E**2).sum()))
    assert found["sigma_gg"].value >= np.linalg.norm(E, 2)
    assert (found["sigma_f"].value, found["sigma_g"].value) == pytest.approx((0.5, 1.0))
    values, vectors = np.linalg.eigh(E)
    mean = np.array([[0.0, -1.0, -0.5], [-1.0, 2.0, 0.3], [-0.5, 0.3, 1.0]])
    for _ in range(500):
        # The sample's Hessian where its noise has these cosines; see the class.
        hessian = mean + vectors @ np.diag(values * rng.uniform(-1, 1, 3)) @ vectors.T
        assert np.linalg.norm(hessian, 2) <= found["L_1_samples"].value + 1e-12
        assert np.linalg.eigvalsh(hessian[1:, 1:])[0] >= found["mu_g_samples"].value - 1e-12
    assert found["L_f_samples"].value == pytest.approx(np.sqrt(1 + 2.5**2 + 4))
    assert found["L_f"].value == pytest.approx(3.0)
    rough = BilevelSamples(*(getattr(problem, name) for name in "ABbQqp"), noise_A=[[[2.0, 0.0], [0.0, 2.0]]])
    assert not np.isfinite(rough.certified({}, {})["mu_g_samples"].value)


def test_what_has_no_samples_of_its_own_is_refused():
    """Further noise, other shapes, other engines."""
    problem = BilevelSamples([[[1.0]]], [[[0.0]]], [[0.0]], [np.eye(2)], [[0.0, 1.0]], noise_A=[[[0.5]]])
    with pytest.raises(InputError, match="the noise of bilevel-samples problems is their own: leave out sigma_f"):
        problem.certified({}, {"sigma_f": 1.0})
    with pytest.raises(InputError, match=r"noise_A: shape \(1, 1\); needed \(1, 1, 1\)"):
        BilevelSamples([[[1.0]]], [[[0.0]]], [[0.0]], [np.eye(2)], [[0.0, 1.0]], noise_A=[[0.5]])
    steps = dict.fromkeys(("eta_x", "eta_y", "eta_v", "gamma_x", "gamma_y", "gamma_v"), 0.1)
    with pytest.raises(InputError, match="needs a quadratic problem"):
        exact("simfbo", problem, Uniform(1, 1), K=1, T=1, **steps)
    assert setup.is_random(setup.prepare("simfbo", problem, Uniform(1, 1), K=1, T=1, step_sizes=steps))
    assert isinstance(problem, Bilevel)
    assert Instance(bounds.get(DIRECTIONS), problem, None, {}).fields()["problem"]["kind"] == "bilevel-samples"
    assert str(InstanceShape(OWN_HESSIANS, 1, 1, 1, 1)) == "n=1, d=1+1, 1 per round, own Hessians on both levels"
