"""Mutants with something in another's place: they are what they say, and are called harmless only where proved so."""

import ast
import functools
import random
from fractions import Fraction

import pytest
import sympy as sp

import bounds
import bounds.ledger
from bounds.ledger.draw import NoisyRational, expect, expect_square, mean, noise, subsets
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.step import Draws, Enumerated, Gram, Matrices, Scalar, Step, StepKind, equal
from bounds.ledger.vectors import dot, square, vectors
from ratecheck.auditing import ledger
from ratecheck.auditing.mutation import analysis, code, probe, structure
from ratecheck.auditing.mutation.analysis import MutantStatus
from ratecheck.auditing.mutation.mutants import MutantKind
from ratecheck.auditing.mutation.rewrites import rewrites
from ratecheck.auditing.mutation.seeking import Seeker, TapedDraw
from ratecheck.plain import plain, read

x, y = sp.symbols("x y", positive=True)
z = sp.Symbol("z", nonnegative=True)


def step(check):
    """A step that claims it."""
    return Step(id="toy/claim-1", location="Lemma 1", claim="a claim", of="toy/claim", check=check)


def enumerated(sides, operator="<=", instances=None, form=None, **constants):
    """A claim on a few draws."""
    instances = instances or Draws(count=20)
    kind = StepKind.EXPECTATION
    return Enumerated(kind=kind, sides=sides, operator=operator, instances=instances, constants=constants, form=form)


def structural(check):
    """The mutants of a claim in which no number is changed."""
    return [m for m in analysis.test_step(step(check)).mutants if m.kind.structural]


def changed(check):
    """Every rewrite of a claim's code with the function it makes, by what is said about it."""
    listed = code.sources(check.sides, drawn=isinstance(check.instances, Draws))
    return {
        each.said: code.with_mutant(check.sides, listed, each.source, each.node())
        for source in listed
        for each in rewrites(source)
    }


# --- The source of a function ---

TWO = (lambda draw: (draw.index, 1), lambda draw: (draw.index, 1 + 1))
NESTED = lambda more: (lambda draw: (draw.index, more), lambda draw: (draw.index, more))  # noqa: E731


def test_each_lambda_of_a_line_is_told_from_the_others():
    """Also from one with the same text, and in a closure."""
    assert [ast.unparse(code.node_of(each).body) for each in TWO] == ["(draw.index, 1)", "(draw.index, 1 + 1)"]
    one, other = NESTED(3)
    assert code.node_of(one).col_offset < code.node_of(other).col_offset
    assert code.node_of(eval("lambda draw: draw")) is None  # noqa: S307  # no file has it
    assert code.node_of(NESTED).body.elts[0] is code.node_of(one)


def test_the_source_of_every_claim_on_instances_is_found():
    """Of every ledger, and it compiles to what it is."""
    for paper in filter(ledger.has_ledger, bounds.PAPERS):
        for each in bounds.ledger.steps(paper):
            if isinstance(each.check, Enumerated):
                listed = code.sources(each.check.sides, drawn=isinstance(each.check.instances, Draws))
                assert listed, each.id
                assert all(one.compiled(one.node).co_code == one.function.__code__.co_code for one in listed), each.id


def _helped(values):
    return max(values)


def _twice(draw, factor, *, offset):
    values = [draw.positive() for _ in range(3)]
    return mean(values), factor * _helped(values) + offset


def test_a_mutant_of_a_helper_takes_its_place():
    """Only for the mutant, with the arguments given beforehand, the name that draws are seeded by, and other code."""
    sides = functools.partial(_twice, offset=0)
    check = enumerated(sides, factor=1)
    mutant = changed(check)["mean for max"]
    assert mutant.func.__qualname__ == _twice.__qualname__
    one, other = (f(TapedDraw(0, "toy"), factor=1) for f in (sides, mutant))
    assert one[0] == other[0] == other[1] < one[1]
    assert _twice.__globals__["_helped"] is _helped


# --- What is changed ---


