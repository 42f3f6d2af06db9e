"""A theorem in one sentence: what it says, what the name of its method implies, and the words of the answers."""

import re

import pytest

import ratecheck as rc
from bounds.errors import InputError
from bounds.sentences import words
from bounds.sentences.sentence import claimed
from bounds.statement import Assumption, Over
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.accelerated import Scheduled

GD = {"method": "gd", "given": "smooth", "when": "gamma <= 1/L"}
CONVEX = {"method": "gd", "given": "smooth, convex"}
SAMPLED = "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2/m + L*gamma*zeta**2*(n - m)/({}*m*max(1, n - 1))"
LOCAL = "mean grad2 <= 11/5*F_0/(gamma*K*T) + {}*L*gamma*sigma**2/n + (gamma*L*zeta)**2*(K - 1)*(2*K - 1)/2"
MOMENTUM = "gamma == 1/L, beta == (1 - sqrt(mu/L))/(1 + sqrt(mu/L))"
GRAPH = "gamma <= 1/L, gamma*2*L*lambda_W <= 1 - lambda_W, lambda_W < 1, K == 1"
MIXED = "L**2*4*lambda_W**2*gamma**2*zeta**2/(1 - lambda_W)**2 + L**2*2*lambda_W**2*gamma**2*sigma**2/(1 - lambda_W)"
# A right form, a wrong one, and the rest of the theorem.
THEOREMS = {
    "nonconvex": ("mean grad2 <= 2*F_0/(gamma*T)", "mean grad2 <= F_0/(4*gamma*T)", GD),
    "convex": ("gap <= R_0**2/(2*gamma*t)", "gap <= R_0**2/(8*gamma*t)", CONVEX | {"when": "gamma <= 1/L"}),
    # x^T of the worst function, of which one round fewer would be too much.
    "last iterate": (
        "last gap <= L*R_0**2/(4*T + 2)", "last gap <= L*R_0**2/(6*T + 2)", CONVEX | {"when": "gamma == 1/L"},
    ),
    "linear": (
        "dist2 <= (1 - gamma*mu)**(2*t)*R_0**2", "dist2 <= (1 - gamma*mu)**(3*t)*R_0**2",
        {"method": "gd", "given": "smooth, strongly convex", "when": "gamma <= 2/(L + mu)"},
    ),
    "sgd": (
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2", "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2/5",
        {"method": "sgd", "given": "smooth", "when": "gamma <= 1/L"},
    ),
    "heavy ball": (
        "mean grad2 <= 4*F_0/(gamma*T)", "mean grad2 <= F_0/(10*gamma*T)",
        {"method": "heavy-ball", "given": "smooth", "when": "gamma <= 1/(4*L), beta == 1/2"},
    ),
    "nesterov": (
        "gap <= (1 - sqrt(mu/L))**t*(F_0 + mu/2*R_0**2)", "gap <= (1 - sqrt(mu/L))**(4*t)*(F_0 + mu/2*R_0**2)",
        {"method": "nesterov", "given": "smooth, strongly convex", "when": MOMENTUM},
    ),
    "local sgd": (
        LOCAL.format("11/5") + " + 3/2*(gamma*L*sigma)**2*(K - 1)", LOCAL.format("1/4"),
        {"method": "local-sgd", "given": "smooth", "when": "gamma <= 1/(10*K*L)"},
    ),
    "sampled clients": (
        SAMPLED.format(1), SAMPLED.format(5), {"method": "fedavg", "given": "smooth", "when": "gamma <= 1/L, K == 1"},
    ),
    "scaffold": (
        "mean grad2 <= 2*F_0/(gamma*T)", "mean grad2 <= F_0/(4*gamma*T)",
        {"method": "scaffold", "given": "smooth", "when": "gamma <= 1/L, K == 1"},
    ),
    "ring": (
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2/n + " + MIXED,
        "mean grad2 <= F_0/(8*gamma*T) + L*gamma*sigma**2/n**2",
        {"method": "dsgd", "given": "smooth", "when": GRAPH},
    ),
    # Gradients of one arrival a round, each at most tau rounds late.
    "asynchronous": (
        "mean grad2 <= 4*F_0/(gamma*T) + 4*L*gamma*sigma**2", "mean grad2 <= F_0/(99*gamma*T) + L*gamma*sigma**2/99",
        {"method": "async-sgd", "given": "smooth, homogeneous", "when": "gamma <= 1/(4*L*tau)"},
    ),
    "proximal point": (
        "gap <= lambda*R_0**2/(4*t)", "gap <= lambda*R_0**2/(9*t)", {"method": "proximal-point", "given": "convex"},
    ),
}  # fmt: skip
# Right ones that a search is tried on; the others take seconds.
SEARCHED = ("nonconvex", "last iterate", "sgd", "heavy ball")


