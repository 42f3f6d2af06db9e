"""Studies that somebody else wrote: none runs code, none prints what files hold, none steers the terminal."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from short_theorem import DESCENT
from small_study import PAIR

import ratecheck as rc
from bounds.statement_data import from_data
from bounds.theorem import theorem
from ratecheck.commands.records.report import command as report
from ratecheck.commands.records.run import command as run
from ratecheck.errors import InputError
from ratecheck.settings.applicability import step_source

# What a file of Python does when it runs, beside defining a theorem: it leaves a mark.
OWN = """
from pathlib import Path

from bounds.theorem import theorem

Path({mark!r}).touch()
x = theorem(
    "Mine",
    algorithm="fedavg-p",
    assumptions=["smoothness"],
    left="G_u",
    over="mean_of_rounds",
    right={{"gap": "2*F_0/(gamma_u*T)"}},
)
"""
SHORT = PAIR.replace("T = 400", "T = 4").replace("replicates = 32", "replicates = 2")
CALL = "__import__('pathlib').Path('MARK').touch()"


class Payload:
    """What leaves the mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def top(line: str) -> str:
    """The study with another line at its top."""
    return f"{line}\n{SHORT}"


def instead(old: str, new: str) -> str:
    """The study with something else in one place."""
    assert old in SHORT
    return SHORT.replace(old, new)


def drawn(line: str) -> str:
    """The study with another line in its figure."""
    return SHORT + line + "\n"


