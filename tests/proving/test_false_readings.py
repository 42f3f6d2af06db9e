"""Claims that are false and that a proof of another method, or of a symbol of another meaning, might seem to show."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.theorem import symbol, theorem
from ratecheck import recheck
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.compression import CompressedSgd
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.gossip import Dsgd
from ratecheck.algorithms.model.algorithm import square_of_mean
from ratecheck.algorithms.model.registered import NO_PERSONAL
from ratecheck.errors import InputError
from ratecheck.proving.certificate import certificates
from ratecheck.proving.prove import prove
from ratecheck.proving.ranges.range_proof import ParameterRange, prove_on_range
from ratecheck.views.proofs.prove import prove_fields, prove_text


class Peers(Dsgd):
    """Clients on a graph without a server, recorded at their own points."""

    name, title = "peers", "clients on a graph"
    server = {}  # noqa: RUF012  # as methods declare it
    recorded = ("G_u",)

    def start_server(self, point, clients, p):
        return {}

    def aggregate(self, server, total, p):
        return {}

    def records(self, server, client, gradient, p):
        return {"G_u": (square_of_mean(gradient["u"]),)}


class Beside(CompressedSgd):
    """Gradient descent that compresses nothing but a vector 0, which is sent beside the gradient."""

    name, title = "beside", "gradient descent, and a compressed 0"
    message = {"total": "u", "whole": "u"}  # noqa: RUF012
    recorded = ("G_u",)

    def finish(self, server, client, local, p):
        return {}, {"total": 0 * local["total"], "whole": local["total"]}

    def aggregate(self, server, total, p):
        return {"x": server["x"] - p["gamma_u"] / p["m"] * total["whole"] + 0 * total["total"]}


class Shared(FedAvgP):
    """Gradient descent with steps of 3/T in a run of T rounds."""

    name, title = "shared", "steps that a run has shared among its rounds"
    varying = ("share",)
    recorded = ("G_u",)

    def coefficients(self, t, T, p):
        return {"share": 3 / T}

    def step(self, local, gradient, p):
        return {**local, "u": local["u"] - p["share"] * p["gamma_u"] * gradient["u"]}


class Leaping(FedAvgP):
    """Gradient descent that leaps from points between 10 and 11."""

    name, title = "leaping", "gradient descent with leaps"
    recorded = ("G_u",)

    def step(self, local, gradient, p):
        u = local["u"] - p["gamma_u"] * gradient["u"]
        return {**local, "u": np.where((u > 10) & (u < 11), 5 * u, u)}


class Rooted(FedAvgP):
    """Gradient descent whose steps are sqrt(3) times as long, or 1.5 times."""

    name, title = "rooted", "gradient descent with longer steps"
    recorded = ("G_u",)
    length = math.sqrt(3)

    def step(self, local, gradient, p):
        return {**local, "u": local["u"] - self.length * p["gamma_u"] * gradient["u"]}


class Halved(Rooted):
    """With a length that a float has exactly."""

    name, length = "halved", 1.5


@pytest.fixture
def own():
    """The methods under names of their own, which other tests do not count."""
    METHODS["peers"] = Method("peers", "peers", Peers(), {"K": 1}, personal=False, full=True)
    METHODS["beside"] = Method("beside", "beside", Beside(), personal=False)
    METHODS["shared"] = Method("shared", "shared", Shared(), fixed=NO_PERSONAL, personal=False)
    METHODS["leaping"] = Method("leaping", "leaping", Leaping(), fixed=NO_PERSONAL, personal=False)
    METHODS["rooted"] = Method("rooted", "rooted", Rooted(), fixed=NO_PERSONAL, personal=False)
    METHODS["halved"] = Method("halved", "halved", Halved(), fixed=NO_PERSONAL, personal=False)
    yield
    for name in ("peers", "beside", "shared", "leaping", "rooted", "halved"):
        del METHODS[name]


@pytest.mark.usefixtures("own")
def test_the_distance_of_clients_without_a_server_is_the_mean_of_theirs() -> None:
    """With (x - 1)^2/2 and (x + 1)^2/2 from 0, clients go apart, and their mean stays at the minimiser."""
    points = np.array([0.0, 0.0])
    mixing = np.array([[0.75, 0.25], [0.25, 0.75]])
    points = mixing @ (points - (points - np.array([1.0, -1.0])))
    assert points.mean() == 0
    assert (points**2).mean() == 0.25
    nearer = theorem("last dist2 <= dist2_0", method="peers", given="smooth, convex",
                     when="gamma == 1/L, lambda_W <= 1/2")  # fmt: skip
    assert prove(nearer, {"n": 2, "T": 1, "lambda_W": 0.5, "dist2_0": 0.01}).verdict == "NOT PROVED"
    far = theorem("last dist2 <= 2*dist2_0 + zeta_star**2/L**2", method="peers", given="smooth, convex",
                  when="gamma == 1/L, lambda_W <= 1/2")  # fmt: skip
    assert prove(far, {"n": 2, "T": 1, "lambda_W": 0.5, "dist2_0": 0.01, "zeta_star": 1}).verdict == "PROVED"


@pytest.mark.usefixtures("own")
def test_what_is_sent_as_it_is_has_no_error_of_a_compression() -> None:
    """With x^2/4 and gamma = 1/10 a step wins 0.0975 g^2; with half of the coordinates it would win 0.095 in mean."""
    x, mu, gamma = 1.0, 0.5, 0.1
    g = mu * x
    won = mu / 2 * x**2 - mu / 2 * (x - gamma * g) ** 2
    assert won > (gamma - mu * gamma**2) * g**2
    rest = {"method": "beside", "given": "smooth, strongly convex", "when": "gamma == 1/(10*L), K == 1, q == 1/2"}
    given = {"n": 1, "mu": mu, "T": 2}
    assert prove(theorem("every (-fall) <= (gamma - mu*gamma**2)*grad2", **rest), given).verdict == "NOT PROVED"
    assert prove(theorem("every (-fall) <= (gamma - mu*gamma**2/2)*grad2", **rest), given).verdict == "PROVED"


@pytest.mark.usefixtures("own")
def test_a_run_of_another_length_is_another_run() -> None:
    """With x^2/2 the only round of T = 1 leads from 1 to -2; what is recorded after it is so in a run of two."""
    last = theorem("last gap <= F_0", method="shared", given="smooth, full participation", vocabulary="textbook",
                   when="gamma_u == 1/L", settings={"K": 1, "n": 1, "m": 1, "sigma_u": 0, "eta_u": 1})  # fmt: skip
    with pytest.raises(InputError, match="takes other steps in a run of one more round"):
        prove(last, {"T": 1})


def test_a_name_of_ones_own_is_not_what_the_basic_setting_has_under_it() -> None:
    """There the noise is sigma_u, and here that is any number; with x^2/2 and gamma = 1 the mean is sigma^2 at last."""
    own = symbol("sigma_u", "any number", role="free", degrees=(1, -1))
    noise = theorem("mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma_u**2", method="sgd", given="smooth, noise",
                    when="gamma <= 1/L", symbols=own)  # fmt: skip
    assert prove(noise, {"sigma_u": 0.001, "sigma": 1}).verdict == "NOT PROVED"
    both = theorem("mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2", method="sgd", given="smooth, noise",
                   when="gamma <= 1/L, sigma_u <= sigma", symbols=own)  # fmt: skip
    found = prove(both, {"sigma_u": 0.001, "sigma": 1})
    assert found.verdict == "PROVED"
    assert (found.shown["sigma_u"], found.shown["sigma"]) == (0.001, 1)
    # C is a quantity of the basic setting, and a constant of many theorems.
    constant = theorem("mean grad2 <= C*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 1/L, C >= 2",
                       symbols=symbol("C", "a constant", role="free"))  # fmt: skip
    assert prove(constant, {"C": 2}).verdict == "PROVED"
    with pytest.raises(InputError, match="C >= 2"):
        prove(constant, {"C": 1})


def test_a_step_that_is_rounded_is_proved_with_room_for_the_rounding() -> None:
    """With x^2/2 and gamma = sqrt(3), a little more than its 16 digits, a round wins a little less than is claimed."""
    near = Fraction("1.7320508075688772")
    share = near - near**2 / 2
    exact = sp.sqrt(3) - sp.Rational(3, 2)
    assert exact < sp.Rational(share.numerator, share.denominator)
    rest = {"method": "gd", "given": "smooth", "when": "gamma == sqrt(3)/L"}
    numbers: dict[str, float] = {"T": 3, "L": 1}
    falls = theorem(f"every fall <= -{share.numerator}/{share.denominator}*grad2/L", **rest)
    assert prove(falls, numbers).verdict == "PROVED UP TO 1e-9"
    mean = theorem(f"mean grad2 <= {share.denominator}*L*F_0/({share.numerator}*T)", **rest)
    found = prove(mean, numbers)
    assert found.verdict == "PROVED UP TO 1e-9"
    assert "of irrational numbers those of 16 digits are taken: gamma" in prove_text(found)
    assert prove(theorem("mean grad2 <= 5*L*F_0/T", **rest), numbers).verdict == "PROVED"
    for steps, verdict in {"sqrt(t + 3)/L": "PROVED UP TO 1e-9", "sqrt(t + 3)**2/(2*L)": "PROVED"}.items():
        fewer = share if "UP" in verdict else Fraction(3, 8)
        varied = theorem(f"every fall <= -{fewer.numerator}/{fewer.denominator}*grad2/L", method="gd", given="smooth",
                         when=f"gamma_t == {steps}")  # fmt: skip
        assert prove(varied, {"T": 1, "L": 1}).verdict == verdict


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(("method", "verdict"), [("rooted", "PROVED UP TO 1e-9"), ("halved", "PROVED")])
def test_a_coefficient_of_the_method_that_is_rounded_takes_room_too(method, verdict) -> None:
    """Of sqrt(3) a float remains, and a claim without slack may be false by its rounding; 3/2 is what it is."""
    length = Fraction(METHODS[method].algorithm.length)
    share = length - length**2 / 2
    numbers: dict[str, float] = {"T": 3, "L": 1, "gamma": 1}
    rest = {"method": method, "given": "smooth", "when": "gamma == 1/L, n == 1, m == 1, K == 1"}
    falls = theorem(f"every fall <= -{share.numerator}/{share.denominator}*grad2/L", **rest)
    assert prove(falls, numbers).verdict == verdict
    less = theorem("mean grad2 <= 5*L*F_0/T", **rest)
    assert prove(less, numbers).verdict == "PROVED"


def test_a_schedule_that_is_rounded_takes_room_where_its_bound_is_attained() -> None:
    """The optimized gradient method, whose coefficients have roots; Halpern's are fractions."""
    verdicts = {"optimized-gradient-values": "PROVED UP TO 1e-9", "fixed-point-halpern": "PROVED"}
    assert {key: prove(bounds.get(f"classics/{key}"), {}).verdict for key in verdicts} == verdicts