@pytest.mark.every(2)
@pytest.mark.parametrize("name", THEOREMS)
def test_right_ones_hold_and_wrong_ones_fall(name):
    """On the default problem of few rounds, and in a short search."""
    right, wrong, rest = THEOREMS[name]
    sound = theorem(right, **rest)
    assert rc.verify(sound, T=20).verdict.outcome.value == "HOLDS"
    if name in SEARCHED:
        assert rc.falsify(sound, evaluations=16).outcome.value == "INCONCLUSIVE"
    false = theorem(wrong, **rest)
    fallen = rc.verify(false, T=20).verdict if name == "ring" else rc.falsify(false, evaluations=16)
    assert fallen.outcome.value == "VIOLATED"


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("mean grad2 <= 1/T", "mean_of_rounds"),
        ("mean(grad2) <= 1/T", "mean_of_rounds"),
        ("average of grad2 <= 1/T", "mean_of_rounds"),
        ("last gap <= 1/T", "after_rounds"),
        ("min grad2 <= 1/T", "best_round"),
        ("every gap <= 1/T", "every_round"),
        ("gap at the mean iterate <= 1/T", "averaged_iterate"),
        ("gap <= 1/t", ""),
        (r"\min_{t<T} \|\nabla f(x_t)\|^2 \le \frac1T", "best_round"),
        (r"f(x_T) - f^* \le \frac{L\|x_0-x^*\|^2}{4T+2}", "after_rounds"),
        (r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\left[\|\nabla f(x^t)\|^2\right] \leq \frac{1}{T}", "mean_of_rounds"),
        (r"f(\bar x_T)-f^*\le\frac{R_0^2}{2\gamma T}", "averaged_iterate"),
    ],
)
def test_the_rounds_are_read(text, over):
    """From the word before the left side, or from LaTeX."""
    assert claimed(text).over == over
    assert claimed(text).left.strip("()") in ("grad2", "gap")


def test_every_round_begins_where_both_sides_have_values():
    """1/t has none in round 0, and nothing is before it."""
    for text, over in (
        ("gap <= R_0**2/(2*gamma*t)", Over.EVERY_ROUND_BUT_FIRST),
        ("gap <= gap_prev", Over.EVERY_ROUND_BUT_FIRST),
        ("dist2 <= (1 - gamma*mu)**t*R_0**2", Over.EVERY_ROUND),
    ):
        found = theorem(text, method="gd", given="smooth, strongly convex", when="gamma <= 1/L")
        assert found.claims[0].metric.over is over


def test_what_a_name_implies_is_not_said():
    """One function and one step of gd; who takes part follows from whether the bound speaks of it."""
    gd = theorem("mean grad2 <= 2*F_0/(gamma*T)", **GD)
    assert {name: int(value) for name, value in gd.settings.items()} == {"n": 1, "m": 1, "K": 1, "eta": 1, "sigma": 0}
    assert gd.vocabulary.implied == {*gd.settings}
    assert gd.said == (Assumption.SMOOTHNESS,)
    sampled, everybody = (
        theorem(f"mean grad2 <= 2*F_0/(gamma*T) + L*gamma*zeta**2{over}", method="fedavg") for over in ("/m", "")
    )
    assert Assumption.UNIFORM_SAMPLING in sampled.assumptions
    assert Assumption.FULL_PARTICIPATION in everybody.assumptions
    assert {Assumption.DISSIMILARITY, Assumption.SMOOTHNESS} <= {*sampled.assumptions}
    assert sampled.settings == {"eta": 1, "sigma": 0}


