"""Proofs about methods that project on a convex set, held against runs on intervals of the line."""

# ruff: noqa: RUF012  # as methods declare their variables

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from bounds.statement import Statement
from bounds.theorem import theorem
from ratecheck import recheck
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.sets import ConvexSet, EuclideanBall, IntervalBox, Simplex
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError
from ratecheck.proving.certificate import certificates
from ratecheck.proving.prove import prove
from ratecheck.proving.ranges.range_proof import prove_on_range
from ratecheck.views.proofs.prove import prove_text
from ratecheck.views.proofs.ranges import range_lines


class Projected(OneStep):
    """x+ = P(x - gamma g)."""

    linear = False
    step_sizes = ("gamma_u",)
    server = {"x": "u"}
    members = EuclideanBall(2)

    def step(self, local, gradient, p):
        return {**local, "x": gradient["u"]}

    def aggregate(self, server, total, p):
        return {"x": self.members.project(server["x"] - p["gamma_u"] * total["x"] / p["m"])}


class Accelerated(Projected):
    """The gradient at y = x + (x - before)/2."""

    server = {"x": "u", "before": "u"}

    def begin(self, server, client, p):
        return {**client, "x": server["x"] + (server["x"] - server["before"]) / 2}

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - p["gamma_u"] * gradient["u"]}

    def aggregate(self, server, total, p):
        return {"x": self.members.project(total["x"] / p["m"]), "before": server["x"]}


class Halfway(Projected):
    """The middle of x and P(x - gamma g), which is in the set as well."""

    def aggregate(self, server, total, p):
        return {"x": (server["x"] + super().aggregate(server, total, p)["x"]) / 2}


class Twice(Projected):
    """On one set and then on another one."""

    def aggregate(self, server, total, p):
        return {"x": IntervalBox(-1, 1).project(super().aggregate(server, total, p)["x"])}


class Scaled(Projected):
    """Of twice the point, which is another method from another start."""

    def aggregate(self, server, total, p):
        return {"x": self.members.project(2 * server["x"] - p["gamma_u"] * total["x"] / p["m"])}


class Inside(Projected):
    """In the clients' steps."""

    def step(self, local, gradient, p):
        return {**local, "x": self.members.project(local["x"])}


class Clipping(Projected):
    """Of the gradient alone."""

    def aggregate(self, server, total, p):
        return {"x": server["x"] - p["gamma_u"] * self.members.project(total["x"] / p["m"])}


class Normed(Projected):
    """And something else that is not linear."""

    def aggregate(self, server, total, p):
        size = np.linalg.norm(total["x"], axis=-1, keepdims=True)
        return {"x": self.members.project(server["x"] - p["gamma_u"] * total["x"] / (1 + size))}


class Reversed(Projected):
    """With the coordinates of the gradient in another order."""

    def aggregate(self, server, total, p):
        return {"x": self.members.project(server["x"] - p["gamma_u"] * total["x"][..., ::-1] / p["m"])}


class Linear(Projected):
    """The point of the set that is least along the gradient, and a projection."""

    def aggregate(self, server, total, p):
        return {"x": self.members.project((server["x"] + self.members.least(total["x"])) / 2)}


class Trusting(Projected):
    """On a ball around the last point, as in a trust region."""

    def aggregate(self, server, total, p):
        return {"x": EuclideanBall(0.1, server["x"]).project(server["x"] - p["gamma_u"] * total["x"] / p["m"])}


class Tossed(Projected):
    """On a ball whose radius depends on a coin."""

    step_sizes = ("gamma_u", "chance")
    coin = "chance"
    optional = {"chance": lambda _: 0.5}

    def aggregate(self, server, total, p):
        return {"x": EuclideanBall(1 + p["coin"]).project(server["x"] - p["gamma_u"] * total["x"] / p["m"])}


