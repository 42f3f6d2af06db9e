"""Proofs on a range of a parameter: functions that are known by hand, what is wrong on a part of it, and files."""

import dataclasses
from fractions import Fraction

import pytest

import bounds
import ratecheck as rc
from bounds.theorem import theorem
from ratecheck import recheck
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.registered import NO_PERSONAL
from ratecheck.errors import InputError
from ratecheck.proving.polynomials import reconstructed
from ratecheck.proving.ranges.range_claims import range_certificates
from ratecheck.proving.ranges.range_proof import prove_on_range

SGD = bounds.get("classics/nonconvex-sgd")


def test_potential_of_sgd_is_the_function_that_is_known() -> None:
    """SGD attains its bound at every step size up to 1/L, with V = 2 (f - f*)/(gamma (2 - gamma L)), for every T."""
    found = prove_on_range(SGD, {"L": 2}, "gamma_u=0:1/L")
    assert (found.verdict, found.factor, found.every_T) == ("PROVED", 1, True)
    assert (found.range.low, found.range.high) == (0, Fraction(1, 2))
    (part,) = found.parts
    (V,) = part.base.potentials
    assert V.height is not None
    for x in (Fraction(1, 7), Fraction(1, 3), Fraction(1, 2)):
        assert part.value(V.height).at(x) / part.below.at(x) == 2 / (x * (2 - 2 * x))


@pytest.mark.parametrize(
    ("key", "wanted"), [("nonconvex-sgd", "gamma_u=0:1/L"), ("nonconvex-mean-gradient", "gamma_u=0.5:1")]
)
def test_claims_on_a_range_are_accepted_and_changed_ones_are_rejected(key: str, wanted: str) -> None:
    """Every claim with the checker alone; with another number in its proof it is rejected."""
    answers = range_certificates(prove_on_range(bounds.get(f"classics/{key}"), {}, wanted))
    assert not [each["reason"] for each in answers if each["reason"]]
    steps = [each["certificate"] for each in answers if each["certificate"]]
    assert {"round", "V >= 0", "sum of all rounds"} <= {each["id"].rpartition(": ")[2] for each in steps}
    for step in steps:
        recheck.step(step)
        (proof,) = step["proofs"]
        for term in proof["terms"]:
            kept = term["factor"][0][0]
            term["factor"][0][0] = str(Fraction(kept) * 2)
            with pytest.raises(ArithmeticError):
                recheck.step(step)
            term["factor"][0][0] = kept


def test_what_is_wrong_on_a_part_of_the_range_is_not_proved() -> None:
    """The bound 2 F_0/(gamma T) holds up to gamma = 1/L and not up to 1.5/L."""
    own = theorem("mean grad2 <= 2*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 3/2/L")
    assert prove_on_range(own, {}, "gamma=0:1/L").verdict == "PROVED"
    assert prove_on_range(own, {}, "gamma=0:3/2/L").verdict == "NOT PROVED"


def test_a_bound_that_falls_between_the_numbers_that_are_tried_is_not_proved() -> None:
    """Beyond gamma = 0.995/L the smaller one of two formulas is the other one, which is false at 1/L."""
    right = "Min(2*F_0/(gamma*T), 2*F_0/(gamma*T)*(1 + 100*(0.995 - gamma*L)))"
    own = theorem(f"mean grad2 <= {right}", method="gd", given="smooth", when="gamma <= 1/L")
    found = prove_on_range(own, {}, "gamma=0:1/L")
    assert found.verdict == "NOT PROVED"
    assert "is no rational function of gamma" in found.reason


class Longer(FedAvgP):
    """Gradient descent whose steps are 100 times as long near gamma_u = 0.3."""

    name = "longer"

    def step(self, local, gradient, p):
        factor = 100 if 0.299 < p["gamma_u"] < 0.301 else 1
        return {"u": local["u"] - factor * p["gamma_u"] * gradient["u"], "v": local["v"]}


def test_a_method_that_is_another_one_between_the_numbers_that_are_tried_is_not_proved(monkeypatch) -> None:
    """On x^2/2 with gamma = 0.3 a step of 30 leads from x to -29 x."""
    method = Method("longer", "longer", Longer(), NO_PERSONAL, personal=False)
    monkeypatch.setitem(METHODS, "longer", method)
    own = theorem("mean G_u <= 2*F_0/(gamma_u*T)", method="longer", given="smooth, full participation",
                  when="gamma_u <= 1/L", vocabulary="textbook",
                  settings={"K": 1, "n": 1, "m": 1, "sigma_u": 0, "eta_u": 1})  # fmt: skip
    found = prove_on_range(own, {}, "gamma_u=0:1/L")
    assert (found.verdict, found.reason) == ("NOT PROVED", "longer does more with gamma_u than arithmetic")


def test_a_right_side_that_is_negative_somewhere_is_not_proved() -> None:
    """From a minimiser f does not fall, and at gamma = 0.3 the right side is -F_0/100."""
    own = theorem("fall <= 1e6*F_0*((gamma - 3/10)**2 - 1e-8)", method="gd", given="smooth", when="gamma <= 1/L")
    found = prove_on_range(own, {}, "gamma=0.2:0.4")
    assert (found.verdict, found.reason) == ("NOT PROVED", "its right side may be negative for 0.2 <= gamma <= 0.4")


def test_result_says_the_range(tmp_path) -> None:
    """Text, JSON, and a file that the checker accepts."""
    found = rc.prove(SGD, within="gamma_u=0:1/L", evaluations=0, certificate=tmp_path / "proof.json")
    assert found.verdict == "PROVED"
    assert "for all 0 < gamma_u <= 1, for every T" in str(found)
    assert found.to_dict()["within"]["factor"] == "1"
    assert recheck.main([str(tmp_path / "proof.json")]) == 0
    assert dataclasses.is_dataclass(found)


@pytest.mark.parametrize(
    ("wanted", "given", "reason"),
    [
        ("gamma_u=0", {}, "no range"),
        ("gamma=0:1", {}, "no range"),
        ("gamma_u=0:1/L", {"gamma_u": 1}, "given"),
        ("gamma_u=0:2/L", {}, "breaks"),
        ("gamma_u=1:1/2", {}, "LOW < HIGH"),
        ("L=0.5:1", {}, "gamma_u depends on L"),
    ],
)
def test_what_is_no_range_is_refused(wanted: str, given: dict[str, float], reason: str) -> None:
    """One line with the reason."""
    with pytest.raises(InputError, match=reason):
        prove_on_range(SGD, given, wanted)


def test_only_rational_functions_are_reconstructed() -> None:
    """A root, and a function that is another one at the last point."""
    points = [Fraction(k) for k in range(1, 30)]
    for values in (
        [Fraction(x**3 % 7 + 1) for x in range(1, 30)],
        [*(x * x / (x + 2) for x in points[:-1]), Fraction(0)],
    ):
        with pytest.raises(InputError, match="no rational function"):
            reconstructed(points, values, 12)
