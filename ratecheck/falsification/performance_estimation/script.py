"""The worst case of a statement as a program for PEPit, which has the same maximum in its own terms.

The method's own functions are followed in unknown vectors, as in `pep`, in the units of the statement, and every call
of an oracle is written down: a point as a combination of the vectors before it, the gradient and the value there as new
ones. What PEPit's function classes say of these answers is left to it; the rest of what is assumed, and the left side,
are written as expressions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.performance_estimation.gram import GramNumber, GramProgram, GramVector, inner
from ratecheck.falsification.performance_estimation.pep import Answer, above_infimum, bounded, limited, same_point
from ratecheck.falsification.snapshots import Lowest, total

# The unknown that stands for x_0; the run itself is followed from the origin.
_START = 0
_MINIMISER = "x_star"
# Convex functions with bounded subgradients, which PEPit's class says of every answer.
_BOUNDED = "ConvexLipschitzFunction"
# A pivot below that, relative to the largest entry of a quadratic form, is rounding.
_FLAT = 1e-12


@dataclass
class _Script:
    """The lines of a program so far, and the names of its unknown vectors and numbers."""

    program: GramProgram = field(default_factory=GramProgram)
    vectors: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    places: list[tuple[GramVector, str]] = field(default_factory=lambda: [(GramVector(), "x0")])

    def vector(self, name: str) -> GramVector:
        """A new unknown vector of that name."""
        self.vectors.append(name)
        return self.program.vector()

    def number(self, name: str) -> GramNumber:
        """A new unknown number of that name."""
        self.numbers.append(name)
        return self.program.number()

    def point(self, x: GramVector) -> str:
        """A point of the run, which starts at x_0, as a combination of the unknowns."""
        weights = {_START: 1.0 + x.weights.get(_START, 0.0)}
        return self.combination({**weights, **{k: w for k, w in x.weights.items() if k != _START}})

    def place(self, x: GramVector) -> str:
        """The name of a point, after a line that defines it where it is new."""
        known = next((name for at, name in self.places if same_point(x, at)), None)
        if known is not None:
            return known
        self.places.append((x, self.new_place()))
        self.lines.append(f"{self.places[-1][1]} = {self.point(x)}")
        return self.places[-1][1]

    def new_place(self) -> str:
        """The name of the next point."""
        return f"x{sum(name != _MINIMISER for _, name in self.places)}"

    def combination(self, weights: Mapping[int, float]) -> str:
        """A combination of the unknown vectors."""
        return _sum((weight, self.vectors[k]) for k, weight in weights.items()) or f"0 * {self.vectors[_START]}"

    def expression(self, number: GramNumber) -> str:
        """A function of inner products and numbers: as squares where these are fewer than the products."""
        terms = min(list(self._squares(number)), list(self._products(number)), key=len)
        terms += [(weight, self.numbers[k]) for k, weight in number.numbers.items()]
        return _sum([*terms, (number.constant, "")] if number.constant or not terms else terms)

    def _products(self, number: GramNumber) -> Iterator[tuple[float, str]]:
        for (k, m), weight in number.products.items():
            yield weight, f"{self.vectors[k]}**2" if k == m else f"{self.vectors[k]} * {self.vectors[m]}"

    def _squares(self, number: GramNumber) -> Iterator[tuple[float, str]]:
        """Squares with signs by symmetric elimination, which ends early where the rank is small."""
        matrix, _, _ = self.program.matrices(number)
        flat = _FLAT * np.abs(matrix).max(initial=0.0)
        while np.abs(matrix).max(initial=0.0) > flat:
            diagonal = np.abs(np.diag(matrix))
            pivot = int(diagonal.argmax())
            if diagonal[pivot] <= flat:
                # Products without squares: written as such.
                rows, columns = np.nonzero(np.triu(np.abs(matrix) > flat))
                for k, m in zip(rows.tolist(), columns.tolist(), strict=True):
                    yield 2 * float(matrix[k, m]), f"{self.vectors[k]} * {self.vectors[m]}"
                return
            row = matrix[pivot] / matrix[pivot, pivot]
            weights = {k: float(weight) for k, weight in enumerate(row) if abs(weight) > _FLAT}
            alone = len(weights) == 1
            text = self.combination(weights)
            yield float(matrix[pivot, pivot]), f"{text}**2" if alone else f"({text})**2"
            matrix = matrix - matrix[pivot, pivot] * np.outer(row, row)
            matrix[pivot], matrix[:, pivot] = 0.0, 0.0


def _sum(terms: Any) -> str:
    """A sum of multiples, a number where its name is empty; empty where there is no term."""
    found = ""
    for weight, name in terms:
        if name and not weight:
            continue
        size = float(abs(weight))
        text = repr(size) if not name else name if size == 1 else f"{size!r} * {name}"
        if found:
            found += f" {'-' if weight < 0 else '+'} {text}"
        else:
            found = f"-{text}" if weight < 0 else text
    return found


@dataclass
class _Answers:
    """What one function or operator answers: a line of the program for every new point."""

    script: _Script
    name: str
    suffix: str
    answers: list[Answer] = field(default_factory=list)
    proximal: list[tuple[GramVector, Answer]] = field(default_factory=list)
    noisy: list[tuple[Answer, GramVector]] = field(default_factory=list)

    def answer(self, x: GramVector) -> Answer:
        """Point, gradient and value, new ones where the point is."""
        known = next((each for each in self.answers if same_point(x, each[0])), None)
        return known or self._evaluated(x, self.script.place(x))

    def _evaluated(self, x: GramVector, place: str) -> Answer:
        gradient, value, names = self._unknowns(place)
        self.script.lines.append(f"{names} = {self.name}.oracle({place})")
        self.answers.append((x, gradient, value))
        return self.answers[-1]

    def _unknowns(self, place: str) -> tuple[GramVector, GramNumber, str]:
        """The gradient and the value at a point, and their names."""
        gradient, value = (f"{letter}{place.removeprefix('x')}{self.suffix}" for letter in "gv")
        return self.script.vector(gradient), self.script.number(value), f"{gradient}, {value}"

    def prox(self, x: GramVector, weight: float) -> Answer:
        """The answer at the minimiser of f + weight/2 ||. - x||^2."""
        known = next((answer for at, answer in self.proximal if same_point(x, at)), None)
        if known is not None:
            return known
        place = self.script.new_place()
        gradient, value, names = self._unknowns(place)
        call = f"proximal_step({self.script.point(x)}, {self.name}, {1 / weight!r})"
        self.script.lines.append(f"{place}, {names} = {call}")
        self.answers.append((x - gradient / weight, gradient, value))
        self.script.places.append((self.answers[-1][0], place))
        self.proximal.append((x, self.answers[-1]))
        return self.answers[-1]

    def noise(self, x: GramVector, sigma: float) -> GramVector:
        """What a stochastic gradient at the point adds or takes away, of norm at most sigma."""
        answer = self.answer(x)
        for known, found in self.noisy:
            if known is answer:
                return found
        name = f"e{self.script.place(x).removeprefix('x')}{self.suffix}"
        self.script.lines += [f"{name} = Point()", f"problem.add_constraint({name}**2 <= {sigma**2!r})"]
        self.noisy.append((answer, self.script.vector(name)))
        return self.noisy[-1][1]


def _class(case: DeterministicCase, *, second: bool) -> tuple[str, str, str]:
    """Module, name and arguments of PEPit's class of a function of the case, of its second part where that is meant."""
    L, mu, M = case.smoothness, case.curvature, case.steepest
    cases: tuple[tuple[bool, str, str], ...]
    if case.operator:
        cases = (
            (math.isfinite(L), "CocoerciveOperator", f"beta={1 / L!r}"),
            (mu > 0, "StronglyMonotoneOperator", f"mu={mu!r}"),
            (True, "MonotoneOperator", ""),
        )
    else:
        smooth = math.isfinite(L) and not second
        cases = (
            (smooth and mu < 0, "SmoothFunction", f"L={L!r}"),
            (smooth and mu > 0, "SmoothStronglyConvexFunction", f"mu={mu!r}, L={L!r}"),
            (smooth, "SmoothConvexFunction", f"L={L!r}"),
            (mu > 0 and not second, "StronglyConvexFunction", f"mu={mu!r}"),
            (math.isfinite(M) and not second, _BOUNDED, f"M={M!r}"),
            (True, "ConvexFunction", ""),
        )
    name, said = next((name, said) for meant, name, said in cases if meant)
    return "operators" if case.operator else "functions", name, said


