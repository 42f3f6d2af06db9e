"""What a user installs."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_wheel_contains_both_packages_and_nothing_else(tmp_path):
    """The wheel holds ``ratecheck`` and ``bounds``, typed, and neither tests nor documentation."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"bounds", "ratecheck"}
    assert {
        "bounds/py.typed",
        "ratecheck/__init__.pyi",
        "ratecheck/py.typed",
        "ratecheck/kernels/rounds.py",
        "ratecheck/views/document/formulas/OFL.txt",
        "ratecheck/views/document/formulas/math.css",
        "ratecheck/views/document/formulas/math.woff2",
        "bounds/papers/pfl/statements.py",
    } <= set(names)
