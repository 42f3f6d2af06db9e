"""A counterexample as a person would write it, in text and in LaTeX.

Two clients, f_1 = x^2/2, f_2 = (x - 1)^2/4, K = T = 2, gamma = 1/16: left 1/33554432 > right 0.

A number without a sign of doubt is exact: a float of the instance is the binary fraction that it is, constants and
prescribed step sizes are proved, and the sides are rationals where the run is followed in rationals. All other numbers
are said to be rounded. Functions are written up to a constant, on which nothing depends.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from bounds.statement import Assumption, Over, Relation
from bounds.symbols import Quantity
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose
from ratecheck.algebra.simplest import simplest_between
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import COUNTED, NOISE
from ratecheck.certification.trajectory_constants import BEYOND
from ratecheck.errors import InputError
from ratecheck.participation import Bernoulli, Graph, Trace, Uniform
from ratecheck.problems import BilevelSamples, MinMax, Piecewise, PiecewiseSamples, Population, Problem, Quadratic
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.settings.setting import default_graph
from ratecheck.verification import rigorous
from ratecheck.verification.instance import Instance
from ratecheck.verification.proof import Proof
from ratecheck.verification.verdict import Verdict

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Digits of a fraction that is written as one.
_LONGEST = 24
# Of more clients in a row that have the same function the first and the last are named.
_MANY = 4
# Clients of a graph up to which its edges are written.
_FEW_CLIENTS = 5
# Significant digits of what is rounded.
_DIGITS = 6
_SIGNS = {"!=": r"\ne", "~": r"\approx", ">=": r"\ge"}


@dataclass(frozen=True)
class _Style:
    """How formulas are written: as LaTeX or as plain text."""

    tex: bool

    def name(self, symbol: str, latex: str = "") -> str:
        """A symbol; SymPy knows what is Greek and what is an index."""
        return (latex or sp.latex(sp.Symbol(symbol))) if self.tex else symbol

    def fraction(self, value: Fraction) -> str:
        """p/q."""
        if value.denominator == 1:
            return str(value.numerator)
        sign, top = "-" * (value < 0), abs(value.numerator)
        return rf"{sign}\frac{{{top}}}{{{value.denominator}}}" if self.tex else f"{sign}{top}/{value.denominator}"

    def term(self, factor: Fraction, body: str) -> str:
        """A positive factor times a body, such as ``3x^2/8``; the factor itself without one."""
        if not body:
            return self.fraction(factor)
        top, bottom = factor.numerator, factor.denominator
        front = "" if top == 1 else str(top)
        if bottom == 1:
            return f"{front}{body}"
        return rf"\frac{{{front}{body}}}{{{bottom}}}" if self.tex else f"{front}{body}/{bottom}"

    def sum(self, terms: Sequence[tuple[Fraction, str]]) -> str:
        """Factors times bodies, with their signs."""
        written = ""
        for factor, body in terms:
            sign = (" - " if factor < 0 else " + ") if written else "-" * (factor < 0)
            written += sign + self.term(abs(factor), body)
        return written or "0"

    @property
    def dots(self) -> str:
        """What is left out."""
        return r"\dots" if self.tex else "..."

    def formula(self, text: str) -> str:
        """As part of a sentence."""
        return f"${text}$" if self.tex else text

    def related(self, left: str, sign: str, right: str) -> str:
        """Two formulas with a sign between them."""
        return f"{left} {_SIGNS.get(sign, sign) if self.tex else sign} {right}"

    def words(self, text: str) -> str:
        """Words in a formula."""
        return rf"\text{{{text} }}" if self.tex else f"{text} "

    def number(self, value: float, digits: int = _DIGITS) -> str:
        """A number rounded to some digits."""
        mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if self.tex and exponent else f"{value:.{digits}g}"

    def given(self, value: float) -> str:
        """A number of the instance: a fraction where that is short, else the digits that read back as it is."""
        exact = Fraction(value)
        return self.fraction(exact) if _short(exact) else self.number(value, 17)


@dataclass(frozen=True)
class WrittenCounterexample:
    """A violating instance, its verdict, and what is proved of it; `text` and `latex` are one sentence each."""

    instance: Instance
    verdict: Verdict

    @property
    def text(self) -> str:
        """In plain text."""
        return self._sentence(_Style(tex=False))

    @property
    def latex(self) -> str:
        """In LaTeX, formulas between dollar signs."""
        return self._sentence(_Style(tex=True))

    @cached_property
    def _proof(self) -> Proof:
        """What is proved, in rationals where they tell."""
        try:
            return rigorous.prove(self.instance, exactly=True)
        except InputError as error:
            return Proof(None, str(error))

    @cached_property
    def _numbers(self) -> Mapping[str, Number]:
        """Constants, step sizes and sizes that are proved, by symbol; none where one was moved to meet a condition."""
        return {} if self._proof.notes else rigorous.exact_numbers(self.instance)

    @cached_property
    def _quantities(self) -> Mapping[str, Quantity]:
        return {each.name: each for each in self.instance.statement.vocabulary}

    def _sentence(self, style: _Style) -> str:
        parts = [f"{_count(self.instance.problem.n)}", *map(style.formula, _functions(self.instance, style))]
        parts += _taking_part(self.instance, self.verdict, style)
        parts += [*self._noise(), *map(style.formula, [*self._start(style), *self._run(style), *self._given(style)])]
        parts += [f"stated {style.formula(each)}" for name in self._stated for each in self._equation(name, style)]
        derived = [each for name in self._derived for each in self._equation(name, style)]
        here = f"; here {', '.join(map(style.formula, derived))}" if derived else ""
        beyond = [each for name in self._beyond for each in self._equation(name, style)]
        here += f"; {', '.join(map(style.formula, beyond))} {BEYOND}" if beyond else ""
        return f"{', '.join(parts)}{here}: {self._sides(style)}"

    # --- Numbers ---

    def _start(self, style: _Style) -> list[str]:
        """The start where it is not 0."""
        found = []
        for name, value in self.instance.start.items():
            numbers = [style.given(x) for x in np.ravel(np.asarray(value, dtype=float)).tolist()]
            if any(number != "0" for number in numbers):
                listed = ", ".join(numbers)
                found.append(f"{style.name(name)} = {listed if len(numbers) == 1 else f'({listed})'}")
        return found

    @property
    def _sizes(self) -> list[str]:
        """Local steps and rounds, by symbol."""
        run = self.instance.statement.vocabulary.run
        return [run[role] for role in ("local_steps", "rounds") if run.get(role) in self._used]

    def _run(self, style: _Style) -> list[str]:
        """Local steps and rounds, those that are equal together."""
        values = {name: _listed(self.instance.given[name], style) for name in self._sizes}
        if len({*values.values()}) == 1:
            return [" = ".join([*(self._symbol(name, style) for name in values), next(iter(values.values()))])]
        return [f"{self._symbol(name, style)} = {value}" for name, value in values.items()]

    @cached_property
    def _used(self) -> list[str]:
        """What is given and used: a lemma about vectors has no rounds."""
        return [name for name in self.instance.given if name not in self._quantities or name in self.verdict.values]

    @cached_property
    def _levels(self) -> dict[str, bool]:
        """Levels of noise, and whether there is any."""
        facts, given = self.instance.statement.vocabulary.facts, self.instance.given
        return {name: bool(np.any(given[name])) for name in self._used if facts.get(name) in NOISE}

    def _noise(self) -> list[str]:
        run = self.instance.statement.algorithm is not None
        return ["no noise"] if run and self._levels and not any(self._levels.values()) else []

    def _given(self, style: _Style) -> list[str]:
        """Noise, parameters and step sizes."""
        run = self.instance.statement.vocabulary.run
        silent = (name for name, some in self._levels.items() if not some)
        others = {*silent, *run.values(), *self.verdict.chosen, *self._stated, "delta"}
        names = [*(name for name in self._used if name not in others), *self.verdict.chosen]
        return [each for name in names for each in self._equation(name, style)]

    @property
    def _stated(self) -> list[str]:
        """Constants that are given although the problem has better ones."""
        known = {*self._levels, "delta"}
        return [name for name in self._used if name in self.verdict.constants and name not in known]

    @property
    def _derived(self) -> list[str]:
        """The constants that the problem and the run are proved to have, but for those that are given."""
        return [name for name in self.verdict.constants if name in self._numbers and name not in self.instance.given]

    @property
    def _beyond(self) -> list[str]:
        """The constants of functions that continue otherwise beyond what the run sees."""
        constants = self.verdict.constants.items()
        return [name for name, each in constants if each.reason == BEYOND and name not in self.instance.given]

    def _symbol(self, name: str, style: _Style) -> str:
        quantity = self._quantities.get(name)
        return style.name(name.rstrip("_"), quantity.latex if quantity else "")

    def _equation(self, name: str, style: _Style) -> list[str]:
        """A number by its symbol, exact where it is proved; nothing for one without a value."""
        symbol, given = self._symbol(name, style), self.instance.given
        if name in given:
            return [f"{symbol} = {_listed(given[name], style)}"]
        fixed = self.instance.statement.settings.get(name)
        said = Fraction(int(fixed.p), int(fixed.q)) if isinstance(fixed, sp.Rational) else None
        proved = _rational(self._numbers.get(name))
        exact = said if proved is None else proved
        if exact is not None:
            return [f"{symbol} = {style.fraction(exact)}"]
        rounded = self.verdict.values.get(name)
        if rounded is None or not math.isfinite(rounded):
            return []
        return [style.related(symbol, "~", style.number(rounded))]

    # --- Sides ---

    def _sides(self, style: _Style) -> str:
        """Both sides with the sign that refutes the claim, and where that is."""
        worst, proof = self.verdict.worst, self._proof
        if self.verdict.impossible:
            first = self.verdict.impossible[0]
            sides = ["", self._side(self._right_side(first.claim), style.number(first.right), style)]
            left = style.related(style.words("left").rstrip(), ">=", "0")
            return style.formula(style.related(left, ">", style.words("right") + sides[1])) + self._where(first.claim)
        claim = proof.claim or (worst.claim if worst else "")
        equal = any(each.name == claim and each.relation is Relation.EQUAL for each in self.instance.statement.claims)
        right_side = _rational(proof.right)
        if worst is not None and worst.at_least and not equal:
            return self._from_below(claim, style)
        exact = _rational(proof.left), self._right_side(claim) if right_side is None else right_side
        sides = [self._side(*pair, style) for pair in zip(exact, self._rounded(style), strict=True)]
        left, right = (style.words(name) + side for name, side in zip(("left", "right"), sides, strict=True))
        at = proof.round if proof.left is not None else worst.round if worst else None
        return style.formula(style.related(left, "!=" if equal else ">", right)) + self._where(claim, at)

    def _from_below(self, claim: str, style: _Style) -> str:
        """The same where the left side is known from below: by a short number between that and the right side."""
        worst, proof = self.verdict.worst, self._proof
        assert worst is not None
        right = self._right_side(claim) if proof.right is None or not proof.right.exact else _rational(proof.right)
        least, most = Fraction(worst.left), Fraction(worst.right)
        if proof.left is not None and proof.right is not None:
            least, most = proof.left.low, proof.right.high
        short = simplest_between((least + most) / 2, least)
        left = style.related(style.words("left").rstrip(), ">=", style.fraction(short))
        other = self._side(right, style.number(float(most)), style)
        return style.formula(style.related(left, ">", style.words("right") + other)) + self._where(claim, proof.round)

    def _side(self, exact: Fraction | None, rounded: str, style: _Style) -> str:
        """A side, with a sign of doubt where it is rounded."""
        return style.related("", "~", rounded).lstrip() if exact is None else style.fraction(exact)

    def _right_side(self, name: str) -> Fraction | None:
        """The right side of a claim about numbers, where it is proved to be a rational."""
        claim = next(each for each in self.instance.statement.claims if each.name == name)
        try:
            return _rational(enclose(claim.bound, self._numbers).plain)
        except (KeyError, UndecidedError, ArithmeticError):
            return None

    def _rounded(self, style: _Style) -> list[str]:
        """Both sides with as many digits as tell them apart."""
        worst, proof = self.verdict.worst, self._proof
        if proof.left is not None and proof.right is not None:
            sides = [float(side.middle) for side in (proof.left, proof.right)]
        else:
            assert worst is not None
            sides = [worst.left, worst.right]
        for digits in range(_DIGITS, 17):
            texts = [style.number(side, digits) for side in sides]
            if texts[0] != texts[1]:
                break
        return texts

    def _where(self, name: str, t: int | None = None) -> str:
        """Which claim and which round, where there are several."""
        claims, vocabulary = self.instance.statement.claims, self.instance.statement.vocabulary
        over = next((claim.metric.over for claim in claims if claim.name == name), None)
        T = self.verdict.values.get(vocabulary.run.get("rounds", ""), 1)
        parts = [f"claim {name!r}"] * (len(claims) > 1)
        parts += [f"round {t}"] * (t is not None and T > 1 and over is not Over.NO_RUN)
        return f" ({', '.join(parts)})" if parts else ""


# --- Functions ---


def _functions(instance: Instance, style: _Style) -> list[str]:
    """The clients' functions, equal ones together; of statements that have none the vectors, or nothing."""
    problem, statement = instance.problem, instance.statement
    if problem.bilevel is not None:
        each = problem.bilevel
        names = [*_named("x", each.d_x, style), *_named("y", each.d_y, style)]
        zero = np.zeros((each.d_x, each.d_x))
        upper = [_quadratic(Q, q, names, style) for Q, q in zip(each.Q, each.q, strict=True)]
        lower = [
            _quadratic(np.block([[zero, -B.T], [-B, A]]), np.concatenate([np.zeros(each.d_x), b]), names, style)
            for A, B, b in zip(each.A, each.B, each.b, strict=True)
        ]
        weights = [style.given(p) for p in each.p.tolist()]
        weighted = [f"p = ({', '.join(weights)})"] if len({*weights}) > 1 else []
        of = _arguments(names, [*upper, *lower])
        sampled = _sampled(each, style) if isinstance(each, BilevelSamples) else []
        return [*_together("f", of, upper, style), *_together("g", of, lower, style), *sampled, *weighted]
    if statement.algorithm is None and problem.quadratic is not None:
        alone = all(claim.metric.over is Over.NO_RUN for claim in statement.claims)
        return _vectors(-problem.quadratic.g, style) if alone else []
    if isinstance(problem, PiecewiseSamples):
        return _equal_clients(instance, problem, style)
    if isinstance(problem, Piecewise):
        names = _named("x", problem.d, style)
        written = [_separable(curves, names, style) for curves in problem.curves]
        return _together("f", _arguments(names, written), written, style)
    if isinstance(problem, MinMax):
        return _saddles(problem, style)
    return _by_type(problem, style) if isinstance(problem, Population) else _quadratics(problem, style)