def pepit_script(case: DeterministicCase, comparison: ComparedRounds, command: str) -> str:
    """The program: it prints what PEPit finds for the left side of the comparison, and the right side.

    ``command`` is what repeats the question here. Everything is in the units of the statement.
    """
    script = _Script()
    script.vector("x0")
    suffixes = [""] if case.functions == 1 else [f"_{i}" for i in range(case.functions)]
    functions = [_Answers(script, f"f{suffix}", suffix) for suffix in suffixes]
    classes = [_class(case, second=case.composite and i == case.n) for i in range(case.functions)]
    head = [f"{f.name} = problem.declare_function({name}{', ' * bool(said)}{said})"
            for f, (_, name, said) in zip(functions, classes, strict=True)]  # fmt: skip
    head.append("x0 = problem.set_initial_point()")
    lowest = None
    if case.needs_minimiser:
        sums = " + ".join(each.name for each in functions)
        head += [f"F = {sums}"] * (len(functions) > 1)
        head.append(f"{_MINIMISER} = {'F' if len(functions) > 1 else functions[0].name}.stationary_point()")
        # The run starts from the origin, so that x* is told from x_0.
        point = script.vector(_MINIMISER) - GramVector({_START: 1.0})
        script.places.append((point, _MINIMISER))
        at = [each.answer(point) for each in functions]
        lowest = Lowest(case.combined([value for *_, value in at]), point, tuple(slope for _, slope, _ in at))
    run = case.run(
        GramVector(),
        lambda i, x: functions[i].answer(x)[1],
        value=lambda i, x: functions[i].answer(x)[2],
        rounds=case.rounds(comparison),
        prox=lambda i, x: functions[i].prox(x, case.weight)[0],
        noise=lambda i, x: functions[i].noise(x, case.noise),
    )
    if lowest is None:
        head.append("f_star = Expression()  # inf f, which need not be attained")
        lowest = Lowest(script.number("f_star"))
    facts = [*limited(case, run, lowest)]
    if lowest.point is None:
        # With a minimiser x* interpolation between x* and the other points says as much of convex functions.
        facts += above_infimum(case, run, functions[0].answers, lowest)
    if _BOUNDED not in {name for _, name, _ in classes}:
        facts += bounded(case, functions)
    limits = [f"problem.add_constraint({script.expression(each)} <= 0)" for each in facts]
    rounds = [total(each) for each in case.parts(run, inner, float, comparison, lowest)]
    metrics = [f"problem.set_performance_metric({script.expression(each)})" for each in rounds]
    modules: dict[str, set[str]] = {}
    for module, name, _ in classes:
        modules.setdefault(f"PEPit.{module}", set()).add(name)
    written = "\n".join([*head, *script.lines])
    own = [*(name for name in ("Expression", "Point") if f"= {name}()" in written), "PEP"]
    imports = [f"from PEPit import {', '.join(sorted(own))}"]
    imports += [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(modules.items())]
    imports += ["from PEPit.primitive_steps import proximal_step"] * ("proximal_step(" in written)
    about = f"of round {comparison.round}" if comparison.round is not None else "of all rounds together"
    return "\n".join(
        [
            f'"""{case.statement.key}: the largest left side {about}, by PEPit.',
            "",
            f"The same question: {command}",
            '"""',
            "",
            *imports,
            "",
            "problem = PEP()",
            *head,
            "",
            "# The run: every point at which something is evaluated, and the answer there.",
            *script.lines,
            "",
            "# What is assumed beside the class of functions.",
            *limits,
            "",
            *metrics,
            'left = problem.solve(solver="CLARABEL", verbose=0)',
            f"right = {comparison.right!r}",
            'print(f"left  {left:.8g}")',
            'print(f"right {right:.8g}")',
            "",
        ]
    )