def test_strong_convexity_is_that_of_every_client():
    """Of f alone where it is said, and where there is one function."""
    rest = {"method": "minibatch-sgd", "when": "gamma <= 1/L"}
    text = "dist2 <= (1 - gamma*mu)**t*R_0**2 + gamma*sigma**2/(n*mu)"
    for given, fact in (("strongly convex", "clients_strong_convexity"), ("f strongly convex", "strong_convexity"),
                        ("PL", "polyak_lojasiewicz")):  # fmt: skip
        assert theorem(text, given=f"smooth, {given}", **rest).vocabulary.facts["mu"] == fact
    assert theorem(text.replace("n*mu", "mu"), method="sgd", given="strongly convex").vocabulary.facts["mu"] == (
        "strong_convexity"
    )


def test_the_distance_is_no_square():
    """R_0 is ||x^0 - x*||, dist2_0 its square; either may be given, and they have to agree."""
    found = theorem("gap <= R_0**2/(2*gamma*t)", method="gd", given="convex", when="gamma <= 1/L")
    numbers = {"L": 1, "gamma": 0.5, "t": 4}
    assert found.evaluate(R_0=2, **numbers).value == found.evaluate(dist2_0=4, **numbers).value == 1
    with pytest.raises(InputError, match=r"needs a value for R_0 \(\|\|x\^0 - x\*\|\|"):
        found.evaluate(**numbers)
    with pytest.raises(InputError, match="contradicts"):
        found.evaluate(R_0=2, dist2_0=5, **numbers)


def test_answers_speak_the_same_words():
    """No name of the basic setting that is another one here, in any of the answers."""
    other = re.compile(r"gamma_u|eta_u|sigma_u|sigma_v|no_personal|G_u|plain-|\bb=|\beta=|\bK=|\bn=1\b.*with|fedavg")
    found = theorem(
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2/5", method="sgd", when="gamma <= 1/L", key="my/sgd"
    )
    answers = [
        rc.verify(found, T=10), rc.bound(found, L=1, F_0=1, gamma=1, T=10, sigma=1), rc.show(found), rc.lint(found),
        rc.stepsize(found, L=1, F_0=1, T=10, sigma=1), rc.falsify(found, evaluations=20),
    ]  # fmt: skip
    for answer in answers:
        assert not other.search(str(answer)), str(answer)


def test_a_proof_knows_the_noise():
    """Noise under its plain name is noise: without its term nothing is proved."""
    right, wrong = (
        theorem(f"mean grad2 <= 2*F_0/(gamma*T) + {share}*L*gamma*sigma**2", method="sgd", when="gamma <= 1/L")
        for share in ("1", "1/4")
    )
    assert rc.prove(right, T=2).proof.verdict == "PROVED"
    assert rc.prove(wrong, T=2).proof.verdict == "NOT PROVED"
    assert rc.prove(right, T=2).proof.shown["sigma"] == 0.3


