"""Claims that are false and that a proof of one round, of equal clients or of one number might seem to show."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from bounds.statement import Statement
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.algorithm import Algorithm, square_of_mean
from ratecheck.algorithms.model.answers import full_gradient_at
from ratecheck.algorithms.model.registered import NO_PERSONAL
from ratecheck.algorithms.momentum import ProximalPoint
from ratecheck.errors import InputError
from ratecheck.proving.improve import best, sharpest
from ratecheck.proving.prove import completed, prove
from ratecheck.proving.ranges.range_proof import prove_on_range
from ratecheck.views.proofs.prove import factor_text, prove_text, proved_text
from ratecheck.views.proofs.ranges import range_lines

ANYBODY = "any participation, of which a proof follows that of everybody in every round: tau_max=0"
GD = {"method": "gd", "given": "smooth", "when": "gamma <= 1/L"}


class Warm(Algorithm):
    """Gradient descent whose first point is x^0 - 3 gamma grad f(x^0)."""

    name, title = "warm", "gradient descent after a long step"
    step_sizes = ("gamma_u",)
    blocks = ("u",)
    server, client = {"x": "u"}, {"c": "u"}  # as methods declare it
    local, message = {"x": "u"}, {"x": "u"}
    recorded = ("G_u",)

    def start_client(self, point, gradient, p):
        return {"c": point["u"] - 3 * p["gamma_u"] * gradient["u"]}

    def start_server(self, point, clients, p):
        return {"x": clients["c"]}

    def begin(self, server, client, p):
        return {"x": server["x"]}

    def step(self, local, gradient, p):
        return {"x": local["x"] - p["gamma_u"] * gradient["u"]}

    def finish(self, server, client, local, p):
        return {"c": local["x"]}, {"x": local["x"]}

    def aggregate(self, server, total, p):
        return {"x": total["x"] / p["m"]}

    def records(self, server, client, gradient, p):
        return {"G_u": (square_of_mean(gradient["u"]),)}


class Alone(FedAvgP):
    """Every client for itself, recorded at its own points."""

    name, title = "alone", "clients by themselves"
    server = {}  # noqa: RUF012  # as methods declare it
    client = {"u": "u"}  # noqa: RUF012

    def start_client(self, point, gradient, p):
        return {"u": point["u"]}

    def start_server(self, point, clients, p):
        return {}

    def begin(self, server, client, p):
        return {"u": client["u"], "v": 0 * client["u"]}

    def finish(self, server, client, local, p):
        return {"u": local["u"]}, {"u": local["u"]}

    def aggregate(self, server, total, p):
        return {}


class Louder(FedAvgP):
    """Gradient descent that records three times the gradient in round 3."""

    name, title = "louder", "gradient descent, recorded unevenly"
    varying = ("boost",)
    recorded = ("G_u",)

    def coefficients(self, t, T, p):
        return {"boost": 3.0 if t == 3 else 1.0}

    def records(self, server, client, gradient, p):
        return {"G_u": (square_of_mean(p["boost"] * gradient["u"]),)}


class Doubled(FedAvgP):
    """A gradient step whose gradient is taken at twice the point."""

    name, title = "doubled", "gradients at 2 x"
    recorded = ("G_u",)

    def begin(self, server, client, p):
        return {**super().begin(server, client, p), "u": 2 * server["u"]}

    def step(self, local, gradient, p):
        return {**local, "u": local["u"] / 2 - p["gamma_u"] * gradient["u"]}


class Lagging(FedAvgP):
    """A gradient step whose gradient is taken at 0, wherever the point is."""

    name, title = "lagging", "gradients at 0"
    local = {"u": "u", "v": "v", "zero": "u"}  # noqa: RUF012
    also = {"far": full_gradient_at("zero")}  # noqa: RUF012

    def begin(self, server, client, p):
        return {**super().begin(server, client, p), "zero": 0 * server["u"]}

    def step(self, local, gradient, p):
        return {**local, "u": local["u"] - p["gamma_u"] * gradient["far"]}


class Placed(FedAvgP):
    """Gradient descent that records the square of its point."""

    name, title = "placed", "gradient descent, recorded by its place"
    recorded = ("G_u",)

    def records(self, server, client, gradient, p):
        return {"G_u": (square_of_mean(server["u"]),)}


class Both(ProximalPoint):
    """X + prox_h(x) - prox_f(x), two proximal steps from one point."""

    name, title = "both", "two proximal steps at one point"
    step_sizes = ("gamma_u", "lambda_")
    second_oracle = record_oracle = "prox"
    local = {"x": "u", "p": "u", "v": "v"}  # noqa: RUF012

    def begin(self, server, client, p):
        return {**super().begin(server, client, p), "p": server["x"]}

    def step(self, local, gradient, p):
        return {**local, "p": gradient["u"]}

    def after(self, local, nearest, p):
        return {**local, "x": local["x"] + nearest["u"] - local["p"]}


@pytest.fixture
def own():
    """The methods under names of their own, which other tests do not count."""
    others = (Doubled(), Lagging(), Placed(), Both())
    METHODS.update({each.name: Method(each.name, each.name, each, fixed=NO_PERSONAL) for each in others})
    METHODS["warm"] = Method("warm", "warm", Warm(), personal=False)
    METHODS["alone"] = Method("alone", "alone", Alone(), fixed=NO_PERSONAL, personal=False)
    METHODS["louder"] = Method("louder", "louder", Louder(), fixed=NO_PERSONAL, personal=False)
    yield
    for name in ("warm", "alone", "louder", *(each.name for each in others)):
        del METHODS[name]


def verdict(statement: Statement, **given: float) -> str:
    """What is said of it: a verdict, or why no proof is looked for."""
    try:
        return prove(statement, given).verdict
    except InputError as error:
        return str(error).split("proof: ")[-1]


@pytest.mark.parametrize(
    ("false", "given", "said"),
    [
        # f = x^2/4, L = gamma = 1: a round wins 3/4 F_0 only. A multiple of what is negative is the weaker bound.
        (theorem("fall <= -F_0", **GD), {}, "its right side is negative at these numbers"),
        # f = x^2/2, gamma = 1/100: gap_0 = F_0 is met, 2 gap_1 = 1.96 F_0 is not.
        (theorem("gap <= F_0 - t*gap", method="gd", given="smooth", when="gamma == 1/(100*L)"), {"T": 100},
         "NOT PROVED"),
        # f = x^2/20: the mean of the right sides falls as log(T)/T, with a factor that is too small.
        (theorem("mean grad2 <= 0.01*F_0/(gamma*(t + 1))", **GD), {},
         "t is another number in every round, and the claim is about all of them together"),
        # f = x^2/2: gap_0 = R_0^2/2, and the right side at t = 1 is R_0^2/4.
        (theorem("gap_prev <= L*R_0**2/(2*t + 2)", method="gd", given="smooth, convex", when="gamma == 1/L"), {},
         "NOT PROVED"),
        # f = x^2/2: the first step, of 3/L, leads from x to -2 x.
        (theorem("gap <= gap_prev", method="gd", given="smooth", when="gamma == 3/(L*(t + 1))"), {}, "NOT PROVED"),
        # f = 2 x^2, gamma = 1: x becomes -3 x. Smoothness is 4, not the number that stands for it elsewhere.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 4/my_L",
                 symbols=symbol("my_L", "smoothness", fact="L", degrees=(1, -2))), {"my_L": 4}, "NOT PROVED"),
        # Weights .9 and .1, f_1 = (x - 1)^2/2, f_2 = (x + 1)^2/2: the run ends at 0, where the gradient is .8.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", method="drawn-fedavg", given="smooth", when="gamma <= 1/L, K == 1"),
         {"n": 2}, "drawn-fedavg weighs clients, and a proof is about clients of equal weights"),
        # A title says nothing of functions.
        (theorem("dist2 <= dist2_0", **GD, title="Gradient descent on functions that need not be convex"), {},
         "NOT PROVED"),
    ],
)  # fmt: skip
def test_what_is_false_is_not_proved(false: Statement, given: dict[str, float], said: str) -> None:
    """Each has a run beside it that shows it."""
    assert verdict(false, **given) == said


@pytest.mark.usefixtures("own")
def test_a_method_that_starts_elsewhere_or_has_no_common_point_is_refused() -> None:
    """With x^2/2 and gamma = 1: the first gap of one is 4 F_0; clients of the other go to minimisers of their own."""
    rest = {"given": "smooth, full participation", "vocabulary": "textbook", "when": "gamma_u <= 1/L"}
    settings = {"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1}
    single = {"K": 1, "n": 1, "m": 1, "sigma_u": 0}
    warm = theorem("every gap <= F_0", method="warm", settings=single, **rest)
    assert verdict(warm) == "the point at which warm records is another one than x^0 at first"
    alone = theorem("mean G_u <= 2*F_0/(gamma_u*T)", method="alone", settings=settings, **rest)
    assert verdict(alone, n=2) == "alone records at points of which every client has its own"
    # With x^2/2 and gamma = 1/100 the left side is 16.9 F_0 in round 3.
    louder = theorem("every G_u <= 2*L*F_0", method="louder", settings=single, **rest)
    assert verdict(louder, T=10) == "what louder records is another thing in every round"


@pytest.mark.usefixtures("own")
def test_what_depends_on_the_origin_is_refused_and_two_proximal_steps_are_two() -> None:
    """With (x - 1)^2/2 from 0: the gradients at 2 x, or at 0, do not fall; a point of f = 0 is anywhere."""
    rest = {"given": "smooth, full participation", "vocabulary": "textbook", "when": "gamma_u <= 1/L"}
    settings = {"K": 1, "n": 1, "m": 1, "sigma_u": 0, "eta_u": 1}
    for name, said in {
        "doubled": "doubled is another method from another start (round 0)",
        "lagging": "lagging is another method from another start (round 0)",
        "placed": "what placed records depends on where the origin is",
    }.items():
        assert verdict(theorem("mean G_u <= 2*F_0/(gamma_u*T)", method=name, settings=settings, **rest)) == said
    # f = x^2/2, h = 0, lambda = 1: x becomes 3/2 x.
    both = theorem("last dist2 <= R_0**2", method="both", given="convex, convex_part", when="gamma*lambda_ == 1")
    assert verdict(both, T=3) == "NOT PROVED"


def test_one_round_of_many_that_differ_is_not_one_of_any_number() -> None:
    """gamma_t = (t + 1)/(20 L) is short enough in the first ten rounds, and not in all."""
    found = prove(theorem("gap <= gap_prev", method="gd", given="smooth", when="gamma == (t + 1)/(20*L)"), {"T": 10})
    assert found.verdict == "PROVED"
    assert not found.every_T


@pytest.mark.parametrize(
    ("false", "given", "said"),
    [
        # f = x^2/2, gamma = 1: E grad2 = sigma^2 from round 1 on.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", method="sgd", given="smooth, total_noise", when="gamma <= 1/L"), {},
         "it assumes noise, and no number says how much"),
        # f_1 = x, f_2 = -x: in rounds that do not mix clients go on apart.
        (theorem("every consensus2 <= 8*lambda_W**2*gamma**2*G**2", method="dsgd",
                 given="smooth, random_mixing, bounded_gradients", when="gamma <= 1/L, K == 1, lambda_W <= 1/2"),
         {"n": 2, "T": 6, "lambda_W": 0.5}, "NOT PROVED"),
        # f_i = x^2/2 + x or - x: the gap of one client in ten is 7.3 in the mean.
        (theorem("last gap <= 4*(F_0 + zeta**2/L)", method="fedadmm", given="smooth, sampling",
                 when="gamma == 1/(2*L), rho == 4*L, K == 1"), {"n": 10, "m": 1, "T": 2, "zeta": 1, "F_0": 0.01},
         "NOT PROVED"),
        # A second part M |x| with M = 273 and steps of 1/545 in all.
        (theorem("last gap <= 5*L*R_0**2 + 5*G*R_0 + 5*G**2/L", method="proximal-gradient",
                 given="smooth, convex, convex_part", when="gamma_t == gamma/(1000*(t + 1)), gamma <= 1/L"), {"T": 3},
         "gamma is another one in every round, and so are the proximal steps"),
        # f = x^2/2, T = 1: 2 F_0 > 0.002 F_0, and the proof at T = 1000 is one for T = 1000 alone.
        (theorem("mean grad2/T <= 0.002*F_0/(gamma*T)", **GD), {"T": 1}, "NOT PROVED"),
        # f = |x|, T = 1: the only gap is F_0.
        (theorem("mean gap <= 0.001*F_0", method="gd", given="convex, interpolation", when="gamma <= 1"), {"T": 1},
         "NOT PROVED"),
        # f = max(0, 10 x) from 1 with lambda = 1: the next point is 0, where 10 is a subgradient as well.
        (theorem("last grad2 <= lambda_**2*R_0**2", method="proximal-point", given="convex"), {"T": 3},
         "what proximal-point records is a subgradient, of which a point has many"),
        # Its rounds have two steps, and stay where they are on x^2/2 with gamma = 1.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", method="extragradient", given="smooth", when="gamma <= 1/L, K == 1"),
         {}, "K=1, and extragradient has K=2"),
        # f_1 = (x - 1)^2/2, f_2 = (x + 1)^2/2, and the first client alone takes part: the run ends at 1.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", method="fedavg", given="smooth, oblivious participation",
                 when="gamma <= 1/L, K == 1"), {"n": 2}, ANYBODY),
        # In two rounds of three it does so, for three rounds in a row of many.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)*(1 + tau_avg)", method="fedavg", given="smooth",
                 when="gamma <= 1/L, K == 1"), {"n": 2, "tau_avg": 2}, ANYBODY),
        # gamma = 1/3 to the last bit, where the right side is 0.
        (theorem("last gap <= 1e17*(1 - L*gamma)*F_0", method="gd", given="smooth", when="gamma == 1/L"), {"L": 3},
         "NOT PROVED"),
        # The same of gamma = 1/sqrt(2), which is a little less than its float.
        (theorem("last gap <= 1e17*(2*L**2*gamma**2 - 1)*F_0", method="gd", given="smooth",
                 when="gamma == 1/(sqrt(2)*L)"), {"T": 3}, "NOT PROVED"),
    ],
)  # fmt: skip
def test_what_is_false_of_other_numbers_is_not_proved(false: Statement, given: dict[str, float], said: str) -> None:
    """Each has a run beside it that shows it."""
    assert verdict(false, **given) == said


def test_what_a_statement_sets_is_not_rounded() -> None:
    """1 - 3/3 is 0, and the gap is not; the float of 1/3 is a little less."""
    rest = {"method": "proximal-point", "given": "convex", "when": "lambda_ == 1/3"}
    assert verdict(theorem("last gap <= 1e17*(1 - 3*lambda_)*F_0", **rest), T=3) == "NOT PROVED"


def test_a_term_is_as_sharp_as_in_its_hardest_round() -> None:
    """With gamma = 1/L a round adds 10/20 gamma^2 L sigma^2 at a minimum: in round 0 that is 1 + 9/19 of 19."""
    step = "gamma**2*L*sigma**2/20"
    falls = theorem(f"every fall <= {step}*(t + 1) + {step}*(19 - t)", method="sgd", when="gamma == 1/L",
                    given="smooth, noise, full participation")  # fmt: skip
    values, _ = completed(falls.written, {"T": 10, "n": 1, "m": 1})
    _, falling = sharpest(falls, values)
    assert falling.factor is not None
    assert falling.factor >= Fraction(9, 19)


def test_an_irrational_factor_on_the_left_is_not_rounded_down() -> None:
    """With x^2/2 and gamma = 1 the mean is 2 F_0/T, and sqrt(2) times it exceeds 2.828... F_0/T by 1 part of 10^45."""
    near = Fraction(str(sp.sqrt(2).evalf(50))) * (1 - Fraction(1, 10**45))
    assert near**2 < 2
    right = f"{2 * near.numerator}*F_0/({near.denominator}*gamma*T)"
    numbers: dict[str, float] = {"T": 4, "gamma": 1, "L": 1, "F_0": 1}
    assert verdict(theorem(f"mean sqrt(2)*grad2 <= {right}", **GD), **numbers) == "PROVED UP TO 1e-9"
    signed = theorem("every sqrt(2)*fall <= F_0", **GD)
    assert verdict(signed, **numbers) == "a factor of change:gap, which may be negative, is no rational number"


@pytest.mark.parametrize("T", [3, 4])
def test_step_sizes_that_depend_on_the_horizon_are_proved_for_it_alone(T: int) -> None:
    """The optimized gradient method of T rounds is another one for every T, and so is its proof."""
    rest = {"method": "optimized-gradient", "given": "smooth, convex", "when": "gamma == 1/L, T >= 2"}
    found = prove(theorem("last gap <= L*R_0**2/(T*(T + sqrt(2)))", **rest), {"T": T})
    assert found.verdict == "PROVED"
    assert not found.every_T
    assert f"  for T = {T}, in every dimension" in prove_text(found)
    # What its last round attains is no bound on a round before it.
    early = theorem("every gap <= L*R_0**2/(T*(T + sqrt(2)))", **rest)
    assert verdict(early, T=T) == "NOT PROVED"


def test_what_is_proved_is_printed_no_smaller() -> None:
    """A decimal is rounded up, and what is proved up to 1e-9 says so."""
    assert factor_text(1.00001234, 4) == "1.001"
    assert factor_text(Fraction(162162107, 10000)) == "16216.3"
    assert factor_text(Fraction(1, 8)) == "0.125"


def test_what_is_measured_on_the_right_is_no_part_of_a_number() -> None:
    """On x^2/2 with gamma = 1/100 distances are multiplied by 0.99: they are not at most 0 times the ones before."""
    nearer = theorem("dist2 <= dist2_prev", method="gd", given="smooth, convex", when="gamma <= 1/L")
    assert proved_text(prove(nearer, {})).startswith("left side <= right side is proved at ")
    assert next(range_lines(prove_on_range(nearer, {}, "gamma=0:1/L"))).endswith(
        "left side <= what is measured on the right + 0 * the rest"
    )
    longer = theorem("dist2 <= dist2_prev + gamma**2*M**2", method="gd", given="convex", when="gamma <= 1")
    with pytest.raises(InputError, match="is no number: a run measures what it is made of"):
        best(longer, {}, "gamma")