def test_no_step_is_looked_at_that_no_round_takes() -> None:
    """1/(L (T - t)) has no value at t = T, where the run of T rounds ends."""
    ending = theorem("last gap <= L*R_0**2", method="gd", given="smooth, convex", when="gamma_t == 1/(L*(T - t))")
    assert prove(ending, {"T": 3}).verdict == "PROVED"


def test_what_is_set_by_something_that_is_set_later_is_exact() -> None:
    """Eta is 1, and the gap is not 0."""
    rest = {"method": "gd", "given": "smooth", "when": "eta == 3*L*gamma, gamma == 1/(3*L)"}
    assert prove(theorem("last gap <= 1e17*(1 - eta)*F_0", **rest), {"T": 3}).verdict == "NOT PROVED"


def test_a_certificate_says_of_what_it_is() -> None:
    """Of twice the right side, and of the best round by weights that add up to 1."""
    rest = {"method": "gd", "given": "smooth", "when": "gamma == 1/L"}
    half = prove(theorem("mean grad2 <= F_0/(gamma*T)", **rest), {"T": 3})
    assert half.verdict == "NOT PROVED"
    assert all("times the right side of own/" in each["id"] for each in certificates(half))
    best = prove(theorem("best grad2 <= 2*F_0/(gamma*(T + 1))", **rest), {"T": 3})
    assert best.verdict == "PROVED"
    (least,) = (each["certificate"] for each in certificates(best) if each["id"].endswith("least of all rounds"))
    recheck.step(least)
    (node,) = least["proofs"]
    fewer = {**least, "proofs": [{**node, "terms": node["terms"][1:]}]}
    with pytest.raises(ArithmeticError, match="do not add up"):
        recheck.step(fewer)
    nearer = prove(theorem("dist2 <= dist2_prev", method="gd", given="smooth, convex", when="gamma <= 1/L"), {})
    assert prove_fields(nearer)["of"] == "what is not measured on the right"
    assert prove_fields(best)["of"] == "right side"