@pytest.mark.parametrize(
    ("text", "rest", "part"),
    [
        ("grad2 <= 2*F_0/(gamma*T)", GD, "does not say which rounds are meant"),
        ("norm grad2 <= 1", GD, "'norm' does not say which rounds"),
        ("mean grad2 >= 1", GD, "at most its right side"),
        ("mean grad2", GD, "no comparison"),
        ("mean G_u <= 1", GD, "it is called 'grad2' here"),
        ("mean grad2 <= 2*F0/(gamma*T)", GD, "did you mean 'F_0'?"),
        ("mean grad2 <= mu*F_0", GD, "give 'strongly convex' or 'PL'"),
        (
            "mean grad2 <= 2*F_0/(gamma*T)",
            GD | {"given": "smoth"},
            "given: no assumption 'smoth'; did you mean 'smooth'",
        ),
        (
            "mean grad2 <= 2*F_0/(gamma*T)",
            GD | {"given": "smooth noise"},
            "given: no assumption 'smooth noise'; commas separate several: smooth, noise",
        ),
        ("mean grad2 <= 2*F_0/(gamma*T)", GD | {"when": "gamma <= 1/l"}, "when[0]: no symbol 'l'"),
        ("mean grad2 <= 2*F_0/(gamma*T)", {"method": "nesterov"}, "nesterov has the momentum beta"),
        (
            "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2/(n*K)",
            {"method": "minibatch-sgd"},
            "minibatch-sgd takes one step a round",
        ),
        ("mean grad2 <= 2*F_0/(gamma*T)", GD | {"when": "gamma <= 1/(L*tau_max)"}, "it is called 'tau' here"),
        ("last gap <= R_0**2/T", GD | {"when": "gamma == 1/(L*k)"}, "it is called 't' here"),
        ("last gap <= R_0**2/T", GD | {"when": "gamma == 1/(L*t)"}, "has no value in round t = 0"),
        ("last gap <= R_0**2/T", GD | {"when": "gamma == min(1/L, 1/(L*t))"}, "has no value in round t = 0"),
        ("last gap <= R_0**2/T", GD | {"when": "gamma <= 1/(L*(t + 1))"}, "as in gamma == min(1/L"),
        ("last gap <= R_0**2/T", GD | {"when": "gamma_t == 1/(t + 1), gamma_t <= 1/L"}, "as in gamma == min(1/L"),
        (
            "mean grad2 <= 2*F_0/(gamma*T)",
            {"method": "async-sgd", "when": "gamma <= 1/(L*tau_avg)"},
            "speaks of tau, and not of tau_avg",
        ),
        ("mean grad2 <= 2*F_0/(gamma*T) + L*gamma*G**2", {"method": "sgd"}, "write G**2 + sigma**2"),
        ("mean grad2 <= 2*F_0/(gamma*T)", {"method": 3}, "'ratecheck list methods'"),
        ("mean grad2 <= 2*F_0/(gamma*T)", {"method": "gd", "when": 3}, "when: 3 is neither text nor a list"),
    ],
)
def test_what_is_wrong_is_one_line(text, rest, part):
    """With what to write."""
    with pytest.raises(InputError, match=re.escape(part)) as caught:
        theorem(text, **rest)
    assert "\n" not in str(caught.value)


def test_an_unknown_method_is_said_in_plain_words():
    """When it is first needed: a file may define it further down."""
    with pytest.raises(InputError, match=r"no method 'gdd'; did you mean 'gd' or 'sgd'\?.*ratecheck list methods"):
        rc.verify(theorem("mean grad2 <= 1", method="gdd"))


def test_the_point_after_steps_that_depend_on_their_number():
    """On (x - 1)^2/2 the second of two steps (2 - t)/3 leads to 2/9, by the method's name and by a formula."""
    rest = {"T": 2, "n": 1, "d": 1, "L": 1, "mu": 1}
    named = theorem("last dist2 <= R_0**2", method="linearly-decreasing-steps", given="smooth", when="gamma == 1/L")
    by_formula = theorem("last dist2 <= R_0**2", method="gd", given="smooth", when="gamma == (T - t)/((T + 1)*L)")
    for each in (named, by_formula):
        assert rc.verify(each, **rest).verdict.slack == pytest.approx((9 / 2) ** 2)


def test_one_round_more_may_change_the_rounds_before():
    """A method of one's own does not say what its T counts: x^T of another run is nobody's."""

    class Falling(Scheduled):
        of_points = False

        def coefficients(self, t, T, p):
            return {"schedule": 1 - t / T}

    METHODS["own-falling"] = Method("own-falling", "falling", Falling(), {"K": 1}, personal=False)
    try:
        with pytest.raises(InputError, match="takes other steps in a run of one more round"):
            rc.verify(theorem("last gap <= L*R_0**2", method="own-falling", given="convex", when="gamma == 1/L"), T=5)
    finally:
        del METHODS["own-falling"]


@pytest.mark.parametrize("name", words.METHODS)
def test_every_method_runs_and_has_its_parameters(name):
    """Each has an entry that runs, whose step sizes are symbols here."""
    method = METHODS[words.PREFIX + name]
    assert method.spoken == name
    assert {*method.step_sizes} - {"gamma_v", "eta_v"} <= {*words.PLAIN.order}
    assert name in {word["method"] for word in rc.vocabulary("methods").words}


