"""What somebody meets who tries a theorem: mistakes are one line with exit code 2, and numbers filled in are said."""

import pytest

from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError

THEOREM = """
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP

{method}
mine = theorem(
    title="A theorem of my own",
    algorithm="{algorithm}",
    assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right="{right}",
    conditions=["{condition}"],
    settings={{"K": 1, "m": "n", "sigma_u": 0{more}}},
    vocabulary="textbook",
)
"""

MINE = """
class Mine(FedAvgP):
    step_sizes = ("alpha",)

    def step(self, local, gradient, p):
        return {**local, "u": local["u"] - p["alpha"] * gradient["u"]}


METHODS["mine"] = Method("mine", "mine", Mine(), personal=False)
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the theorem into an empty folder."""
    monkeypatch.chdir(tmp_path)

    def write(
        method="", algorithm="ef21", right="2*F_0/(gamma_u*T)", condition="gamma_u*L <= 1 - sqrt(1 - q)", more=""
    ):
        text = THEOREM.format(method=method, algorithm=algorithm, right=right, condition=condition, more=more)
        (tmp_path / "mine.py").write_text(text)

    yield write
    # Registered in this process: others' tests look at all methods that there are.
    METHODS.pop("mine", None)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("lint", "mine.py"), 0),
        (("verify", "mine.py:mine", "n=3", "T=9", "q=1.5"), 3),
        (("stepsize", "mine.py:mine", "q=2", "L=1"), 2),
        (("falsify", "mine.py:mine", "--evaluations", "40"), 0),
        (("bound", "mine.py:mine", "q=2", "L=1", "F_0=1", "T=9", "gamma_u=0.1"), 2),
    ],
)
def test_a_root_of_a_negative_number_is_no_internal_error(written, cli, words, code):
    """The condition of EF21 has one for q > 1, which the domain of q admits."""
    written()
    done = cli(*words)
    assert done.returncode == code, done.stderr
    assert "internal error" not in done.stderr
    if words[0] == "stepsize":
        assert "a root or a logarithm of a negative number" in done.stderr


def test_a_step_size_that_an_inherited_function_misses(written, cli):
    """It says which function asks, and where step sizes are named."""
    written(MINE, "mine", "2*F_0/(alpha*T)", "alpha <= 1/L")
    done = cli("verify", "mine.py:mine", "n=3", "T=9")
    assert done.returncode == 2
    assert "mine: finish, which it inherits, raises KeyError: 'eta_v'" in done.stderr
    assert "'step_sizes' of the class names what functions ask of p" in done.stderr


def test_a_name_that_is_taken_is_refused(written, cli):
    """Another method under the name of a built-in one would be run for the catalogue's statements too."""
    with pytest.raises(InputError, match="there is a method 'fedavg'"):
        METHODS["fedavg"] = METHODS["dsgd"]
    written('METHODS["fedavg"] = METHODS["dsgd"]', "fedavg", condition="gamma_u*L <= 1", more=', "eta_u": 1')
    done = cli("verify", "mine.py:mine")
    assert done.returncode == 2
    assert "line 6, there is a method 'fedavg'" in done.stderr


def test_numbers_that_were_filled_in_are_said(written, cli):
    """The probability q of EF21 is a number that the verdict depends on."""
    written()
    assert "q=0.5" in cli("verify", "mine.py:mine", "n=3", "T=9").stdout


def test_lint_of_several_says_what_was_not_checked(written, cli, tmp_path):
    """In the count; of one statement it is listed."""
    method = MINE.replace('step_sizes = ("alpha",)', "linear = False").replace("alpha", "gamma_u")
    written(method.replace("Mine()", 'Mine(), {"gamma_v": 1, "eta_v": 1}'), "mine", condition="gamma_u*L <= 1")
    text = (tmp_path / "mine.py").read_text()
    assert "not checked" in cli("lint", "mine.py").stdout
    (tmp_path / "mine.py").write_text(f"{text}\nagain{text[text.index('mine = ') + 4 :]}")
    assert "2 checked in part" in cli("lint", "mine.py").stdout


def test_sharper_constants_of_a_file_are_refused(written, cli):
    """No implication concludes its statement."""
    written()
    done = cli("sharpen", "mine.py:mine")
    assert done.returncode == 2
    assert "which only the catalogue's have" in done.stderr
