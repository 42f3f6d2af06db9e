"""Exponents of the tables' rows: against closed forms and the textbook's rates, and with planted ones."""

from __future__ import annotations

import dataclasses
import math

import pytest

import bounds
from bounds.ledger import rate_table
from ratecheck.errors import InputError
from ratecheck.exponents import table_orders
from ratecheck.exponents.families.bilevel import Cause
from ratecheck.exponents.finding import CellFinding

PARTIAL, FULL = "baselines/fedavg-karimireddy-partial", "baselines/fedavg-karimireddy-full"
NOISE = "noise and dissimilarity"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("key", "term", "regime", "parameter", "steps", "known"),
    [
        (PARTIAL, NOISE, Cause.NOISE, "m", "pfl/fedavg-partial", -0.5),
        (PARTIAL, NOISE, Cause.NOISE, "T", "pfl/fedavg-partial", -0.5),
        (PARTIAL, NOISE, Cause.SAMPLING, "b", "pfl/fedavg-partial", 1.0),
        (FULL, "noise", Cause.NOISE, "n", "pfl/fedavg-full", -0.5),
        (FULL, "1/T", Cause.START, "T", "pfl/fedavg-full", -1.0),
        ("pfl/scaffold", "1/T", Cause.START, "b", "pfl/scaffold-explicit", 0.0),
    ],
)
def test_textbook_rates(key: str, term: str, regime: Cause, parameter: str, steps: str, known: float) -> None:
    """FedAvg's m^(-1/2), n^(-1/2), T^(-1/2) and 1/T, and that SCAFFOLD does not see b."""
    found = table_orders.exponent(bounds.get(key), term, regime, parameter, steps)
    assert found.measured == pytest.approx(known, abs=0.02)
    assert found.verdict is CellFinding.ATTAINED


def test_a_row_that_others_beat_is_loose() -> None:
    """The drift (b^2/T^2)^(1/3) is not there on clients of one curvature: only 1/T is."""
    found = table_orders.exponent(bounds.get(FULL), "drift", Cause.START, "T", "pfl/fedavg-full")
    assert (found.predicted, found.measured) == (pytest.approx(-2 / 3), pytest.approx(-1, abs=0.01))
    assert found.text == "LOOSE by T^0.33"


@pytest.mark.parametrize("power", [-0.25, 0.25])
def test_a_planted_exponent(power: float) -> None:
    """A quarter too good is exceeded, a quarter too bad is loose by that much."""
    statement = bounds.get("pfl/fedavg-full")
    (claim,) = statement.claims
    terms = {"noise": claim.terms["noise"] * statement.vocabulary["T"].symbol ** power}
    planted = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    found = table_orders.exponent(planted, "noise", Cause.NOISE, "T", "pfl/fedavg-full")
    assert found.measured - found.predicted == pytest.approx(-power, abs=0.02)
    assert found.verdict is (CellFinding.EXCEEDED if power < 0 else CellFinding.LOOSE)


def test_descent_is_geometric() -> None:
    """Without noise the left side on curvature h is h^2 u_0^2 times a mean of powers: u contracts by one factor."""
    statement, steps = bounds.get(FULL), bounds.get("pfl/fedavg-full")
    point = {"n": 4.0, "m": 4.0, "K": 4.0, "T": 1000.0, "b": 0.0, "sigma_u": 0.0}
    left, error, _ = table_orders._worst(statement, Cause.START, point, steps.key)
    gamma = 1 / (84 * 4)
    flattest = 1 / (gamma * 4 * 1000)
    values = []
    for k in range(4):
        h = flattest ** (1 - k / 3)
        factor = 1 - 2 * (1 - (1 - gamma / 2 * h) ** 4)
        values.append(2 * h * sum(factor ** (2 * t) for t in range(1000)) / 1000)
    assert left == pytest.approx(max(values), rel=1e-9)
    assert math.isfinite(error)
    assert error < 1e-9 * left


def test_other_methods_are_said_not_to_be_measured() -> None:
    """FedNest, FBO-AggITD, FedBiO, FedMBO, FedAlt, SCALLION and FedAWE are in no algorithm file."""
    for name in ("simfbo/table-1", "fedsum/table-1"):
        found = table_orders.rows(rate_table.get(name))
        assert found
        assert all(row.reason == table_orders.NOT_MEASURED and not row.exponents for row in found)
    with pytest.raises(InputError, match="no step sizes are known"):
        table_orders.of_statement(bounds.get(PARTIAL))


@pytest.mark.long
def test_every_row() -> None:
    """Rows and the exponents in which they are loose by more than a tenth; all others are attained."""
    found = [*table_orders.rows(rate_table.get("pfl/table-2")), *table_orders.rows(rate_table.get("pfl/table-3"))]
    found += [
        row for key in ("pfl/scaffold", "pfl/scaffold-prior") for row in table_orders.of_statement(bounds.get(key))
    ]
    loose = set()
    for row in found:
        for parameter, each in row.exponents.items():
            assert each.verdict in (CellFinding.ATTAINED, CellFinding.LOOSE), (row.key, row.term, parameter)
            if each.predicted - each.measured > 0.1:
                loose.add((row.key.partition("/")[2], row.term, row.regime.name, parameter))
    drift = {(key, "drift", "START", p) for p in ("T", "b") for key in ("fedsim", PARTIAL[10:], FULL[10:])}
    yang = {(f"fedavg-yang-{who}", "1/T", "START", p) for who in ("partial", "full") for p in ("K", "b")}
    assert loose == {
        *drift,
        *yang,
        *(("fedavg-yu", "gradients", "START", p) for p in ("n", "K", "b")),
        *(("fedavg-yang-partial", NOISE, "SAMPLING", p) for p in ("K", "b")),
        *(("fedsim", NOISE, regime, "m") for regime in ("NOISE", "SAMPLING")),
        ("fedsim", NOISE, "NOISE", "K"),
        ("scaffold-prior", "1/T", "START", "m"),
    }
