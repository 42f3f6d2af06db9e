"""Scouts against verdicts at drawn points of every family: one slack, nothing where a verdict says nothing."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

import bounds
from bounds.statement import Relation
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.kernels import scouting as kernels
from ratecheck.outcome import Outcome
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.scout import Scout
from ratecheck.settings.applicability import foreign, method_of

PAPERS = ("textbook", "classics", "pfl", "fedsum", "flame")
# Rounds of a run up to which verdicts are asked, and the share of both sides up to which their error is no matter.
_LONG, _ROUGH = 10**6, 1e-3
# Difference of slacks, whatever the error of the verdict.
_APART = 2e-3


@dataclass
class Agreement:
    """Points with a verdict that is precise, those of them with a scout's slack, and what does not agree."""

    judged: int = 0
    known: int = 0
    largest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def add(self, statement, number, points):
        """Compare at so many points of so many shapes, the first and the last one among them."""
        found = shapes(statement)
        for place in sorted({*np.linspace(0, len(found) - 1, number).astype(int).tolist()}):
            cube, rng = Cube(statement, found[place]), np.random.default_rng(place)
            drawn = np.array([cube.drawn(rng) for _ in range(points)])
            try:
                sighting = Scout(cube).sight(drawn)
            except Unscouted:
                continue
            for slack, instance in zip(sighting.slack.tolist(), sighting.instances, strict=True):
                if instance is None:
                    assert math.isnan(slack)
                else:
                    self._compare(instance, slack)
        return self

    def _compare(self, instance, slack):
        statement = instance.statement
        name = statement.vocabulary.run.get("rounds", "")
        if instance.given.get(name, 1) > _LONG:
            return
        try:
            verdict = instance.verdict(SEARCHED)
        except InputError as error:
            # No instance after all.
            if not math.isnan(slack):
                self.wrong.append(f"{statement.key}: {slack} where {error}")
            return
        if verdict.outcome is Outcome.NOT_APPLICABLE and not math.isnan(slack):
            self.wrong.append(f"{statement.key}: {slack} where {verdict.reasons}")
        worst = verdict.worst
        size = 0.0 if worst is None else abs(worst.left) + abs(worst.right)
        if not 0 < size < math.inf or not worst.error <= _ROUGH * size:
            return
        self.judged += 1
        if math.isnan(slack):
            return
        self.known += 1
        equal = any(claim.relation is Relation.EQUAL for claim in statement.claims)
        wanted = (-abs(worst.right - worst.left) if equal else worst.right - worst.left) / size
        self.largest = max(self.largest, abs(wanted - slack))
        if not abs(wanted - slack) <= max(_APART, 4 * worst.error / size):
            self.wrong.append(f"{statement.key}: {slack}, and {wanted} by the verdict on {dict(instance.given)}")


def searched(paper):
    """The statements of a paper that a search is about."""
    return [
        statement
        for statement in bounds.statements(paper)
        if method_of(statement) is not None and not statement.order_only and not foreign(statement)
    ]


def agreement(statements, number, points):
    """What all of them add up to."""
    found = Agreement()
    for statement in statements:
        found.add(statement, number, points)
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_scouts_say_what_verdicts_say(paper):
    """On some shapes of every second statement, of every third of many; most of what has a verdict has a slack."""
    statements = searched(paper)
    found = agreement(statements[:: 3 if len(statements) > 60 else 2], 3, 2)
    assert not found.wrong
    assert found.judged >= 5
    assert found.known >= 0.6 * found.judged


@pytest.mark.long
@pytest.mark.parametrize("paper", PAPERS)
def test_scouts_say_what_verdicts_say_on_every_shape(paper):
    """And at more points."""
    found = agreement(searched(paper), 1000, 4)
    assert not found.wrong
    assert found.known >= 0.6 * found.judged


# Methods whose messages are compressed, that follow operators, and whose coefficients differ from round to round.
OWN = {
    "compressed-sgd": (
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*(sigma**2/m + (1/q - 1)*zeta**2/m)", "smooth, noise, sampling",
        "gamma*L <= q/2, q <= 1",
    ),
    "diana": ("last dist2 <= 3*dist2_0", "smooth, noise, strongly convex", "gamma*L <= q/2, alpha <= q, q <= 1"),
    "ef-sgd": ("mean grad2 <= 8*F_0/(gamma*T) + zeta**2", "smooth, noise, sampling", "gamma*L <= q/4, q <= 1"),
    "ef21": ("every gap <= F_0", "smooth", "gamma*L <= q/2, q <= 1"),
    "fast-gradient": ("last gap <= 2*dist2_0/(gamma*(T + 1)**2)", "smooth, convex", "gamma <= 1/L"),
    "optimized-gradient": ("last gap <= L*dist2_0/(T + 1)**2", "smooth, convex", "gamma == 1/L"),
    "halpern": ("last grad2 <= L**2*dist2_0/(T + 1)**2", "smooth, convex", ""),
    "fast-proximal-point": ("last gap <= lambda_*dist2_0", "smooth, convex", ""),
    "gda": (
        "last dist2 <= 3*dist2_0 + gamma*sigma**2/mu", "lipschitz operator, strongly monotone operator, noise",
        "gamma <= mu/L**2",
    ),
    "alternating-gda": (
        "last dist2 <= 9*dist2_0", "lipschitz operator, strongly monotone operator", "gamma <= mu/L**2",
    ),
    "extragradient": ("mean grad2 <= 30*L**2*dist2_0", "lipschitz operator, monotone operator", "gamma <= 1/L"),
    "silver": ("best grad2 <= L**2*dist2_0", "smooth, convex", ""),
}  # fmt: skip


