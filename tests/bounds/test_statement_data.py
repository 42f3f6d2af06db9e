"""Statements as JSON: the schema has the fields of `theorem`, and what is wrong in data names its field."""

import inspect
import json

import pytest
from short_theorem import DESCENT

import ratecheck as rc
from bounds.errors import InputError
from bounds.statement_data import DIALECT, from_data, read
from bounds.theorem import in_fields, symbol

# What `ratecheck new theorem` writes, as data.
DATA = DESCENT | {"source": "My paper, Theorem 1", "trivial": "2*L*F_0"}
# Every field, so that none is left out by a schema that is written by hand.
WHOLE = DATA | {
    "with_probability": "1 - 1/T",
    "relation": "<=",
    "step_rules": {"gamma_u": "1/M", "eta_v": ">= 1"},
    "step_products": ["gamma == gamma_u*eta_u"],
    "symbols": [{"name": "M", "meaning": "a bound on L", "degrees": [1, -2], "equals": "2*L", "role": "constant"}],
    "vocabulary": "pfl",
    "key": "mine/descent",
    "follows_from": ["pfl/lemma-3.1"],
    "remark": "a remark",
    "repairs": "",
}


def definitions():
    """What the schema says of a statement, a formula and a symbol."""
    return rc.statement_schema()["$defs"]


def test_the_schema_has_every_field():
    """Of `in_fields` and of `symbol`, with what is required, and every name of an enumeration."""
    assert rc.statement_schema()["$schema"] == DIALECT
    json.dumps(rc.statement_schema())
    for name, made in (("statement", in_fields), ("symbol", symbol)):
        parameters = inspect.signature(made).parameters.values()
        assert [*definitions()[name]["properties"]] == [each.name for each in parameters] or (
            {*definitions()[name]["properties"]} == {each.name for each in parameters}
        )
        required = {each.name for each in parameters if each.default is inspect.Parameter.empty}
        assert {*definitions()[name]["required"]} == required
    assert {*WHOLE} == {*definitions()["statement"]["properties"]}
    assert "smoothness" in definitions()["statement"]["properties"]["assumptions"]["items"]["enum"]


def test_a_statement_round_trips(tmp_path):
    """Through a file, to the statement that the same fields make."""
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    [found], known = read(str(tmp_path / "data.json")).values(), in_fields(**DATA)
    for part in ("title", "source", "algorithm", "assumptions", "claims", "conditions", "step_rules", "settings"):
        assert getattr(found, part) == getattr(known, part), part
    assert found.key == "data/gradient-descent"


def test_every_field_arrives():
    """Those that the template leaves out, too."""
    found = from_data(WHOLE)
    assert (found.key, found.remark, found.follows_from) == ("mine/descent", "a remark", ("pfl/lemma-3.1",))
    assert [rule.symbol.name for rule in found.step_rules] == ["gamma_u", "eta_v"]
    assert found.step_rules[1].at_least
    assert str(found.vocabulary.derived["M"]) == "2*L"


# One value of a wrong type for every field.
BROKEN = dict.fromkeys(WHOLE, 3) | {"left": None, "right": [1], "trivial": [1]}


@pytest.mark.parametrize("name", WHOLE)
def test_a_wrong_type_names_its_field(name):
    """In one line."""
    with pytest.raises(InputError, match=name) as caught:
        from_data(WHOLE | {name: BROKEN[name]})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"assumptions": ["smothness"]}, "did you mean 'smoothness'"),
        ({"assumption": []}, "no field 'assumption'; did you mean 'assumptions'"),
        ({"symbols": [{"name": "M"}]}, r"symbols\[0\] lacks meaning"),
        ({"symbols": [{"name": "M", "meaning": "m", "degrees": [1]}]}, r"symbols\[0\]: degrees"),
        ({"symbols": [{"name": "M", "meaning": "m", "unit": 1}]}, r"symbols\[0\] has no field 'unit'"),
        ({"symbols": ["M"]}, r"symbols\[0\] is a mapping"),
        ({"right": "2*F0"}, "no symbol 'F0'"),
        ({"right": "__import__('os')"}, "right"),
        ({"vocabulary": "nature"}, "no paper 'nature'"),
        ({"over": 1}, "over"),
    ],
)
def test_what_is_wrong_is_said(change, part):
    """With what is admissible."""
    with pytest.raises(InputError, match=part):
        from_data(WHOLE | change)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "is no JSON"),
        ("[]", "no statement"),
        ("3", "mapping of fields"),
        ("{}", "lacks title, algorithm, assumptions, left, over, right"),
        (json.dumps([DATA, {**DATA, "left": 1}]), r"data.json\[1\]: left"),
    ],
)
def test_a_bad_file_is_one_line(cli, tmp_path, monkeypatch, text, part):
    """Exit code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text(text)
    with pytest.raises(InputError, match=part):
        read("data.json")
    done = cli("lint", "data.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_no_file_is_one_line():
    """A path that leads nowhere."""
    with pytest.raises(InputError, match="cannot be read"):
        read("nowhere.json")
