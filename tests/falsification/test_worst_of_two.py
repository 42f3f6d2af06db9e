"""Worst functions of two clients, of one of two that is sampled, and of runs whose length a whole number decides."""

import pytest

from bounds.theorem import symbol, theorem
from ratecheck.falsification.performance_estimation.worst_functions import worst_functions

pytest.importorskip("PEPit")
pytest.importorskip("clarabel")

ONE_STEP = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}


def run(left, right, over="every_round", *, algorithm="fedavg", more="full_participation", settings=ONE_STEP, own=()):
    """A statement about convex functions, smooth ones where gradients are taken."""
    smooth = algorithm == "fedavg"
    return theorem(
        title="A run", key="own/a-run", algorithm=algorithm, left=left, right=right, over=over, vocabulary="textbook",
        assumptions=["convexity", *(["smoothness"] if smooth else ["exact_inner"]), more], settings=settings,
        conditions=["gamma_u <= 1/L"] if smooth else [], symbols=list(own),
    )  # fmt: skip


SAMPLED = {"K": 1, "eta_u": 1, "sigma_u": 0}
PAIRS = {
    # Two local steps of clients that pull apart.
    "two clients": (run("fall", "0", settings={**ONE_STEP, "K": 2}), run("fall", "0")),
    # One of two clients steps away from the minimiser of both, by no more than its gradient.
    "one of two": (
        run("nearer", "0", more="uniform_sampling", settings=SAMPLED),
        run("nearer", "gamma_u**2*B/n", more="uniform_sampling", settings=SAMPLED),
    ),
    # The same of proximal steps, whose functions need not be smooth.
    "proximal": (
        run("nearer", "0", algorithm="proximal-point", more="uniform_sampling", settings={"K": 1, "sigma_u": 0}),
        run("nearer", "B/lambda_**2/n", algorithm="proximal-point", more="uniform_sampling",
            settings={"K": 1, "sigma_u": 0}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_two_clients_are_followed(name):
    """A statement that is right for one client is accused by two; what two clients meet is not."""
    wrong, right = (worst_functions(each) for each in PAIRS[name])
    assert wrong.violated
    assert {case.case.values["n"] for case in wrong.cases if case.violated} == {2}
    assert not right.violated
    assert {case.case.values["n"] for case in right.cases} == {1, 2}


def test_runs_of_a_power_of_two_rounds_are_followed():
    """f(x^{T-1}) - f* is at most ||x^0 - x*||^2/(2 gamma (2T - 1)), as is known, and reaches it."""
    k = symbol("k", "doublings", domain="positive_integer", role="free")
    wrong, right = (
        worst_functions(
            run(
                "gap", f"dist2_0/({share}*gamma_u*(2*T - 1))", "last_round", settings={**ONE_STEP, "T": "2**k"}, own=[k]
            )
        )
        for share in ("21/10", "2")
    )
    assert wrong.violated
    assert not right.violated
    assert {case.case.values["T"] for case in right.cases} == {4}
    assert right.tightness == pytest.approx(1.0, abs=1e-4)
