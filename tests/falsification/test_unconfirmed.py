"""What exceeds a bound by one way of asking: confirmed by another one, or said first, with an exit code of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.commands.checks.falsify import command
from ratecheck.commands.exit_codes import of_search
from ratecheck.falsification.cube_search import Budget, CubeSearch
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import falsify
from ratecheck.falsification.terms import by_term
from ratecheck.linting import instances
from ratecheck.outcome import Outcome
from ratecheck.problems import Population
from ratecheck.verification.verdict import Comparison, Verdict
from ratecheck.views.checks.falsify import falsified_fields, falsified_table, falsified_text

ALONE = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
SMOOTH = ["smoothness", "full_participation", "no_personal"]

FILE = """
from bounds.theorem import theorem

best = theorem(
    title="Best round", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u", over="best_round", right="20*L*F_0/T**1.2", conditions=["gamma_u == 1/L"],
    settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
)
"""


def best():
    """Gradient descent, too good by T^0.2 for so many rounds that `verify` does not follow them one by one."""
    return theorem(
        title="Best round", algorithm="fedavg", assumptions=SMOOTH, left="G_u", over="best_round",
        right="20*L*F_0/T**1.2", conditions=["gamma_u == 1/L"], settings=ALONE, vocabulary="textbook", key="own/best",
    )  # fmt: skip


def sgd(n):
    """SGD with so many clients, whose noise is a third of what it may be: the mean of ||grad f||^2 on f = L x^2/2."""
    return theorem(
        title="SGD", algorithm="fedavg", vocabulary="textbook", left="G_u", over="mean_of_rounds", key="own/sgd",
        assumptions=["smoothness", "noise", "full_participation", "no_personal"],
        right={"gap": "4*F_0/(gamma_u*T)", "noise": "0.3*L*gamma_u*sigma_u**2/n"}, conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "n": n, "m": n, "eta_u": 1},
    )  # fmt: skip


def mean_square(n, T, gamma, sigma, h):
    """(1/T) sum_t E[(h x_t)^2] of x' = (1 - gamma h) x - gamma*noise from 0, the noise of variance sigma^2/n."""
    square, total = 0.0, 0.0
    for _ in range(T):
        total += h * h * square
        square = (1 - gamma * h) ** 2 * square + gamma**2 * sigma**2 / n
    return total / T


def test_what_passes_the_bound_and_nobody_confirms_is_inconclusive():
    """On a slope s that gradient descent leaves in its last round s^2 = F_0/(T - 1/2), F_0 being what it descends."""
    found = falsify(best(), Budget(30))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not found.by_instance
    (niche,) = found.terms.niches
    T = niche.hard.values["T"]
    known = T**1.2 / (T - 0.5) / 20
    assert known > 1
    assert found.unconfirmed.ratio == pytest.approx(known, rel=1e-3)
    assert "beyond what 'verify' takes" in found.unconfirmed.why
    first, second, *_ = falsified_text(found).split("\n")
    assert "INCONCLUSIVE" in first
    assert second.startswith("  OPEN    left / right 1.")
    assert "no violation found" not in falsified_text(found)
    assert "OPEN  own/best: left / right 1." in falsified_table([found])
    assert falsified_fields(found)["unconfirmed"]["ratio"] == found.unconfirmed.ratio


def test_the_exit_code_says_so(tmp_path):
    """3 and the key in JSON, where a search that finds nothing ends with 0 and null."""
    path = tmp_path / "own.py"
    path.write_text(FILE)
    words = [f"{path}:best", "--evaluations", "20", "--json"]
    said = CliRunner().invoke(command, words, standalone_mode=False)
    assert said.return_value == 3
    data = json.loads(said.stdout)
    assert data["verdict"] == "INCONCLUSIVE"
    assert data["unconfirmed"]["ratio"] > 1
    path.write_text(FILE.replace("20*L*F_0/T**1.2", "4*L*F_0/T"))
    said = CliRunner().invoke(command, words, standalone_mode=False)
    assert (said.return_value, json.loads(said.stdout)["unconfirmed"]) == (0, None)
    assert of_search(Outcome.VIOLATED, unconfirmed=False) == 1


@pytest.mark.parametrize("n", [900, 90_000])
def test_clients_beyond_those_written_one_by_one_are_confirmed(n):
    """900 are too many for the engine that a search asks, 90,000 for a file of one line each; n is never another."""
    found = falsify(sgd(n), Budget(4))
    assert found.outcome is Outcome.VIOLATED
    assert found.unconfirmed is None
    assert found.instance.problem.n == n
    values, problem = found.verdict.values, found.instance.problem
    assert isinstance(problem, Population) is (n > 1000)
    h = float(problem.representatives.H[0, 0, 0])
    left = mean_square(n, int(values["T"]), values["gamma_u"], values["sigma_u"], h)
    right = 4 * values["F_0"] / (values["gamma_u"] * values["T"]) + 0.3 * values["gamma_u"] * values["sigma_u"] ** 2 / n
    assert left > right
    assert found.verdict.worst.left == pytest.approx(left, rel=1e-9)
    assert found.verdict.worst.right == pytest.approx(right, rel=1e-9)