def _saddles(problem: MinMax, style: _Style) -> list[str]:
    """The functions that are minimised over x and maximised over y."""
    names = [*_named("x", problem.d_x, style), *_named("y", problem.d_y, style)]
    written = [
        _quadratic(np.block([[A, B], [B.T, -C]]), np.concatenate([a, -c]), names, style)
        for A, B, C, a, c in zip(problem.A, problem.B, problem.C, problem.a, problem.c, strict=True)
    ]
    return _together("f", _arguments(names, written), written, style)


def _quadratics(problem: Problem, style: _Style) -> list[str]:
    """The quadratics of a problem that has the form of some; of another one its name."""
    if problem.quadratic is None:
        return [
            style.words(f"a {problem.kind} problem with {problem.sizes}").rstrip()
            if not style.tex
            else rf"\text{{a {problem.kind} problem with {problem.sizes}}}"
        ]
    names, written = _written(problem.quadratic, style)
    return _together("f", _arguments(names, written), written, style)


def _written(quadratic: Quadratic, style: _Style) -> tuple[list[str], list[str]]:
    """The names of the variables, and the functions of the clients."""
    # A single block is x, whatever the paper calls it.
    blocks = ("u", "v") if quadratic.d_u and quadratic.d_v else ("x", "x")
    names = [*_named(blocks[0], quadratic.d_u, style), *_named(blocks[1], quadratic.d_v, style)]
    return names, [_quadratic(H, g, names, style) for H, g in zip(quadratic.H, quadratic.g, strict=True)]


