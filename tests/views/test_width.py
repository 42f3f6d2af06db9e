"""Output as wide as the terminal: nothing breaks inside a word, tables stay tables, pipes stay as they are."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from ratecheck.views.width import table, wrapped

NUMBERS = ("n=10", "m=9", "K=25", "T=400", "L=1", "F_0=1", "b=0.4", "sigma_u=0.3", "sigma_v=0.3")
COMMANDS = (
    ("verify", "fedsum/theorem-4.1", "T=5"),
    ("verify", "pfl/lemma-a.2", "pfl/lemma-a.1"),
    ("stepsize", "pfl/theorem-3.7", *NUMBERS),
    ("bound", "pfl/theorem-3.7", *NUMBERS, "gamma=1e-4"),
    ("list", "simfbo"),
    ("tables", "pfl/table-3"),
)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_lines_fit_the_terminal(cli, monkeypatch, width, words):
    """And say the same words as without a width."""
    monkeypatch.setenv("COLUMNS", "")
    whole = cli(*words).stdout
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = cli(*words).stdout
    assert max(map(len, narrow.splitlines())) <= width
    assert width == 80 or max(map(len, whole.splitlines())) > width
    if words[0] == "verify":
        assert narrow.split()[:40] == whole.split()[:40]
    assert sorted("".join(narrow.split())) == sorted("".join(whole.split()))


def test_a_terminal_s_own_width_counts():
    """A pseudo-terminal of 60 columns; JSON is not touched."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def on_terminal(*words: str) -> str:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        command = [sys.executable, "-m", "ratecheck", *words]
        with subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL, env=environment) as process:
            os.close(slave)
            text = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                text += part
                if not part:
                    break
            process.wait()
        os.close(master)
        return text.decode().replace("\r\n", "\n")

    assert max(map(len, on_terminal("list", "pfl").splitlines())) <= 60
    found = on_terminal("bound", *COMMANDS[3][1:], "--json")
    assert json.loads(found)["key"] == "pfl/theorem-3.7"


def test_words_and_columns(monkeypatch):
    """Continued lines are indented below what they continue; short columns keep their cells whole."""
    monkeypatch.setenv("COLUMNS", "30")
    assert wrapped("  because one two three four five six").splitlines() == [
        "  because one two three four", "          five six",
    ]  # fmt: skip
    rows = [("key", "number", "a longer sentence of many words"), ("k", "0.1234", "short")]
    lines = table(rows).splitlines()
    assert lines[0].startswith("key  number  a longer")
    assert lines[-1] == "k    0.1234  short"
    assert max(map(len, lines)) <= 30