class Narrowing(Projected):
    """On a ball that shrinks from round to round."""

    varying = ("radius_t",)

    def coefficients(self, t, T, p):
        return {"radius_t": 1 / (t + 1)}

    def aggregate(self, server, total, p):
        return {"x": EuclideanBall(p["radius_t"]).project(server["x"] - p["gamma_u"] * total["x"] / p["m"])}


class UnitSphere(ConvexSet):
    """No convex set."""

    def project(self, x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    def least(self, g):
        return -self.project(g)


class OnSphere(Projected):
    """On what is not convex."""

    members = UnitSphere()


class Negative(Projected):
    """On a ball that there is not."""

    members = EuclideanBall(-1)


class Aside(Projected):
    """On a ball of five coordinates around another point than 0."""

    members = EuclideanBall(0.1, (0.02, -0.03, 0.01, 0.0, 0.05))


class Away(Projected):
    """On an interval without 0, where all runs start."""

    members = IntervalBox(1, 2)


CLASSES = (
    Projected, Accelerated, Halfway, Twice, Scaled, Inside, Clipping, Normed, Reversed, Linear, Trusting, Tossed,
    Narrowing, OnSphere, Negative, Aside, Away,
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def known() -> Iterator[None]:
    """The methods of this file, which are forgotten at the end: other tests count methods."""
    for each in CLASSES:
        name = each.__name__.lower()
        METHODS[name] = Method(name, name, each(), {"K": 1}, personal=False)
    yield
    for each in CLASSES:
        del METHODS[each.__name__.lower()]


SMOOTH, CONVEX, STRONG = ("smoothness",), ("smoothness", "convexity"), ("smoothness", "strong_convexity")


def claim(
    left: str, right: str, over: str = "every_round", *, given: tuple[str, ...] = CONVEX, most: str = "1",
    method: str = "projected", clients: bool = False,
) -> Statement:  # fmt: skip
    """A claim on a method with steps of at most ``most``/L."""
    return theorem(
        method, algorithm=method, assumptions=["no_personal", "full_participation", *given], left=left, over=over,
        right=right, conditions=[f"gamma_u <= {most}/L"], vocabulary="textbook",
        settings={"m": "n", **({"sigma_u": 0} if "noise" not in given else {}), **({} if clients else {"n": 1})},
    )  # fmt: skip


def run(slope: Callable[[float], float], low: float, high: float, x0: float, gamma: float, T: int) -> list[float]:
    """Points of projected gradient descent on an interval."""
    points = [x0]
    for _ in range(T):
        points.append(min(max(points[-1] - gamma * slope(points[-1]), low), high))
    return points


@pytest.mark.parametrize(
    ("left", "right", "over", "given", "factor"),
    [
        ("gap", "dist2_0/(2*gamma_u*T)", "after_rounds", CONVEX, 0.5),
        ("gap", "dist2_0/(2*gamma_u*T) + F_0/T", "mean_of_rounds", CONVEX, 1),
        ("dist2", "dist2_0", "every_round", CONVEX, 1),
        ("dist2", "(1 - gamma_u*mu)**(2*t)*dist2_0", "every_round", STRONG, 1),
        ("gap", "(1 - gamma_u*mu)**(2*t)*F_0", "every_round", STRONG, 1),
    ],
)
def test_usual_theorems_are_proved(left: str, right: str, over: str, given: tuple[str, ...], factor: float) -> None:
    """The last iterate of convex functions at L R^2/(4 T), which f = R/(2 gamma T) x attains on x >= 0."""
    proof = prove(claim(left, right, over, given=given), {"T": 8})
    assert proof.verdict == "PROVED"
    assert proof.factor == pytest.approx(factor, rel=2e-3) if factor != 1 else proof.factor <= 1
    assert "on every closed convex set" in prove_text(proof)


def test_noise_and_clients_are_followed_as_well() -> None:
    """Mean distances with noise of ten clients: (1 - gamma mu)^2t R^2 + gamma sigma^2/(n mu)."""
    stated = claim(
        "dist2", "(1 - gamma_u*mu_c)**t*dist2_0 + gamma_u*sigma_u**2/(n*mu_c)",
        given=("smoothness", "clients_strong_convexity", "noise"), clients=True,
    )  # fmt: skip
    assert prove(stated, {"T": 4, "n": 3}).verdict == "PROVED"


def test_momentum_beside_a_projection_is_proved_up_to_a_multiple() -> None:
    """A point outside the set, at which the gradient is taken, is no member of it."""
    proof = prove(claim("gap", "dist2_0/(2*gamma_u*T)", "after_rounds", method="accelerated"), {"T": 4})
    assert proof.factor is not None
    gamma, T, x, before = 1.0, 4, 1.0, 1.0
    slope = 1 / (2 * gamma * T)
    for _ in range(T):
        x, before = max(x + (x - before) / 2 - gamma * slope, 0.0), x
    assert slope * x / (1 / (2 * gamma * T)) <= float(proof.factor)


def ratio(which: str) -> tuple[Statement, dict[str, float], float]:
    """A false claim, numbers, and its left over its right side on an instance."""
    T = 4
    if which == "gradients vanish at a minimum on the set":
        # (x - 3)^2/2 on x <= 1 from where it is least: F_0 is as good as 0.
        x = run(lambda x: x - 3, -1, 1, 0.9, 1.0, T)
        F_0 = (0.9 - 3) ** 2 / 2 - 2
        left = float(np.mean([(each - 3) ** 2 for each in x[:T]]))
        return claim("G_u", "2*F_0/(gamma_u*T)", "mean_of_rounds", given=SMOOTH), {"F_0": F_0}, left / (2 * F_0 / T)
    if which == "the gap is at most quadratic":
        return claim("gap", "L*dist2_0/2"), {"dist2_0": 1.0}, ((0 - 3) ** 2 / 2 - 2) / 0.5
    if which.endswith("fall twice as fast"):
        left, first = ("dist2", "dist2_0") if which.startswith("distances") else ("gap", "F_0")
        stated = claim(left, f"(1 - gamma_u*mu)**(4*t)*{first}", given=STRONG)
        return stated, {"mu": 0.1}, 0.9 ** (-2 * (T - 1))
    if which == "the last iterate as without a set":
        # Without a set L R^2/(4 T + 2) holds.
        x = run(lambda _: 1 / (2 * T), 0, math.inf, 1.0, 1.0, T)
        return claim("gap", "dist2_0/(gamma_u*(4*T + 2))", "after_rounds"), {}, x[T] / (2 * T) * (4 * T + 2)
    if which == "long steps":
        x = run(lambda x: x, -100, 100, 1e-3, 3.0, T)
        return claim("dist2", "dist2_0", most="3"), {"dist2_0": 1e-6, "gamma_u": 3.0}, max(x[:T]) ** 2 / 1e-6
    assert which == "gradients are small where the gap is"
    return claim("G_u", "2*L*F_0"), {"F_0": 1e-3}, (3 - 1) ** 2 / 2e-3


@pytest.mark.parametrize(
    "which",
    [
        "gradients vanish at a minimum on the set", "the gap is at most quadratic", "distances fall twice as fast",
        "gaps fall twice as fast", "the last iterate as without a set", "long steps",
        "gradients are small where the gap is",
    ],
)  # fmt: skip
def test_false_claims_are_not_proved(which: str) -> None:
    """Each has an instance that violates it, and what is proved of it holds on that instance."""
    stated, numbers, violation = ratio(which)
    assert violation > 1 + 1e-6
    proof = prove(stated, {"T": 4, **numbers})
    assert proof.verdict == "NOT PROVED"
    assert proof.factor is None or proof.factor >= Fraction(violation) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("halfway", "need not be in the set"), ("twice", "more than arithmetic"),
        ("scaled", "another method from another start"), ("inside", "more than arithmetic"),
        ("clipping", "another method from another start|need not be in the set"),
        ("normed", "more than arithmetic|not linear"), ("reversed", "not a linear function|more than arithmetic"),
        ("linear", "more than arithmetic"),
        ("trusting", "not the same in all rounds"),
        ("tossed", "not the same in all rounds"),
        ("narrowing", "not linear"),
        ("away", "the start of runs, 0, is not in its set"),
        ("onsphere", "its set is no convex one"),
        ("negative", "its set is no convex one"),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_refused(method: str, reason: str) -> None:
    """Other sets, other points, other functions."""
    with pytest.raises(InputError, match=reason):
        prove(claim("dist2", "dist2_0", method=method), {"T": 4})


def test_a_range_says_of_which_sets_it_is() -> None:
    """As a proof at numbers does."""
    found = prove_on_range(claim("dist2", "dist2_0"), {"T": 4, "L": 1.0}, "gamma_u=1/4:1")
    assert found.verdict == "PROVED"
    assert "on every closed convex set from a start in it" in next(range_lines(found))


def test_sets_that_move_are_another_method() -> None:
    """Steps of at most 0.1 on x^2/2 do not halve the distance, which on a set that stays is proved."""
    x = np.ones((1, 1))
    after = Trusting().aggregate({"x": x}, {"x": x}, {"gamma_u": 0.5, "m": 1})["x"]
    assert float(after[0, 0]) == pytest.approx(0.9)
    stated = claim("dist2", "(1 - gamma_u*mu)**(2*t)*dist2_0", given=STRONG)
    assert prove(stated, {"T": 2, "mu": 0.5, "gamma_u": 1.0}).verdict == "PROVED"


@pytest.mark.parametrize("members", [EuclideanBall(3, 2.9), IntervalBox(-1, math.inf), Simplex(4, -1)])
def test_sets_of_the_package_are_convex(members: ConvexSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those around other points, unbounded ones and those without interior."""
    monkeypatch.setattr(Projected, "members", members)
    assert prove(claim("dist2", "dist2_0"), {"T": 4}).verdict == "PROVED"
    assert prove(claim("dist2", "dist2_0", method="aside"), {"T": 4}).verdict == "PROVED"


@pytest.mark.parametrize("given", ["minimiser_heterogeneity", "interpolation"])
def test_gradients_at_a_minimiser_are_those_without_a_set(given: str) -> None:
    """What is assumed of them is not known to hold where f is least on the set."""
    with pytest.raises(InputError, match="gradients where f is least"):
        prove(claim("dist2", "dist2_0", given=(*CONVEX, given), clients=True), {"T": 4, "n": 2})


def test_certificates_are_accepted_and_changed_ones_rejected() -> None:
    """The hypotheses of a round have the normal directions; none does without one, nor does a stronger claim follow."""
    proof = prove(claim("dist2", "(1 - gamma_u*mu)**(2*t)*dist2_0", given=STRONG), {"T": 4, "mu": 0.25})
    answers = certificates(proof)
    assert not [each["reason"] for each in answers if each["reason"]]
    for step in (each["certificate"] for each in answers if each["certificate"]):
        recheck.step(step)
        for turn, known in enumerate(step["hypotheses"]):
            weaker = {**known, "right": ["+", known["right"], "1"]}
            changed = {**step, "hypotheses": [*step["hypotheses"][:turn], weaker, *step["hypotheses"][turn + 1 :]]}
            changed["digest"] = recheck.digest(changed)
            with pytest.raises(ArithmeticError):
                recheck.step(changed)
    (one,) = [each["certificate"] for each in answers if each["id"].endswith(": round")]
    changed = {**one, "left": ["*", "2", one["left"]]}
    changed["digest"] = recheck.digest(changed)
    with pytest.raises(ArithmeticError):
        recheck.step(changed)