def _by_type(problem: Population, style: _Style) -> list[str]:
    """How many clients have which function."""
    names, written = _written(problem.types, style)
    function = style.name("f_i") + _arguments(names, written)
    many = ["all"] if problem.distinct == 1 else [str(count) for count in problem.counts.tolist()]
    return [f"{style.words(each)}{function} = {text}" for each, text in zip(many, written, strict=True)]


# Noise of a shared variable's gradients, the only ones that equal clients have.
_OF_SHARED = ("sigma_u", "sigma")


def _equal_clients(instance: Instance, problem: PiecewiseSamples, style: _Style) -> list[str]:
    """The one function of all clients, and what its samples are off: either sign with probability 1/2."""
    name, one = style.name("x"), problem.n == 1
    letter = "f" if one else style.name("f_i")
    written = f"{'' if one else style.words('all')}{letter} = {_pieces(problem.curve, name, style)}"
    facts = instance.statement.vocabulary.facts
    noise = [symbol for symbol, fact in facts.items() if fact in _OF_SHARED and instance.given.get(symbol)]
    sign = r"\pm" if style.tex else "+-"
    prime = f"{letter}'({name})"
    return [written, *(f"{style.words('sampled')}{prime} {sign} {style.name(symbol)}" for symbol in noise)]


def _vectors(rows: Array, style: _Style) -> list[str]:
    """X_1 = X_2 = ..., the vectors that a lemma is about."""
    written = []
    for row in rows.tolist():
        numbers = [style.given(x) for x in row]
        written.append(numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})")
    return _together("X", "", written, style)


