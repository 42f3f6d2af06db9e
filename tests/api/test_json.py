"""The JSON of results: which keys, in which order, with what under them; and how it is read off dataclasses."""

import enum
import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ratecheck.cli import group
from ratecheck.plain import picked, picked_or_none, plain

KEPT = Path(__file__).with_name("json_shapes.json")
OWN = Path(__file__).parents[2] / "benchmarks" / "same_verdicts" / "mine.py"
SHAPES = json.loads(KEPT.read_text())


def shape(value):
    """Keys in their order, of a list what its first entry is, and of all else the kind."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return {bool: "bool", str: "text", type(None): "none"}.get(type(value), "number")


@pytest.mark.parametrize("words", SHAPES)
def test_keys_and_their_order_stay(words):
    """What a script reads is where it was, command by command."""
    answer = CliRunner().invoke(group, shlex.split(words.replace("OWN", str(OWN))), standalone_mode=False)
    assert json.dumps(shape(json.loads(answer.stdout))) == json.dumps(SHAPES[words])


class Colour(enum.Enum):
    """A word."""

    RED = "red"


@dataclass(frozen=True)
class Inner:
    """With an array."""

    values: np.ndarray


@dataclass(frozen=True)
class Outer:
    """With what JSON lacks."""

    colour: Colour
    inner: Inner
    ends: tuple[float, float]
    other: object = None


class Known:
    """What says its own data."""

    def fields(self):
        """As data."""
        return {"known": (1, 2)}


def test_dataclasses_are_data_by_their_fields():
    """Enums by their value, arrays and tuples as lists, no number that is none."""
    found = plain(Outer(Colour.RED, Inner(np.array([[1.0, math.nan]])), (0.5, math.inf), {1: Known()}))
    assert found == {
        "colour": "red", "inner": {"values": [[1.0, None]]}, "ends": [0.5, None], "other": {"1": {"known": [1, 2]}},
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found
    assert plain(np.bool_(1)) is True


def test_attributes_are_picked_by_name():
    """By their own names, by others, through a part, in that order; of nothing all are None."""
    given = Outer(Colour.RED, Inner(np.zeros(1)), (0.0, 1.0))
    assert list(picked(given, "ends", values="inner.values", word="colour.value").items())[::2] == [
        ("ends", (0.0, 1.0)), ("word", "red"),
    ]  # fmt: skip
    assert picked(None, "ends", word="colour") == {"ends": None, "word": None}
    assert picked_or_none(None, "ends") is None
