"""One name, one thing."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_class_name_stands_for_one_thing():
    """Of all classes of both packages, private ones too."""
    files = [file for package in ("bounds", "ratecheck") for file in (ROOT / package).rglob("*.py")]
    names = Counter(name for file in files for name in re.findall(r"^class (\w+)", file.read_text(), re.MULTILINE))
    assert len(names) > 700
    assert {name for name, count in names.items() if count > 1} == set()
