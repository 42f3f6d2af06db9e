"""Proofs by potentials: values that are known, wrong statements, certificates, and what a run shows."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS
from bounds.theorem import theorem
from ratecheck import recheck
from ratecheck.errors import InputError
from ratecheck.exponents.hard_instances import worst
from ratecheck.falsification.performance_estimation.worst_case import worst_case
from ratecheck.proving.certificate import certificates
from ratecheck.proving.forms import ClientDraw, Entry, Key, VectorFamily
from ratecheck.proving.invariants import invariants
from ratecheck.proving.prove import PotentialProof, completed, least, prove, quick_proof, sized_plans
from ratecheck.proving.question import Question
from ratecheck.proving.reach import scales
from ratecheck.proving.rounds import PlayedRound, RunStart
from ratecheck.views.proofs.prove import prove_text

WRONG = {pair.wrong.key: pair.wrong for pair in PAIRS}


def _of(key: str, **given: float) -> PotentialProof:
    return prove(bounds.get(key), given)


@pytest.mark.every(2)
def test_equations_are_not_called_inequalities() -> None:
    """The draw of the participants is one, and its weight may be negative; weights of inequalities are not."""
    proof = _of("classics/saga-distances", T=2)
    used = [each for each in proof.claims[0].parts[-1].used if not each[1].name.startswith("noise")]
    assert all(value > 0 for _, fact, value in used if not fact.equal)
    equations = sum(fact.equal for _, fact, _ in used)
    said = next(line for line in str(prove_text(proof)).splitlines() if "positive weights" in line)
    assert (
        said.strip(" :") == f"by {len(used) - equations} inequalities with positive weights and {equations} equations"
    )


@pytest.mark.parametrize(
    ("key", "given", "every_T"),
    [
        ("classics/nonconvex-mean-gradient", {}, True),
        # Its momentum sqrt((1 - gamma L) (1 - gamma mu)) is 7/10 then, and at mu = 1/10 no fraction.
        ("classics/heavy-ball-values", {"mu": 0.04}, False),
        ("classics/strongly-convex-distances", {}, False),
        ("classics/proximal-point-mean-gradient", {}, True),
        ("classics/extragradient-mean-gradient", {}, True),
        ("classics/fedavg-sampled-gradients", {}, True),
        ("pfl/fedavg-partial", {}, False),
    ],
)
def test_theorem_is_proved(key: str, given: dict[str, float], every_T: bool) -> None:
    """Classics and a theorem of a paper at the numbers that are taken for them, or near them."""
    proof = _of(key, **given)
    assert proof.verdict == "PROVED"
    assert proof.every_T is every_T
    assert not [each["reason"] for each in certificates(proof) if each["reason"]]


@pytest.mark.parametrize(
    ("key", "verdict"),
    [
        ("classics/halpern-gradients", "PROVED"),
        ("classics/fixed-point-krasnoselskii-mann", "PROVED"),
        ("classics/strongly-convex-values-nesterov", "PROVED"),
        ("classics/strongly-convex-values-from-distance", "PROVED UP TO 1e-9"),
    ],
)
def test_attained_bound_is_proved_on_its_face_or_up_to_a_hair(key: str, verdict: str) -> None:
    """Where multipliers that vanish do so slowly, a solver's digits are too few; of less than the bound is no proof."""
    proof = _of(key, T=4)
    assert proof.verdict == verdict
    assert not [each["reason"] for each in certificates(proof) if each["reason"]]
    whole = bounds.get(key).written
    claim = whole.claims[0]
    terms = {name: term * (1 - sp.Rational(1, 10**6)) for name, term in claim.terms.items()}
    less = dataclasses.replace(whole, claims=(dataclasses.replace(claim, terms=terms),))
    assert prove(less, {"T": 4}).verdict == "NOT PROVED"


