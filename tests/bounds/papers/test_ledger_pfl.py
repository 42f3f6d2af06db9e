"""The exact small runs behind the PFL ledger against the exact engine, which computes the same quantities otherwise."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.ledger.draw import Draw, expect_square
from bounds.ledger.step import Scalar
from bounds.papers.pfl.proofs import staleness
from bounds.papers.pfl.proofs.runs import (
    Histories,
    LocalRound,
    QuadraticClient,
    QuadraticClients,
    average,
    small_run,
)
from ratecheck.auditing.decision import Answer
from ratecheck.auditing.dispatch import decide
from ratecheck.engines import setup
from ratecheck.engines.moments import lemmas
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

QUANTITIES = ("G_u", "G_v", "E", "B", "C", "T_1u", "T_1v", "T_2u", "T_2v", "T_3u", "S_3u")


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize("scaffold", [False, True])
def test_small_runs(index, scaffold):
    """Every quantity of Lemmas 3.1 to 4.4 agrees in every round, with noise and sampled clients."""
    law = small_run(Draw(index, "runs"), scaffold=scaffold, rounds=3)
    p = law.p
    problem = Quadratic(
        np.array([[[c.h, c.c], [c.c, c.p]] for c in p.clients], dtype=float),
        np.array([[c.g, c.q] for c in p.clients], dtype=float),
        shared=1,
    )
    ready = setup.prepare(
        "scaffold-p" if scaffold else "fedavg-p",
        problem,
        Trace.uniform(p.n, p.m),
        K=p.K,
        T=p.T,
        noise={"sigma_u": float(p.noise_u), "sigma_v": float(p.noise_v)},
        step_sizes=dict(zip(("gamma_u", "gamma_v", "eta_u", "eta_v"), map(float, p.steps), strict=True)),
        x0=np.array([p.u], dtype=float),
        v0=np.array([[v] for v in p.v], dtype=float),
    )
    records = lemmas.expect(ready).records
    found = {name: [law.mean(t, getattr(LocalRound, name)) for t in range(p.T)] for name in QUANTITIES}
    found["descent"] = [law.mean(t + 1, LocalRound.value) - law.mean(t, LocalRound.value) for t in range(p.T)]
    found["du2"] = [law.mean(t, LocalRound.move_u) for t in range(p.T)]
    found["dv2"] = [law.mean(t, LocalRound.moves_v) for t in range(p.T)]
    for name, values in found.items():
        np.testing.assert_allclose(records[name], np.array(values, dtype=float), rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("index", range(6))
def test_initial_gap(index):
    """F_0 of a convex instance is f at the start less f where the gradient of all variables is zero."""
    p = small_run(Draw(index, "gap"), convex=True).p
    n = p.n
    hessian, slope, start = np.zeros((n + 1, n + 1)), np.zeros(n + 1), np.array([p.u, *p.v], dtype=float)
    for i, client in enumerate(p.clients, start=1):
        hessian[0, 0] += client.h / n
        hessian[0, i] = hessian[i, 0] = client.c / n
        hessian[i, i] = client.p / n
        slope[0] += client.g / n
        slope[i] = client.q / n
    assert np.linalg.eigvalsh(hessian)[0] > 0
    least = np.linalg.solve(hessian, slope)
    gap = (start - least) @ hessian @ (start - least) / 2
    assert float(p.F_0) == pytest.approx(gap, rel=1e-9, abs=1e-12)


def test_start_of_theorem_3_11():
    """Theorem 3.11 fails with B^0 = n*||grad_u f||^2 as printed, and asks for a larger eta_u with the clients' sum."""
    shared = [
        QuadraticClient(h=Fraction(h), c=Fraction(0), p=Fraction(1), g=Fraction(g), q=Fraction(0))
        for h, g in ((1, 10**6), (0, -(10**6)))
    ]
    gamma, eta_u = Fraction(1, 84 * 2), Fraction(2)
    law = Histories(
        QuadraticClients(
            clients=tuple(shared),
            m=2,
            K=2,
            T=2,
            L=Fraction(1),
            steps=(gamma / eta_u, gamma, eta_u, Fraction(1)),
            sigma_u=Fraction(0),
            sigma_v=Fraction(0),
            noise_u=Fraction(0),
            noise_v=Fraction(0),
            u=Fraction(1, 1000),
            v=(Fraction(0), Fraction(0)),
            scaffold=False,
        )
    )
    p, start = law.p, law.rounds(0)[0]
    printed, meant = p.n * expect_square(start.full), start.B()
    assert eta_u >= p.T
    assert eta_u**2 >= max(printed * p.T / (p.n * p.L * p.F_0), p.n)
    left, right = law.metric(hat=False), 4 * p.F_0 / (p.T * p.K * gamma) + p.L * p.F_0 / p.T
    assert float(left) == pytest.approx(9.8, rel=1e-3)
    assert float(right) == pytest.approx(4.2e-5, rel=1e-2)
    assert eta_u**2 < meant * p.T / (p.n * p.L * p.F_0)


@pytest.mark.parametrize("index", range(30))
def test_staleness_with_the_further_terms(index):
    """Eq. (A.10) with the terms that the remark of lemma-4.4-2 adds, for any step sizes."""
    law = small_run(Draw(index, "staleness"), scaffold=True, rounds=3)
    p, t = law.p, 1 + index % 2
    share = Fraction(p.m, p.n)

    def expected(one: LocalRound) -> Fraction:
        """sum_i of the shared and the personal part of E||E(change | F)||^2."""
        change_u = one.known(average([each.u - one.u for each in one.next]))
        change_v = [one.known(average([each.v[i] - one.v[i] for each in one.next])) for i in range(p.n)]
        return p.n * expect_square(change_u) + expect_square(change_v)

    stale, drift = law.mean(t - 1, LocalRound.C), law.mean(t - 1, LocalRound.E)
    moves = law.mean(t - 1, LocalRound.move_u) + law.mean(t - 1, LocalRound.moves_v)
    right = (1 - share / 2) * stale + 2 * p.n * p.K * moves + 2 * share * drift
    right += 2 / share * p.K * law.mean(t - 1, expected)
    right += 64 * p.L**2 * p.K**2 * p.gamma**2 / (p.m * p.n) * (stale + drift)
    assert law.mean(t, LocalRound.C) <= right + 4 * p.K**2 * p.gamma**2 * p.sigma_u**2 / p.m


def test_room_in_a_14():
    """Eq. (A.14) follows from eq. (A.10) with the further terms too: Lemma 4.4 keeps its constants."""
    n, m, K, L, gamma = staleness.n, staleness.m, staleness.K, staleness.L, staleness.gamma
    further = 64 * L**2 * K**2 * gamma**2 / (m * n) * (staleness.C + staleness.E)
    further += 4 * K**2 * gamma**2 * staleness.su / m
    step = next(step for step in staleness.STEPS if step.id == "pfl/lemma-4.4-17")
    assert isinstance(step.check, Scalar)
    more = Scalar(
        left=step.check.left + further.subs(n, staleness.r**3),
        operator="<=",
        right=step.check.right,
        hypotheses=step.check.hypotheses,
    )
    decision = decide(more)
    assert decision.answer is Answer.TRUE
    assert decision.certified
