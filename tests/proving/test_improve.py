"""Sharper terms, best step sizes and brackets: values that are known by hand, and what is refused."""

from pathlib import Path

import pytest

import bounds
import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.proving.bracket import proved_bracket
from ratecheck.proving.improve import best, sharpest
from ratecheck.proving.prove import completed, prove
from ratecheck.proving.question import Question
from ratecheck.views.proofs.prove import bracket_text, factor_text


def test_terms_of_a_bound_that_is_attained_keep_their_constants() -> None:
    """SGD at gamma = 1/L attains both of its terms, so that neither constant is smaller."""
    proof = prove(bounds.get("classics/nonconvex-sgd"), {"gamma_u": 1, "L": 1})
    found = [*sharpest(proof.statement, proof.values)]
    assert [each.name for each in found] == ["start", "noise"]
    assert [float(each.factor or -1) for each in found] == pytest.approx([1, 1], rel=2e-3)
    assert all(part.plan.every_T for each in found for part in each.parts)


def test_all_terms_but_the_first_are_sharper_than_the_paper() -> None:
    """Theorem 3.7 with its first term as it stands and a twentieth of all others, for every T."""
    proof = prove(bounds.get("pfl/theorem-3.7"), {"n": 10, "m": 3, "K": 2})
    (found,) = [each for each in sharpest(proof.statement, proof.values) if each.name == "all but initial gap"]
    assert found.factor is not None
    assert 0.01 < found.factor < 0.05


def test_best_step_size_is_that_of_the_proved_bound() -> None:
    """SGD's bound 2 F_0/(gamma T (2 - gamma L)) + ... is smallest where calculus says."""
    statement = bounds.get("classics/nonconvex-sgd")
    found = best(statement, {"T": 100, "L": 1, "F_0": 1, "sigma_u": 1, "n": 1, "m": 1}, "gamma_u")
    # (0.02 + gamma^2)/(gamma (2 - gamma)) is smallest at gamma = (sqrt(201) - 1)/100.
    assert found.value == pytest.approx((201**0.5 - 1) / 100, rel=0.03)
    assert found.own_bound is not None
    assert found.bound < found.own_bound


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("every gap <= 3*(1 - gamma*mu)**t*F_0", "left side in round 1 <= "),
        ("mean grad2 <= 3*F_0/(gamma*T)", "left side <= "),
    ],
)
def test_best_value_says_of_what_it_bounds_the_left_side(text: str, said: str) -> None:
    """A claim on every round has as many bounds as rounds: the one that is printed is the last one's."""
    own = theorem(text, method="gd", given="smooth, strongly convex", when="gamma <= 1/L")
    found = rc.prove(own, T=2, L=1, mu=0.5, F_0=1, evaluations=0, best="gamma")
    assert found.best is not None
    assert f": {said}{factor_text(found.best.bound, 4)}" in str(found)
    assert found.to_dict()["best"]["round"] == (1 if "round" in said else None)


def test_bracket_holds_what_is_found_and_what_is_proved(tmp_path: Path) -> None:
    """Found never exceeds proved, both are shares of the right side, and the picture is written."""
    found = rc.prove("pfl/fedavg-partial", over="K=1:2", T=50, evaluations=0)
    assert found.bracket is not None
    assert [point.value for point in found.bracket.points] == [1, 2]
    for point in found.bracket.points:
        assert point.found is not None
        assert point.proved is not None
        assert 0 < point.found <= point.proved <= 1
    assert "found/right side" in str(found)
    assert found.save(tmp_path / "bracket.svg").file == tmp_path / "bracket.svg"
    assert [each["value"] for each in found.to_dict()["over"]["points"]] == [1, 2]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"best": "momentum"}, "no parameter"),
        ({"best": "n"}, "may vary"),
        ({"over": "K"}, "NAME=LOW:HIGH"),
        ({"over": "nothing=1:2"}, "no parameter 'nothing'"),
        ({"over": "n=1:4", "n": 2}, "leave out one"),
    ],
)
def test_what_cannot_vary_is_refused(given: dict[str, object], reason: str) -> None:
    """One line with the name."""
    with pytest.raises(InputError, match=reason):
        rc.prove("classics/nonconvex-sgd", evaluations=0, **given)  # type: ignore[arg-type]


def test_only_what_varies_is_drawn() -> None:
    """A proof alone has no picture."""
    with pytest.raises(InputError, match="give over"):
        _ = rc.prove("classics/nonconvex-sgd", evaluations=0).figure


@pytest.mark.parametrize(
    ("key", "potential", "verdict"),
    [
        ("classics/nonconvex-mean-gradient", "2/gamma_u*gap", "PROVED"),
        ("classics/nonconvex-mean-gradient", "gap/gamma_u", "NOT PROVED"),
        ("classics/strongly-convex-distances", "u**2", "PROVED"),
        ("classics/heavy-ball-values", "gap + (x - before)**2/10", "NOT PROVED"),
    ],
)
def test_potential_of_ones_own(key: str, potential: str, verdict: str) -> None:
    """The textbook's potentials are checked as they are, and no other one is tried."""
    assert prove(bounds.get(key), {"T": 20}, potential=potential).verdict == verdict


@pytest.mark.parametrize(
    ("potential", "reason"),
    [
        ("gap**2", "no term of a potential"),
        ("gap + nothing*grad**2", "no symbol 'nothing'"),
        ("gap + u*grad", "where the origin is"),
    ],
)
def test_potential_that_is_none_is_refused(potential: str, reason: str) -> None:
    """One line says which term, which name, or that another origin would change it."""
    with pytest.raises(InputError, match=reason):
        prove(bounds.get("classics/nonconvex-mean-gradient"), {"T": 20}, potential=potential)


def test_rounded_step_sizes_keep_their_products() -> None:
    """gamma_u eta_u = gamma holds of the numbers that a proof is about."""
    statement = bounds.get("pfl/theorem-3.7").written
    values, _ = completed(statement, {"n": 10, "m": 3})
    assert values["gamma_u"] * values["eta_u"] == pytest.approx(values["gamma"], rel=1e-12)
    assert Question(statement, values).compared[0].right > 0


def test_right_side_is_between_what_is_found_and_what_is_proved() -> None:
    """A bracket of a classic that is attained, of one that is not, and of a lemma about no method; verify quotes it."""
    tight = proved_bracket(bounds.get("classics/nonconvex-mean-gradient"))
    assert tight.proof is not None
    assert (tight.found, tight.proof.factor) == (pytest.approx(1), 1)
    loose = rc.verify("pfl/theorem-3.7", n=10, m=3, K=2, T=20, prove=True)
    assert loose.slack is not None
    assert loose.bracket is not None
    assert loose.bracket.found is not None
    assert loose.bracket.proof is not None
    assert loose.bracket.proof.factor is not None
    assert 1 / loose.slack <= loose.bracket.found <= loose.bracket.proof.factor < 0.5
    assert f"{loose.bracket.found:.6g}" in str(loose)
    assert "about no method" in bracket_text(proved_bracket(bounds.get("pfl/lemma-a.2")))