@pytest.mark.parametrize(("factor", "common", "proved"), [(1, True, True), (2, True, False), (1, False, False)])
def test_sampled_sgd_contracts_where_clients_have_one_minimiser(factor: int, common: bool, proved: bool) -> None:
    """By 1 - gamma mu in a round and not by 1 - 2 gamma mu; without a common minimiser not at all."""
    statement = theorem(
        "interpolated", algorithm="fedavg", left="dist2", over="every_round", vocabulary="textbook",
        assumptions=["smoothness", "convexity", "strong_convexity", "no_personal", "uniform_sampling"]
        + ["interpolation"] * common,
        right=f"(1 - {factor}*gamma_u*mu)**t*dist2_0", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    assert (prove(statement, {"T": 4}).verdict == "PROVED") is proved


def test_search_without_a_violation_says_what_is_proved_at_some_numbers(tmp_path: Path) -> None:
    """Where that takes a tenth of a second, and of a right side that is proved as it stands."""
    found = rc.falsify("classics/nonconvex-sgd", evaluations=3)
    assert found.proof is not None
    assert found.proof.verdict == "PROVED"
    assert "is proved at n=10 m=10" in " ".join(str(found).split())
    assert found.to_dict()["proof"]["factor"] == 1
    own = tmp_path / "halved.py"
    own.write_text(
        "from bounds.theorem import theorem\n"
        "wrong = theorem('mean grad2 <= F_0/(gamma*T)', method='gd', given='smooth', when='gamma <= 1/L')\n"
    )
    assert quick_proof(bounds.get(f"{own}:wrong"), {}) is None


def test_sharper_than_the_paper_for_every_number_of_rounds() -> None:
    """Theorem 3.7 with a quarter of its right side, T not fixed."""
    proof = _of("pfl/theorem-3.7", n=10, m=3, K=2)
    assert proof.factor is not None
    assert proof.factor < Fraction(27, 100)
    assert proof.every_T


def test_control_variates_add_up_to_the_servers() -> None:
    """SCAFFOLD keeps c = mean of the c_i, without which there is no proof."""
    statement = bounds.get("classics/scaffold-values").written
    values, _ = completed(statement, {"K": 2})
    (kept,) = invariants(Question(statement, values), PlayedRound, RunStart)
    assert [c for c in kept.server if c] == [-c for c in kept.client if c]
    assert _of("classics/scaffold-values", K=2).verdict == "PROVED"


@pytest.mark.parametrize(
    ("key", "given", "largest"),
    [
        ("pfl/theorem-4.5", {"n": 4, "m": 3, "K": 1}, 0.26),
        ("classics/saga-distances", {"n": 4, "T": 20}, 0.6),
    ],
)
def test_clients_that_remember_are_sampled(key: str, given: dict[str, float], largest: float) -> None:
    """Scaffold-P and SAGA: participants apart from the others, whose memory stays as it is."""
    proof = _of(key, **given)
    assert proof.verdict == "PROVED"
    assert proof.factor is not None
    assert proof.factor < largest
    assert not [each["reason"] for each in certificates(proof) if each["reason"]]


def test_what_is_proved_of_sampled_memory_bounds_a_run() -> None:
    """The exact run of SAGA with as many clients stays below what is proved at its constants."""
    statement = bounds.get("classics/saga-distances")
    run = rc.verify(statement, T=4, n=3)
    given = {n: v for n, v in run.verdict.values.items() if n in statement.parameters and n not in statement.settings}
    factor = prove(statement, given).factor
    assert factor is not None
    assert all(each.left <= float(factor) * each.right for each in run.verdict.comparisons)


@pytest.mark.parametrize("apart", [False, True])
def test_values_at_points_of_one_name_are_different_numbers(apart: bool) -> None:
    """A client that works on an old point has its gradient there; no factor is below the hardest known instance."""
    statement = bounds.get("classics/async-uniform-gradients").written
    values, _ = completed(statement, {"n": 4, "T": 3})
    q = Question(statement, values, apart=apart)
    played = PlayedRound(q, 0)
    names = [each.name for each in (played.here, *played.vectors.answers)]
    assert len({*names}) == len(played.vectors.answers)
    found = worst(statement, values).left / float(q.compared[0].right)
    assert min(map(least, sized_plans(q))) >= found * (1 - 1e-6)


def test_participants_are_like_the_others_before_they_are_drawn() -> None:
    """The Gram matrix of vectors of four clients, two drawn, meets every equation that the draw implies."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(2, 4, 3))
    draw = ClientDraw(4, 2)
    a, b = (
        VectorFamily(
            "u", {i: Fraction(1)}, {i: Fraction(1)}, other=VectorFamily("u", {j: Fraction(1)}, {j: Fraction(1)})
        )
        for i, j in ((1, 2), (3, 4))
    )
    draws = [*itertools.combinations(range(4), 2)]

    def value(key: Key) -> float:
        """The mean over all draws of an entry."""
        assert isinstance(key, Entry)
        found = 0.0
        for drawn in draws:
            groups = {0: [*drawn], 1: [i for i in range(4) if i not in drawn]}
            one, two = (vectors[(number - 1) // 2][groups[(number - 1) % 2]] for number in (key.first, key.second))
            if key.deviations:
                one, two = one - one.mean(0), two - two.mean(0)
                found += float((one * two).sum()) / 2
            else:
                found += float(one.mean(0) @ two.mean(0))
        return found / len(draws)

    forms = [form for pair in ((a, a), (a, b), (b, b)) for form in draw.exchangeable(*pair)]
    assert len(forms) >= 10
    for form in forms:
        assert sum(float(c) * value(key) for key, c in form.items()) == pytest.approx(0, abs=1e-12)
    average = draw.average(a, b)
    assert sum(float(c) * value(k) for k, c in average.items()) == pytest.approx((vectors[0] * vectors[1]).sum() / 4)


@pytest.mark.parametrize(
    "key",
    ["classics/optimized-gradient-values", "classics/gradient-descent-values", "classics/constant-momentum-values"],
)
def test_factor_is_that_of_the_worst_function(key: str) -> None:
    """With a potential for each round the least factor is that of the worst function by PEPit."""
    proof = _of(key, n=1, m=1, T=3)
    found = worst_case(bounds.get(key), {n: v for n, v in proof.values.items() if n not in bounds.get(key).settings})
    largest = max(each.lower.left / each.lower.right for each in found.enclosures)
    smallest = max(claim.smallest for claim in proof.claims)
    assert largest <= smallest * (1 + 1e-5)
    if all(part.plan.kind == "chain" for claim in proof.claims for part in claim.parts):
        assert smallest == pytest.approx(largest, rel=2e-3)


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("textbook/gd-outer-step-half", {}),
        ("textbook/sgd-two-terms-clients", {}),
        ("textbook/sampled-half-sampling", {}),
        ("textbook/scaffold-one-step-noise", {}),
        ("textbook/mean-gap-rate", {}),
        ("textbook/gd-two", {}),
        # Wrong where both variables of every client are coupled.
        ("textbook/two-blocks-two", {}),
        # Wrong in long runs.
        ("textbook/sgd-balanced-quarter", {"T": 100000}),
        ("textbook/gaps-rounds", {"T": 30}),
    ],
)
def test_wrong_statement_is_not_proved(key: str, given: dict[str, float]) -> None:
    """No proof of what is false at these numbers."""
    assert prove(WRONG[key], given).verdict == "NOT PROVED"


@pytest.mark.parametrize(("constant", "verdict"), [("2", "PROVED"), ("2.1", "NOT PROVED")])
def test_the_point_after_the_rounds_is_reached(constant: str, verdict: str) -> None:
    """x^T of gradient descent, whose gap may be L R_0^2/(4 T + 2) and no more (Drori and Teboulle, 2014)."""
    claim = f"last gap <= L*R_0**2/(4*T + {constant})"
    found = prove(theorem(claim, method="gd", given="smooth, convex", when="gamma == 1/L"), {"T": 3})
    assert found.verdict == verdict
    assert found.claims[0].smallest == pytest.approx((12 + float(constant)) / 14, rel=1e-5)


@pytest.mark.parametrize("method", ["linearly-decreasing-steps", "gd"])
@pytest.mark.parametrize("claim", ["mean grad2 <= 2.1*F_0/(gamma*T)", "grad2 <= 2.1*L*F_0"])
def test_a_round_says_nothing_of_others_that_differ(method: str, claim: str) -> None:
    """Steps of (T - 1 - t)/T gamma, half as long in the mean as the first, with which the first claim would hold."""
    when = {"linearly-decreasing-steps": "gamma <= 1/L", "gd": "gamma_t == gamma*(T - 1 - t)/T, gamma <= 1/L"}[method]
    false = theorem(claim, method=method, given="smooth", when=when)
    found = prove(false, {"T": 60})
    assert found.verdict == "NOT PROVED"
    assert not any(part.plan.potentials for one in found.claims for part in one.parts)


@pytest.mark.parametrize("key", ["pfl/fedavg-partial", "classics/nonconvex-sgd", "classics/local-sgd-gradients"])
def test_no_run_exceeds_what_is_proved(key: str) -> None:
    """The left side of an exact run is at most the proved multiple of the right side, at the run's own constants."""
    statement = bounds.get(key)
    run = rc.verify(key, T=20, **({} if "K" in statement.settings else {"K": 2}))
    given = {n: v for n, v in run.verdict.values.items() if n in statement.parameters and n not in statement.settings}
    factor = prove(statement, given).claims[0].factor
    assert factor is not None
    assert run.left <= float(factor) * run.right


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("classics/dsgd-gradients", {"T": 10}),
        ("classics/gradient-tracking-gradients", {"T": 5}),
        ("classics/dsgd-random-consensus", {"T": 10}),
        ("classics/ef-sgd-gradients", {"T": 10}),
        ("classics/ef21-gradients", {"T": 10}),
        ("classics/coordinate-descent-gradients", {"T": 10}),
    ],
)
def test_graphs_and_compression(key: str, options: dict[str, float]) -> None:
    """Proved from lambda_W and q alone, with certificates, and no exact run exceeds what is proved."""
    statement = bounds.get(key)
    run = rc.verify(key, **options)
    given = {n: v for n, v in run.verdict.values.items() if n in statement.parameters and n not in statement.settings}
    proof = prove(statement, given)
    assert proof.factor is not None
    assert proof.factor <= 1
    assert all(each.left <= float(proof.factor) * each.right * (1 + 1e-9) for each in run.verdict.comparisons)
    assert not [each["reason"] for each in certificates(proof) if each["reason"]]