def _claims(draw):
    """Everything that is part of a claim, beside what only draws."""
    values = [draw.positive() for _ in range(3)]
    k = 1
    one, other = NoisyRational(values[0]) + noise("a"), NoisyRational(values[1]) + noise("a")
    later = one.given(["a"])
    found = [expect(one, other), expect_square(one), expect_square(later)]
    return [
        (mean(values), max(values)),
        (sum(values[j] for j in range(k + 1)), min(sum(values[j] for j in s) for s in subsets(3, 2))),
        (sum(found), 100 if values[0] < values[1] else 200),
        (values[1:], 0),
    ]


KINDS = {
    "max for mean": MutantKind.MEAN,
    "the sum for mean": MutantKind.MEAN,
    "mean for max": MutantKind.MEAN,
    "min for max": MutantKind.MEAN,
    "max for min": MutantKind.MEAN,
    "mean for min": MutantKind.MEAN,
    "given the first outcome for mean": MutantKind.CONDITION,
    "product of expectations for expectation of product": MutantKind.CONDITION,
    "square of expectation for that of square": MutantKind.CONDITION,
    "expectation for conditional expectation": MutantKind.CONDITION,
    "random variable for conditional expectation": MutantKind.CONDITION,
    "range(0, k + 1 - 1) for range(k + 1)": MutantKind.RANGE,
    "range(1, k + 1) for range(k + 1)": MutantKind.RANGE,
    "range(0, k + 1 + 1) for range(k + 1)": MutantKind.RANGE,
    "values[j - 1] for values[j]": MutantKind.RANGE,
    "k for k + 1": MutantKind.RANGE,
    "values[:] for values[1:]": MutantKind.RANGE,
    "values[1] for values[0]": MutantKind.SWAP,
    "values[0] for values[1]": MutantKind.SWAP,
    "other for one": MutantKind.SWAP,
    "one for other": MutantKind.SWAP,
    "all clients for a sample": MutantKind.SWAP,
    "<= for <": MutantKind.COMPARISON,
}


def test_every_kind_of_change_is_made_and_nothing_is_drawn_otherwise():
    """Of a function with all of it: the changes are those listed, and none is in what draws the instance."""
    (source,) = code.sources(_claims, drawn=True)
    found = rewrites(source)
    assert {each.said: each.kind for each in found} == KINDS
    assert all("draw" not in ast.unparse(each.place) for each in found)
    assert all(ast.unparse(each.new) != ast.unparse(each.place) for each in found)
    assert found[0].change == f"{found[0].said} in line {found[0].place.lineno} of test_structural_mutants.py"
    # The source is left as it was, with its lines.
    assert all(source.compiled(each.node()) != _claims.__code__ for each in found)
    assert code.node_of(_claims) is source.node


def test_who_takes_part_is_taken_for_who_has_done_so():
    """In the code of a claim on participation, of which everything is part of the claim."""

    def sides(who: ParticipationMatrix):
        found = [(len(who.present(t)), len(who.seen(t))) for t in range(who.T)]
        return [*found, (0, sum(len(who.seen(s)) for s in range(who.T)))]

    said = changed(enumerated(sides, instances=Matrices()))
    matrix = ParticipationMatrix(((True, False), (False, False)))
    assert said["seen for present"](matrix) == [(1, 1), (1, 1), (0, 2)]
    assert said["present for seen"](matrix) in ([(1, 1), (0, 0), (0, 2)], [(1, 1), (0, 1), (0, 1)])
    # The range of the sum: for which rounds the others are claimed is no part of what is compared.
    assert said["range(1, who.T) for range(who.T)"](matrix) == [(1, 1), (0, 1), (0, 1)]


