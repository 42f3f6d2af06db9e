"""What other distributions add is found, by the library that reads it where there is something to read."""

import subprocess
import sys
import zipfile
from importlib import metadata

import pytest

from bounds.entry_points import entry_points


@pytest.mark.parametrize("group", ["console_scripts", "pytest11", "ratecheck.commands"])
def test_as_the_library_says(group):
    """Of groups that some distribution has, and of none."""
    assert entry_points(group) == tuple(metadata.entry_points(group=group))


def test_an_archive_is_asked(tmp_path, monkeypatch):
    """A distribution that is imported from an archive has entry points too."""
    with zipfile.ZipFile(tmp_path / "guest.zip", "w") as archive:
        archive.writestr("guest-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
        archive.writestr("guest-1.0.dist-info/entry_points.txt", "[ratecheck.guests]\nmine = guest:mine\n")
    monkeypatch.syspath_prepend(tmp_path / "guest.zip")
    assert [entry.value for entry in entry_points("ratecheck.guests")] == ["guest:mine"]


def test_help_imports_little():
    """Of the modules that take longest, none where no distribution brings a command."""
    slow = {"importlib.metadata", "dataclasses", "difflib", "subprocess", "traceback", "sympy", "numpy", "rich"}
    code = f"""
import sys
from ratecheck.cli import main
sys.argv = ["ratecheck", "--help"]
try:
    main()
finally:
    print("", *{slow} & {{*sys.modules}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == ""
