"""What the pages keep of their examples' outputs: written by a command, compared when the pages are built."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs")

import examples  # it needs the extra

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("kept", "printed"),
    [
        ("slack 1.234", "slack 1.2345"),
        ("left   0.5\nin 3 s", "left 0.5 in 12.5 s"),
        ("rounding 3e-16", "rounding 5e-17"),
        ("theorem-3.7 K=25", "theorem-3.7  K=25"),
        ("left 8.2e-05", "left 8.3e-05"),
    ],
)
def test_last_digits_spaces_and_seconds_are_no_difference(kept, printed):
    """Two machines round differently, and one is slower."""
    assert examples.alike(kept, printed)


@pytest.mark.parametrize(
    ("kept", "printed"),
    [
        ("HOLDS", "VIOLATED"),
        ("slack 1.234", "slack 1.244"),
        ("K=25", "K=26"),
        ("theorem-3.7", "theorem-3.8"),
        ("left 1 2", "left 1"),
        ("left -1", "left 1"),
        ("left 1e-3", "left 1e-4"),
        ("", "HOLDS"),
    ],
)
def test_another_verdict_or_number_is_one(kept, printed):
    """Three digits, every word and every sign count."""
    assert not examples.alike(kept, printed)


def test_a_page_is_filled_and_filled_again_only_where_it_differs(tmp_path, monkeypatch):
    """Below its example; figures and what is alike stay as they are."""
    monkeypatch.setattr(examples, "GENERATED", tmp_path / "made")
    page = tmp_path / "page.md"
    page.write_text(
        "```bash\necho 1.0001; touch a.png\n```\n\n```{output}\nold\n```\n\n```{output}\n:figure: a.png\n```\n"
    )
    examples.write(page)
    filled = page.read_text()
    assert "```{output}\n1.0001\n```" in filled
    assert "```{output}\n:figure: a.png\n```" in filled
    page.write_text(filled.replace("1.0001", "1.0002", 2).replace("echo 1.0002", "echo 1.0001"))
    examples.write(page)
    assert "```{output}\n1.0002\n```" in page.read_text()


def test_no_page_has_an_empty_output():
    """A reader of the repository sees what is printed."""
    for page in DOCS.glob("*.md"):
        assert not re.search(r"^```\{output\}\n```$", page.read_text(), re.MULTILINE), page.name


@pytest.fixture
def page_kept(tmp_path, monkeypatch):
    """A page whose outputs are kept as those of what is here."""
    page = tmp_path / "page.md"
    page.write_text("```bash\necho 1\n```\n\n```{output}\n1\n```\n")
    monkeypatch.setattr(examples, "GENERATED", tmp_path / "made")
    monkeypatch.setattr(examples.kept, "load", {"examples": {"page": examples.origin(page)}}.__getitem__)
    return page


def test_a_page_is_not_run_again_while_nothing_of_its_origin_changes(page_kept):
    """As its command kept it."""
    assert examples.is_kept(page_kept)


@pytest.mark.parametrize("old_new", [("echo 1", "echo 2"), ("\n1\n", "\n2\n"), ("```{output}\n1", ":figure: a.png")])
def test_a_page_is_run_again_where_it_changes(page_kept, old_new):
    """An example, an output, or a figure that is shown."""
    page_kept.write_text(page_kept.read_text().replace(*old_new))
    assert not examples.is_kept(page_kept)


@pytest.mark.parametrize(("name", "other"), [("sources_digest", "0"), ("libraries", ["numpy 0"])])
def test_a_page_is_run_again_where_sources_or_libraries_change(page_kept, monkeypatch, name, other):
    """A source file or a version."""
    monkeypatch.setattr(examples, name, lambda: other)
    assert not examples.is_kept(page_kept)
