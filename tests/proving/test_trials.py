"""What is proved is tried on runs at the same numbers: a reading that is wrong does not pass for a proof."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

import ratecheck as rc
from bounds.statement import Statement
from bounds.theorem import theorem
from ratecheck.outcome import Outcome
from ratecheck.proving import improve
from ratecheck.proving.classes import Curved
from ratecheck.proving.prove import PotentialProof, prove, quick_proof
from ratecheck.proving.question import Compared, Question
from ratecheck.proving.ranges.range_proof import prove_on_range

GD = {"method": "gd", "given": "smooth", "when": "gamma <= 1/L"}
CONVEX = {"method": "gd", "given": "smooth, convex", "when": "gamma <= 1/L"}
SGD = {"method": "sgd", "given": "smooth, noise", "when": "gamma <= 1/L"}


def read_as(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    """Have every question read something of its statement as another thing."""
    monkeypatch.setattr(Question, name, property(lambda _: value))


def larger(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Have every question read its right side as so many times what it is."""
    compared = Question.__dict__["compared"].func

    def wrong(q: Question) -> tuple[Compared, ...]:
        return tuple(dataclasses.replace(each, scaled=times * each.scaled) for each in compared(q))

    monkeypatch.setattr(Question, "compared", property(wrong))
    read_as(monkeypatch, "in_rounds", None)


def without_trials(monkeypatch: pytest.MonkeyPatch, statement: Statement, **given: float) -> str:
    """The verdict if nothing were tried."""
    with monkeypatch.context() as patch:
        patch.setattr(PotentialProof, "tried", lambda proof: proof)
        return prove(statement, given).verdict


@pytest.mark.parametrize(
    ("false", "given", "name", "value"),
    [
        # Its noise is none.
        (theorem("mean grad2 <= 2*F_0/(gamma*T)", **SGD), {}, "noise", {"u": Fraction(0)}),
        # Its functions are less curved than they may be.
        (theorem("mean grad2 <= F_0/(gamma*T)", **GD), {"gamma": 1}, "L", Fraction(1, 10)),
        # Its start is nearer, or lower.
        (theorem("every gap <= F_0/2", **GD), {"T": 3}, "F_0", Fraction(1, 2)),
        (theorem("every dist2 <= R_0**2/2", **CONVEX), {"T": 3}, "R_0", Fraction(1, 2)),
        # Its functions are convex.
        (theorem("every dist2 <= R_0**2", **GD), {"T": 10, "gamma": 1}, "classes", (Curved(Fraction(0), Fraction(1)),)),
    ],
)  # fmt: skip
def test_a_wrong_reading_proves_nothing(monkeypatch, false, given, name, value) -> None:
    """Each is a proof of another claim, and a run violates this one."""
    read_as(monkeypatch, name, value)
    assert without_trials(monkeypatch, false, **given).startswith("PROVED")
    found = prove(false, given)
    assert found.verdict == "NOT PROVED"
    assert found.factor is None
    assert found.trials.refuting is not None
    assert found.trials.refuting.outcome is Outcome.VIOLATED


def test_a_run_that_violates_the_statement_refutes_it(monkeypatch, tmp_path) -> None:
    """The instance is shown, and nothing of the proof is exported."""
    larger(monkeypatch, 4)
    path = tmp_path / "proof.json"
    found = rc.prove(theorem("mean grad2 <= F_0/(2*gamma*T)", **GD), T=10, evaluations=0, certificate=path)
    assert found.verdict == "REFUTED"
    assert not found.answers
    assert not path.exists()
    assert "REFUTED, by an instance:" in str(found)
    assert "a proof was found, and a run at these numbers exceeds what it would prove" in " ".join(str(found).split())
    assert found.to_dict()["against"]["problem"]["kind"] == "quadratic"


def test_a_run_that_violates_a_proved_multiple_alone_leaves_nothing_proved(monkeypatch) -> None:
    """The statement is true with much to spare, and a share of it is not."""
    spacious = theorem("mean grad2 <= 20*F_0/(gamma*T)", **GD)
    assert prove(spacious, {"T": 10}).verdict == "PROVED"
    larger(monkeypatch, 10)
    found = rc.prove(spacious, T=10, evaluations=0)
    assert found.verdict == "NOT PROVED"
    assert found.proof.trials.against is not None
    assert found.proof.trials.refuting is None
    assert quick_proof(spacious, {"T": 10}) is None
    assert prove_on_range(spacious, {"T": 10}, "gamma=0:1/L").factor is None
    terms = theorem("mean grad2 <= 20*F_0/(gamma*T) + L*gamma*sigma**2", **SGD)
    values, _ = improve.completed(terms.written, {"T": 10, "n": 1, "m": 1})
    assert next(improve.sharpest(terms, values)).factor is None


def test_a_multiple_of_what_is_negative_is_no_stronger() -> None:
    """What is proved is the statement, and not 0 times its right side only."""
    found = prove(theorem("fall <= 0*F_0", **GD), {"T": 3})
    assert found.verdict == "PROVED"
    falls = theorem("fall <= -F_0", **GD)
    trial = dataclasses.replace(found, statement=falls).tried()
    assert trial.verdict == "NOT PROVED"
    assert trial.trials.refuting is not None


@pytest.mark.parametrize(
    "true",
    [
        # Attained, in decimals whose floats are a little more or less.
        theorem("every dist2 <= R_0**2", method="gd", given="smooth, convex", when="gamma == 2/L"),
        theorem("mean grad2 <= 2*L*F_0/(2*T*L*gamma*(1 - L*gamma/2))", method="gd", given="smooth",
                when="gamma == 7/(10*L)"),
        theorem("fall <= 0*F_0", method="gd", given="smooth", when="gamma == 2/L"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("L", [0.3, 0.7, 1.1])
def test_the_rounding_of_numbers_is_no_violation(true, L) -> None:
    """A bound that is attained is proved as before."""
    found = prove(true, {"L": L, "T": 3})
    assert found.trials.compared > 0
    assert found.trials.against is None
    assert found.verdict.startswith("PROVED")
