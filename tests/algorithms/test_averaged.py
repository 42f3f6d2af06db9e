"""The mean of a method's iterates: recorded where plain NumPy has it, and asked about by every command."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pytest
from extras import needs_pep

import ratecheck as rc
from bounds.errors import InputError
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.falsification.performance_estimation.worst_case import worst_case

CONVEX = ["smoothness", "convexity", "noise", "full_participation", "no_personal"]
JENSEN = "dist2_0/(gamma_u*T) + gamma_u*sigma_u**2/n"


def own(right=JENSEN, left="gap", assumptions=CONVEX, algorithm="fedavg", **settings):
    """A statement about the averaged iterate of SGD, or of several clients."""
    return theorem(
        title="The averaged iterate", algorithm=algorithm, left=left, right=right, over="averaged_iterate",
        assumptions=assumptions, conditions=["gamma_u <= 1/(2*L)"],
        settings={"m": "n", "eta_u": 1, **(settings or {"K": 1})}, vocabulary="textbook", key="mine/averaged",
    )  # fmt: skip


@pytest.fixture
def clients():
    """Three quadratics in two variables, by matrices and slopes."""
    rng = np.random.default_rng(5)
    H = np.array([np.diag(rng.uniform(0.2, 1.0, size=2)) for _ in range(3)])
    return H, rng.standard_normal((3, 2))


@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize("algorithm", ["fedavg", "scaffold"])
def test_the_mean_is_that_of_numpy(clients, algorithm, T):
    """K = 2 local steps without noise; of SCAFFOLD with control variates from the start, written out here."""
    H, g = clients
    gamma, K, x, means = 0.3, 2, np.zeros(2), []
    c = -g if algorithm == "scaffold" else np.zeros((3, 2))
    for _ in range(T):
        means.append(x)
        ends = []
        for i in range(3):
            y = x
            for _ in range(K):
                y = y - gamma * (H[i] @ y - g[i] + c.mean(axis=0) - c[i])
            ends.append(y)
        if algorithm == "scaffold":
            c = np.array([c[i] - c.mean(axis=0) + (x - ends[i]) / (K * gamma) for i in range(3)])
        x = np.mean(ends, axis=0)
    slope = H.mean(axis=0) @ np.mean(means, axis=0) - g.mean(axis=0)
    problem = rc.problems.Quadratic(H, g, shared=2)
    sizes = {"K": K, "T": T, "gamma_u": gamma, "eta_u": 1.0, "iterate_share": 1 / T}
    full = rc.participation.Trace.full(3)
    exact = rc.exact(f"averaged-{algorithm}", problem, full, **sizes).records["G_u"]
    assert exact[T - 1] == pytest.approx(slope @ slope, rel=1e-12)
    run = rc.simulate(f"averaged-{algorithm}", problem, full, **sizes)
    assert run.metric[0, T - 1] == pytest.approx(slope @ slope, rel=1e-12)


def test_with_noise_the_exact_engine_has_the_mean_over_all_signs():
    """In one dimension noise of two values has the variance of Gaussian noise: E (x - mean)^2 agrees in every digit."""
    given = {"n": 2, "K": 1, "T": 3, "L": 1.0, "gamma_u": 0.3, "sigma_u": 0.8, "dist2_0": 1.0}
    case = DeterministicCase.of(own("dist2_0 + 9*sigma_u**2", "dist2"), given)
    c, a = np.array([0.5, 0.9]), np.array([0.7, -0.4])
    run = case.run(np.zeros(1), lambda i, x: c[i] * (x - a[i]), noise=lambda *_: np.array([0.8]), rounds=3)
    assert len(run[2]) == 16
    problem = rc.problems.Quadratic(c[:, None, None], (c * a)[:, None], shared=1)
    star = (c @ a) / c.sum()
    exact = rc.exact(
        "averaged-fedavg", problem, rc.participation.Trace.full(2), K=1, T=3, gamma_u=0.3, eta_u=1.0, sigma_u=0.8,
        iterate_share=1 / 3,
    )  # fmt: skip
    wanted = np.mean([(c.mean() * (each.point[0] - star)) ** 2 for each in run[2]])
    assert exact.records["G_u"][2] == pytest.approx(wanted, rel=1e-12)


def test_verify_and_lint_take_it():
    """A theorem that follows by convexity holds; with a tenth of it the same problem shows that it is wrong."""
    good = rc.verify(own(), n=4, T=30)
    assert good.outcome.value == "HOLDS"
    assert rc.verify(own(f"({JENSEN})/20"), n=4, T=30).outcome.value == "VIOLATED"
    assert own().evaluate(n=1, L=1, gamma_u=0.5, T=4, sigma_u=1, dist2_0=1).value == 1.0


def test_falsify_takes_it():
    """Quadratics alone contradict a tenth of it, with an instance that is checked again."""
    found = rc.falsify(own(f"({JENSEN})/10"), evaluations=10)
    assert found.outcome.value == "VIOLATED"


@needs_pep
def test_the_worst_case_is_that_of_a_mean_written_out_in_pepit():
    """Three gradient steps, PEPit's class and points, none of this package; and a tenth less is violated."""
    with warnings.catch_warnings(action="ignore"):
        from PEPit import PEP
        from PEPit.functions import SmoothStronglyConvexFunction
    problem = PEP()
    with contextlib.redirect_stdout(io.StringIO()):
        function = problem.declare_function(SmoothStronglyConvexFunction, L=2.0, mu=0.0)
    star, x = function.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - star) ** 2 <= 1.5)
    iterates = [x]
    for _ in range(3):
        iterates.append(iterates[-1] - 0.2 * function.gradient(iterates[-1]))
    problem.set_performance_metric(function(sum(iterates[1:], iterates[0]) / 4) - function(star))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        wanted = problem.solve(verbose=0, solver="CLARABEL")
    given = {"n": 1, "T": 4, "L": 2.0, "gamma_u": 0.2, "dist2_0": 1.5, "sigma_u": 0.0}
    found = worst_case(own("dist2_0/(2*gamma_u*T)"), given)
    assert found.outcome.startswith("HOLDS")
    assert found.upper.left == pytest.approx(wanted, rel=1e-5)
    assert found.lower.left == pytest.approx(wanted, rel=1e-5)
    assert worst_case(own(f"{0.9 * wanted / 1.5}*dist2_0"), given).violated
    noisy = worst_case(own(), {**given, "T": 3, "sigma_u": 0.8})
    assert noisy.outcome.startswith("HOLDS for noise of two opposite values")
    assert noisy.upper.left - noisy.lower.left <= 1e-5 * noisy.upper.left


