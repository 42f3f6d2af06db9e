"""The exact small runs behind the PFL ledger against the exact engine, which computes the same quantities otherwise."""

import numpy as np
import pytest

from bounds.ledger.draw import Draw
from bounds.papers.pfl.proofs.runs import LocalRound, small_run
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