@pytest.mark.parametrize("key", ["classics/subgradient-last-value", "classics/subgradient-averaged-value"])
def test_short_run_as_a_whole(key: str) -> None:
    """A bound that is attained: proved of all rounds at once, whose vectors have names of their own."""
    proof = _of(key, T=4)
    assert proof.verdict == "PROVED"
    (claim,) = proof.claims
    for part in claim.parts:
        for requirement in part.plan.program.required:
            assert len({*requirement.vectors}) == len(requirement.vectors)
    assert not [each["reason"] for each in certificates(proof) if each["reason"]]


def test_factor_below_the_worst_function_is_not_proved() -> None:
    """Nothing below the worst case of a short run, where the theorem's bound is attained."""
    statement = bounds.get("classics/gradient-descent-values").written
    (claim,) = statement.claims
    low = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms={"all": claim.bound * 0.999}),))
    assert prove(low, {"T": 4}).verdict == "NOT PROVED"


def _leaves(node: Any) -> Iterator[tuple[Any, Any]]:
    """Places of the numbers in the data of a certificate."""
    for key, each in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(each, (dict, list)) and key != "hypotheses":
            yield from _leaves(each)
        elif isinstance(each, str) and re.fullmatch(r"-?[0-9]+(/[0-9]+)?", each):
            yield node, key