@pytest.mark.parametrize("method", OWN)
def test_scouts_follow_compression_operators_and_rounds_that_differ(method):
    """Every coordinate is sent by a coin of its own, and maps are those of their rounds; on bent functions, too."""
    claim, given, when = OWN[method]
    found = agreement([theorem(claim, method=method, given=given, when=when)], 1000, 3)
    assert not found.wrong
    assert found.known >= max(0.6 * found.judged, 5)


def _noisier(monkeypatch):
    """Noise that is a tenth too large."""
    means = kernels.means
    monkeypatch.setattr(kernels, "means", lambda A, F, w, Q, *rest: means(A, F, w, 1.1 * Q, *rest))


def _one_step_more(monkeypatch):
    """A local step more than there are."""
    repeated = kernels.repeated
    monkeypatch.setattr(kernels, "repeated", lambda change, noise, counts: repeated(change, noise, counts + 1))


def _everybody_on_average(monkeypatch):
    """The mean of who takes part, without its variance."""
    means = kernels.means
    monkeypatch.setattr(kernels, "means", lambda A, F, w, *rest: means(A, F, 0 * w, *rest))


def _a_round_later(monkeypatch):
    """What is recorded before the next round."""
    rounds = kernels.rounds

    def later(*arguments):
        rounds(*arguments)
        out = arguments[-1]
        out[:, :, :-1] = out[:, :, 1:].copy()

    monkeypatch.setattr(kernels, "rounds", later)


@functools.cache
def agreed(key):
    """What scouts and verdicts say of a statement, without an error planted."""
    return agreement([bounds.get(key)], 1000, 2)


@pytest.mark.parametrize(
    ("plant", "key"),
    [
        (_noisier, "pfl/theorem-3.7"),
        (_one_step_more, "pfl/theorem-3.7"),
        (_everybody_on_average, "pfl/theorem-3.7"),
        (_a_round_later, "textbook/gradients-fall"),
    ],
)
def test_an_error_in_a_kernel_shows(plant, key, monkeypatch):
    """Slacks agree, and no longer do with one of four planted errors."""
    assert not agreed(key).wrong
    plant(monkeypatch)
    assert any("by the verdict" in line for line in agreement([bounds.get(key)], 1000, 2).wrong)


def test_nothing_is_said_of_what_is_no_instance():
    """A share of the momentum of 0, proximal steps without a minimiser, and clients whose largest K_i is each one's."""
    for key in ("classics/triple-momentum-values", "textbook/envelopes", "classics/fednova-gradients"):
        found = Agreement().add(bounds.get(key), 1000, 3)
        assert not found.wrong
        assert found.known
    with pytest.raises(Unscouted):
        Scout(Cube(bounds.get("textbook/gradient-descent-own"), shapes(bounds.get("textbook/gradient-descent"))[0]))


def test_a_best_round_that_is_rounding_is_not_another_round():
    """With gamma = 1/L a quadratic is at its minimiser after one step: no scout takes the round before for the best."""
    found = theorem("best grad2 <= 4*L*F_0/(3*T - 1)", method="gd", given="smooth", when="gamma == 1/L")
    seen = Agreement().add(found, 1000, 3)
    assert not seen.wrong
    assert seen.judged


def test_points_of_one_instance_are_evaluated_once(monkeypatch):
    """Whole numbers have many points, whatever else was asked with them; each is what it is by itself."""
    statement = bounds.get("classics/gradient-descent-distances")
    cube = Cube(statement, shapes(statement)[0])
    first, second = (cube.drawn(np.random.default_rng(seed)) for seed in (0, 1))
    alone = [float(Scout(cube).sight(np.array([point])).slack[0]) for point in (first, second)]
    scout, asked, evaluated = Scout(cube), [], Scout._evaluated
    monkeypatch.setattr(Scout, "_evaluated", lambda self, found: asked.append(len(found)) or evaluated(self, found))
    near = first.copy()
    near[cube.coordinates.index("rounds")] += 1e-9
    found = scout.sight(np.array([first, near, second]))
    again = scout.sight(np.array([second, first]))
    assert asked == [2]
    assert found.slack.tolist() == [alone[0], alone[0], alone[1]]
    assert again.slack.tolist() == alone[::-1]
    assert found.instances[0] is again.instances[1]
