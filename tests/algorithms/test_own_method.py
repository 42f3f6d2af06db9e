"""A method of one's own that is wrong says so in one line, whichever command runs it; one that is linear is taken."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import LinearMaps
from ratecheck.algorithms.model.remembering import Remembering
from ratecheck.cli import group

SOURCE = """
import numpy as np
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP


class HeavyBall(FedAvgP):
    server = {"u": "u", "d": "u"}

    def start_server(self, point, clients, p):
        return {"u": point["u"], "d": 0 * point["u"]}

    def aggregate(self, server, total, p):
        d = server["d"] / 2 + total["u"] / p["m"] - server["u"]
        LINE
        return {"u": server["u"] + p["eta_u"] * d, "d": d}


METHODS["heavy-ball"] = Method("heavy-ball", "FedAvg-P with server momentum", HeavyBall())
descent = theorem(
    title="Heavy ball",
    algorithm="heavy-ball",
    assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right={"gap": "9*F_0/(gamma_u*T)"},
    conditions=["gamma_u <= 1/L"],
    settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
)
"""
# Linear on one side of the threshold.
THRESHOLDS = (
    "d = np.clip(d, -1e3, 1e3)",
    "d = np.clip(d, -1e80, 1e80)",
    "d = np.where((abs(d) > 200) & (abs(d) < 3000), 0, d)",
    "d = np.sign(d) * np.maximum(abs(d) - 1e-9, 0)",
    "d = d / np.maximum(1, np.linalg.norm(d.astype(float)) / 1e6)",
    "d = d * (np.linalg.norm(d.astype(float)) > 1e-40)",
    "d = d if abs(d).max() < 1e15 else 2 * d",
)
WRONG = {
    'd = d * float("nan")': "returns NaN or infinity in 'u'",
    'd = d * float("inf")': "returns NaN or infinity in 'u'",
    'server["u"] += 1': "changes its input 'u': compute a new value and return that",
    'total["u"] *= 0': "changes its input 'u'",
    'p["m"] = 1': "changes its input 'm'",
    "d = np.zeros((3, 7))": r"(shape \(3, 7\)|raises ValueError: operands could not be broadcast)",
    'return {"u": server["u"], "d": d[..., :1]}': r"shape \(1,\), where the inputs have \(3,\)",
    'return {"u": server["u"]}': "does not return 'd'",
    "return None": "returns None, not its variables by name",
    'raise KeyError("hm")': r"raises KeyError: 'hm' \(own_method.py, line 16\)",
    'd = p["beta"] * d': r"raises KeyError: 'beta' \(own_method.py, line 16\)",
    "d = d * d": "returns a 'u' that is not a linear function",
    "d = d + 1": "returns a 'u' that is not a linear function",
    **dict.fromkeys(THRESHOLDS, "returns a 'u' that is not a linear function"),
    "import sys; sys.exit(5)": r"raises SystemExit: 5 \(own_method.py, line 16\)",
    "d = d * 1j": "no real numbers",
    'return {"u": "x", "d": d}': "returns 'x' as 'u', no real numbers",
}


@pytest.fixture
def own(tmp_path):
    """Writes and runs the file with a line of its own in ``aggregate``."""

    def write(line, **replaced):
        path = tmp_path / "own_method.py"
        text = SOURCE.replace("LINE", line)
        for old, new in replaced.items():
            text = text.replace(old, new)
        path.write_text(text)
        return str(path)

    yield write
    METHODS.pop("heavy-ball", None)


def registered(path):
    """The method is in the registry once the file has been read."""
    rc.get(f"{path}:descent")


@pytest.mark.parametrize("wrong", ["np.clip(d, -1e80, 1e80)", "d + (abs(d) < 100) * d / 10**13"])
def test_what_was_linear_once_is_tried_at_other_parameters(own, wrong):
    """With sizes of all kinds, and exactly: the second is linear to thirteen digits."""
    registered(own(f'd = d if p["eta_u"] == 1 else {wrong}'))
    setting = {"K": 1, "T": 2, "gamma_u": 0.1, "gamma_v": 0.1, "eta_v": 1.0}
    problem = rc.problems.Quadratic.synthetic(n=2, d=2, shared=2)
    rc.exact("heavy-ball", problem, rc.participation.Trace.full(2), eta_u=1.0, **setting)
    with pytest.raises(rc.InputError, match="not a linear function"):
        rc.exact("heavy-ball", problem, rc.participation.Trace.full(2), eta_u=0.5, **setting)


ETAS = (1.0, 0.5, 0.25)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "line",
    [
        'd = d + (p["eta_u"] - 1) * (p["eta_u"] - 0.5) * d * d',
        'd = d if p["eta_u"] > 0.3 else np.clip(d, -1e80, 1e80)',
        'd = d if p["eta_u"] > 0.3 else d * d',
    ],
)
def test_what_was_linear_twice_is_found_out_the_third_time(own, line, exact):
    """Arithmetic with factors that vanish at the first parameters, and branches on a parameter."""
    registered(own(line))
    algorithm = METHODS["heavy-ball"].algorithm
    first, *others = ({"n": 4, "m": 3, "eta_u": eta} for eta in ETAS)
    LinearMaps(algorithm, exact=exact).aggregate(first)
    with pytest.raises(rc.InputError, match="not a linear function"):
        [LinearMaps(algorithm, exact=exact).aggregate(each) for each in others]


def test_arithmetic_is_tried_at_two_parameters_alone(own):
    """Each further one takes one call, and the coefficients are what they are."""
    registered(own("CALLS.append(0)", **{"class HeavyBall": "CALLS = []\n\n\nclass HeavyBall"}))
    algorithm = METHODS["heavy-ball"].algorithm
    calls = algorithm.aggregate.__wrapped__.__globals__["CALLS"]
    counts = []
    for eta in (1.0, 0.5, 0.25, 0.125):
        before, read = len(calls), LinearMaps(algorithm, exact=True).aggregate({"n": 4, "m": 3, "eta_u": eta})
        counts.append(len(calls) - before)
        rate, third = Fraction(eta), Fraction(1, 3)
        # On (server u, server d, message u).
        assert read[0].tolist() == [[1 - rate, rate / 2, rate * third], [-1, Fraction(1, 2), third]]
    assert counts[0] > 1
    assert counts[2:] == [1, 1]


@pytest.mark.parametrize(("line", "message"), WRONG.items())
def test_what_is_wrong_is_said_in_one_line(own, line, message):
    """For every engine alike; NaN and changed inputs are told apart from what is not linear."""
    registered(own(line))
    problem, pattern = rc.problems.Quadratic.synthetic(n=4, d=4, shared=4), rc.participation.Trace.uniform(4, 2)
    setting = {"K": 2, "T": 5, "sigma_u": 0.3, "gamma_u": 0.1, "eta_u": 1.0, "gamma_v": 0.1, "eta_v": 1.0}
    for run in (rc.exact, rc.simulate, rc.exact_average):
        with pytest.raises(rc.InputError, match="^heavy-ball: aggregate .*" + message) as caught:
            run("heavy-ball", problem, pattern, **setting)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "words", [["verify", "n=4", "T=5"], ["falsify", "--evaluations", "20"], ["plot", "n=4", "T=5"]], ids=lambda w: w[0]
)
@pytest.mark.parametrize("line", ['raise KeyError("hm")', "return None"])
def test_commands_say_so(own, tmp_path, words, line):
    """As of unusable input, not of a mistake of the program."""
    command, *rest = words
    out = [] if command == "verify" else ["--out", str(tmp_path / "p.svg")]
    with pytest.raises(rc.InputError, match=r"^heavy-ball: aggregate "):
        CliRunner().invoke(
            group, [command, f"{own(line)}:descent", *rest, *out], standalone_mode=False, catch_exceptions=False
        )


@pytest.mark.parametrize("factor", ["0.5", "0.3", "np.float64(0.7)", "(0.1 + 0.2)"])
def test_a_float_factor_is_linear(own, factor):
    """It is the binary fraction that it is, in exact arithmetic too."""
    path = own(f"d = {factor} * d")
    registered(path)
    problem, pattern = rc.problems.Quadratic.synthetic(n=4, d=4, shared=4), rc.participation.Trace.uniform(4, 2)
    setting = {"K": 2, "T": 9, "gamma_u": 0.1, "eta_u": 1.0, "gamma_v": 0.1, "eta_v": 1.0}
    exact = rc.exact("heavy-ball", problem, pattern, **setting).metric
    runs = rc.simulate("heavy-ball", problem, rc.participation.Trace.full(4), **setting).metric
    full = rc.exact("heavy-ball", problem, rc.participation.Trace.full(4), **setting).metric
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(runs[0], full, rtol=1e-10)
    assert rc.verify(f"{path}:descent", n=4, T=5).verdict is not None


def test_a_float_factor_is_the_fraction_that_it_is(own):
    """A method with a float has the coefficients of the same with fractions, to the last digit."""
    from fractions import Fraction

    from ratecheck.algorithms.model.algorithm import LinearMaps

    found = []
    for factor in ("0.3", f"Fraction({Fraction(0.3)})"):
        registered(own(f"from fractions import Fraction; d = {factor} * d"))
        p = {"n": 4, "m": 3, "eta_u": 0.7}
        found.append(LinearMaps(METHODS["heavy-ball"].algorithm, exact=True).aggregate(p))
    assert (found[0] == found[1]).all()
    assert all(type(each) is Fraction for each in found[0].flat)


def test_the_class_in_place_of_an_object(own):
    """Said as the file is read."""
    path = own("pass", **{"HeavyBall())": "HeavyBall)"})
    with pytest.raises(rc.InputError, match=re.escape("is the class HeavyBall: write HeavyBall()")):
        registered(path)
    assert isinstance(METHODS["fedavg"], Method)


def test_thresholds_show_beneath_a_method_that_remembers(own):
    """The sum of the last points is kept by a method of this package around the user's."""
    registered(own(THRESHOLDS[0]))
    remembering = Remembering(METHODS["heavy-ball"].algorithm)
    with pytest.raises(rc.InputError, match=r"^heavy-ball: aggregate .*not a linear function"):
        LinearMaps(remembering).aggregate({"m": 2.0, "n": 4.0, "K": 2.0, "eta_u": 1.0, "gamma_u": 0.1})