def test_a_default_is_what_every_command_takes():
    """Of a step size as of a setting: bound, stepsize and verify agree."""
    share, fixed = "2*F_0/((1 - momentum)*gamma_u*T)", "4*F_0/(gamma_u*T)"
    for role, right in (("step_size", share), ("step_size", fixed), ("setting", share), ("free", share)):
        found = theorem(
            f"mean G_u <= {right}",
            method="polyak-momentum", given="smooth", when="gamma_u <= 1/(4*L)", vocabulary="textbook",
            settings={"K": 1, "m": "n", "sigma_u": 0}, symbols=symbol("momentum", "m", role=role, default=0.5),
        )  # fmt: skip
        assert rc.bound(found, L=1, F_0=1, T=10, gamma_u=0.25).evaluation.value == 1.6
        assert rc.stepsize(found, L=1, F_0=1, T=10).step_sizes.optimal_bound == pytest.approx(1.6)
        verdict = rc.verify(found, n=1, T=10).verdict
        assert verdict.values["momentum"] == 0.5
        assert "momentum=0.5" in str(rc.verify(found, n=1, T=10))


def test_the_mean_iterate_of_a_usual_name_is_followed():
    """`averaged` is of the method under its usual name, noise included."""
    sound = theorem("gap at the mean iterate <= R_0**2/(2*gamma*(1 - gamma*L)*T) + gamma*sigma**2/(2*(1 - gamma*L))",
                    method="sgd", given="convex, smooth", when="gamma < 1/L")  # fmt: skip
    assert rc.verify(sound, T=9).outcome.value == "HOLDS"


def test_identical_clients_are_a_condition_that_the_default_problem_meets():
    """A bound without dissimilarity, on clients that have none to the last bit; others are refused."""
    alike = theorem("last dist2 <= (1 - gamma*mu)**T*dist2_0 + gamma*sigma**2/mu", method="minibatch-sgd",
                    given="strongly convex, smooth, homogeneous", when="gamma <= 1/L")  # fmt: skip
    found = rc.verify(alike, T=9)
    assert found.outcome.value == "HOLDS"
    assert found.verdict.values["zeta"] == 0
    assert rc.verify(alike, T=9, heterogeneity=1.0, interpolation=0).outcome.value == "NOT_APPLICABLE"


def test_a_number_of_arrivals_is_one_in_every_round():
    """Nobody in some rounds, and everybody in others, is no run with m = 1."""
    late = theorem("mean grad2 <= 4*F_0/(gamma*T)", method="async-sgd", given="smooth, homogeneous",
                   when="gamma <= 1/(4*L*tau), sigma == 0")  # fmt: skip
    away = rc.participation.Trace([[1], [0], [1], [0]])
    said = rc.verify(late, n=1, T=4, participation=away)
    assert said.outcome.value == "NOT_APPLICABLE"
    assert "differs from round to round" in said.verdict.reasons[0]


def test_the_distance_of_the_start_may_be_given_by_its_name():
    """R_0 says what dist2_0 is, for step sizes as for bounds."""
    averaged = theorem("mean gap <= R_0**2/(gamma*T)", method="gd", given="convex, smooth", when="gamma <= 1/L")
    one, other = (rc.stepsize(averaged, L=1, T=9, **start).to_dict() for start in ({"R_0": 3}, {"dist2_0": 9}))
    assert one["optimal_bound"] == other["optimal_bound"] == 1