def test_formulas_have_quantities_exchanged_and_replaced():
    """Within their domains, and vectors of families with all that is made of them."""
    found = {(m.change, m.by) for m in structure.swapped(Scalar(left=x, operator="<=", right=x + z / y), 99)}
    assert ("x and y exchanged", "on the right") in found
    assert ("y for z", "on the right") in found
    # z may be 0 and y may not.
    assert not any(change.startswith(("z for y", "y and z")) for change, _ in found)
    a, b = vectors("a b")
    one, other = (
        sp.sympify(m.check.left) for m in structure.swapped(Gram(left=square(a), operator="<=", right=square(b)), 2)
    )
    assert {one, other} == {square(b)}
    total = vectors("a")[0]
    of_sums = Gram(left=square(a), operator="<=", right=square(total))
    assert structure.swapped(of_sums, 9) == []
    k, n = sp.symbols("k n", integer=True, positive=True)
    summed = Scalar(left=sp.Sum(k, (k, 1, n)), operator="<=", right=n**2)
    assert {m.kind for m in structure.swapped(summed, 4)} >= {MutantKind.RANGE}


# --- What becomes of them ---


def _average(draw):
    values = [draw.positive() for _ in range(3)]
    return mean(values), sum(values) / 3


def test_the_maximum_for_the_mean_is_refuted():
    """And everything else about a claim with equality."""
    found = structural(enumerated(_average, "=="))
    assert [m.fate for m in found if m.change.startswith("max for mean in line")] == [MutantStatus.REFUTED]
    assert {m.fate for m in found} == {MutantStatus.REFUTED}
    assert read(analysis.Tested, plain(analysis.test_step(step(enumerated(_average, "=="))))).mutants


def test_a_mutant_that_form_and_code_do_not_share_is_not_called_harmless():
    """The form proves what is claimed, whatever the code has become; what no instance tells may do harm."""

    def sides(draw):
        values = [draw.positive() for _ in range(3)]
        return 0, mean(values)

    check = enumerated(sides, form=lambda: Scalar(left=sp.Integer(0), operator="<=", right=x))
    assert probe.Probe(check).settle().certified == "certificate"
    found = {m.change.partition(" in line")[0]: m.fate for m in structural(check)}
    assert found["given the first outcome for mean"] is MutantStatus.UNSEEN
    assert found["max for mean"] is MutantStatus.WEAKER
    # 0 < x for every x > 0.
    assert found["inequality"] is MutantStatus.HARMLESS


def test_a_strict_claim_about_vectors_is_refuted_where_all_vanish():
    """Its proof would be that of the claim with <=: it is not taken for one of <, in a form neither."""
    a, b = vectors("a b")
    young = Gram(left=2 * (square(a + b) - square(a - b)) / 4, operator="<=", right=square(a) + square(b))
    assert {m.fate for m in structural(young) if m.kind is MutantKind.STRICT} == {MutantStatus.REFUTED}

    def sides(draw):
        one, other = draw.positive(), draw.positive() + 3
        return 2 * one * other, one**2 + other**2

    [strict] = [m for m in structural(enumerated(sides, form=lambda: young)) if m.kind is MutantKind.STRICT]
    assert strict.fate is MutantStatus.REFUTED
    assert structure.strict(Scalar(left=x, operator="<", right=x + 1)) is None


def test_a_claim_about_vectors_is_refuted_by_squares_that_no_fractions_have():
    """|a|^2 = 2|b|^2: no two fractions keep it but 0. With the angle free, and with an inner product that matters."""
    a, b = vectors("a b")
    twice = equal(square(a), 2 * square(b))
    claim = Gram(left=square(a), operator="<=", right=2 * square(b), hypotheses=(twice,))
    false = Gram(left=square(a), operator="<=", right=square(b), hypotheses=(twice,))
    assert not probe.Probe(claim).decide(false).false
    assert probe.Probe(claim).decide(false, vanishing=True).false
    angle = Gram(left=dot(a, b), operator="<=", right=square(b) / 4, hypotheses=(twice,))
    assert probe.Probe(claim).decide(angle, vanishing=True).false
    true = Gram(left=dot(a, b), operator="<=", right=sp.Rational(3, 2) * square(b), hypotheses=(twice,))
    assert not probe.Probe(claim).decide(true, vanishing=True).false


