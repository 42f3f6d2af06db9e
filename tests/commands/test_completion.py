"""What bash, zsh and fish are offered; as these shells ask for it, by environment variables."""

import os
import subprocess
import sys

import pytest

import bounds
from ratecheck.cli import COMMANDS
from ratecheck.commands.completion import catalogue


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of these tests alone."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def offered(cache, tmp_path):
    """What a shell offers after the words of a line, the last of which is not finished."""

    def ask(*words, shell="bash", options=()):
        line = "ratecheck " + " ".join(words)
        place = words[-1] if shell == "fish" else str(len(words))
        asked = {"_RATECHECK_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": place}
        done = subprocess.run(
            [sys.executable, *options, "-m", "ratecheck"],
            env=os.environ | asked | {"RATECHECK_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if shell == "bash":
            return [row.split(",", 1)[1] for row in done.stdout.split()], done.stderr
        if shell == "zsh":
            return done.stdout.splitlines()[1::3], done.stderr
        return [row.split(",", 1)[1].split("\t")[0] for row in done.stdout.splitlines()], done.stderr

    return ask


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_keys_and_parameters(offered, shell):
    """Of the line ``ratecheck bound pfl/theorem-3.7 ...``, word by word."""
    found, _ = offered("bound", "pfl/theorem-3.7", "ga", shell=shell)
    assert found == ["gamma=", "gamma_u=", "gamma_v="]
    # What is offered does not depend on the shell, only how it is printed.
    if shell == "bash":
        assert offered("bou", shell=shell)[0] == ["bound"]
        found, _ = offered("bound", "pfl/theorem-3", shell=shell)
        assert found == [key for key in bounds.keys() if key.startswith("pfl/theorem-3")]
        assert "--schema" in offered("lint", "--", shell=shell)[0]


def test_classics_are_offered(offered):
    """With their keys and parameters, like statements of the catalogue."""
    found, _ = offered("verify", "classics/sgd-")
    assert found == [each.key for each in bounds.statements("classics") if each.key.startswith("classics/sgd-")]
    assert found
    assert "gamma_u=" in offered("bound", found[0], "ga")[0]


def test_every_command_is_offered(offered):
    """In the order of the help."""
    assert offered("")[0] == [*COMMANDS] or set(COMMANDS) <= set(offered("")[0])


def test_what_is_given_is_not_offered_again(offered):
    """Neither a parameter nor what the statement fixes."""
    found, _ = offered("bound", "pfl/parallel-sgd", "L=1", "")
    assert "T=" in found
    assert {"L=", "K=", "m="}.isdisjoint(found)


def test_papers_and_files(offered, tmp_path):
    """Where a command takes them; other words are left to the shell."""
    (tmp_path / "pf.py").write_text("")
    (tmp_path / "pf.txt").write_text("")
    assert {"pfl", "pf.py"} <= {*offered("lint", "pf")[0]}
    assert "pf.txt" not in offered("lint", "pf")[0]
    assert "pfl" not in offered("bound", "pf")[0]
    assert offered("list", "fl")[0] == ["flame"]
    assert offered("list", "cl")[0] == ["classics"]
    assert "classics" not in offered("audit", "cl")[0]
    assert offered("nonsense", "p")[0] == []


def test_no_numerical_package_is_imported(offered):
    """Once the keys are kept."""
    offered("bound", "pfl/")
    found, imported = offered("bound", "pfl/", options=("-X", "importtime"))
    assert found
    assert "click" in imported
    for heavy in ("sympy", "numpy", "numba", "scipy"):
        assert f" {heavy}\n" not in imported


def test_keys_are_those_of_the_catalogue(monkeypatch, tmp_path):
    """And of the classics; also where nothing can be kept, and where what was kept is damaged."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path))
    known = [*bounds.keys(), *(each.key for each in bounds.statements(bounds.CLASSICS))]
    assert [*catalogue()] == known
    [kept] = (tmp_path / "completion").iterdir()
    kept.write_text("nonsense")
    assert [*catalogue()] == known
    monkeypatch.setenv("RATECHECK_CACHE", "/dev/null/nowhere")
    assert "gamma" in catalogue()["pfl/theorem-3.7"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(cli, monkeypatch, shell):
    """It is printed, and asks by the variable that the program reads."""
    if shell == "bash":
        # Click asks bash for its version.
        monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda *_: None)
    monkeypatch.setenv("_RATECHECK_COMPLETE", f"{shell}_source")
    done = cli()
    assert done.returncode == 0
    assert f"_RATECHECK_COMPLETE={shell}_complete" in done.stdout