def test_a_late_gradient_counts_the_update_that_its_client_did_not_see():
    """One round more than its client misses; where the step size grows faster than 1/tau the bound falls."""
    rest = {"method": "async-sgd", "given": "smooth, homogeneous"}
    late, fewer = (
        theorem("mean grad2 <= 2*F_0/(gamma*T)", when=f"gamma <= 1/(L*{tau}), sigma == 0, tau <= 5", **rest)
        for tau in ("(tau + 1)", "sqrt(tau)/2")
    )
    cyclic = rc.participation.Cyclic(4, 1)
    found = rc.verify(late, n=4, T=20, participation=cyclic)
    assert found.outcome.value == "HOLDS"
    assert found.verdict.values["tau"] == 4
    assert rc.verify(fewer, n=4, T=20, participation=cyclic).outcome.value == "VIOLATED"
    exactly = theorem("mean grad2 <= 2*F_0/(gamma*T)", when="gamma <= 1/(L*tau), sigma == 0, tau == 3", **rest)
    assert rc.verify(exactly, n=4, T=20, participation=cyclic).outcome.value == "NOT_APPLICABLE"
    with pytest.raises(InputError, match="away >= 0"):
        late.evaluate(tau=0.5, F_0=1, gamma=1, T=1, L=1)


def test_one_step_a_round_is_meant_where_nothing_says_several():
    """Of methods on graphs, as of gradient descent."""
    drift = theorem("every consensus2 <= 4*gamma**2*zeta**2/(1 - lambda_W)**2", method="dsgd", given="smooth",
                    when="gamma <= (1 - lambda_W)/(2*L)")  # fmt: skip
    assert drift.settings["K"] == 1
    with pytest.raises(InputError, match="takes K = 1"):
        rc.verify(drift, K=3, T=4)
    several = theorem("every consensus2 <= K*zeta**2", method="dsgd", given="smooth", when="gamma <= 1/L")
    assert "K" not in several.settings


def test_averaging_over_everybody_is_meant_where_nothing_says_how_a_graph_mixes():
    """ProxSkip as its paper has it: about complete graphs alone, as what says lambda_W == 0 is."""
    right = "last dist2 <= (1 - min(gamma*mu, p_W**2))**T*(dist2_0 + gamma**2*zeta_star**2/p_W**2)"
    rest = {"given": "smooth, strongly convex", "when": "gamma <= 1/L"}
    skipped = theorem(right, method="proxskip", **rest)
    found = rc.verify(skipped, T=9)
    assert found.outcome.value == "HOLDS"
    assert found.verdict.values["lambda_W"] == 0
    assert rc.falsify(skipped, evaluations=16).outcome.value == "INCONCLUSIVE"
    ring = rc.participation.Graph.named("ring", 10)
    assert rc.verify(skipped, T=9, participation=ring).outcome.value == "NOT_APPLICABLE"
    full = theorem("mean grad2 <= 2*F_0/(gamma*T)", method="dsgd", given="smooth", when="gamma <= 1/L, lambda_W == 0")
    complete = rc.participation.Graph.named("complete", 7)
    assert rc.verify(full, n=7, T=9, participation=complete).outcome.value == "HOLDS"


def test_an_equation_is_read_from_either_side():
    """Of a step size that changes by the round, and of a constant one; a title has the method once."""
    for when in ("1/(L*sqrt(t + 1)) == gamma", "gamma == 1/(L*sqrt(t + 1))", "1/(L*sqrt(t + 1)) == gamma_t"):
        found = theorem("best grad2 <= L*F_0/(sqrt(T + 1) - 1)", method="gd", given="smooth", when=when)
        assert found.algorithm == "plain-gd with gamma_t = 1/(L*sqrt(t + 1))"
    assert theorem("last gap <= L*R_0**2/T", method="gd", given="convex", when="1/L == gamma").step_rules
    moved = theorem("last gap <= R_0**2/T", method="nesterov", given="convex", when="beta == t/(t + 3), gamma <= 1/L")
    assert moved.title.startswith("Nesterov's method with beta_t = t/(t + 3)")


def test_sigma_beside_relative_noise_is_no_bound_on_the_noise():
    """Else no run with such noise would be one that the theorem is about, and what fails there alone would stand."""
    told = [
        theorem(f"mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2{more}", method="sgd", given=given, when=when)
        for given, when, more in (
            ("smooth, relative noise", "gamma <= 1/L", ""), ("smooth", "gamma <= 1/(L*(1 + rho_noise))", "")
        )
    ]  # fmt: skip
    for each in told:
        assert Assumption.RELATIVE_NOISE in each.assumptions
        assert Assumption.NOISE not in each.assumptions
