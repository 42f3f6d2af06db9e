"""Noise on functions with a kink in the search: what only it refutes, what is true, and what is written."""

import math

import numpy as np
import pytest

from bounds.papers.textbook.pairs import PAIRS
from bounds.theorem import theorem
from ratecheck.falsification import cube_search as searching
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.shrink import shrink, shrunk
from ratecheck.families.cube import Cube
from ratecheck.families.registry import later_shapes, shapes
from ratecheck.outcome import Outcome
from ratecheck.problems import PiecewiseSamples
from ratecheck.verification.instance import read
from ratecheck.views.checks.counterexample import WrittenCounterexample
from ratecheck.views.checks.falsify import falsified_text

# Few evaluations elsewhere, where nothing refutes these.
SHORT = Budget(40, by_term=False, functions=False)
WALK = next(pair for pair in PAIRS if pair.wrong.key == "textbook/local-sgd-walk")
CONVEX = ("strong_convexity", "noise")
ASSUMED = ("smoothness", "noise", "dissimilarity", "full_participation", "no_personal")


def local(**walk):
    """Local steps, with what each client's walk costs or without."""
    right = {
        "gap": "4*F_0/(gamma_u*K*T)", "noise": "4*L*gamma_u*sigma_u**2/n",
        "drift": "16*L**2*gamma_u**2*K*(K - 1)*b**2", **walk,
    }  # fmt: skip
    return theorem(
        title="Local SGD", algorithm="fedavg", left="G_u", over="mean_of_rounds", right=right,
        conditions=["gamma_u <= 1/(4*K*L)"], assumptions=list(ASSUMED), settings={"m": "n", "eta_u": 1},
        key="own/local",
    )  # fmt: skip


def descent(right, assumptions, left="dist2", over="last_round", **settings):
    """SGD on one client or many."""
    return theorem(
        title="SGD", algorithm="fedavg", left=left, over=over, right=right, conditions=["gamma_u <= 1/L"],
        assumptions=["smoothness", *assumptions, "full_participation", "no_personal"], vocabulary="textbook",
        settings={"K": 1, "m": "n", "eta_u": 1, **settings}, key="own/sgd",
    )  # fmt: skip


@pytest.fixture(scope="module")
def refuted():
    """The search on local steps without the walk, shrunk."""
    return shrunk(falsify(local(), SHORT))


def test_local_steps_without_the_walk_are_refuted(refuted):
    """On equal clients with a kink, which a round keeps beside their minimiser, with a proof."""
    assert refuted.outcome is Outcome.VIOLATED
    assert refuted.shape.family.later
    instance = refuted.shrunk.instance
    assert isinstance(instance.problem, PiecewiseSamples)
    # Many clients, and no more than it takes.
    assert 100 < instance.problem.n <= 10_000
    assert instance.given["K"] == 2
    assert instance.verdict().outcome is Outcome.VIOLATED
    again = read(instance.fields(), statement=instance.statement)
    assert again.verdict().outcome is Outcome.VIOLATED


def test_the_counterexample_is_written_with_what_the_left_side_is_at_least(refuted):
    """One function for all, the noise, and a short number between the sides."""
    written = WrittenCounterexample(refuted.shrunk.instance, refuted.shrunk.verdict)
    n = refuted.shrunk.instance.problem.n
    assert written.text.startswith(f"{n} clients, all f_i = ")
    for part in ("sampled f_i'(x) +- sigma_u, K = 2", " for x >= ", "left >= ", " > right "):
        assert part in written.text
    for part in (r"$\text{all }f_{i} = \begin{cases}", r"\pm", r"\ge", r" > \text{right }"):
        assert part in written.latex
    least = written.text.partition("left >= ")[2].partition(" > right ")[0].split("/")
    comparison = refuted.shrunk.verdict.worst
    assert comparison.right < int(least[0]) / int(least[1]) <= comparison.left
    assert "left    at least" in falsified_text(refuted)