def _sampled(problem: BilevelSamples, style: _Style) -> list[str]:
    """What samples of x, y and v are off: all parts of one have the same sign, + or - with probability 1/2."""
    forms = ("d{f}/dx", "d2{g}/dxdy", "d{g}/dy", "d{f}/dy", "d2{g}/dy2")
    if style.tex:
        forms = (r"\nabla_x {f}", r"\nabla_{{xy}}^2 {g}", r"\nabla_y {g}", r"\nabla_y {f}", r"\nabla_{{yy}}^2 {g}")
    d_x, arrays = problem.d_x, (problem.noise_f, -problem.noise_B.transpose(0, 2, 1), problem.noise_g, problem.noise_A)
    parts = (arrays[0][:, :d_x], arrays[1], arrays[2], arrays[0][:, d_x:], arrays[3])
    off = [part.reshape(problem.n, -1) for part in parts]
    found = []
    for group in (slice(0, 2), slice(2, 3), slice(3, 5)):
        pairs = [*zip(forms[group], off[group], strict=True)]
        alike = all((rows == rows[0]).all() for _, rows in pairs)
        for i in range(1 if alike else problem.n):
            names = {letter: letter if alike else style.name(f"{letter}_{i + 1}") for letter in "fg"}
            own = {form.format(**names): rows[i] for form, rows in pairs if rows[i].any()}
            found += [style.words("sampled") + _off(own, style)] if own else []
    return found


