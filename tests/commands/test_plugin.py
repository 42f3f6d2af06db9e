"""A new command is one file of any distribution: help names it without importing it."""

import sys

import pytest
from click.testing import CliRunner
from plugin import forget, installed

import bounds
from ratecheck.cli import group

SOURCE = '''
"""``ratecheck count``."""

import click

import bounds


@click.command(name="count")
@click.argument("paper")
def command(paper):
    """How many statements a PAPER has."""
    click.echo(len(bounds.statements(paper)))
    return 0
'''


@pytest.fixture
def count(monkeypatch, tmp_path):
    """The command, installed."""
    with monkeypatch.context() as patched:
        entries = (
            "count = counting:command\nlist = counting:command\nbroken = counting:nothing\nwrong = counting:bounds"
        )
        installed(patched, tmp_path, "counting", SOURCE, commands=entries)
        yield
    forget()


def run(*words):
    """What a command prints."""
    result = CliRunner().invoke(group, words, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.mark.usefixtures("count")
def test_it_is_called():
    """By its name, with its own help; it takes the place of none of this package's commands."""
    assert run("count", "pfl").split() == [str(len(bounds.statements("pfl")))]
    assert "How many statements a PAPER has." in run("count", "--help")
    assert "pfl/theorem-3.7" in run("list", "pfl")


@pytest.mark.usefixtures("count")
def test_help_names_it_without_importing_it():
    """With the summary of its distribution."""
    lines = [line.split(maxsplit=1) for line in run("--help").splitlines() if line.strip()]
    assert ["count", "A guest for a test."] in lines
    assert "counting" not in sys.modules


@pytest.mark.usefixtures("count")
@pytest.mark.parametrize(
    ("name", "why"),
    [("broken", "the command 'broken' .counting:nothing. fails: "), ("wrong", "names no Click command")],
)
def test_one_that_cannot_be_loaded_is_one_line(name, why):
    """What is wrong, and where."""
    from bounds.errors import InputError

    with pytest.raises(InputError, match=why):
        run(name, "pfl")


@pytest.mark.usefixtures("count")
def test_an_unknown_command_is_told_of_them():
    """A did-you-mean among all commands."""
    with pytest.raises(Exception, match="did you mean 'count'"):
        run("coumt", "pfl")
