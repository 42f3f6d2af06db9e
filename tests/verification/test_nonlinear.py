"""Theorems about methods that are not linear: verdicts by the step engine, and none within what rounding may do."""

import pytest
from click.testing import CliRunner

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.cli import group
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import own_rounds
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome

SOURCE = """
import numpy as np
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.registered import NO_PERSONAL


class Turned(FedAvgP):
    linear = False

    def step(self, local, gradient, p):
        g = gradient["u"]
        return super().step(local, {**gradient, "u": LINE}, p)


METHODS["turned"] = Method("turned", "FedAvg along another direction", Turned(), fixed=NO_PERSONAL, personal=False)
common = {
    "algorithm": "turned",
    "left": "G_u",
    "over": "mean_of_rounds",
    "right": {"gap": "FACTOR*F_0/(gamma_u*T)", "rest": "REST*L*F_0"},
    "conditions": ["gamma_u <= 1/L"],
}
full = theorem(
    title="Turned, all clients",
    assumptions=["smoothness", "full_participation", "no_personal"],
    settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    **common,
)
noisy = theorem(
    title="Turned, some clients",
    assumptions=["smoothness", "noise", "uniform_sampling", "no_personal"],
    settings={"K": 1, "eta_u": 1},
    **common,
)
"""
CLIP = "g / np.maximum(1, np.linalg.norm(g, axis=-1, keepdims=True) / 2)"


@pytest.fixture
def own(tmp_path):
    """Writes the file with a direction and the right side of its theorems."""

    def write(line=CLIP, factor="9", rest="0"):
        path = tmp_path / "turned.py"
        path.write_text(SOURCE.replace("LINE", line).replace("FACTOR", factor).replace("REST", rest))
        return str(path)

    yield write
    METHODS.pop("turned", None)


def test_verdicts_without_noise(own):
    """One run says it; the engine is chosen and named."""
    found = rc.verify(f"{own()}:full", n=4, T=30)
    assert (found.outcome, found.verdict.engine) == (Outcome.HOLDS, "step")
    said = "turned is not linear: its run is followed step by step, its functions are compiled"
    assert said in found.verdict.notes
    assert rc.verify(f"{own(factor='0.1')}:full", n=4, T=30).outcome is Outcome.VIOLATED


def test_verdicts_with_noise(own):
    """Statistical ones; the runs are not normal, so no interval supposes it."""
    setting = {"n": 4, "m": 2, "T": 30, "sigma_u": 0.3}
    found = rc.verify(f"{own('np.sign(g)', '9', '9')}:noisy", **setting)
    assert (found.outcome, found.verdict.engine) == (Outcome.HOLDS, "step")
    assert found.verdict.replicates > 1
    assert rc.verify(f"{own('np.sign(g)', '1/1000')}:noisy", **setting).outcome is Outcome.VIOLATED


def test_no_noise_is_taken_for_normal(own):
    """Though problem and participation are those of a linear run that is."""
    rc.get(f"{own()}:full")
    problem, trace = rc.problems.Quadratic.synthetic(n=3, d=4, shared=4), rc.participation.Trace.full(3)
    ready = setup.prepare(
        "turned", problem, trace, K=1, T=3, noise={"sigma_u": 0.2}, step_sizes={"gamma_u": 0.1, "eta_u": 1.0}
    )
    assert not setup.is_normal(ready)
    assert not own_rounds.rounding_matters(ready)


@pytest.mark.parametrize(("factor", "outcome"), [("29/45", "INCONCLUSIVE"), ("2", "HOLDS"), ("1/20", "VIOLATED")])
def test_what_rounding_decides_is_not_judged(own, factor, outcome):
    """Three steps of 0.1 reach the minimiser 0.3 of x^2/2 - 0.3 x but for a last digit, whose sign then is a step.

    In decimals the run stays there: G_u is 0.09, 0.04, 0.01, 0 and 0, with a mean of 0.028 below 29/45*F_0 = 0.029. In
    float64 the last one is 0.01 and the mean 0.03.
    """
    path, problem = own("np.sign(g)", factor="0", rest=factor), rc.problems.Quadratic([[[1.0]]], [[0.3]], 1)
    rc.get(f"{path}:full")
    setting = {"K": 1, "T": 5, "gamma_u": 0.1, "eta_u": 1.0}
    run = rc.simulate("turned", problem, rc.participation.Trace.full(1), **setting).metric[0]
    assert run[4] == pytest.approx(0.01)
    sizes = {name: setting[name] for name in ("gamma_u", "eta_u")}
    ready = setup.prepare("turned", problem, rc.participation.Trace.full(1), K=1, T=5, step_sizes=sizes)
    error = own_rounds.rounding(ready)["G_u"][0]
    assert error[3] < 1e-10
    assert error[4] > 0.005
    found = rc.verify(f"{path}:full", problem=problem, T=5, gamma_u=0.1, eta_u=1)
    assert found.outcome is Outcome[outcome]


def test_equal_sides_are_not_judged(own):
    """A difference near rounding is none."""
    problem = rc.problems.Quadratic.synthetic(n=3, d=4, shared=4)
    first = rc.verify(f"{own()}:full", problem=problem, T=20)
    ratio = first.verdict.comparisons[0].left / first.verdict.values["F_0"]
    for move, outcome in ((1e-11, None), (-1e-11, None), (1e-6, Outcome.HOLDS), (-1e-6, Outcome.VIOLATED)):
        path = own(factor="0", rest=repr(ratio * (1 + move)))
        assert rc.verify(f"{path}:full", problem=problem, T=20).outcome is (outcome or Outcome.INCONCLUSIVE)


def invoke(*words):
    """The command, in this process."""
    return CliRunner().invoke(group, list(words), standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "FILE:full", "n=4", "T=5", "--engine", "exact"], "^turned is not linear: the exact engine"),
        (["falsify", "FILE:full", "--pep"], "no worst case here: turned is not linear"),
        (["audit", "FILE"], "has no ledger of its proof"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_commands_refuse_in_one_line(own, words, message):
    """By the method's name, where it is the reason."""
    path = own()
    with pytest.raises(rc.InputError, match=message) as caught:
        invoke(*(each.replace("FILE", path) for each in words))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verify", "FILE:full", "n=4", "T=5", "--problem", "logistic"], "HOLDS"),
        (["stepsize", "FILE:full", "L=2", "F_0=3", "T=100"], "(0, 0.5]"),
        (["lint", "FILE"], "turned is not linear, so that nothing is computed exactly"),
        (["plot", "FILE:full", "n=2", "T=4", "--out", "OUT/p.svg"], "HOLDS"),
        (["falsify", "FILE:full", "--evaluations", "5", "--out", "OUT/f.json"], "step engine"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_commands_work(own, tmp_path, words, said):
    """As for any method."""
    path = own()
    found = invoke(*(each.replace("FILE", path).replace("OUT", str(tmp_path)) for each in words))
    assert said in found.output


@pytest.mark.parametrize("name", ["full", "noisy"])
def test_a_search_keeps_to_short_runs(own, name):
    """Each local step of each client is a call of Python: a million rounds of it are hours for one instance."""
    statement = rc.get(f"{own()}:{name}")
    for shape in shapes(statement):
        steps, rounds = Cube(statement, shape).reach
        assert shape.n * steps * rounds <= 10_000


def test_a_search_refutes(own):
    """One whose bound is far too small, within the smallest budgets."""
    found = rc.falsify(f"{own('np.sign(g)', '1/1000')}:noisy", evaluations=60)
    assert found.outcome is Outcome.VIOLATED
