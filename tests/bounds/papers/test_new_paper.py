"""A new paper is one folder of any distribution: commands know its statements like those of the catalogue."""

import json
import os
import subprocess
import sys

STATEMENTS = '''
"""Gradient descent once more."""

import dataclasses

import bounds

descent = dataclasses.replace(bounds.get("textbook/gradient-descent"), key="guest/theorem-1", follows_from=())
TITLE, VOCABULARY, LEFT_OUT = "A guest", descent.vocabulary, (("Theorem 2", "about nothing that is here"),)
STATEMENTS = (descent,)
'''


def test_a_paper_of_another_distribution(tmp_path):
    """A folder and an entry point: listed, shown and verified; an unknown key of it has a suggestion."""
    folder, info = tmp_path / "guest_paper", tmp_path / "guest_paper-1.0.dist-info"
    folder.mkdir()
    info.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "statements.py").write_text(STATEMENTS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ratecheck.papers]\nguest = guest_paper\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])

    def call(*words):
        command = [sys.executable, "-m", "ratecheck", *words]
        return subprocess.run(
            command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
        )

    listed = json.loads(call("list", "guest", "--json").stdout)
    assert [row["key"] for row in listed["statements"]] == ["guest/theorem-1"]
    verdict = json.loads(call("verify", "guest/theorem-1", "n=2", "T=20", "--json").stdout)
    assert (verdict["key"], verdict["verdict"]) == ("guest/theorem-1", "HOLDS")
    unknown = call("show", "guest/theorem-11")
    assert (unknown.returncode, "did you mean 'guest/theorem-1'" in unknown.stderr) == (2, True)
