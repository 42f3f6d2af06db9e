"""Scaling: verdicts on curves with known laws, right and planted statements on the exact engine, and the command."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from ratecheck.cli import _run
from ratecheck.errors import InputError
from ratecheck.exponents import parameters as varied
from ratecheck.exponents.scaling import Agreement, classify, confirm, scaling
from ratecheck.exponents.sweep import Sweep
from ratecheck.participation import delays
from ratecheck.problems import Logistic, Quadratic
from ratecheck.statistics.exponent_fit import fit
from ratecheck.verification.verdict import Comparison
from ratecheck.verification.verify import Options

X = np.geomspace(10.0, 160.0, 7)


def curve(measured, *terms, x=X, role="rounds", vacuous=False, left_out=(), samples=None):
    """A sweep with this left side under the sum of these terms, one array each."""
    bound = np.sum(terms, axis=0)
    return Sweep(
        parameter="T", role=role, at=float(x[3]), held=(), values=x, measured=measured, error=np.zeros_like(x),
        bound=bound, terms={f"term {k}": term for k, term in enumerate(terms)},
        vacuous=np.full(len(x), vacuous), predicted=math.nan,
        fit=fit(x, measured, samples), law=fit(x, bound), left_out=left_out,
    )  # fmt: skip


# --- Known curves ---


@given(st.floats(-2, 2), st.floats(-2, 2))
@settings(deadline=None, max_examples=60)
def test_two_power_laws(measured, law):
    """The left side may fall behind the bound towards large T, and may not gain on it; where they meet is exact."""
    over = X[-1] ** max(measured - law, 0) / X[0] ** min(measured - law, 0)
    found = classify(curve(X**measured, 100 * over * X**law))
    if abs(abs(measured - law) - 0.05) < 1e-6:
        return
    if measured > law + 0.05:
        assert found.agreement is Agreement.INCONSISTENT
        assert found.meet == pytest.approx((100 * over) ** (1 / (measured - law)), rel=1e-6)
        assert found.meet > X[-1]
    else:
        assert found.agreement is Agreement.CONSISTENT
        assert found.tight == (measured >= law - 0.05)


def test_small_step_sizes_are_where_the_rate_is_claimed():
    """Against 1/gamma a flat left side is behind the bound, against gamma it is not."""
    flat = np.ones_like(X)
    behind = classify(curve(flat, 1e4 / X, role="step_size"))
    assert (behind.agreement, behind.tight) == (Agreement.CONSISTENT, False)
    ahead = classify(curve(flat, 1e2 * X, role="step_size"))
    assert ahead.agreement is Agreement.INCONSISTENT
    assert ahead.meet == pytest.approx(1e-2)


@pytest.mark.parametrize("exponent", [76.0, -76.0, 4.5, -4.5])
def test_a_slope_that_no_rate_has_is_no_pass(exponent):
    """On either side of the curve, in either direction, also where both sides share it."""
    shape = (X / X[0]) ** exponent
    high = 1e4 * max(1.0, float(shape.max()))
    assert classify(curve(shape, high / X)).agreement is Agreement.SENSELESS
    assert classify(curve(1e-12 / X, shape / min(float(shape.min()), 1.0))).agreement is Agreement.SENSELESS
    assert classify(curve(shape, 10 * shape)).agreement is Agreement.SENSELESS


def test_noise_and_two_points_leave_the_exponent_open():
    """An interval wider than one, or an infinite one, is no conclusion."""
    rng = np.random.default_rng(0)
    scattered = np.exp(rng.normal(0, 2.0, len(X)))
    assert classify(curve(scattered, 1e6 / X)).agreement is Agreement.SENSELESS
    two = X[[0, -1]]
    short = replace(
        curve(1 / X, 9 / X), values=two, measured=1 / two, error=np.zeros(2), bound=9 / two, fit=fit(two, 1 / two)
    )
    assert "2 points" in classify(short).reason
    assert classify(short).agreement is Agreement.SENSELESS


def test_monte_carlo_widens_the_interval_and_can_leave_it_open():
    """The same means, with replicates that agree and with replicates that do not."""
    rng = np.random.default_rng(1)
    for spread, agreement in ((0.001, Agreement.INCONSISTENT), (5.0, Agreement.SENSELESS)):
        noise = rng.standard_normal((len(X), 64))
        samples = X[:, None] ** -0.5 * (1 + spread * (noise - noise.mean(axis=1, keepdims=True)))
        assert classify(curve(samples.mean(axis=1), 1e3 / X, samples=samples)).agreement is agreement


def test_a_blow_up_within_the_range_is_no_pass():
    """Even where the points that are left match."""
    found = classify(curve(1 / X, 9 / X, left_out=("T=200 diverged: the metric grew from 1 to 1e+09",)))
    assert found.agreement is Agreement.SENSELESS
    assert "blows up" in found.reason


def test_a_point_above_the_bound_is_an_answer_by_itself():
    """A violation is found even where the fits agree."""
    measured = 1 / X
    measured[4] *= 1.2
    found = classify(curve(measured, 1.1 / X))
    assert found.agreement is Agreement.INCONSISTENT
    assert f"T={X[4]:.4g}" in found.reason


def test_bends_are_not_asymptotic():
    """On the left side; where the leading term of the bound changes; not where two terms of one power change places."""
    left = classify(curve(1 / X + 1 / 40, 1e3 / X))
    assert left.agreement is Agreement.NOT_ASYMPTOTIC
    assert "left side bends" in left.reason
    assert classify(curve(X**-0.5, 20 / X, 100 / np.sqrt(X))).agreement is Agreement.CONSISTENT
    passing = classify(curve(X**-0.5, 400 / X, 60 / np.sqrt(X)))
    assert passing.agreement is Agreement.NOT_ASYMPTOTIC
    assert passing.dominant == ("term 0", "term 1")
    assert 'from its term "term 0" to "term 1"' in passing.reason
    tied = 5 / X * (1 + 1e-3 * np.linspace(1, -1, len(X)))
    assert classify(curve(1 / X, tied, 5 / X)).agreement is Agreement.CONSISTENT


def test_a_vacuous_bound_accuses_nobody():
    """Before the bound says anything the left side need not have begun to fall; behind the bound it may be."""
    flat = X**-0.1
    assert classify(curve(flat, 1e3 / X)).agreement is Agreement.INCONSISTENT
    assert classify(curve(flat, 1e3 / X, vacuous=True)).agreement is Agreement.NOT_ASYMPTOTIC
    assert classify(curve(1 / X**2, 1e3 / X, vacuous=True)).agreement is Agreement.CONSISTENT


def test_a_mixture_of_terms_accuses_nobody():
    """Two terms of different powers give an exponent in between, which the left side need not share."""
    found = classify(curve(X**-0.5, 200 / X, 100 / np.sqrt(X)))
    assert found.agreement is Agreement.NOT_ASYMPTOTIC
    assert "mixture" in found.reason


def test_an_accusation_is_dropped_where_the_gain_does_not_go_on():
    """1/sqrt(T) under 1000/T, with a look further out: a law that goes on, one that has turned, and a violation."""
    near, far = (classify(curve(X**-0.5, scale / X)) for scale in (20, 1000))
    # They meet at 400 and at a million, of which only the first is within reach.
    assert (near.further, far.further) == (800.0, 4800.0)
    for accused, scale, share, agreement, words in (
        (near, 20, 1.4, Agreement.INCONSISTENT, "exceeds the bound"),
        (near, 20, 0.9, Agreement.NOT_ASYMPTOTIC, "it is 0.9 of it"),
        (far, 1000, 4800**0.5 / 1000, Agreement.INCONSISTENT, "the gain goes on"),
        (far, 1000, 0.02, Agreement.NOT_ASYMPTOTIC, "it is 0.02 of it"),
    ):
        right = scale / accused.further
        found = confirm(accused, Comparison("main", None, share * right, right, 0.0, {}))
        assert found.agreement is agreement
        assert words in found.reason
    assert confirm(far, None) == far


# --- Statements on the exact engine ---

NOISY = {"m": 2.0, "K": 4.0, "T": 1e8, "sigma_u": 3.0, "sigma_v": 0.0}


@pytest.fixture(scope="module")
def alike():
    """Four clients with one gradient, all shared: nothing but noise is left in the end."""
    return Quadratic.synthetic(n=4, d=2, shared=2, heterogeneity=0.0, seed=1)


def planted(statement, name, power, values):
    """The statement with its noise term multiplied by (x/x_0)^power: the same at the setting, another law in x."""
    symbol = statement.vocabulary[name].symbol
    (claim,) = statement.claims
    label = next(label for label in claim.terms if label.startswith("noise"))
    factor = (symbol / sp.Rational(values[name])) ** power
    return replace(statement, claims=(replace(claim, terms={**claim.terms, label: claim.terms[label] * factor}),))


def test_noise_dominated_rate_is_the_root(alike):
    """corollary-3.8 with b = 0 at huge T: -1/2 in K, m and T, and the quadratics show it."""
    found = scaling(bounds.get("pfl/corollary-3.8"), alike, NOISY, over=("K", "m", "T"))
    assert found.survey.verdict.engine == "exact"
    assert found.agreement is Agreement.CONSISTENT
    for each in found.exponents:
        assert each.tight
        assert each.sweep.predicted == pytest.approx(-0.5, abs=2e-3)
        assert each.sweep.law.exponent == pytest.approx(-0.5, abs=2e-3)
        assert each.sweep.fit.exponent == pytest.approx(-0.5, abs=5e-3)
        assert each.dominant == ("noise and dissimilarity",) * 2


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["K", "m", "T"])
def test_planted_exponents_are_caught(name):
    """A rate 1/x in place of 1/sqrt(x) is refuted, in m with clients enough; x^(-1/4) is true and not tight."""
    statement = bounds.get("pfl/corollary-3.8")
    many = Quadratic.synthetic(n=200, d=2, shared=2, heterogeneity=0.0, seed=1)
    setting = {**NOISY, "T": 1e7}
    wrong = scaling(planted(statement, name, -sp.Rational(1, 2), setting), many, setting, over=(name,))
    assert wrong.agreement is Agreement.INCONSISTENT
    assert "exceeds the bound" in wrong.exponents[0].reason
    weak = scaling(planted(statement, name, sp.Rational(1, 4), setting), many, setting, over=(name,))
    assert weak.agreement is Agreement.CONSISTENT
    assert weak.exponents[0].tight is False


def test_few_clients_cannot_contradict_a_rate_in_m(alike):
    """With four clients the planted rate 1/m is below the left side from about a hundred on, so it is true."""
    (exponent,) = scaling(
        planted(bounds.get("pfl/corollary-3.8"), "m", -sp.Rational(1, 2), NOISY), alike, NOISY, over=("m",)
    ).exponents
    assert exponent.agreement is Agreement.NOT_ASYMPTOTIC
    assert "beyond the largest possible value 4" in exponent.reason


def test_the_meeting_point_is_a_violation(alike):
    """Twice beyond the rounds at which the laws were said to meet, verify finds the planted statement violated."""
    from ratecheck.outcome import Outcome
    from ratecheck.verification.verify import verify

    wrong = planted(bounds.get("pfl/corollary-3.8"), "K", -sp.Rational(1, 2), NOISY)
    (exponent,) = scaling(wrong, alike, NOISY, over=("K",)).exponents
    before, beyond = (float(round(factor * exponent.meet)) for factor in (0.5, 2.0))
    assert verify(wrong, alike, {**NOISY, "K": before}).outcome is Outcome.HOLDS
    assert verify(wrong, alike, {**NOISY, "K": beyond}).outcome is Outcome.VIOLATED


@pytest.fixture(scope="module")
def clients():
    """Three different clients for FedSUM."""
    return Quadratic.synthetic(n=3, d=2, shared=2, seed=1)


def test_fedsum_without_noise(clients):
    """20 tau_max (L Delta_f + F_0)/T: -1 in T, 1 in the delay, nothing in N and K."""
    setting = {"N": 3.0, "S": 1.0, "K": 3.0, "T": 400.0, "sigma": 0.0}
    found = scaling(bounds.get("fedsum/theorem-4.1"), clients, setting, over=("N", "K", "T", "tau"))
    assert found.agreement is Agreement.CONSISTENT
    law = {each.sweep.parameter: each.sweep.law.exponent for each in found.exponents}
    assert law == pytest.approx({"N": 0.0, "K": 0.0, "T": -1.0, "tau_max": 1.0}, abs=1e-9)
    local = {each.sweep.parameter: each.sweep.predicted for each in found.exponents}
    assert local == pytest.approx(law, abs=1e-9)
    measured = {each.sweep.parameter: each.sweep.fit.exponent for each in found.exponents}
    assert measured["T"] == pytest.approx(-1, abs=0.1)
    assert measured["tau_max"] == pytest.approx(0.9, abs=0.1)


def test_fedsum_with_noise(clients):
    """30 sqrt((1 + tau_avg) L sigma^2 Delta_f/(N K T)) leads: about -1/2 in N, K and T, and 1/2 in the delay."""
    setting = {"N": 3.0, "S": 1.0, "K": 3.0, "T": 3000.0, "sigma": 9.0}
    found = scaling(bounds.get("fedsum/theorem-4.1-repaired"), clients, setting, over=("N", "K", "T", "tau", "S"))
    for each in found.exponents:
        assert each.agreement is not Agreement.INCONSISTENT
        if each.sweep.parameter in ("N", "K", "T"):
            assert each.sweep.law.exponent == pytest.approx(-0.5, abs=0.05)
            assert each.sweep.fit.exponent == pytest.approx(-0.5, abs=0.1)
    by_name = {each.sweep.parameter: each.sweep for each in found.exponents}
    assert 0.3 < by_name["tau_max"].law.exponent < 0.6
    # Blocks of one, two and three of three clients: delays 2, 1, 0.
    np.testing.assert_array_equal(by_name["S"].values, [1.0, 2.0, 3.0])


def test_predicted_exponent_in_the_delay_is_the_slope_of_the_bound(clients):
    """tau_avg moves with tau_max: the sum of both local exponents, against the bound at neighbouring delays."""
    setting = {"N": 3.0, "S": 1.0, "K": 3.0, "T": 2000.0, "sigma": 9.0}
    (each,) = scaling(bounds.get("fedsum/theorem-4.1"), clients, setting, over=("delay",)).exponents
    sweep = each.sweep
    k = int(np.flatnonzero(sweep.values == sweep.at)[0])
    slope = math.log(sweep.bound[k + 1] / sweep.bound[k - 1]) / math.log(sweep.values[k + 1] / sweep.values[k - 1])
    assert sweep.predicted == pytest.approx(slope, abs=0.02)


@pytest.mark.parametrize("tau", [1, 2, 5])
def test_the_returning_client_has_that_delay(tau):
    """tau_max by the definition, counted on the matrix."""
    matrix = varied.returning(3, tau, 40).matrix
    assert delays.maximum(matrix) == tau
    assert matrix[:, :-1].all()


def test_copied_clients_change_no_constant(clients):
    """Smoothness, gap and first gradients of every problem in a sweep over N are the same."""
    statement = bounds.get("fedsum/theorem-4.1-repaired")
    setting = {"N": 3.0, "S": 1.0, "K": 2.0, "T": 20.0, "sigma": 0.1}
    from ratecheck.verification.verify import verify

    verdict = verify(statement, clients, setting, participation=varied.participation(statement, clients, setting))
    plan = varied.plan(statement, clients, setting, verdict, varied.parameter(statement, "N"))
    assert [point.problem.n for point in plan.points] == [3, 6, 9, 12, 18, 24]
    constants = [{k: point.problem.constants()[k].value for k in ("L", "F_0", "b")} for point in plan.points]
    for each in constants:
        assert each == pytest.approx(constants[0])


def test_flame_has_no_local_steps_and_a_free_step_size():
    """The names of its paper: s clients of m, rho; K is no parameter, and m is the number of clients."""
    statement = bounds.get("flame/theorem-2-unbiased")
    known = [each.symbol for each in varied.parameters(statement, varied.ROLES)]
    assert known == ["s", "T", "rho", "m"]
    assert varied.parameter(statement, "gamma").symbol == "rho"
    assert varied.parameter(statement, "m").role == "clients"
    with pytest.raises(InputError, match=r"'K' is not one of what .* lets vary: s, T, rho, m"):
        varied.parameter(statement, "K")


def test_monte_carlo_where_nothing_else_is_possible():
    """Logistic problems: intervals from replicates, never narrower than those of the fit alone."""
    problem = Logistic.synthetic(n=3, N=10, d=4)
    setting = {"m": 2.0, "K": 2.0, "T": 20.0, "sigma_u": 0.1, "sigma_v": 0.1}
    found = scaling(bounds.get("pfl/corollary-3.8"), problem, setting, Options(replicates=8), over=("T",))
    assert found.survey.verdict.engine == "step"
    sweep = found.exponents[0].sweep
    alone = fit(sweep.values, sweep.measured)
    assert sweep.fit.high - sweep.fit.low > alone.high - alone.low


# --- The command ---


def call(capsys, *arguments):
    """Exit code, stdout, stderr."""
    code = _run(["scaling", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


SMALL = ("N=3", "S=1", "K=3", "d=2", "sigma=0", "T=400", "seed=1")


def test_table_and_exit_code(capsys):
    """One row per parameter, the reading, and 0."""
    code, out, err = call(capsys, "fedsum/theorem-4.1", *SMALL, "--over", "T,tau")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("note: fedsum/theorem-4.1 needs an assumption that is not printed")
    lines = out.splitlines()
    header = next(k for k, line in enumerate(lines) if line.startswith("parameter"))
    assert [line.split()[0] for line in lines[header + 1 : header + 3]] == ["T", "tau_max"]
    assert all("CONSISTENT" in line for line in lines[header + 1 : header + 3])
    assert lines[-1] == "A matching slope is evidence, never proof."
    assert "intervals are those of the fits alone" in out


def test_json_has_numbers_and_verdicts(capsys):
    """What scripts read, without NaN or infinity; 3 where there is no conclusion."""
    code, out, _ = call(capsys, "fedsum/theorem-4.1", *SMALL, "--over", "T,S", "--json")
    data = json.loads(out)
    assert (code, data["scaling"]) == (3, "NO_CONCLUSION")
    assert list(data["exponents"]) == ["T", "S"]
    rounds = data["exponents"]["T"]
    assert rounds["verdict"] == "CONSISTENT"
    assert rounds["bound_exponent"] == pytest.approx(-1)
    assert rounds["interval"][0] <= rounds["fitted_exponent"] <= rounds["interval"][1]
    assert {len(rounds[k]) for k in ("values", "measured", "bound")} == {7}
    assert all(len(values) == 7 for values in rounds["terms"].values())
    assert data["exponents"]["S"]["verdict"] == "SENSELESS"


def test_a_wrong_statement_exits_with_one(capsys, tmp_path):
    """A statement from a file, which claims T^(-13/10)."""
    path = tmp_path / "wrong.py"
    path.write_text(
        "from dataclasses import replace\n"
        "import sympy as sp\n"
        "import bounds\n"
        "theorem = bounds.get('fedsum/theorem-4.1')\n"
        "(claim,) = theorem.claims\n"
        "factor = (2000 / theorem.vocabulary['T'].symbol) ** sp.Rational(3, 10)\n"
        "terms = {label: factor * term for label, term in claim.terms.items()}\n"
        "fast = replace(theorem, key='fast', claims=(replace(claim, terms=terms),))\n"
    )
    code, out, _ = call(capsys, f"{path}:fast", *SMALL[:-2], "T=2000", "seed=1", "--over", "T")
    assert "INCONSISTENT" in out
    assert "meet at T = " in out
    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fedsum/theorem-9",), "did you mean"),
        (("fedsum/lemma-f.1",), "needed is a bound with a value on a mean over rounds"),
        (("pfl/theorem-3.7", "--over", "tau"), "'tau' is not one of what pfl/theorem-3.7 lets vary: K, m, T, gamma, n"),
        (("fedsum/theorem-4.1", "--over", "K,"), "not a list of names"),
        (("fedsum/theorem-4.1", "--over", "K,K"), "names K twice"),
        (("fedsum/theorem-4.1", *SMALL, "--over", "eta"), "eta cannot be varied: fedsum/theorem-4.1 prescribes eta"),
        (("fedsum/theorem-4.1", "N=3", "S=1", "T=10", "--over", "tau"), "10 rounds are too few"),
        (("fedsum/theorem-4.1", *SMALL, "--engine", "fast"), "no engine 'fast'"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    """Exit code 2, nothing on stdout, one line on stderr."""
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
