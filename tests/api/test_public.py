"""The public face: every command is a function whose result is frozen and has the command's text and JSON."""

import ast
import dataclasses
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_study import PAIR

import bounds
import ratecheck as rc
from ratecheck.api.result import SCHEMA
from ratecheck.cli import COMMANDS

KEY = "pfl/theorem-3.7"
ATTENDED = ("plot", "participation", "markov:0.5,0.2")
SETTING = {"n": 10, "m": 9, "K": 25, "T": 400}
CONSTANTS = {"L": 1, "F_0": 1, "b": 0.4, "sigma_u": 0.3, "sigma_v": 0.3}
SMALL = {"n": 4, "m": 3, "K": 3, "T": 20, "d": 4}
PAGE = Path(__file__).parents[2] / "docs" / "own.md"

# The function's call, and the words of the command that says the same.
CALLS = {
    "list": (lambda: rc.catalogue("pfl"), ["pfl"]),
    "list --summary": (lambda: rc.catalogue("pfl", summary=True), ["pfl", "--summary"]),
    "list methods": (lambda: rc.vocabulary("methods"), ["methods"]),
    "list symbols": (lambda: rc.vocabulary("symbols"), ["symbols"]),
    "list assumptions": (lambda: rc.vocabulary("assumptions"), ["assumptions"]),
    "show": (lambda: rc.show(KEY), [KEY]),
    "show method": (lambda: rc.method("scaffold"), ["scaffold"]),
    "bound": (lambda: rc.bound(KEY, **SETTING, **CONSTANTS, gamma=0.00125), [KEY, SETTING, CONSTANTS, "gamma=0.00125"]),
    "stepsize": (lambda: rc.stepsize(KEY, n=10, m=9, K=25, L=1), [KEY, "n=10", "m=9", "K=25", "L=1"]),
    "stepsize --region": (
        lambda: rc.stepsize(KEY, n=10, m=9, K=25, L=1, region=["gamma_u", "eta_u"]),
        [KEY, "n=10", "m=9", "K=25", "L=1", "--region", "gamma_u,eta_u"],
    ),
    "rounds": (
        lambda: rc.rounds("pfl/corollary-3.8", eps=0.1, n=10, m=9, K=25, **CONSTANTS),
        ["pfl/corollary-3.8", "eps=0.1", "n=10", "m=9", "K=25", CONSTANTS],
    ),
    "compare": (
        lambda: rc.compare("pfl/corollary-3.8", "pfl/corollary-4.6", over="T=10:1000:3", n=10, m=9, K=5, **CONSTANTS),
        ["pfl/corollary-3.8", "pfl/corollary-4.6", "--over", "T=10:1000:3", "n=10", "m=9", "K=5", CONSTANTS],
    ),
    "verify": (lambda: rc.verify(KEY, **SMALL, seed=1), [KEY, SMALL, "--seed", "1"]),
    "verify several": (
        lambda: rc.verify(KEY, "pfl/lemma-a.2", **SMALL, ignore_conditions=True),
        [KEY, "pfl/lemma-a.2", SMALL, "--ignore-conditions"],
    ),
    "verify --participation": (
        lambda: rc.verify(KEY, participation="bernoulli:0.5", **{k: v for k, v in SMALL.items() if k != "m"}),
        [KEY, {k: v for k, v in SMALL.items() if k != "m"}, "--participation", "bernoulli:0.5"],
    ),
    "falsify": (lambda: rc.falsify(KEY, evaluations=8), [KEY, "--evaluations", "8"]),
    "rates": (lambda: rc.rates("pfl/theorem-3.11-tuned", over="T"), ["pfl/theorem-3.11-tuned", "--over", "T"]),
    "scaling": (lambda: rc.scaling(KEY, T=40, over="K"), [KEY, "T=40", "--over", "K"]),
    "implications": (lambda: rc.implications("pfl/corollary-3.8"), ["pfl/corollary-3.8"]),
    "tables": (lambda: rc.tables("pfl/table-2"), ["pfl/table-2"]),
}


