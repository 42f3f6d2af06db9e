"""The command line: exit codes, JSON fields, one-line errors, and what is imported when."""

import dataclasses
import json
import math
import signal
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from terminal import processor_seconds, started, wait_for

import bounds
from bounds.symbols import COMMON, Domain, Role, Vocabulary
from ratecheck.api.given import parameters
from ratecheck.commands.arguments import parse_values
from ratecheck.commands.checks import verify

SETTING = ["n=10", "m=9", "K=25", "T=400"]
CONSTANTS = ["L=1.93", "F_0=1.2", "b=0.41", "sigma_u=0.3", "sigma_v=0.3"]


def run(*arguments, **options):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "ratecheck", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def data(cli):
    """What a command prints with --json, after checking that nothing else is on stdout."""
    return lambda *arguments: json.loads(cli(*arguments, "--json").stdout)


def imported_by(*arguments):
    """Which heavy packages a command loads."""
    code = (
        "import sys; from ratecheck.cli import _run; code = _run(sys.argv[1:]);"
        "heavy = {'numba', 'sympy', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules);"
        "print(*sorted(heavy), file=sys.stderr); sys.exit(code)"
    )
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return result.stdout, set(result.stderr.split())


def test_help_imports_nothing_heavy():
    """Help comes without numba, sympy, scipy, matplotlib and numpy."""
    text, heavy = imported_by("--help")
    assert not heavy
    assert all(name in text for name in ("list", "show", "bound", "stepsize", "verify", "plot", "run"))


def test_bound_imports_sympy_only():
    """A bound is evaluated without the simulation's imports."""
    _, heavy = imported_by("bound", "pfl/corollary-4.6", *SETTING, "L=1", "F_0=1", "sigma_u=1", "sigma_v=1")
    assert heavy == {"sympy"}


def test_list_has_every_key(data):
    """``list`` prints the whole catalogue, and counts it."""
    assert [row["key"] for row in data("list")["statements"]] == list(bounds.keys())
    summary = data("list", "--summary")["papers"]
    assert tuple(summary) == bounds.PAPERS
    assert sum(counts["statements"] for counts in summary.values()) == len(bounds.keys())


def test_summary_counts_repaired_and_left_out(data, cli):
    """Per paper: printed and repaired forms, those with a value and orders, and what is left out; as text too."""
    for paper, counts in data("list", "--summary")["papers"].items():
        keys = [statement.key for statement in bounds.statements(paper)]
        assert counts["repaired"] == sum(key.endswith("-repaired") for key in keys)
        assert counts["printed"] + counts["repaired"] == counts["statements"] == len(keys)
        assert counts["with a value"] + counts["order only"] == len(keys)
        assert counts["left out"] == len(bounds.left_out(paper))
    head, *rows = cli("list", "--summary").stdout.splitlines()
    assert head.split()[:4] == ["paper", "statements", "printed", "repaired"]
    assert [row.split()[0] for row in rows] == list(bounds.PAPERS)
    assert rows[0].split()[1:4] == ["28", "27", "1"]


def test_a_list_for_an_alias():
    """``alpha=0.1,0.2`` is the weights of the clients, whose extremes the bound takes; one number is a scalar."""
    statement = bounds.get("flame/lemma-2")
    assert parse_values(("alpha=0.1,0.2",)) == {"alpha": [0.1, 0.2]}
    assert parameters({"alpha": [0.1, 0.2]}, {}, statement.vocabulary) == {"alpha": [0.1, 0.2]}
    assert parse_values(("alpha=0.1", "L=1/8", "b=-3/2")) == {"alpha": 0.1, "L": 0.125, "b": -1.5}


def test_a_list_reaches_the_bound(data):
    """The values that went in are the least and the largest of the list."""
    key = next(s.key for s in bounds.statements("flame") if {"alpha_min", "alpha_max"} <= {*s.required})
    statement = bounds.get(key)
    given = [f"{name}=0.5" for name in statement.required if not name.startswith("alpha")]
    given = [f"{n.partition('=')[0]}=2" if _whole(statement, n.partition("=")[0]) else n for n in given]
    found = data("bound", key, *given, "alpha=0.3,0.1,0.6")
    assert (found["values"]["alpha_min"], found["values"]["alpha_max"]) == (0.1, 0.6)


