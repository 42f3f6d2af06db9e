"""Proofs about methods whose clients share a coin, held against all ways in which the coins of a run may fall."""

# ruff: noqa: RUF012  # as methods declare their variables

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest

from bounds.statement import Statement
from bounds.theorem import symbol, theorem
from ratecheck import recheck
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.algorithms.model.answers import gradient_at
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError
from ratecheck.proving.certificate import certificates
from ratecheck.proving.prove import PotentialProof, prove
from ratecheck.proving.ranges.range_proof import prove_on_range


class Lazy(OneStep):
    """A gradient step where the coin is 1, and none where it is 0."""

    step_sizes = ("gamma_u", "chance")
    server = {"x": "u"}
    coin = "chance"
    longer = 1

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - self.longer * p["coin"] * p["gamma_u"] * gradient["u"]}


class Doubled(Lazy):
    """Twice as long a step where the coin is 1."""

    longer = 2


class Back(Lazy):
    """A step where the coin is 1, and a step up where it is 0."""

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - (2 * p["coin"] - 1) * p["gamma_u"] * gradient["u"]}


class Scaffnew(OneStep):
    """Local steps with shifts h_i; where the coin is 1 clients go on from the mean (Mishchenko et al., 2022)."""

    step_sizes = ("gamma_u", "chance")
    server = {"x": "u"}
    client = {"y": "u", "h": "u", "v": "v"}
    local = {"x": "u", "h": "u", "v": "v"}
    coin = "chance"

    def start_client(self, point, gradient, p):
        return {"y": point["u"], "h": 0 * point["u"], "v": point["v"]}

    def start_server(self, point, clients, p):
        return {"x": point["u"]}

    def begin(self, server, client, p):
        x = p["coin"] * server["x"] + (1 - p["coin"]) * client["y"]
        return {"x": x, "h": client["h"] + p["chance"] / p["gamma_u"] * (x - client["y"]), "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - p["gamma_u"] * (gradient["u"] - local["h"])}

    def finish(self, server, client, local, p):
        return {"y": local["x"], "h": local["h"], "v": client["v"]}, {"x": local["x"]}


class Loopless(OneStep):
    """Compressed differences to g_i, which is renewed where the coin is 1 (Gorbunov et al., 2021)."""

    step_sizes = ("gamma_u", "q", "chance")
    server = {"x": "u", "h": "u"}
    client = {"h": "u", "v": "v"}
    local = {"x": "u", "g": "u", "v": "v"}
    message = {"new": "u", "left": "u"}
    compressed = ("new",)
    coin = "chance"

    def start_client(self, point, gradient, p):
        return {"h": 0 * point["u"], "v": point["v"]}

    def start_server(self, point, clients, p):
        return {"x": point["u"], "h": 0 * point["u"]}

    def begin(self, server, client, p):
        return {"x": server["x"], "g": 0 * server["x"], "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "g": gradient["u"]}

    def finish(self, server, client, local, p):
        change = local["g"] - client["h"]
        kept = {"h": client["h"] + p["coin"] * change, "v": client["v"]}
        return kept, {"new": change, "left": p["coin"] * change}

    def aggregate(self, server, total, p):
        d = server["h"] + total["new"] / p["m"]
        return {"x": server["x"] - p["gamma_u"] * d, "h": server["h"] + total["left"] / p["m"]}


class Remembering(OneStep):
    """A step along the gradient before where the coin is 0, as PAGE without its correction."""

    step_sizes = ("gamma_u", "chance")
    server = {"x": "u", "before": "u"}
    local = {"x": "u", "before": "u", "d": "u", "v": "v"}
    message = {"d": "u"}
    also = {"old": gradient_at("before")}
    coin = "chance"

    def begin(self, server, client, p):
        return {"x": server["x"], "before": server["before"], "d": 0 * server["x"], "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "d": p["coin"] * gradient["u"] + (1 - p["coin"]) * gradient["old"]}

    def finish(self, server, client, local, p):
        return {"v": local["v"]}, {"d": local["d"]}

    def aggregate(self, server, total, p):
        return {"x": server["x"] - p["gamma_u"] * total["d"] / p["m"], "before": server["x"]}


METHODS_HERE = {
    "lazy": Lazy(), "doubled": Doubled(), "back": Back(), "scaffnew": Scaffnew(), "loopless": Loopless(),
    "remembering": Remembering(),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def known() -> Iterator[None]:
    """The methods of this file, which are forgotten at the end: other tests count methods."""
    for name, algorithm in METHODS_HERE.items():
        METHODS[name] = Method(name, name, algorithm, {"K": 1}, personal=False)
    yield
    for name in METHODS_HERE:
        del METHODS[name]


SMOOTH = ("smoothness",)
STRONG = ("smoothness", "strong_convexity")
CLIENTS = ("smoothness", "clients_strong_convexity", "minimiser_heterogeneity")
SHORT = "gamma_u <= 1/L"


def claim(
    method: str, left: str, right: str, *when: str, given: tuple[str, ...] = STRONG, **settings: object
) -> Statement:
    """A claim on a distance in every round, or on a mean of squared gradients."""
    over = "every_round" if left == "dist2" else "mean_of_rounds"
    return theorem(
        method, algorithm=method, assumptions=["no_personal", "full_participation", *given], left=left, over=over,
        right=right, conditions=list(when or (SHORT,)), vocabulary="textbook",
        symbols=symbol("chance", "probability of the coin", role="setting"),
        settings={"m": "n", "sigma_u": 0, **settings},
    )  # fmt: skip


def measured(
    algorithm: Algorithm, v: Mapping[str, float], h: list[float], centres: list[float], x0: float
) -> tuple[list[float], list[float]]:
    """E x_t^2 and E f'(x_t)^2 on f_i = h_i/2 (x - a_i)^2 with minimiser 0, over all ways in which the coins fall."""
    T, n, p = int(v["T"]), len(h), float(v["chance"])
    sizes = {**v, "n": n, "m": n, "K": 1, "p": 1 / n}
    slopes, a = np.array(h), np.array(centres)

    def gradient(i: int, x: float) -> float:
        return float(slopes[i] * (x - a[i]))

    distances, squares = np.zeros(T), np.zeros(T)
    for coins in itertools.product((1, 0), repeat=T - 1):
        clients = [
            algorithm.start_client({"u": x0, "v": 0.0}, {"u": gradient(i, x0), "v": 0.0}, sizes) for i in range(n)
        ]
        means = {name: sum(c[name] for c in clients) / n for name in clients[0]}
        server = algorithm.start_server({"u": x0, "v": 0.0}, means, sizes)
        likely = p ** sum(coins) * (1 - p) ** (T - 1 - sum(coins))
        for t in range(T):
            distances[t] += likely * server["x"] ** 2
            squares[t] += likely * np.mean([gradient(i, server["x"]) for i in range(n)]) ** 2
            if t == T - 1:
                break
            messages: list[dict[str, float]] = []
            for i in range(n):
                told = {**sizes, "coin": coins[t], "weight": 1.0}
                local = algorithm.begin(server, clients[i], told)
                asked = {"u": gradient(i, local["x"]), "v": 0.0}
                asked |= {name: gradient(i, local[also.at]) for name, also in algorithm.also.items()}
                local = algorithm.step(local, asked, told)
                clients[i], message = algorithm.finish(server, clients[i], local, told)
                messages.append(message)
            total = {name: sum(each[name] for each in messages) for name in messages[0]}
            server = algorithm.aggregate(server, total, {**sizes, "coin": coins[t]})
    return distances.tolist(), squares.tolist()


def worst(proof: PotentialProof, h: list[float], centres: list[float], *, right: str) -> float:
    """Left over right on such functions, which satisfy all that is assumed."""
    v = {**proof.values, "T": min(proof.values["T"], 10)}
    statement = proof.statement.claims[0]
    x0 = (v["dist2_0"] ** 0.5) if "dist2_0" in v else (2 * v["F_0"] / np.mean(h)) ** 0.5
    distances, squares = measured(METHODS_HERE[proof.statement.algorithm or ""], v, h, centres, x0)
    names = {s.name: s for s in statement.bound.free_symbols}

    def bound(t: int) -> float:
        return float(statement.bound.subs({names[k]: t if k == "t" else v[k] for k in names}))

    if right == "distance":
        return max(d / bound(t) for t, d in enumerate(distances))
    return float(np.mean(squares)) / bound(0)


@pytest.mark.parametrize("chance", [0.25, 0.5, 1.0])
def test_a_step_with_a_coin_is_proved_with_its_exact_rate(chance: float) -> None:
    """1 - p + p (1 - gamma mu)^2 is the expectation on mu/2 x^2, so that no smaller factor is proved."""
    right = "(1 - chance + chance*(1 - gamma_u*mu)**2)**t*dist2_0"
    proof = prove(claim("lazy", "dist2", right, n=1), {"chance": chance, "T": 6})
    assert proof.verdict != "NOT PROVED"
    assert proof.factor == 1
    assert worst(proof, [0.1], [0.0], right="distance") == pytest.approx(1)


def test_rounds_with_a_coin_take_longer() -> None:
    """The mean of squared gradients is at most 2 F_0/(p gamma T), for every T, and on a range of p."""
    stated = claim("lazy", "G_u", "2*F_0/(chance*gamma_u*T)", given=SMOOTH)
    proof = prove(stated, {"chance": 0.25})
    assert proof.verdict == "PROVED"
    assert proof.every_T
    assert worst(proof, [1.0] * 10, [0.0] * 10, right="gradient") <= 1
    found = prove_on_range(stated, {"gamma_u": 1.0}, "chance=1/10:1")
    assert found.verdict == "PROVED"


def test_loopless_methods_are_proved() -> None:
    """Scaffnew at the rate 1 - gamma mu with p^2 >= gamma mu, and compressed differences that a coin renews."""
    right = "(1 - gamma_u*mu_c)**t*(dist2_0 + (gamma_u*b_star/chance)**2)"
    scaffnew = claim("scaffnew", "dist2", right, SHORT, "gamma_u*mu_c <= chance**2", given=CLIENTS)
    proof = prove(scaffnew, {"T": 4, "n": 2, "gamma_u": 1})
    assert proof.verdict == "PROVED"
    assert worst(proof, [0.1, 0.1], [5.0, -5.0], right="distance") <= float(proof.factor or 0)
    right = "(1 - gamma_u*mu_c)**t*(dist2_0 + 4*gamma_u**2*(1/q - 1)*b_star**2/(chance*n))"
    steps = ("gamma_u*L*(1 + 6*(1/q - 1)/n) <= 1", "gamma_u*mu_c <= chance/2")
    loopless = claim("loopless", "dist2", right, *steps, given=CLIENTS)
    assert prove(loopless, {"T": 4, "n": 2}).verdict == "PROVED"


FALSE = {
    "the coin is forgotten": ("lazy", "dist2", "(1 - gamma_u*mu)**(2*t)*dist2_0", STRONG, {}, [0.1]),
    "the square of the mean": ("lazy", "dist2", "(1 - chance*gamma_u*mu)**(2*t)*dist2_0", STRONG, {}, [0.1]),
    "a step of the mean length": ("doubled", "dist2", "(1 - gamma_u*mu)**(2*t)*dist2_0", STRONG, {}, [0.1]),
    "no more rounds": ("lazy", "G_u", "2*F_0/(gamma_u*T)", SMOOTH, {"chance": 0.25, "T": 10}, [0.9]),
    "a step up cancels": ("back", "G_u", "F_0/(gamma_u*T)", SMOOTH, {"chance": 0.5, "T": 8}, [1.0]),
    "as good as new": ("remembering", "G_u", "2*F_0/(gamma_u*T)", SMOOTH, {"chance": 0.1, "T": 8}, [1.0]),
    "it need not be tossed often": (
        "scaffnew", "dist2", "(1 - gamma_u*mu_c)**t*(dist2_0 + (gamma_u*b_star)**2)", CLIENTS,
        {"chance": 0.05, "n": 2, "mu_c": 0.4, "b_star": 0.5, "T": 8, "gamma_u": 0.5, "dist2_0": 1e-4}, [0.5, 0.9],
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", FALSE)
def test_false_claims_with_a_coin_are_not_proved(which: str) -> None:
    """Each has an instance that violates it, and the multiple that is proved holds on that instance."""
    method, left, right, given, numbers, h = FALSE[which]
    n = len(h)
    stated = claim(method, left, right, given=given, **({} if n > 1 else {"n": 1}))
    proof = prove(stated, {"T": 6, **numbers})
    # The minimiser is 0, where the clients' gradients have the assumed size.
    centres = [0.0] if n == 1 else [0.5 / h[0], -0.5 / h[1]]
    violation = worst(proof, h, centres, right="distance" if left == "dist2" else "gradient")
    assert violation > 1 + 1e-6, f"{which}: {violation}"
    assert proof.verdict == "NOT PROVED"
    assert proof.factor is None or proof.factor >= Fraction(violation) * (1 - Fraction(1, 10**9))


def test_certificates_are_accepted_and_changed_ones_rejected() -> None:
    """A certificate of a claim proves no claim that is twice as strong."""
    proof = prove(claim("lazy", "G_u", "2*F_0/(chance*gamma_u*T)", given=SMOOTH, n=1), {"chance": 0.25})
    answers = certificates(proof)
    found = [each["certificate"] for each in answers if each["certificate"]]
    assert len(found) == len([each for each in answers if each["reason"] == "" and each["certificate"]]) > 2
    (one,) = [each for each in found if each["id"].endswith(": round")]
    recheck.step(one)
    changed = {**one, "left": ["*", "2", one["left"]]}
    changed["digest"] = recheck.digest(changed)
    with pytest.raises(ArithmeticError):
        recheck.step(changed)


def test_a_coin_has_a_probability() -> None:
    """A number above 1 is none."""
    with pytest.raises(InputError, match="it is the probability of the coin"):
        prove(claim("lazy", "G_u", "2*F_0/(gamma_u*T)", given=SMOOTH, n=1), {"chance": 1.5})