def words(said):
    """Words of a command from words and mappings."""
    return [
        word for each in said for word in ([f"{k}={v}" for k, v in each.items()] if isinstance(each, dict) else [each])
    ]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", CALLS)
def test_a_function_says_what_its_command_prints(name, cli):
    """The same data, with the version of the keys; text, one-line repr and HTML of every result."""
    call, said = CALLS[name]
    result = call()
    done = cli(name.split()[0], *words(said), "--json")
    printed = json.loads(done.stdout)
    assert result.to_dict() == printed
    assert printed["schema"] == SCHEMA
    assert isinstance(result, rc.Result)
    assert repr(result).startswith(f"<{type(result).__name__} ")
    assert "\n" not in repr(result)
    assert result._repr_html_()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.remarks = ()


@pytest.mark.parametrize("name", ["bound", "stepsize --region", "verify several", "tables", "list"])
def test_str_is_the_text_of_the_command(name, cli):
    """What the command prints without --json, and its remarks on stderr."""
    call, said = CALLS[name]
    result, done = call(), cli(name.split()[0], *words(said))
    assert done.stdout.strip() == str(result).strip()
    assert done.stderr == "".join(f"note: {remark}\n" for remark in result.remarks)


def test_pictures(cli, tmp_path, monkeypatch):
    """A figure for further use, a file where one is asked for, the same data as the command's; the screen is left."""
    monkeypatch.chdir(tmp_path)
    setting = {"n": 4, "m": 3, "K": 3, "T": 20}
    constants = {"n": 10, "m": 9, "K": 25, "L": 1}
    for draw, said in (
        (lambda: rc.plot(KEY, **setting, vary="K", out="a.png"), ["plot", KEY, setting, "--vary", "K"]),
        (lambda: rc.plot(KEY, rates=True, over="T", out="a.png"), ["plot", KEY, "--rates", "--over", "T"]),
        (lambda: rc.plot_region(KEY, **constants, out="a.png"), ["plot", "region", KEY, constants]),
        (lambda: rc.plot_participation("markov:0.5,0.2", n=5, T=20, out="a.png"), [*ATTENDED, {"n": 5, "T": 20}]),
    ):
        result = draw()
        assert result.figure.axes
        assert result.figure is result.figure
        assert (tmp_path / "a.png").stat().st_size > 10_000
        assert '<img src="data:image/png;base64,' in result._repr_html_()
        assert result.to_dict() == json.loads(cli(*words(said), "--out", "a.png", "--json").stdout)
        assert result.save(tmp_path / "b.svg").file == tmp_path / "b.svg"
        assert "<svg" in (tmp_path / "b.svg").read_text()
        (tmp_path / "a.png").unlink()
    with pytest.raises(rc.InputError, match="the ending has to be one of"):
        rc.plot(KEY, out="a.doc")


def test_every_command_is_a_function():
    """Under its name, with a docstring; dir() has all names, and each of them is there."""
    names = {{"list": "catalogue"}.get(command, command) for command in COMMANDS}
    assert names <= set(dir(rc))
    assert all(inspect.isfunction(getattr(rc, name)) and getattr(rc, name).__doc__ for name in names)
    assert dir(rc) == sorted(rc.__all__)
    for name in dir(rc):
        assert getattr(rc, name) is not None
    assert {name for name in dir(rc) if name.endswith("Result")} >= {"VerifyResult", "BoundResult", "PlotResult"}
    assert rc.__version__.count(".") >= 2
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rc.nonsense


def test_what_type_checkers_see_is_what_is_there():
    """Every name of the stub is offered under its own name, and nothing else is."""
    stub = ast.parse(Path(rc.__file__).with_suffix(".pyi").read_text())
    seen = [alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.asname == alias.name for alias in seen)
    assert sorted([*(alias.name for alias in seen), "__version__"]) == rc.__all__


