"""Studies that extend others: keys, tables and lists of the one that is loaded take the place of the other's."""

import pytest
from small_study import PAIR

from ratecheck.errors import InputError
from ratecheck.studies import load

CLAIM = '[[claim]]\nname = "c"\nfigure = "methods"\nsays = "s"\nkind = "mean"\neffect = "better"\n'
METHODS = (
    PAIR.replace("[run]", '[problem]\nname = "quadratic"\nn = 3\nd = 4\n\n[run]').replace(
        'problem = { name = "quadratic", n = 3, d = 4 }\n', ""
    )
    + '[[figure]]\nname = "methods"\nvary = "algorithm"\nvalues = ["fedavg-p", "scaffold-p"]\n'
    + CLAIM
    + 'curves = ["scaffold-p"]\nagainst = ["fedavg-p"]\n'
)


def extending(folder, text, base=METHODS):
    """The study of a file beside one called base.toml."""
    (folder / "base.toml").write_text(base)
    (folder / "own.toml").write_text(text)
    return load(folder / "own.toml")


def test_nothing_but_the_name_is_its_own(tmp_path):
    """All else is the other's, and the name enters the seeds."""
    own = extending(tmp_path, 'extends = "base.toml"\nname = "own"')
    base = load(tmp_path / "base.toml")
    assert (own.name, own.figures, own.claims) == ("own", base.figures, base.claims)
    assert own.path.endswith("own.toml")


def test_tables_are_filled_up_and_lists_replaced(tmp_path):
    """Key by key, and whole."""
    own = extending(
        tmp_path,
        'extends = "base.toml"\nname = "own"\nchosen = ["x"]\nclaim = []\n[problem]\nn = 5\n[run]\nT = 7\n'
        '[[figure]]\nname = "one"\nvary = "m"\nvalues = [1, 3]\n',
    )
    assert [figure.name for figure in own.figures] == ["one"]
    assert (own.claims, own.chosen) == ((), ("x",))
    for curve in own.curves:
        assert (curve.parameters, curve.T, curve.K) == ({"n": 5, "d": 4}, 7, 5)


def test_words_are_replaced_where_curves_are_named(tmp_path):
    """In runs, varied values and claims; neither in names nor in what is said."""
    base = METHODS.replace('name = "methods"', 'name = "fedavg-p"').replace('figure = "methods"', 'figure = "fedavg-p"')
    own = extending(tmp_path, 'extends = "base.toml"\nname = "own"\n[replace]\nfedavg-p = "fedavg"', base)
    local, methods = own.figures
    assert {curve.algorithm for curve in local.curves} == {"fedavg"}
    assert (methods.name, [curve.algorithm for curve in methods.curves]) == ("fedavg-p", ["fedavg", "scaffold-p"])
    assert own.claims[0].against == ("fedavg",)


def test_a_chain_of_files_has_an_end(tmp_path):
    """Thirty-two files that each extend the next are read, more are refused for what they are."""
    (tmp_path / "0.toml").write_text(METHODS)
    for k in range(1, 40):
        (tmp_path / f"{k}.toml").write_text(f'extends = "{k - 1}.toml"\nname = "c{k}"')
    assert load(tmp_path / "32.toml").name == "c32"
    with pytest.raises(InputError, match=r"1\.toml: extends: more than 32 files extend one another"):
        load(tmp_path / "33.toml")
    with pytest.raises(InputError, match="more than 32 files extend one another"):
        load(tmp_path / "39.toml")


def test_chains_and_folders(tmp_path):
    """A path is from the folder of the file that has it; a chain is followed."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "base.toml").write_text(METHODS)
    (tmp_path / "middle.toml").write_text('extends = "deep/base.toml"\nname = "middle"\n[run]\nT = 9\n')
    own = extending(tmp_path, 'extends = "middle.toml"\nname = "own"\n[run]\nm = 3\n')
    assert {(curve.T, curve.m) for curve in own.curves} == {(9, 3)}


@pytest.mark.parametrize(
    ("text", "base", "said"),
    [
        ('extends = "nowhere.toml"\nname = "own"', METHODS, "no study file"),
        ('extends = "own.toml"\nname = "own"', METHODS, "extends this file in turn"),
        ('extends = "base.toml"\nname = "own"', 'extends = "own.toml"\nname = "b"', "extends this file in turn"),
        ('extends = "base.toml"', METHODS, "the key 'name' is missing"),
        ("extends = 3\nname = 'own'", METHODS, "extends: a text in quotes is needed"),
        ('extends = ""\nname = "own"', METHODS, "extends: it is empty"),
        ('extends = "."\nname = "own"', METHODS, "cannot be read"),
        ('extends = "base.toml"\nname = "own"\nreplace = 3', METHODS, "replace: a table is needed"),
        ('extends = "base.toml"\nname = "own"\nreplace = { fedavg-p = 3 }', METHODS, "fedavg-p: a text in quotes"),
        ('extends = "base.toml"\nname = "own"\nreplace = { fedavg-p = "x" }', METHODS, "no 'x' here"),
        ('extends = "base.toml"\nname = "own"\nfigur = 3', METHODS, "unknown key 'figur'"),
        ('extends = "base.toml"\nname = "own"', METHODS + "\nfigure = 3", "base.toml is not TOML"),
        (
            'extends = "base.toml"\nname = "own"',
            'figure = [3]\nclaim = 3\nname = "b"\nmetric = { G_u = 1 }',
            "[[figure]]",
        ),
        ('replace = { a = "b" }\n' + METHODS, METHODS, "unknown key 'replace'"),
    ],
)
def test_errors_are_one_line(tmp_path, text, base, said):
    """With the file and the key."""
    with pytest.raises(InputError) as caught:
        extending(tmp_path, text, base)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