def test_what_is_set_by_the_parameter_of_a_range_is_not_held_fixed() -> None:
    """Eta is 1 at the numbers that are compared, and less or more between them."""
    at = ParameterRange("gamma", Fraction(1, 4), Fraction(1))
    compared = [Fraction(1, 4), Fraction(1), *(Fraction(repr(x)) for x in at.points(5, whole=False))]
    product = "*".join(f"(gamma - {x.numerator}/{x.denominator})" for x in compared)
    moved = theorem("mean grad2 <= 2*F_0/(gamma*eta*T)", method="gd", given="smooth",
                    when=f"gamma <= 1/L, eta == 1 + 10*({product})")  # fmt: skip
    with pytest.raises(InputError, match="eta depends on gamma"):
        prove_on_range(moved, {}, "gamma=0.25:1/L")


def test_the_ends_of_a_range_are_rounded_inwards() -> None:
    """What is printed is proved."""
    assert str(ParameterRange("gamma", Fraction(1, 3), Fraction(2, 3))) == "0.3333333334 <= gamma <= 0.6666666666"
    assert str(ParameterRange("n", Fraction(0), Fraction(1))) == "0 < n <= 1"


@pytest.mark.usefixtures("own")
def test_a_threshold_anywhere_is_seen() -> None:
    """With x^2/2 and gamma = 1/2 from 21 the first step leads to 10.5 and farther, to 52.5."""
    x, gamma = 21.0, 0.5
    after = Leaping().step({"u": np.array([x]), "v": np.zeros(1)}, {"u": np.array([x]), "v": np.zeros(1)},
                           {"gamma_u": gamma, "gamma_v": 1.0})["u"][0]  # fmt: skip
    assert (x**2 + after**2) / 2 > 2 * (x**2 / 2) / (gamma * 2)
    mean = theorem("mean G_u <= 2*F_0/(gamma_u*T)", method="leaping", given="smooth, full participation",
                   vocabulary="textbook", when="gamma_u <= 1/L",
                   settings={"K": 1, "n": 1, "m": 1, "sigma_u": 0, "eta_u": 1})  # fmt: skip
    with pytest.raises(InputError, match="leaping does more than arithmetic with its variables"):
        prove(mean, {"T": 2})


def test_no_round_mixes_with_a_probability_of_two() -> None:
    """What is known of such rounds would prove anything."""
    mixed = theorem("every consensus2 <= gamma**2*G**2", method="dsgd", when="gamma <= 1/L, K == 1, lambda_W <= 1/2",
                    given="smooth, random_mixing, bounded_gradients")  # fmt: skip
    with pytest.raises(InputError, match="it is a probability"):
        prove(mixed, {"n": 2, "T": 2, "lambda_W": 0.5, "p_W": 2})


def test_numbers_that_only_the_assumptions_have_are_said():
    """A bound without sigma is proved at one level of the noise, also where plain words name it."""
    within = theorem("mean gap <= 100*R_0**2", method="sgd", given=["smooth", "convex"], when="gamma <= 1/(2*L)")
    found = prove(within, {"T": 10, "L": 1, "gamma": 0.5, "dist2_0": 1})
    head, *_, last = prove_text(found).splitlines()
    assert "sigma=0.3" in head
    assert last == "  not given, and taken: sigma"
    assert "sigma" in prove_fields(found)["defaulted"]
    made = certificates(found)
    assert made
    assert all("sigma=0.3" in each["id"] for each in made)