def _off(sample: Mapping[str, Array], style: _Style) -> str:
    """The derivatives of one sample with what each is off, the upper sign being that of all of them at once."""
    lead = next(float(np.sign(row[np.flatnonzero(row)[0]])) for row in sample.values())
    found = []
    for name, row in sample.items():
        signed = row * lead
        other = bool((signed <= 0).all())
        sign = (r"\mp" if other else r"\pm") if style.tex else "-+" if other else "+-"
        numbers = [style.given(abs(x) if x == 0 else x) for x in (-signed if other else signed).tolist()]
        found.append(f"{name} {sign} {numbers[0] if len(numbers) == 1 else '(' + ', '.join(numbers) + ')'}")
    return (r"\text{ and }" if style.tex else " and ").join(found)


def _arguments(names: Sequence[str], written: Sequence[str]) -> str:
    """The variables in brackets, where one of several is in no function: it may still have noise."""
    seen = all(any(name in text for text in written) for name in names)
    return "" if seen or len(names) == 1 else f"({', '.join(names)})"


def _named(block: str, size: int, style: _Style) -> list[str]:
    return [style.name(block)] if size == 1 else [style.name(f"{block}_{c + 1}") for c in range(size)]


def _together(letter: str, of: str, written: Sequence[str], style: _Style) -> list[str]:
    """f_1 = f_2 = ..., in the order of the first client of each."""
    if len(written) == 1:
        return [f"{letter}{of} = {written[0]}"]
    clients = {text: [i for i, other in enumerate(written, start=1) if other == text] for text in written}
    found = []
    for text, who in clients.items():
        names = [style.name(f"{letter}_{i}") + of for i in who]
        if len(who) > _MANY and who[-1] - who[0] == len(who) - 1:
            names[1:-1] = [style.dots]
        found.append(" = ".join([*names, text]))
    return found