@pytest.mark.parametrize(
    ("key", "T"),
    [
        ("classics/nonconvex-mean-gradient", 10),
        ("classics/heavy-ball-values", 10),
        ("pfl/fedavg-partial", 10),
        # Of an irrational rate, whose powers are taken a little larger.
        ("classics/constant-momentum-values", 40),
    ],
)
def test_certificate_is_accepted_and_a_changed_one_is_rejected(key: str, T: int) -> None:
    """Every claim of a proof is accepted by the checker alone; with another number in its proof it is not."""
    answers = certificates(_of(key, T=T))
    assert not [each["reason"] for each in answers if each["reason"]]
    steps = [each["certificate"] for each in answers if each["certificate"]]
    names = [step["id"].rpartition(": ")[2] for step in steps]
    assert names[0] == "round"
    assert {"start", "V >= 0"} & {*names}
    for step in steps:
        recheck.step(step)
        places = [*_leaves(step["proofs"])]
        for where, key_there in places[:: 1 + len(places) // 6]:
            kept = where[key_there]
            where[key_there] = str(Fraction(kept) * 2 + Fraction(1, 7))
            with pytest.raises(ArithmeticError):
                recheck.step(step)
            where[key_there] = kept


def test_rounds_without_end() -> None:
    """A proof for every T does not follow one round after the other: a billion of them take no time."""
    found = prove(bounds.get("pfl/theorem-3.7"), {"T": 10**9})
    assert found.verdict.startswith("PROVED")
    assert found.factor < Fraction(3, 10)


def test_numbers_of_every_round_are_claims() -> None:
    """Of rate 1 as of any other: q_t = t, of which the bound after one more round speaks."""
    statement = theorem(
        "every dist2 <= dist2_0 + t*gamma**2*sigma**2", method="sgd", given="smooth, convex, noise", when="gamma <= 1/L"
    )
    steps = [each["certificate"] for each in certificates(prove(statement, {"T": 4})) if each["certificate"]]
    found = {
        name: step["right"] for step in steps if (name := step["id"].rpartition(": ")[2]).startswith(("p of", "q of"))
    }
    assert list(found) == ["p of round 1", "q of round 1", "q of round 2", "q of round 3"]
    assert [*found.values()] == ["1", "1", "2", "3"]


def test_certificates_leave_as_files(tmp_path: Path) -> None:
    """Files for the checker, which runs alone, and for Coq, with a lemma for each claim."""
    proof, lemmas = tmp_path / "proof.json", tmp_path / "proof.v"
    found = rc.prove("pfl/fedavg-partial", K=2, evaluations=0, certificate=proof, coq=lemmas)
    assert str(proof) in str(found)
    assert recheck.main([str(proof)]) == 0
    text = lemmas.read_text("utf-8")
    assert text.count("Qed.") > len(json.loads(proof.read_text("utf-8"))["steps"]) > 4
    assert "is not written" not in text


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("classics/random-reshuffling-distances", "drawn anew in each epoch"),
        ("classics/line-search-values", "not linear"),
        ("pfl/lemma-a.2", "about no method"),
        ("pfl/scaffold", "known only up to a constant"),
    ],
)
def test_what_is_out_of_reach_is_said(key: str, reason: str) -> None:
    """One line says why no proof is looked for."""
    with pytest.raises(InputError, match=reason):
        _of(key)