def test_import_is_light():
    """No numerical package, and none of the catalogue."""
    heavy = {"sympy", "numpy", "numba", "scipy", "matplotlib", "click", "pydantic", "bounds"}
    code = f"import sys, ratecheck; dir(ratecheck); ratecheck.__version__; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_statement_and_a_file_are_taken(tmp_path):
    """What a key stands for, and a statement of one's own."""
    statement = rc.get(KEY)
    assert rc.verify(statement, **SMALL).to_dict() == rc.verify(KEY, **SMALL).to_dict()
    assert rc.bound(statement, **SETTING, **CONSTANTS, gamma=1e-3).value > 0
    renamed = dataclasses.replace(statement, key="mine/renamed")
    assert rc.show(renamed).to_dict()["key"] == "mine/renamed"
    template = re.search(r"^cat > whole\.py <<'END'\n(.*?)^END$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.py").write_text(template[1])
    address = f"{tmp_path / 'mine.py'}:descent"
    assert rc.verify(address, n=4, T=30).outcome is rc.Outcome.HOLDS
    assert list(rc.catalogue(str(tmp_path / "mine.py"))) == [address]


def test_objects_for_problem_and_participation():
    """They say the same as their names, and bring their own sizes."""
    problem = rc.problems.Quadratic.synthetic(n=4, d=4)
    by_name, by_object = (rc.verify(KEY, problem=each, **rest) for each, rest in (
        ("quadratic", SMALL), (problem, {k: v for k, v in SMALL.items() if k not in ("n", "d")})
    ))  # fmt: skip
    assert (by_object.left, by_object.right) == (by_name.left, by_name.right)
    assert by_object.constants["L"] == by_name.constants["L"]
    rest = {"K": 3, "T": 20}
    uniform = rc.verify(KEY, problem=problem, participation=rc.participation.Trace.uniform(4, 2), **rest)
    assert uniform.left == rc.verify(KEY, problem=problem, participation="uniform", m=2, **rest).left
    assert uniform.verdict.values["m"] == 2
    matrix = np.eye(4, dtype=bool)[np.arange(20) % 4]
    one_by_one = rc.verify("fedsum/theorem-c.1", participation=rc.participation.Trace(matrix), K=2)
    assert one_by_one.verdict.values["T"] == 20
    own = {"N": 4, "S": 1, "K": 2, "T": 20}
    cyclic = rc.verify("fedsum/theorem-4.1", participation=rc.participation.Cyclic(4, 1), K=2, T=20)
    assert cyclic.left == rc.verify("fedsum/theorem-4.1", participation="cyclic", **own).left