def _quadratic(H: Array, g: Array, names: Sequence[str], style: _Style) -> str:
    """w'Hw/2 - g'w up to a constant, in complete squares where nothing couples a variable."""
    terms: list[tuple[Fraction, str]] = []
    for a, name in enumerate(names):
        curvature, slope = Fraction(float(H[a, a])), Fraction(float(g[a]))
        alone = not np.delete(H[a], a).any()
        plain = [(curvature / 2, f"{name}^2")] * (curvature != 0) + [(-slope, name)] * (slope != 0)
        centre = slope / curvature if curvature else None
        if alone and centre and _short(centre):
            sign = "-" if centre > 0 else "+"
            terms.append((curvature / 2, f"({name} {sign} {style.fraction(abs(centre))})^2"))
        else:
            terms += plain
    for a, b in itertools.combinations(range(len(names)), 2):
        if H[a, b]:
            terms.append((Fraction(float(H[a, b])), f"{names[a]} {names[b]}"))
    return style.sum(terms)


def _separable(curves: Sequence[ScalarFunction], names: Sequence[str], style: _Style) -> str:
    """A sum of functions of one variable each, up to a constant."""
    parts = [_pieces(curve, name, style) for curve, name in zip(curves, names, strict=True)]
    parts = [part for part in parts if part != "0"]
    if len(parts) == 1 or style.tex:
        return " + ".join(parts) or "0"
    return " + ".join(f"({part})" for part in parts) or "0"


def _pieces(curve: ScalarFunction, name: str, style: _Style) -> str:
    """A function of one variable, 0 at 0, piece by piece."""
    written = []
    for j, h in enumerate(curve.curvatures):
        at = curve.kinks[j - 1] if j else curve.kinks[0] if curve.kinks else Fraction(0)
        slope = curve.gradient(at) - h * at
        constant = curve.value(at) - slope * at - h * at**2 / 2
        terms = [(h / 2, f"{name}^2"), (slope, name), (constant, "")]
        written.append(style.sum([(factor, body) for factor, body in terms if factor]))
    if len(written) == 1:
        return written[0]
    ends = [style.fraction(kink) for kink in curve.kinks]
    below, above = (r"\le", r"\ge") if style.tex else ("<=", ">=")
    where = [
        f"{name} {below} {ends[0]}",
        *(f"{low} {below} {name} {below} {high}" for low, high in itertools.pairwise(ends)),
        f"{name} {above} {ends[-1]}",
    ]
    if style.tex:
        rows = r" \\ ".join(rf"{part} & {span}" for part, span in zip(written, where, strict=True))
        return rf"\begin{{cases}} {rows} \end{{cases}}"
    return ", ".join(f"{part} for {span}" for part, span in zip(written, where, strict=True))


# --- Who takes part ---

_IN_ORDER = {
    Assumption.CYCLIC_BLOCKS: "in every round in a fixed order",
    Assumption.RESHUFFLED_BLOCKS: "in every round in an order drawn anew in each epoch",
}


