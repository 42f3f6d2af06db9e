"""The changes of a statement: its claims, conditions, step rules, assumptions, settings and symbols."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from bounds.statement import Claim, Condition, Relation, Statement, StepRule
from bounds.symbols import Vocabulary
from ratecheck.linting.draws import draws
from ratecheck.versions.expressions import (
    Change,
    Sameness,
    SamplePoints,
    Tightness,
    compare,
    implied,
    tightness,
    with_symbols_of,
)
from ratecheck.versions.match import last, match

# Random points at which formulas are compared.
WANTED = 20


@dataclass(frozen=True, kw_only=True)
class TermChange:
    """A term under its ``name``, new name included where it has another; ``change`` is None for one without partner."""

    name: str
    change: Change | None
    old: sp.Expr | None = None
    new: sp.Expr | None = None


@dataclass(frozen=True, kw_only=True)
class ClaimChange:
    """The change of a claim.

    ``left`` is the change of the left side; ``right`` that of the right side as a whole, ``terms`` of its parts.
    ``over`` and ``relation`` are pairs of words where these changed, else None.
    """

    name: str
    left: Change
    right: Change
    terms: tuple[TermChange, ...]
    over: tuple[str, str] | None
    relation: tuple[str, str] | None
    bounds_above: bool

    @property
    def changed(self) -> bool:
        """Whether the claim is not proved to be the same."""
        parts = (self.left, self.right)
        return bool(self.over or self.relation) or any(each.same is not Sameness.PROVED for each in parts)


@dataclass(frozen=True, kw_only=True)
class ConditionChange:
    """A condition of the old version, of the new one, or of both.

    ``tightness`` and ``proved`` compare two; of one alone ``proved`` says that it follows from the other version's.
    """

    old: Condition | None
    new: Condition | None
    tightness: Tightness = Tightness.UNDECIDED
    proved: bool = False

    @property
    def changed(self) -> bool:
        """True of a pair of versions not proved to be equal."""
        return not (self.tightness is Tightness.SAME and self.proved)


@dataclass(frozen=True, kw_only=True)
class PartChange:
    """A part that is text or a single formula: ``old`` or ``new`` is empty where it is not there; see `Sameness`."""

    part: str
    old: str
    new: str
    change: Change | None = None


@dataclass(frozen=True, kw_only=True)
class StatementChange:
    """The change of one statement; ``matched`` says how the two were matched, ``points`` where they were compared."""

    old: Statement
    new: Statement
    matched: str
    claims: tuple[ClaimChange, ...]
    gone_claims: tuple[str, ...]
    new_claims: tuple[str, ...]
    conditions: tuple[ConditionChange, ...]
    parts: tuple[PartChange, ...]
    points: SamplePoints

    @property
    def same(self) -> bool:
        """Whether everything is proved to be the same."""
        changed = (*(each.changed for each in self.claims), *(each.changed for each in self.conditions))
        return not (any(changed) or self.gone_claims or self.new_claims or self.parts)


def diff(old: Statement, new: Statement, matched: str) -> StatementChange:
    """Compare two versions of a statement."""
    vocabulary = Vocabulary(new.vocabulary, old.vocabulary)
    symbols = {each.name: each.symbol for each in vocabulary}
    translated = _translated(new, symbols)
    points = _common(old, translated, vocabulary)
    claims = match([(each.name, each) for each in old.claims], [(each.name, each) for each in translated.claims])
    return StatementChange(
        old=old,
        new=new,
        matched=matched,
        claims=tuple(_claim(one, two, points) for one, two, _ in claims.pairs),
        gone_claims=tuple(each.name for each in claims.gone),
        new_claims=tuple(each.name for each in claims.added),
        conditions=_conditions(old, translated, vocabulary),
        parts=_parts(old, translated, points),
        points=points,
    )


def _translated(new: Statement, symbols: Mapping[str, sp.Symbol]) -> Statement:
    """The new statement in the symbols of the old one where both have one of that name."""

    def put(expr: sp.Expr) -> sp.Expr:
        return with_symbols_of(expr, symbols)

    def metric(claim: Claim) -> Claim:
        weights = {put(symbol): put(weight) for symbol, weight in claim.metric.weights.items()}
        left = dataclasses.replace(claim.metric, weights=weights)
        return dataclasses.replace(claim, metric=left, terms={k: put(v) for k, v in claim.terms.items()})

    return dataclasses.replace(
        new,
        claims=tuple(map(metric, new.claims)),
        conditions=tuple(dataclasses.replace(c, left=put(c.left), right=put(c.right)) for c in new.conditions),
        step_rules=tuple(dataclasses.replace(r, symbol=put(r.symbol), value=put(r.value)) for r in new.step_rules),
        settings={name: put(value) for name, value in new.settings.items()},
    )


def _common(old: Statement, new: Statement, vocabulary: Vocabulary) -> SamplePoints:
    """Random points inside the conditions of both versions, or of the domains alone where none was found.

    Step sizes that the versions prescribe alike are as prescribed; others are free, since the formulas have them.
    """
    rules = tuple(rule for rule in old.step_rules if rule in new.step_rules)
    both = dataclasses.replace(
        old,
        vocabulary=vocabulary,
        # Only the symbols that occur are drawn.
        claims=(*old.claims, *new.claims),
        conditions=(*old.conditions, *new.conditions),
        step_rules=rules,
        settings={**new.settings, **old.settings},
        repairs="",
    )
    conditions = (*both.hypotheses,)
    if found := draws(both, WANTED).settings:
        return SamplePoints(values=found, of="admissible in both versions", hypotheses=conditions)
    anywhere = dataclasses.replace(both, conditions=(), step_rules=(), step_products=(), settings={})
    return SamplePoints(values=draws(anywhere, WANTED).settings, of="of the symbols' domains", hypotheses=conditions)


def _claim(old: Claim, new: Claim, points: SamplePoints) -> ClaimChange:
    same = match([(name, name) for name in old.terms], [(name, name) for name in new.terms])
    terms = [
        TermChange(name=renamed(one, two), change=compare(old.terms[one], new.terms[two], points))
        for one, two, _ in same.pairs
    ]
    terms += [TermChange(name=name, change=None, old=old.terms[name]) for name in same.gone]
    terms += [TermChange(name=name, change=None, new=new.terms[name]) for name in same.added]
    return ClaimChange(
        name=renamed(old.name, new.name),
        left=compare(old.metric.expr, new.metric.expr, points),
        right=compare(old.bound, new.bound, points),
        terms=tuple(terms),
        over=None if old.metric.over is new.metric.over else (old.metric.over.value, new.metric.over.value),
        relation=None if old.relation is new.relation else (old.relation.value, new.relation.value),
        bounds_above=old.relation is new.relation is Relation.AT_MOST,
    )


def renamed(old: str, new: str) -> str:
    """A name, and what it is called now where that is another."""
    return old if old == new else f"{old} (now {new})"


def _conditions(old: Statement, new: Statement, vocabulary: Vocabulary) -> tuple[ConditionChange, ...]:
    """The conditions, paired where they are the same, have the same name, or bound the same expression."""
    values = [*draws(old, WANTED).settings, *draws(dataclasses.replace(new, vocabulary=vocabulary), WANTED).settings]
    points = SamplePoints(values=tuple(values), of="admissible in one version")
    ours, theirs = [*old.conditions], [*new.conditions]
    pairs: list[tuple[Condition, Condition]] = []
    for alike in (_identical, _named_alike, _about_the_same):
        for one in [*ours]:
            candidates = [two for two in theirs if alike(one, two)]
            if len(candidates) == 1 or (candidates and alike is _identical):
                pairs.append((one, candidates[0]))
                ours.remove(one)
                theirs.remove(candidates[0])
    found = []
    for one, two in pairs:
        answer, proved = tightness(one, two, points)
        found.append(ConditionChange(old=one, new=two, tightness=answer, proved=proved))
    found += [ConditionChange(old=one, new=None, proved=implied(one, new.hypotheses)) for one in ours]
    found += [ConditionChange(old=None, new=two, proved=implied(two, old.hypotheses)) for two in theirs]
    return tuple(found)


def _identical(one: Condition, two: Condition) -> bool:
    return (one.left, one.operator, one.right) == (two.left, two.operator, two.right)


def _named_alike(one: Condition, two: Condition) -> bool:
    return one.name == two.name


def _about_the_same(one: Condition, two: Condition) -> bool:
    return one.left == two.left and one.operator[0] == two.operator[0]


def _parts(old: Statement, new: Statement, points: SamplePoints) -> tuple[PartChange, ...]:
    """Changes of algorithm, step rules, settings, step products, assumptions, sources and symbols."""
    found: list[PartChange] = []
    if old.algorithm != new.algorithm:
        found.append(PartChange(part="algorithm", old=old.method or "none", new=new.method or "none"))
    found += _formulas(
        "step rule",
        {_rule(each): each.value for each in old.step_rules},
        {_rule(each): each.value for each in new.step_rules},
        points,
    )
    found += _formulas("setting", old.settings, new.settings, points)
    products = [{f"{p.product} = {p.local}*{p.outer}" for p in each.step_products} for each in (old, new)]
    found += _listed("step product", *products)
    found += _listed("assumption", *({each.value for each in s.assumptions} for s in (old, new)))
    found += _listed("follows from", *({last(each) for each in s.follows_from} for s in (old, new)))
    for name in (name for name in old.parameters if name in new.parameters):
        one, two = (each.vocabulary[name] for each in (old, new))
        meanings = [f"{q.meaning}; {q.domain.value}" for q in (one, two)]
        if meanings[0] != meanings[1]:
            found.append(PartChange(part=f"symbol {name}", old=meanings[0], new=meanings[1]))
    return tuple(found)


def _rule(rule: StepRule) -> str:
    return f"{rule.symbol}{' (at least)' if rule.at_least else ''}{' (by default)' if rule.free else ''}"


def _formulas(
    kind: str, old: Mapping[str, sp.Expr], new: Mapping[str, sp.Expr], points: SamplePoints
) -> list[PartChange]:
    found = []
    for name in dict.fromkeys((*old, *new)):
        one, two = old.get(name), new.get(name)
        change = None if one is None or two is None else compare(sp.sympify(one), sp.sympify(two), points)
        if change is None or change.same is not Sameness.PROVED:
            texts = ["" if each is None else str(each) for each in (one, two)]
            found.append(PartChange(part=f"{kind} {name}", old=texts[0], new=texts[1], change=change))
    return found


def _listed(kind: str, old: set[str], new: set[str]) -> list[PartChange]:
    gone = [PartChange(part=kind, old=each, new="") for each in sorted(old - new)]
    return gone + [PartChange(part=kind, old="", new=each) for each in sorted(new - old)]
