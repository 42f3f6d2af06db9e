"""The gallery: every picture has its command, is kept, and is what the command draws."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

DOCS = Path(__file__).parents[2] / "docs"

pytest.importorskip("sphinx", reason="needs the extra docs")
pytest.importorskip("sklearn", reason="needs the extra data")

import gallery  # noqa: E402  # its folder is that of the documentation

from ratecheck.cli import COMMANDS  # noqa: E402

ENTRIES = {Path(entry.file).stem: entry for entry in gallery.entries()}
# These take a second; all others are drawn in the tests of full length.
QUICK = ("errata", "map")


def test_every_picture_has_its_command():
    """At least twelve; each picture of the page stands below commands, is kept, and each command is one."""
    assert len(ENTRIES) >= 12
    assert (DOCS / "gallery.md").read_text().count("](_static/") == len(ENTRIES)
    for entry in ENTRIES.values():
        assert (DOCS / "_static" / entry.file).stat().st_size > 5_000, entry.file
        lines = entry.script.splitlines()
        assert {line.split()[1] for line in lines if line.startswith("ratecheck ")} <= {*COMMANDS}
        assert all((DOCS.parent / line.split()[1]).exists() for line in lines if line.startswith("python docs/"))


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(k, marks=pytest.mark.long) for k in ENTRIES if k not in QUICK)]
)
def test_a_picture_is_what_its_command_draws(name, tmp_path, monkeypatch):
    """Of the same size, and alike but for a few pixels."""
    if ENTRIES[name].kept_elsewhere:
        pytest.skip("another command of the documentation keeps it")
    monkeypatch.setattr(gallery, "PICTURES", tmp_path)
    gallery.main([name])
    kept = Image.open(DOCS / "_static" / "gallery" / f"{name}.png").convert("L")
    drawn = Image.open(tmp_path / f"{name}.png").convert("L")
    assert drawn.size == kept.size
    assert np.mean(np.asarray(ImageChops.difference(kept, drawn))) < 1.0