def test_broken_condition_is_refused() -> None:
    """A step size beyond its condition is an error."""
    with pytest.raises(InputError, match="gamma_u"):
        _of("classics/nonconvex-mean-gradient", gamma_u=3.0)


def test_constants_that_a_statement_does_not_name_are_not_used() -> None:
    """Numbers of what a statement does not speak of do not restrict its instances."""
    given = {"b_star": 1e-9, "M": 1e-9, "dist2_0": 1e-9}
    statement = bounds.get("classics/nonconvex-mean-gradient")
    known = {name: value for name, value in given.items() if name in statement.vocabulary}
    assert known
    assert prove(statement, known).factor == _of("classics/nonconvex-mean-gradient").factor


def test_bound_that_is_assumed_but_not_in_the_formulas_is_not_used() -> None:
    """Without its term in b a theorem about any dissimilarity is not proved; an L that no formula has is listed."""
    statement = bounds.get("classics/sampled-gradients").written
    (claim,) = statement.claims
    terms = {name: 1000 * term for name, term in claim.terms.items() if name != "sampling"}
    wrong = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    assert prove(wrong, {"n": 4, "m": 2, "T": 3}).factor is None
    assert scales(bounds.get("textbook/total-descent").written) == ["L"]


def test_result_says_factor_and_potential(tmp_path: Any) -> None:
    """Text, JSON and the file of a certificate."""
    found = rc.prove("classics/nonconvex-mean-gradient", T=10, evaluations=0, certificate=tmp_path / "proof.json")
    text, data = str(found), found.to_dict()
    assert "PROVED at these numbers" in text
    assert "for every T" in text
    assert "V = " in text
    assert data["verdict"] == "PROVED"
    assert (tmp_path / "proof.json").is_file()
    assert dataclasses.is_dataclass(found)