PROBLEM, RUN = 'problem = { name = "quadratic", n = 3, d = 4 }', "m = 2"
HOSTILE = {
    # Python where a theorem is named.
    "file and name": top('theorems = ["evil.py:x"]'),
    "file alone": top('theorems = ["evil.py"]'),
    "from here": top('theorems = ["./evil.py:x"]'),
    "absolute": top('theorems = ["FOLDER/evil.py:x"]'),
    "through a folder": top('theorems = ["sub/../evil.py:x"]'),
    "two suffixes": top('theorems = ["evil.py:x.py"]'),
    "two colons": top('theorems = ["evil.py:x:x"]'),
    "an address": top('theorems = ["file://FOLDER/evil.py:x"]'),
    "no name": top('theorems = ["evil.py:"]'),
    "a module": top('theorems = ["evil:x"]'),
    "a paper": top('theorems = ["evil/x"]'),
    "a dotted paper": top('theorems = ["..evil/x"]'),
    "a call": top(f'theorems = ["{CALL}"]'),
    "after a sound one": top('theorems = ["pfl/fedavg-partial", "evil.py:x"]'),
    "of a figure": drawn('theorems = ["evil.py:x"]'),
    "of a figure again": drawn('[[figure]]\nname = "again"\nruns = "local"\ntheorems = ["evil.py:x"]'),
    "with admissible": top('theorems = ["evil.py:x"]') + "admissible = true\n",
    # Python in what is extended, or there itself.
    "extended": 'extends = "base.toml"\nname = "own"',
    "extended, of a figure": 'extends = "figure.toml"\nname = "own"',
    "extended twice": 'extends = "middle.toml"\nname = "own"',
    "added to what is extended": 'extends = "plain.toml"\nname = "own"\ntheorems = ["evil.py:x"]',
    "replaced": 'extends = "plain.toml"\nname = "own"\n[replace]\nfedavg-p = "evil.py:x"',
    "Python extended": 'extends = "evil.py"\nname = "own"',
    "another folder": 'extends = "../outside.toml"\nname = "own"',
    "another folder, absolute": 'extends = "FOLDER/../outside.toml"\nname = "own"',
    "another folder, linked": 'extends = "link.toml"\nname = "own"',
    # Python where a problem, a pattern, a method or a number is named.
    "problem": instead('"quadratic"', '"evil.py:x"'),
    "problem of a pickle": instead(PROBLEM, 'problem = { name = "evil.npz" }'),
    "problem of a data file": instead(PROBLEM, 'problem = { name = "libsvm:evil.py", n = 3 }'),
    "problem of a command": instead(PROBLEM, 'problem = { name = "libsvm:|touch MARK", n = 3 }'),
    "parameter": instead("d = 4", f'd = "{CALL}"'),
    "pattern": instead(RUN, 'm = 2\nparticipation = "evil.py:x"'),
    "pattern of a pickle": instead(RUN, 'm = 2\nparticipation = "evil.npz"'),
    "pattern of a call": instead(RUN, f'm = 2\nparticipation = "bernoulli:{CALL}"'),
    "graph": instead(RUN, 'm = 2\nparticipation = "graph:evil.py"'),
    "pattern in a table": top('participation = { p = { kind = "trace", matrix = "evil.py" } }').replace(
        RUN, 'm = 2\nparticipation = "p"'
    ),
    "method": instead('"fedavg-p"', '"evil.py:x"'),
    "method of a module": instead('"fedavg-p"', '"evil:x"'),
    "step size": instead("eta_u = 2", f'eta_u = "{CALL}"'),
    "local steps": instead("K = 5", f'K = "{CALL}"')
    .replace("values = [1, 2]", "values = [1, 3]")
    .replace('"K"', '"m"'),
    "metric": instead("{ G_u = 1, G_v = 1 }", f'"{CALL}"'),
    "value": instead("values = [1, 2]", f'values = ["{CALL}"]'),
    "symbol": drawn('symbol = "\\\\immediate\\\\write18{touch MARK}"'),
    "title": drawn('title = "{0.__class__} %(x)s $(touch MARK) `touch MARK`"'),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the hostile study and of what it names; one above it is not its own."""
    inner = tmp_path / "inner"
    (inner / "sub").mkdir(parents=True)
    mark = tmp_path / "mark"
    for place in (inner, tmp_path):
        (place / "evil.py").write_text(OWN.format(mark=str(mark)))
    np.savez(
        inner / "evil.npz", H=np.array([Payload(mark)], dtype=object), matrix=np.array([Payload(mark)], dtype=object)
    )
    (inner / "plain.toml").write_text(SHORT)
    (inner / "base.toml").write_text(HOSTILE["file and name"])
    (inner / "figure.toml").write_text(HOSTILE["of a figure"])
    (inner / "middle.toml").write_text('extends = "base.toml"\nname = "middle"')
    (tmp_path / "outside.toml").write_text(SHORT)
    (inner / "link.toml").symlink_to(tmp_path / "outside.toml")
    monkeypatch.chdir(inner)
    return inner


def written(folder: Path, text: str) -> str:
    """The study in a file."""
    (folder / "study.toml").write_text(text.replace("FOLDER", str(folder)).replace("MARK", str(folder.parent / "mark")))
    return "study.toml"


def test_there_are_forty():
    """And more."""
    assert len(set(HOSTILE.values())) >= 40


@pytest.mark.parametrize("name", HOSTILE)
def test_no_study_runs_code(folder, name):
    """By any command, in whole or in part, nor in Python; what is refused is refused in one line."""
    study = written(folder, HOSTILE[name])
    for command, arguments in ((run, ["--quick"]), (run, ["--shard", "1/1"]), (report, ["--quick", "--out", "r.html"])):
        done = CliRunner().invoke(command, [study, *arguments], standalone_mode=False)
        assert done.exception is None or isinstance(done.exception, InputError), done.exception
        assert "\n" not in str(done.exception)
        refused = done.exception is not None
        assert refused or name in ("symbol", "title")
    if refused:
        with pytest.raises(InputError):
            rc.run(study, quick=True)
    assert not (folder.parent / "mark").exists()


@pytest.mark.parametrize("field", [{"follows_from": ["pfl/theorem-3.7", "evil.py:x"]}, {"repairs": "evil.py"}])
def test_a_statement_as_data_names_no_code(folder, field):
    """Where it follows from another, its step sizes are looked up there: which runs the file."""
    with pytest.raises(InputError, match=r"'evil\.py.*' is of a Python file: data names statements of the catalogue"):
        from_data({**DESCENT, **field})
    step_source(theorem(**{**DESCENT, "follows_from": ["evil.py:x"]}))
    assert (folder.parent / "mark").exists()  # as that of a statement in Python does


@pytest.mark.parametrize("given", ["evil.py", "./evil.py", "../inner/evil.py"])
def test_who_runs_the_study_allows_the_file(folder, given):
    """By the name in the study, wherever it lies; then it runs, which the tests above would see."""
    study = written(folder, HOSTILE["extended"])
    done = CliRunner().invoke(run, [study, "--quick", "--theorems", given], standalone_mode=False)
    assert done.exception is None
    assert "evil/x" in done.output
    assert (folder.parent / "mark").exists()
    assert [each.statement.key for each in rc.run(study, quick=True, theorems=given).findings.theory] == ["evil/x"] * 2
    assert "evil/x" in str(rc.report(study, quick=True, theorems=[Path(given)]).markdown)


@pytest.mark.parametrize(
    ("theorems", "said"),
    [
        (["other.py"], "'evil.py:x': a study runs no Python; allow the file where you run it, by --theorems evil.py"),
        (["evil.py", "../evil.py"], "theorems: 'evil.py' and '../evil.py' have one name; a study needs two"),
        (["evil"], "theorems: 'evil' is no Python file: give path/to/file.py"),
    ],
)
def test_what_is_allowed_is_said_in_one_line(folder, theorems, said):
    """Another file, two of one name, and no file of Python."""
    with pytest.raises(InputError) as caught:
        rc.run(written(folder, HOSTILE["file and name"]), theorems=theorems)
    assert said in str(caught.value)
    assert not (folder.parent / "mark").exists()


@pytest.mark.parametrize(
    "text",
    [
        instead(PROBLEM, 'problem = { name = "libsvm:secret.txt", n = 3 }'),
        instead(PROBLEM, 'problem = { name = "libsvm:secret.gz", n = 3 }'),
        instead(PROBLEM, 'problem = { name = "secret.npz" }'),
        instead(RUN, 'm = 2\nparticipation = "secret.csv"'),
        instead(RUN, 'm = 2\nparticipation = "secret.npz"'),
        instead(RUN, 'm = 2\nparticipation = "graph:secret.csv"'),
        instead(RUN, 'm = 2\nparticipation = "graph:secret.txt:0.5"'),
        'extends = "secret.txt"\nname = "own"',
    ],
)
def test_what_a_file_holds_is_not_said(folder, text):
    """A study names files that its writer may not be able to read."""
    for name in ("secret.txt", "secret.csv", "secret.npz"):
        (folder / name).write_text("hunter2:x:0 swordfish\n")
    (folder / "secret.gz").write_bytes(gzip.compress(b"hunter2:x:0 swordfish\n"))
    with pytest.raises(InputError) as caught:
        rc.run(written(folder, text), quick=True)
    assert "secret" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("hunter2", "swordfish"))


def test_no_address_is_fetched(folder, monkeypatch):
    """NumPy's reader of text would, and leave the file beside the study."""
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: (folder.parent / "mark").touch())
    study = written(folder, instead(RUN, 'm = 2\nparticipation = "graph:http://localhost/evil.csv"'))
    with pytest.raises(InputError, match="No such file"):
        rc.run(study, quick=True)
    assert not (folder.parent / "mark").exists()


