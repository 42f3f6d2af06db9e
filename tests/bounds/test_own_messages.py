"""What a wrong field of an own statement is told."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import bounds
from bounds.errors import InputError
from bounds.symbols import COMMON
from bounds.theorem import constant_facts, symbol, theorem
from ratecheck.certification.certified_constants import _FACTS
from ratecheck.certification.local_work import FACTS
from ratecheck.cli import group
from ratecheck.problems import Quadratic
from ratecheck.stepsizes.choose import chosen_values

FIELDS = {
    "title": "mine", "algorithm": "fedavg", "assumptions": ["smoothness"], "left": "G_u", "over": "mean_of_rounds",
    "right": "2*F_0/(gamma_u*T)",
}  # fmt: skip


def test_a_fact_that_nothing_certifies_is_refused():
    """When the symbol is made; those that are known are named."""
    with pytest.raises(InputError, match=r"no fact 'nonsense'; known: .*F_0, .*L,"):
        symbol("D_0", "a distance", fact="nonsense")
    assert symbol("my_L", "smoothness", fact="L").fact == "L"
    assert symbol("mine", "recorded by a method of one's own", role="measured", fact="mine").fact == "mine"


def test_no_constant_that_is_certified_is_refused():
    """What participation and problems certify beside the common ones has a name in some vocabulary."""
    certified = {*_FACTS, *FACTS, *Quadratic.synthetic(n=2, d=2, shared=2).certified({}, {})}
    assert not certified - {*constant_facts()}
    assert {"L", "F_0", "b", "B_0"} <= {*constant_facts()}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"right": "xx"}, r"no symbol 'xx'; known: n, m, K, T, L, sigma_u, .*gamma_u, "),
        ({"right": "t"}, r"no symbol 't' here; vocabulary=.textbook. has it"),
        ({"over": 3}, "3 is not the name of one of Over; known: mean_of_rounds, every_round"),
        ({"step_products": "gamma == K*gamma_u*eta_u"}, "for another factor write K.gamma in the bound"),
    ],
)
def test_what_would_do_is_said(changed, message):
    """Beside what is wrong."""
    with pytest.raises(InputError, match=message):
        theorem(**{**FIELDS, **changed})


def test_a_folder_is_no_file(tmp_path):
    """And is not said to be missing."""
    (tmp_path / "d.py").mkdir()
    with pytest.raises(InputError, match="is a folder: give"):
        bounds.get(f"{tmp_path / 'd.py'}:mine")
    assert "L" in COMMON.facts


def test_the_documentation_lists_the_facts():
    """All of them, and no others."""
    page = (Path(__file__).parents[2] / "docs" / "own.md").read_text()
    listed = page.partition("Facts of a problem, its participation and its run:")[2].partition(".")[0]
    assert [each.strip().strip("`") for each in listed.split(",")] == [*constant_facts()]


def test_graphs_are_of_the_catalogue():
    """A key of a file is not said to be missing."""
    with pytest.raises(InputError, match="for statements of the catalogue only"):
        CliRunner().invoke(
            group, ["audit", "mine.py:descent", "--graph", "g.svg"], standalone_mode=False, catch_exceptions=False
        )


def test_an_outer_step_size_at_its_lower_end():
    """With the local one at its largest, a condition from below leaves one value, which is no largest one."""
    statement = theorem(
        **{**FIELDS, "right": "2*F_0/(gamma*T)"}, conditions=["gamma <= 1/L", "eta_u >= 1"],
        step_products="gamma == gamma_u*eta_u",
    )  # fmt: skip
    _, chosen = chosen_values(statement, {"n": 4, "m": 4, "K": 1, "T": 9, "L": 1, "F_0": 1})
    assert chosen["eta_u"].startswith("smallest admissible")


# --- What a newcomer types ---


def test_a_symbol_of_another_vocabulary():
    """The one that has it is named; what none has is answered with what there is."""
    with pytest.raises(InputError, match=r"no symbol 'gap' here; vocabulary=\"textbook\" has it"):
        theorem(**FIELDS | {"left": "gap"})
    with pytest.raises(InputError, match=r"no symbol 'dist2_0' here; vocabulary=\"textbook\" has it"):
        theorem(**FIELDS | {"conditions": ["gamma_u <= dist2_0"]})
    with pytest.raises(InputError, match="no symbol 'nowhere'; known: n, m"):
        theorem(**FIELDS | {"right": "nowhere"})


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        ({"assumptions": ["PL"]}, "did you mean 'polyak_lojasiewicz'"),
        ({"assumptions": ["convex"]}, "did you mean 'convexity'"),
        ({"over": "average"}, "averaged_iterate"),
    ],
)
def test_an_abbreviation(changed, hint):
    """First letters, and a word of several, are understood."""
    with pytest.raises(InputError, match=hint):
        theorem(**FIELDS | changed)