def test_an_instance_is_asked_again():
    """What a search found, as an object."""
    found = rc.falsify(KEY, evaluations=8)
    again = rc.verify(instance=found.instance)
    assert again.proof is not None
    assert again.to_dict()["rigorous"]["verdict"] == again.outcome.value
    assert 1 / again.slack == pytest.approx(found.tightness)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (rc.verify, "which statement"),
        (lambda: rc.verify("pfl/theorem-3.8"), "no statement 'pfl/theorem-3.8'"),
        (lambda: rc.bound(7), "7 is no statement"),
        (lambda: rc.bound(KEY, n="ten"), "n='ten'"),
        (lambda: rc.bound(KEY, n=float("inf")), "n=inf"),
        (lambda: rc.bound(KEY, n=[1, 2]), "n is one number, not a list"),
        (lambda: rc.bound(KEY, nonsense=1), "nonsense"),
        (lambda: rc.bound(KEY, parameters={"n": 1}, n=2), "n is given twice"),
        (lambda: rc.verify(KEY, problem=7), "7 is no problem"),
        (lambda: rc.verify(KEY, problem="nothing"), "no problem 'nothing'"),
        (lambda: rc.verify(KEY, participation=7), "7 is no participation"),
        (lambda: rc.verify(KEY, participation=rc.participation.Uniform(10, 5), m=4), "m=4 contradicts Uniform"),
        (lambda: rc.verify(KEY, n=5, participation=rc.participation.Uniform(10, 5)), "n=5 contradicts Uniform"),
        (lambda: rc.verify(KEY, engine="fast"), "no engine 'fast'"),
        (lambda: rc.falsify(KEY, L=3), "L=3: the search takes L from the problems that it tries"),
        (lambda: rc.falsify(KEY, "pfl/theorem-4.5", out="a.json"), "for one statement, not for 2"),
        (lambda: rc.audit("nothing"), "no paper 'nothing'"),
        (lambda: rc.audit("flame", step="pfl/theorem-3.7-1"), "is not one of flame"),
        (lambda: rc.tables("nothing"), "nothing"),
        (lambda: rc.implications("nothing"), "no paper 'nothing'"),
        (lambda: rc.run("nothing.toml"), "nothing.toml"),
        (lambda: rc.run(3), "study_file=3: needed a path"),
        (lambda: rc.run("s.toml", out=3), "out=3: needed a path"),
        (lambda: rc.run("s.toml", only=3), "only=3: needed a text, or several"),
        (lambda: rc.run("s.toml", only=["a", 3]), "only=3: needed a text, or several"),
        (lambda: rc.run("s.toml", theorems=3), "theorems=3: needed a text, or several"),
        (lambda: rc.run("s.toml", replicates=0), 'replicates=0 breaks "replicates >= 2"'),
        (lambda: rc.run("s.toml", replicates=1), 'replicates=1 breaks "replicates >= 2"'),
        (lambda: rc.run("s.toml", replicates=-1), 'replicates=-1 breaks "replicates >= 2"'),
        (lambda: rc.run("s.toml", replicates=2.5), "replicates=2.5: needed a whole number"),
        (lambda: rc.run("s.toml", replicates="x"), "replicates='x': needed a number"),
        (lambda: rc.run("s.toml", replicates=10**9), "3e+09 numbers of each recorded quantity, at most 2.15e+09"),
        (lambda: rc.run("s.toml", threads=0), 'threads=0 breaks "threads >= 1"'),
        (lambda: rc.run("s.toml", threads="x"), "threads='x': needed a number"),
        (lambda: rc.report("s.toml", out=3), "path=3: needed a path"),
        (lambda: rc.report("s.toml", replicates=1), 'replicates=1 breaks "replicates >= 2"'),
        (lambda: rc.results(where="x"), "where='x': needed values by the names of columns"),
        (lambda: rc.results(columns=3), "columns=3: needed a text, or several"),
        (lambda: rc.results(3), "store=3: needed a path"),
        (lambda: rc.results(out=3), "out=3: needed a path"),
        (lambda: rc.falsify(KEY, out=3), "out=3: needed a path"),
        (lambda: rc.results("nothing"), "no results in nothing"),
        (lambda: rc.selftest(KEY, mutants=-1), "mutants"),
        (lambda: rc.scaling(KEY, over="K,K"), "names K twice"),
        (lambda: rc.compare(KEY, over="K"), "NAME=LOW:HIGH"),
    ],
)
def test_errors_are_input_errors(call, message, tmp_path, monkeypatch):
    """One line that names what is wrong, whichever function."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(PAIR.replace("T = 400", "T = 3"))
    with pytest.raises(rc.InputError) as caught:
        call()
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_names_that_are_taken_do_not_hide_symbols():
    """No symbol of a paper is an argument of a function: all can be given by keyword."""
    taken = {
        name
        for command in COMMANDS
        for name in inspect.signature(getattr(rc, {"list": "catalogue"}.get(command, command))).parameters
    }
    symbols = {name for paper in bounds.PAPERS for name in bounds.vocabulary(paper).order}
    assert not taken & symbols
    # A problem's own seed is: it goes through the mapping.
    first, second = (rc.verify(KEY, parameters={"seed": k}, **SMALL) for k in (1, 2))
    assert first.left != second.left


def test_each_result_as_soon_as_there_is_one():
    """Long runs over several statements can be watched."""
    seen = []
    found = rc.verify(KEY, "pfl/theorem-4.5", **SMALL, each=lambda one: seen.append(one.verdict))
    assert tuple(seen) == found.verdicts