def test_a_counterexample_of_many_clients_is_written_and_read_again(tmp_path):
    """All have one function, which the sentence names; the file is asked again."""
    found = rc.falsify(sgd(90_000), evaluations=4, out=tmp_path / "found.json")
    assert found.as_text().startswith("90000 clients, all f_i = x^2/2, ")
    again = rc.verify(sgd(90_000), instance=tmp_path / "found.json")
    assert again.outcome is Outcome.VIOLATED


@pytest.mark.long
def test_a_run_with_a_kink_is_confirmed_at_fewer_rounds():
    """The gap of gradient descent after T - 1 steps is at most L R^2/(4T - 2): passed from T = 8^5 on."""
    late = theorem(
        title="Last round", algorithm="fedavg", assumptions=[*SMOOTH, "convexity"], left="gap", over="last_round",
        right="2*L*dist2_0/T**1.2", conditions=["gamma_u == 1/L"], settings=ALONE, vocabulary="textbook",
        key="own/late",
    )  # fmt: skip
    found = by_term(late)
    T = found.violation.hard.values["T"]
    assert 8**5 < T <= 10**5
    assert found.violation.left == pytest.approx(1 / (4 * T - 2), rel=1e-2)
    assert found.unconfirmed is None


class Asked:
    """An instance with a verdict in floating point, and another one in interval arithmetic."""

    def __init__(self, statement, alone, rigorous):
        self.statement, self.given, self.problem = statement, {"T": 5.0}, SimpleNamespace(kind="quadratic")
        self.answers = {False: alone, True: rigorous}

    def verdict(self, options):
        """Of either."""
        return self.answers[options.rigorous]


def verdict(outcome, left=3.0, **others):
    """Left 3 beside right 2, which is what floating point finds."""
    comparison = Comparison("bound", None, left, 2.0, 1e-12, {})
    return Verdict(best(), outcome, "quadratic", "exact", {}, comparisons=(comparison,), **others)


@pytest.mark.parametrize(
    ("alone", "rigorous", "ratio"),
    [
        (verdict(Outcome.VIOLATED), verdict(Outcome.INCONCLUSIVE, reasons=("the enclosures overlap",)), 1.5),
        (verdict(Outcome.VIOLATED), verdict(Outcome.HOLDS), None),
        (verdict(Outcome.VIOLATED, left=2 + 1e-9), verdict(Outcome.INCONCLUSIVE), None),
        (verdict(Outcome.VIOLATED), verdict(Outcome.VIOLATED, supposes=("b is that of the run",)), 1.5),
        (verdict(Outcome.DIVERGED), verdict(Outcome.DIVERGED, reasons=("it overflows",)), np.inf),
    ],
    ids=["overlapping", "decided", "by a hair", "supposing", "diverged"],
)
def test_a_violation_that_interval_arithmetic_does_not_confirm_is_kept(alone, rigorous, ratio):
    """Unless it decides that nothing is violated, or the sides differ by no more than rounding may do."""
    search = CubeSearch(best(), Budget(1), SEARCHED, lambda *_: None, 0.0)
    with contextlib.suppress(rc.InputError):
        search._verdict(Asked(best(), alone, rigorous))
    assert (search.unconfirmed and search.unconfirmed.ratio) == ratio
    if ratio is not None:
        assert search.unconfirmed.why


def test_of_several_searches_the_open_one_comes_first_and_a_violation_before_it():
    """The answer of all is the worst one."""
    nothing = falsify(best(), Budget(2, by_term=False, functions=False))
    unsure = dataclasses.replace(nothing, unconfirmed=falsify(best(), Budget(2)).unconfirmed)
    result = rc.FalsifyResult((nothing, unsure), several=True)
    assert result.search is unsure
    assert "INCONCLUSIVE" in repr(result)


def test_lint_lists_it_as_not_checked(monkeypatch):
    """It is no error, and not nothing."""
    nothing = falsify(best(), Budget(2, by_term=False, functions=False))
    unsure = dataclasses.replace(nothing, unconfirmed=falsify(best(), Budget(2)).unconfirmed)
    monkeypatch.setattr(instances, "falsify_to_the_end", lambda *_: unsure)
    (found,) = instances._search(best(), 2)
    assert "exceeds the bound, which is not confirmed" in found.reason