def _whole(statement, name):
    return statement.vocabulary[name].domain is Domain.POSITIVE_INTEGER


def test_bound_json(data):
    """``bound`` gives the fields that scripts rely on; the value is the formula's, computed here by hand."""
    found = data("bound", "pfl/corollary-3.8", *SETTING, *CONSTANTS)
    inside = 4 * 1 * 25 * 0.41**2 / 90 + 0.09 / 9 + 9 * 0.09 / 10
    assert found["value"] == pytest.approx(8 * math.sqrt(3 * inside * 1.93 * 1.2 / (25 * 400)) + 129 * 1.93 * 1.2 / 400)
    assert found["key"] == "pfl/corollary-3.8"
    assert found["applicable"] is True
    assert found["vacuous"] is False
    assert all(set(c) >= {"name", "text", "holds"} and c["holds"] for c in found["conditions"])


def test_bound_outside_its_condition(cli):
    """A step size outside its condition: data on stdout, one line on stderr, exit code 2."""
    arguments = ["pfl/theorem-3.7", "n=10", "m=9", "K=25", "T=400", "L=1", "F_0=1", "b=0", "sigma_u=0", "sigma_v=0"]
    result = cli("bound", *arguments, "gamma=0.01", "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["applicable"] is False
    line = 'ratecheck: gamma=0.01 breaks "gamma <= 1/(32*K*L)" of pfl/theorem-3.7: 1/(32*25*1) = 0.00125. '
    assert result.stderr == line + "Largest admissible gamma: 0.00125.\n"


def test_stepsize_json(data, cli):
    """``stepsize`` gives the fields that scripts rely on, open ends as null, conflicts by name with exit code 3."""
    found = data("stepsize", "pfl/theorem-3.7", *SETTING, *CONSTANTS)
    assert set(found) >= {"feasible", "prescribed", "admissible", "optimal", "conflict"}
    assert found["feasible"] is True
    assert found["admissible"]["gamma"] == [0.0, pytest.approx(1 / (32 * 1.93 * 25))]
    assert found["admissible"]["eta_u"] == [pytest.approx(3.0), None]
    result = cli("stepsize", "pfl/theorem-3.7", *SETTING, *CONSTANTS, "gamma=0.5", "--json")
    assert result.returncode == 3
    assert json.loads(result.stdout)["conflict"] == ["gamma <= 1/(32*K*L)", "gamma == 0.5 (given)"]


def test_verify_json_and_exit_codes(data, cli):
    """``verify`` exits with 0, 1 and 3, and carries the certificates."""
    small = ["n=4", "m=3", "K=3", "T=20", "d=4"]
    found = data("verify", "pfl/theorem-3.7", *small)
    assert found["verdict"] == "HOLDS"
    assert found["constants"]["L"]["certificate"] == "exact"
    assert cli("verify", "pfl/theorem-3.7", *small).returncode == 0
    assert run("verify", "pfl/lemma-a.2", *small).returncode == 1
    assert cli("verify", "pfl/theorem-3.7", *small, "gamma=0.5").returncode == 3
    foreign = data("verify", "flame/proposition-2")
    assert (foreign["verdict"], foreign["constants"]) == ("NOT_APPLICABLE", {})
    assert "no run measures remainder" in foreign["reasons"][0]
    assert cli("verify", "flame/proposition-2").returncode == 3
    # Nothing is wrong with what was given.
    assert cli("prove", "simfbo/theorem-1").returncode == 3
    weighed = data("verify", "flame/theorem-2-unbiased", "m=2", "s=1", "alpha=0.4,0.6", "T=30")
    assert (weighed["verdict"], weighed["values"]["alpha_min"]) == ("HOLDS", 0.4)
    cyclic = data("verify", "fedsum/theorem-4.1", "N=4", "S=1", "K=2", "T=30", "--participation", "cyclic")
    assert (cyclic["verdict"], cyclic["constants"]["tau_max"]["value"]) == ("HOLDS", 3.0)


def test_verify_several(cli):
    """Several keys end in a table; a false one decides the exit code."""
    result = cli("verify", "pfl/lemma-a.2", "pfl/theorem-4.5", "n=4", "m=3", "K=3", "T=20", "d=4")
    assert result.returncode == 1
    table = result.stdout.splitlines()[-3:]
    assert [row.split()[:2] for row in table[1:]] == [["pfl/lemma-a.2", "VIOLATED"], ["pfl/theorem-4.5", "HOLDS"]]


def test_verify_checks_names_per_statement(monkeypatch):
    """A name that one of the papers has is refused for the statements of the others, and for these alone."""
    own = Vocabulary(COMMON)
    own.define("rho", r"\rho", "mixing rate", Domain.POSITIVE, Role.CONSTANT, 0, 0)
    statement = bounds.get("pfl/theorem-4.5")
    other = dataclasses.replace(statement, key="other/theorem", vocabulary=own)
    monkeypatch.setattr("ratecheck.api.checks.verify.select", lambda _: [statement, other])
    words = [statement.key, other.key, "n=4", "m=3", "K=3", "T=20", "d=4", "rho=0.5", "--json"]
    result = CliRunner().invoke(verify.command, words, standalone_mode=False)
    refused, held = json.loads(result.stdout)["verdicts"]
    assert (refused["verdict"], held["verdict"]) == ("NOT_APPLICABLE", "HOLDS")
    assert "no parameter 'rho' of the statement or the problem" in refused["reasons"][0]


def test_verify_a_file(tmp_path, data):
    """A problem from a file is verified like the built-in ones."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", H=np.stack([np.diag([1.0, 0.5, 2.0])] * 3), g=rng.standard_normal((3, 3)), shared=1)
    found = data("verify", "pfl/theorem-4.5", "m=2", "K=3", "T=9", "--problem", str(tmp_path / "mine.npz"))
    assert found["verdict"] == "HOLDS"
    assert found["constants"]["L"]["value"] == pytest.approx(2.0)


def broken_file(tmp_path, name, content):
    """A file with the given text."""
    path = tmp_path / name
    path.write_text(content)
    return str(path)


ERRORS = {
    "m above n": (["bound", "pfl/corollary-3.8", "n=10", "m=11", "K=25"], 'm=11 breaks "m <= n"'),
    "K below 1": (["bound", "pfl/corollary-3.8", "n=10", "m=9", "K=0"], 'K=0 breaks "K >= 1"'),
    "fractional K": (["bound", "pfl/corollary-3.8", "K=2.5"], "K=2.5: needed a whole number"),
    "negative noise": (["verify", "pfl/corollary-3.8", "sigma_u=-1"], 'sigma_u=-1 breaks "sigma_u >= 0"'),
    "unknown key": (["show", "pfl/theorem-3.8"], "did you mean 'pfl/theorem-3.7'"),
    "unknown paper": (["list", "pfi"], "did you mean 'pfl'"),
    "unknown paper, unlike any": (["list", "nope"], "known: baselines, classics, fedsum"),
    "closer to 0 than a float": (["stepsize", "pfl/theorem-3.7", "gamma_u=1e-400"], "'1e-400' is closer to 0 than"),
    "seed": (["verify", "pfl/theorem-3.7", "n=3", "m=3", "T=3", "--seed", "-1"], 'seed=-1 breaks "seed >= 0"'),
    "replicates": (["verify", "pfl/theorem-3.7", "--replicates", "-3"], 'replicates=-3 breaks "replicates >= 2"'),
    "condition": (["verify", "pfl/theorem-3.7", "condition=0"], 'condition=0 breaks "condition >= 1"'),
    "long words": (["show", "x" * 3000 + "/end"], "x..." + "x" * 15 + "/end'"),
    "unknown table": (["tables", "pfl/table-4"], "did you mean 'pfl/table-3'"),
    "orders alone": (["verify", "baselines"], "orders only"),
    "unknown parameter": (["bound", "pfl/theorem-3.7", "sigma_w=1"], "did you mean 'sigma_v'"),
    "unknown dial": (["verify", "pfl/theorem-3.7", "couplin=1"], "did you mean 'coupling'"),
    "missing constant": (["bound", "pfl/theorem-3.7", *SETTING, "gamma=1e-4", "L=1"], "needs a value for sigma_u"),
    "NaN": (["bound", "pfl/theorem-3.7", "L=nan"], "L=nan"),
    "not a number": (["bound", "pfl/theorem-3.7", "L=big"], "'big' is not a number"),
    "an option's name": (["verify", "pfl/theorem-3.7", "engine=exact"], "engine is an option: --engine exact"),
    "misspelt word": (["bound", "pfl/theorem-3.7", "lable=y"], "did you mean label=y?"),
    "half of a fraction": (["bound", "pfl/theorem-3.7", "L=1/"], "L=1/: '1/' is not a number"),
    "fraction over zero": (["bound", "pfl/theorem-3.7", "L=1/0"], "L=1/0: '1/0' divides by zero"),
    "too many rounds": (["falsify", "pfl/theorem-3.7", "T=1e12"], 'T=1e+12 breaks "1 <= T <= 2147483648"'),
    "given twice": (["bound", "pfl/theorem-3.7", "L=1", "L=2"], "L is given twice"),
    "order only": (["bound", "pfl/scaffold", "n=10"], "only up to a constant"),
    "missing file": (["verify", "pfl/theorem-3.7", "--problem", "nowhere.npz"], "nowhere.npz"),
    "unknown problem": (["verify", "pfl/theorem-3.7", "--problem", "digit"], "did you mean 'digits'"),
    "unknown command": (["verfy", "pfl/theorem-3.7"], "did you mean 'verify'"),
    "unknown option": (["verify", "pfl/theorem-3.7", "--egnine", "step"], "--egnine"),
    "no key": (["verify", "n=3"], "which statement?"),
    "engine": (["verify", "pfl/theorem-3.7", "--engine", "warp"], "no engine 'warp'"),
    "exact on logistic": (["verify", "pfl/theorem-3.7", "--problem", "logistic", "--engine", "exact"], "engine=step"),
    "level of several": (
        ["verify", "pfl/theorem-3.7", "pfl/theorem-4.5", "--level", "0.9"],
        'level=0.9 breaks "0 < level',
    ),
    "self-test of what is false": (["selftest", "flame/theorem-2-unbiased"], "take flame/theorem-2-unbiased-repaired"),
    "no time": (["selftest", "pfl", "--seconds", "-1"], "seconds=-1"),
    "one replicate": (["verify", "pfl/theorem-3.7", "--engine", "step", "--replicates", "1"], "replicates=1"),
    "fixed setting": (["verify", "pfl/theorem-3.11", "m=9"], "contradicts pfl/theorem-3.11"),
    "list for a number": (["bound", "pfl/theorem-3.7", "L=1,2"], "L is one number, not a list"),
    "list for one symbol": (["bound", "flame/lemma-1", "lambda=1,2"], "lambda is one number, not a list"),
    "gap in a list": (["bound", "flame/lemma-1", "alpha=0.1,,0.2"], "alpha=0.1,,0.2: '' is not a number"),
    "infinity in a list": (["bound", "flame/lemma-1", "alpha=0.1,inf"], "it has to be a finite number"),
    "infinite bound": (
        ["bound", "simfbo/lemma-6", "mu_g=1", "L_f=1", "L_1=1e300", "L_2=1", "dx2=1", "dy2=1", "dv2=1"],
        "overflows float64 (f = inf, g = inf, R = inf)",
    ),
    "list to be verified": (["verify", "pfl/theorem-3.7", "alpha=0.1,0.2"], "alpha is one number, not a list"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_input_is_one_line(case, cli):
    """Bad input gives exit code 2 and one line that names the value or the way out; never a traceback."""
    arguments, expected = ERRORS[case]
    result = cli(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert expected in result.stderr


@pytest.mark.parametrize("case", ["unknown command", "exact on logistic"])
def test_bad_input_is_one_line_of_the_whole_process(case):
    """The same where nothing else has been imported, whoever writes to stderr."""
    arguments, expected = ERRORS[case]
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert expected in result.stderr


@pytest.mark.parametrize(("name", "content"), [("a.npz", "no archive"), ("a.txt", "hello world\n")])
def test_unreadable_data(tmp_path, name, content, cli):
    """An unreadable data file is one line."""
    path = broken_file(tmp_path, name, content)
    result = cli("verify", "pfl/theorem-3.7", "--problem", path if name.endswith(".npz") else f"libsvm:{path}")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert path in result.stderr


def test_infinite_data(tmp_path, cli):
    """NaN or infinity in a problem file is named with its place."""
    H = np.stack([np.eye(2)] * 2)
    H[1, 0, 0] = np.inf
    np.savez(tmp_path / "bad.npz", H=H, g=np.zeros((2, 2)), shared=1)
    result = cli("verify", "pfl/theorem-3.7", "--problem", str(tmp_path / "bad.npz"))
    assert result.returncode == 2
    assert "H[1, 0, 0] is inf" in result.stderr


def test_foreign_bounds_package(tmp_path):
    """An unrelated package named bounds is reported in one line."""
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds" / "__init__.py").write_text("")
    result = run("list", cwd=tmp_path)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "is not ratecheck's" in result.stderr


def test_falsify_of_what_cannot_be_asked_is_no_success(tmp_path, cli, monkeypatch):
    """As for one statement: exit code 3 where nothing could be asked about one of them, and none is violated."""
    monkeypatch.chdir(tmp_path)
    keys = ("pfl/fedavg-full", "flame/proposition-1")
    assert cli("falsify", *keys, "--evaluations", "10").returncode == 3
    assert cli("falsify", keys[0], "--evaluations", "10").returncode == 0
    assert cli("falsify", "simfbo/stepsizes", "--evaluations", "5").returncode == 0


def test_an_interrupt_ends_a_search_of_several_statements(tmp_path):
    """The rest is named, the table has what was found, and the exit code is an interrupt's."""
    process = started("falsify", "fedsum", "--evaluations", "100000", cwd=tmp_path)
    # So much computing, whatever else the machine does: it searches.
    assert wait_for(lambda: processor_seconds(process.pid) > 4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "ratecheck: interrupted"
    assert "interrupted: not searched:" in err
    assert "fedsum/theorem-e.1" in err
    assert "fedsum/" in out


def test_a_graph_of_other_clients_names_what_was_given(tmp_path, cli):
    """The size of the matrix and n; nobody said how many take part."""
    (tmp_path / "pair.csv").write_text("0.5,0.5\n0.5,0.5\n")
    done = cli("verify", "classics/dsgd-consensus", "--participation", f"graph:{tmp_path / 'pair.csv'}", "n=3")
    assert (done.returncode, done.stderr) == (2, "ratecheck: n=3 contradicts a pattern of 2 clients\n")


def test_settings_of_a_participation_file(tmp_path, data):
    """Clients, rounds and participants that are not given are those of the file."""
    (tmp_path / "who.csv").write_text("1,0,1\n0,1,0\n1,1,1\n1,0,0\n")
    whole = data("verify", "fedsum/theorem-d.1", "--participation", str(tmp_path / "who.csv"))
    assert [whole["values"][name] for name in ("N", "S", "T")] == [3, 3, 4]
    short = data("verify", "fedsum/theorem-d.1", "T=3", "--participation", str(tmp_path / "who.csv"))
    assert short["values"]["T"] == 3