@pytest.mark.parametrize("words", [["lint"], ["verify", "n=4", "T=5"], ["falsify", "--evaluations", "5"], ["show"]])
def test_what_a_file_prints_is_no_output_of_the_command(own, words):
    """Where it is run, and in the functions that are called later; JSON stays JSON."""
    path = own('print("later")') + ":descent"
    file = Path(path.removesuffix(":descent"))
    file.write_text(file.read_text() + 'print("now")\nimport sys\nsys.stdout.write("written\\n")\n')
    command, *rest = words
    found = CliRunner().invoke(group, [command, path, *rest, "--json"], standalone_mode=False)
    assert json.loads(found.stdout)
    assert {"now", "written"} <= {*found.stderr.split()}
    assert ("later" in found.stderr) is (command != "show")


def test_a_parameter_that_no_formula_has_is_named(own):
    """A run depends on it: a verdict, a counterexample and what is asked of that again say its value."""
    path = own(
        'd = p["momentum"] * d',
        **{
            '    server = {"u": "u", "d": "u"}': '    server = {"u": "u", "d": "u"}\n'
            '    step_sizes = (*FedAvgP.step_sizes, "momentum")',
            "import theorem": "import symbol, theorem",
            '    left="G_u",': '    symbols=[symbol("momentum", "of the server", role="setting")],\n    left="G_u",',
            "9*F_0": "0.1*F_0",
        },
    )
    verdict = rc.verify(f"{path}:descent", n=2, T=5, momentum=0.25)
    assert verdict.to_dict()["values"]["momentum"] == 0.25
    assert re.search(r"with .* T=5 momentum=0.25 ", str(verdict))
    found = rc.falsify(f"{path}:descent", evaluations=30)
    chosen = found.instance.given["momentum"]
    assert f" momentum = {Fraction(chosen)}," in " ".join(str(found).split())
    assert rc.verify(instance=found.instance).to_dict()["values"]["momentum"] == chosen