def _taking_part(instance: Instance, verdict: Verdict, style: _Style) -> list[str]:
    """Who takes part, where there is a choice."""
    n, pattern = instance.problem.n, instance.participation
    symbol = instance.statement.vocabulary.run.get("participants", "")
    m = verdict.values.get(symbol)
    if isinstance(pattern, Trace):
        T = int(verdict.values.get(instance.statement.vocabulary.run.get("rounds", ""), 0))
        after = f", {_clients(range(1, n + 1), n)} in round {T}" if _ends(pattern, verdict, T) else ""
        return [_rounds(pattern) + after] if n > 1 or not pattern.matrix.all() else []
    if isinstance(pattern, Bernoulli):
        return _by_chance(pattern, n, style)
    if n == 1:
        return []
    graph = pattern if isinstance(pattern, Graph) else default_graph(instance.statement, n) if pattern is None else None
    if graph is not None:
        often = f", of whose rounds each mixes with probability {style.formula(style.given(graph.mixes))}"
        return [f"on {_edges(graph, style) or graph.kind_of_graph}{'' if graph.mixes == 1 else often}"]
    size = pattern.m if isinstance(pattern, Uniform) else m
    if pattern is not None and not isinstance(pattern, Uniform):
        return [f"{pattern.kind} participation"]
    assumed = instance.statement.assumptions if pattern is None else ()
    how = next((words for law, words in _IN_ORDER.items() if law in assumed), "drawn in every round")
    return [] if size is None or size == n else [f"{_number(int(size))} of them {how}"]


def _edges(graph: Graph, style: _Style) -> str:
    """Who hears from whom with which share, where the graph has no name and few clients."""
    if graph.name or graph.n > _FEW_CLIENTS:
        return ""
    named: dict[float, list[str]] = {}
    for i, j in np.argwhere(graph.edges > 0):
        named.setdefault(float(graph.edges[i, j]), []).append(style.name(f"W_{i + 1}{j + 1}"))
    shares = [style.formula(" = ".join([*names, style.given(share)])) for share, names in named.items()]
    return f"the graph with {' and '.join(shares)}" if shares else ""


def _by_chance(pattern: Bernoulli, n: int, style: _Style) -> list[str]:
    """With which probability each takes part, where that is not sure."""
    p = sorted({*np.ravel(pattern.p).tolist()})
    if p == [1.0]:
        return []
    listed = style.given(p[0]) if len(p) == 1 else f"({', '.join(style.given(x) for x in np.ravel(pattern.p))})"
    return [f"{'each ' * (n > 1)}taking part with probability {style.formula(listed)}"]


def _ends(pattern: Trace, verdict: Verdict, T: int) -> bool:
    """Whether delays count on everybody after the last round of a trace, which is the run's."""
    ended = len(pattern.matrix) == T and not pattern.matrix.all()
    return ended and any(constant.reason == COUNTED for constant in verdict.constants.values())


def _rounds(pattern: Trace) -> str:
    """Round after round."""
    rows = [tuple((np.flatnonzero(row) + 1).tolist()) for row in pattern.matrix]
    spans = [(who, len([*span])) for who, span in itertools.groupby(rows)]
    if len(spans) == 1:
        return f"{_clients(spans[0][0], pattern.n)} in every round"
    found, first = [], 0
    for who, length in spans:
        at = f"round {first}" if length == 1 else f"rounds {first} to {first + length - 1}"
        found.append(f"{_clients(who, pattern.n)} in {at}")
        first += length
    return ", ".join(found)


def _clients(who: Sequence[int], n: int) -> str:
    if len(who) in (0, n):
        return "nobody" if not who else "the client" if n == 1 else "both" if n == 2 else "all"
    return f"client{'s' * (len(who) > 1)} {', '.join(map(str, who))}"


# --- Numbers ---


def _number(count: int) -> str:
    return _COUNTS[count] if count < len(_COUNTS) else str(count)


def _count(n: int) -> str:
    return f"{_number(n)} client{'s' * (n != 1)}"


def _short(value: Fraction) -> bool:
    return len(f"{value.numerator}{value.denominator}") <= _LONGEST


def _rational(value: Number | None) -> Fraction | None:
    """The rational that a number is proved to be, where it is a short one."""
    if value is None or not (enclosure := Enclosure.of(value)).exact or not _short(enclosure.low):
        return None
    return enclosure.low


def _listed(value: object, style: _Style) -> str:
    """A given number, or one per client."""
    numbers = [style.given(x) for x in np.ravel(np.asarray(value, dtype=float)).tolist()]
    return numbers[0] if np.ndim(value) == 0 else f"({', '.join(numbers)})"  # type: ignore[arg-type]