def test_methods_whose_server_has_iterates_are_averaged():
    """Beside each such method; none that records at the clients, has a lower level or no shared variable."""
    for name in ("fedavg", "fedavg-p", "scaffold", "fedsum"):
        assert METHODS[f"averaged-{name}"].title.endswith("iterates averaged")
    for name in ("flame", "simfbo", "parallel-sgd", "no-such-method"):
        assert f"averaged-{name}" not in METHODS
    assert not any(name.startswith("averaged-") for name in METHODS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": None}, "averaged_iterate is the mean of the iterates of a method: name it"),
        ({"left": "fall"}, "left: fall is no quantity of one point"),
        ({"right": "du2*L"}, "right: du2 is no quantity of one point"),
    ],
)
def test_what_is_no_claim_on_a_mean_is_refused(change, message):
    """In one line that names the field."""
    with pytest.raises(InputError, match=message):
        own(**change)


def test_every_client_takes_part():
    """A server that waits in a round without participants has no iterate of it."""
    problem = rc.problems.Quadratic(np.ones((3, 1, 1)), np.ones((3, 1)), shared=1)
    with pytest.raises(InputError, match="needs every client in every round"):
        rc.exact(
            "averaged-fedavg", problem, rc.participation.Trace.uniform(3, 2), K=1, T=3, gamma_u=0.1, eta_u=1.0,
            iterate_share=1 / 3,
        )  # fmt: skip