def test_escape_sequences_are_shown(folder, cli):
    """In a title, a claim, a choice, a file's name, a column's name: as text, on both streams and in the report."""
    bad = r"\u001b[31mred\u001b]0;owned\u0007\u202e"
    claim = (
        f'[[claim]]\nname = "c"\nfigure = "local"\nsays = "{bad}"\nkind = "mean"\neffect = "rises"\nsource = "{bad}"\n'
    )
    text = f'title = "{bad}"\nchosen = ["{bad}"]\nmetric_name = "{bad}"\n{SHORT}title = "{bad}"\n{claim}'
    study = written(folder, text)
    named = "\x1b[31m.toml"
    Path(study).rename(named)
    found = [cli("run", named, "--quick"), cli("run", named + "\x1b"), cli("report", named, "--out", "\x1b.md")]
    found += [cli("results", "results/sweep-quick", "--columns", "\x1b[31m"), cli("run", named, "--only", "\x1b[31m")]
    for done in found:
        assert not any(each in done.stdout + done.stderr for each in "\x1b\x07\u202e")
    with pytest.raises(InputError, match=r"no study file \\x1b\[31m") as caught:
        rc.run("\x1b[31m")
    assert "\x1b" not in str(caught.value)
    assert r"\x1b[31mred\x1b]0;owned\x07\u202e" in found[0].stdout
    assert r"\x1b[31m.toml" in found[1].stderr
    assert not any(each in str(rc.report(named, quick=True).markdown) for each in "\x1b\x07\u202e")