def test_what_is_the_same_or_weaker_or_makes_no_sense_is_counted_apart():
    """It is not among what may do harm."""

    def sides(draw):
        only = [draw.positive()]
        row = [*only, 2]
        return [(mean(only), max(only)), (0, row[len(row[0:1])])]

    found = analysis.summarise([analysis.test_step(step(enumerated(sides)))])
    counts = found.all.counts
    assert counts["the same on every instance"] >= 3
    assert found.all.harmful == sum(counts[f.value] for f in MutantStatus if f.harmful) < sum(counts.values())
    assert sum(sum(each.counts.values()) for each in found.kinds.values()) == sum(counts.values())
    assert all(reason != "makes no sense" for _, _, reason in found.survivors)


def test_a_change_of_both_sides_alike_is_another_claim():
    """Whether it holds or not; with roots as well, of which a difference is no fraction."""

    def alike(draw):
        value = draw.positive()
        row = 2 * [value]
        first = row[0] + len(row[1:])
        return first, first + first * first

    def rooted(draw):
        one, other = draw.positive(), draw.positive()
        return [(0, sp.sqrt(sp.Rational(mean([one, other])))), (0, sp.Rational(max(one, other)))]

    fates = {m.change.partition(" in line")[0]: m.fate for m in structural(enumerated(alike))}
    assert fates["row[:] for row[1:]"] is MutantStatus.ELSEWHERE
    assert fates["row[1] for row[0]"] is MutantStatus.SAME
    fates = {m.change.partition(" in line")[0]: m.fate for m in structural(enumerated(rooted))}
    assert fates["max for mean"] is MutantStatus.WEAKER
    assert fates["given the first outcome for mean"] is MutantStatus.UNSEEN


def test_the_number_of_changes_is_bounded_and_spread():
    """The same ones each time, of each kind."""
    assert structure.spread([[1, 2, 3], [], [4]], 3) == [1, 4, 3]
    assert len(structural(enumerated(_claims_hold))) <= 14


def _claims_hold(draw):
    values = [draw.positive() for _ in range(3)]
    return [(mean(values), max(values)), (min(values), mean(values)), (sum(values[:2]), sum(values))]


# --- Instances that are looked for ---


def test_instances_are_looked_for_where_few_of_them_tell():
    """Four numbers that all have to be at their ends; the instance is the same when it is drawn again."""

    def compared(draw):
        return [(sum(draw.rational(0, 1) for _ in range(4)), Fraction(39, 10))]

    found = Seeker("toy", 20).failing(compared, "<=")
    assert found is not None
    assert compared(found.again()) == compared(found.again()) == [(4, Fraction(39, 10))]
    tried = []
    seeker = Seeker("toy", 20, most=200)
    for _ in range(3):
        assert seeker.failing(lambda draw: tried.append(draw) or [(draw.rational(0, 1), 1)], "<=") is None
    assert len(tried) == 200


def test_a_tape_gives_what_a_draw_gives():
    """Numbers within the bounds asked for, to the ends."""
    rng = random.Random(2)  # noqa: S311  # no secret
    draw = TapedDraw(3, "toy")
    first = [draw.whole(0, 2), draw.rational(-1, 1), draw.positive()]
    again = draw.again()
    assert [again.whole(0, 2), again.rational(-1, 1), again.positive()] == first
    seen = set()
    for _ in range(300):
        draw = draw.other(rng)
        seen.add(draw.again().whole(0, 2))
        assert -1 <= draw.again().rational(-1, 1) <= 1
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("key", ["fedsum/lemma-c.5-2", "pfl/lemma-3.2-7"])
def test_ledger_steps_have_structural_mutants(key):
    """Of a claim on instances and of a formula; most are refuted."""
    [one] = [each for each in bounds.ledger.steps(key.partition("/")[0]) if each.id == key]
    share = analysis.summarise([analysis.test_step(one)]).kinds[MutantKind.SWAP.value]
    assert share.refuted >= 3
    assert share.share >= 0.7