def test_the_textbook_pair_is_told_apart():
    """The wrong one within the default budget of this search, whatever is spent elsewhere."""
    assert falsify(WALK.wrong, SHORT, seed=1).outcome is Outcome.VIOLATED
    found = falsify(WALK.true, Budget(20, by_term=False, functions=False, later=60))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert any("one breakpoint, noise of two values" in family for family in found.searched.families)
    assert any(
        "but for equal clients with one breakpoint and noise of two values" in each for each in found.searched.missed
    )


def test_step_sizes_that_are_roots_are_no_way_out():
    """Steps that shrink with T pay for the noise of the mean, and not for the walk, with a proof."""
    tuned = theorem(
        title="Tuned", algorithm="fedavg", left="G_u", over="mean_of_rounds",
        conditions=["gamma_u == 1/(L*sqrt(K*T))", "K <= T"],
        right="8*L*F_0/sqrt(K*T) + 4*sigma_u**2/(n*sqrt(K*T)) + 100*K*b**2/T", assumptions=list(ASSUMED),
        settings={"m": "n", "eta_u": 1}, key="own/tuned",
    )  # fmt: skip
    found = falsify(tuned, SHORT)
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family.later


def test_without_this_search_nothing_is_found():
    """It is what refutes them, and what the other search does is the same with it."""
    alone, both = (falsify(local(), Budget(40, by_term=False, functions=False, later=n)) for n in (0, 120))
    assert alone.outcome is Outcome.INCONCLUSIVE
    assert (alone.evaluations, alone.applicable, alone.independent) == (
        both.evaluations, both.applicable, both.independent,
    )  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "statement",
    [
        local(walk="8*L**2*gamma_u**2*K*sigma_u**2"),
        descent(
            "(1 - gamma_u*mu)**t*dist2_0 + gamma_u*sigma_u**2/(mu*n)", ["strong_convexity", "noise"], over="every_round"
        ),
        descent("2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2/n", ["noise"], left="G_u", over="mean_of_rounds"),
    ],
    ids=["local", "distance", "gradient"],
)
def test_a_true_statement_is_not_accused(statement):
    """None of the points that are known to be hard, nor random ones."""
    families = [Cube(statement, shape) for shape in later_shapes(statement)]
    assert families
    search = searching.CubeSearch(statement, Budget(60), SEARCHED, lambda *_: None, math.inf)
    with pytest.raises(searching.Ended):
        search.all(families, np.random.default_rng(1))
    assert not search.violated
    assert search.applicable > 40


def test_one_client_is_followed_exactly():
    """Every instance of one client has few signs: nothing of it is only known from below."""
    statement = descent("2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2/n", ["noise"], left="G_u", over="mean_of_rounds")
    family = next(Cube(statement, shape) for shape in later_shapes(statement) if shape.n == 1)
    rng = np.random.default_rng(0)
    verdicts = [family.decode(family.drawn(rng)).verdict(SEARCHED) for _ in range(20)]
    compared = [each.worst for each in verdicts if each.worst is not None]
    assert len(compared) > 5
    assert not any(each.at_least for each in compared)


@pytest.mark.parametrize(
    "statement",
    [
        descent("dist2_0", ["strong_convexity"], sigma_u=0),
        descent("dist2_0 + gamma_u*sigma_u**2", CONVEX, n=3),
        local(walk="8*L**2*gamma_u**2*K*sigma_u**2"),
    ],
    ids=["no noise", "three clients", "local"],
)
def test_it_is_for_statements_about_noise_and_any_number_of_clients(statement):
    """Shapes of the search beside it have no noise on kinks."""
    assert bool(later_shapes(statement)) == (statement.key == "own/local")
    assert not any(shape.family.later for shape in shapes(statement))


def test_what_is_shrunk_shrinks_to_itself(refuted):
    """As every counterexample."""
    first = refuted.shrunk.instance
    assert shrink(first).instance.fields() == first.fields()
