"""Semidefinite feasibility in fractions: a solver proposes, exact arithmetic decides.

Unknown numbers y, some of them not negative, and forms that are affine in y and have to be nonnegative whatever the
Gram matrices and values are: positive semidefinite in every Gram matrix, 0 in every value, at least 0 in the constant.
Clarabel finds y in floats; what is rounded to fractions is checked by a decomposition L D L' of integers, so that no
solver is believed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.linear_algebra import Entries, semidefinite
from ratecheck.errors import InputError
from ratecheck.proving.forms import ONE, Entry, Form, Key, KnownFact, Value, plus

# An affine form: by unknown, None for what stands alone.
Affine = Mapping[int | None, Form]
# Below that, relative to the diagonal, an eigenvalue of a proposed matrix is taken for 0.
_FLAT = 1e-6
# Denominators of the fractions to which floats are rounded: short ones first, which make short certificates.
_SCALES = (2**16, 2**30, 2**48)
# How near the largest margin an answer has to be, relatively.
_NEAR = 1e-2
# Unknowns from which on a program is a large one.
_LARGE = 1000
_ACCURACIES = (1e-2, 1e-3, 1e-6)
_SMALL = Fraction(1, 10**7)


@dataclass(frozen=True)
class Requirement:
    """An inequality left <= right for all vectors that satisfy the facts, whose sides are affine in the unknowns.

    Each fact comes with the unknown number that multiplies it: right - left + sum of multiplier * fact has to be
    nonnegative whatever Gram matrices and values are. ``vectors`` are the names of the vectors, numbered from 1.
    """

    name: str
    left: Affine
    right: Affine
    facts: tuple[tuple[int, KnownFact], ...] = ()
    vectors: tuple[str, ...] = ()

    @cached_property
    def difference(self) -> Affine:
        """What has to be nonnegative."""
        multiplied: Affine = {u: fact.form for u, fact in self.facts}
        return total((1, self.right), (-1, self.left), (1, multiplied))


def total(*parts: tuple[Fraction | int, Affine]) -> dict[int | None, Form]:
    """A sum of multiples of affine forms."""
    found: dict[int | None, Form] = {}
    for factor, affine in parts:
        for unknown, form in affine.items():
            found[unknown] = plus((1, found.get(unknown, {})), (factor, form))
    return found


@dataclass
class Program:
    """Unknowns and what has to hold of them; see the module."""

    names: list[str] = field(default_factory=list)
    signed: list[bool] = field(default_factory=list)
    required: list[Requirement] = field(default_factory=list)
    equal: list[dict[int | None, Fraction]] = field(default_factory=list)
    kernels: dict[int, tuple[tuple[Fraction, ...], ...]] = field(default_factory=dict)

    def unknown(self, name: str, *, signed: bool) -> int:
        """A new unknown number; not negative where ``signed``."""
        self.names.append(name)
        self.signed.append(signed)
        return len(self.names) - 1

    def require(
        self, name: str, left: Affine, right: Affine, facts: Iterable[KnownFact] = (), vectors: Sequence[str] = ()
    ) -> None:
        """Have left <= right follow from multiples of what is known."""
        known = ((self.unknown(f"{name}: {fact.name}", signed=not fact.equal), fact) for fact in facts if fact.form)
        self.required.append(Requirement(name, left, right, tuple(known), tuple(vectors)))

    @cached_property
    def digits(self) -> int:
        """Binary digits of the longest denominator in what is required."""
        affines = (each.difference for each in self.required)
        return max(
            (v.denominator.bit_length() for affine in affines for form in affine.values() for v in form.values()),
            default=0,
        )

    @cached_property
    def spaces(self) -> list[Block]:
        """All matrices, those without a diagonal last: to be read once nothing is required any more."""
        found: list[Block] = []
        crossed: list[Block] = []
        for number, affine in enumerate(each.difference for each in self.required):
            spaces: dict[tuple[str, bool], dict[int | None, Form]] = {}
            for unknown, form in affine.items():
                for key, value in form.items():
                    if isinstance(key, Entry):
                        spaces.setdefault((key.block, key.deviations), {}).setdefault(unknown, {})[key] = value
            for space, entries in sorted(spaces.items()):
                block = Block(number, *space, entries)
                if block.full:
                    found.append(replace(block, kernel=self.kernels.get(len(found), ())))
                else:
                    crossed.append(block)
        return found + crossed

    @cached_property
    def blocks(self) -> list[Block]:
        """The matrices that have to be positive semidefinite, those that have a diagonal."""
        return [block for block in self.spaces if block.full]

    @cached_property
    def rows(self) -> tuple[list[dict[int | None, Fraction]], list[dict[int | None, Fraction]]]:
        """Affine numbers that have to be 0, and at least 0: coefficients of values, and constants; see `blocks`."""
        zero, least = list(self.equal), []
        for affine in (each.difference for each in self.required):
            by_key: dict[Key, dict[int | None, Fraction]] = {}
            for unknown, form in affine.items():
                for key, value in form.items():
                    if isinstance(key, Value):
                        by_key.setdefault(key, {})[unknown] = value
            least += [row for key, row in by_key.items() if key == ONE]
            zero += [row for key, row in by_key.items() if key != ONE]
        for block in self.spaces:
            # Where a diagonal is 0 so is its row.
            rows: dict[Entry, dict[int | None, Fraction]] = {}
            for unknown, form in block.entries.items():
                for key, value in form.items():
                    if isinstance(key, Entry) and not {key.first, key.second} <= block.rows:
                        rows.setdefault(key, {})[unknown] = value
            zero += rows.values()
            zero += block.orthogonal()
        return zero, least


@dataclass(frozen=True)
class Block:
    """A symmetric matrix, affine in the unknowns: ``entries`` by unknown; <a, b> counts half on each side."""

    form: int
    space: str
    deviations: bool
    entries: Mapping[int | None, Form]

    kernel: tuple[tuple[Fraction, ...], ...] = ()

    @cached_property
    def full(self) -> list[int]:
        """The vectors of its rows: those whose diagonal entry need not be 0."""
        return sorted(
            {k.first for form in self.entries.values() for k in form if isinstance(k, Entry) and k.first == k.second}
        )

    @cached_property
    def vectors(self) -> list[int]:
        """The vectors that are left of the rows where a kernel is known: a complement of it."""
        pivots = {next(i for i, c in enumerate(vector) if c) for vector in self.kernel}
        return [vector for i, vector in enumerate(self.full) if i not in pivots]

    def orthogonal(self) -> list[dict[int | None, Fraction]]:
        """What has to be 0 for the matrix to vanish on its kernel."""
        found = []
        for vector in self.kernel:
            rows: list[dict[int | None, Fraction]] = [{} for _ in self.full]
            for unknown, form in self.entries.items():
                for i, j, value in _halves(form, self.full):
                    if vector[j]:
                        rows[i][unknown] = rows[i].get(unknown, Fraction(0)) + value * vector[j]
            found += [row for row in rows if any(row.values())]
        return found

    @cached_property
    def rows(self) -> frozenset[int]:
        """The vectors of its rows as a set."""
        return frozenset(self.full)

    def whole(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix at floats, its kernel included."""
        matrix = np.zeros((len(self.full), len(self.full)))
        for unknown, form in self.entries.items():
            factor = 1.0 if unknown is None else float(y[unknown])
            for i, j, value in _halves(form, self.full):
                matrix[i, j] += factor * float(value)
        return matrix

    @property
    def matrices(self) -> dict[int | None, list[tuple[int, int, Fraction]]]:
        """Rows, columns and values without its kernel, by unknown."""
        return {u: [*_halves(form, self.vectors)] for u, form in self.entries.items()}

    def at(self, y: Sequence[Fraction]) -> Entries:
        """The matrix at fractions, without its kernel."""
        matrix = np.full((len(self.vectors), len(self.vectors)), Fraction(0), dtype=object)
        whole = plus(*((1 if u is None else y[u], form) for u, form in self.entries.items()))
        for i, j, value in _halves(whole, self.vectors):
            matrix[i, j] += value
        return matrix


def placed(form: Form, vectors: Sequence[int]) -> Iterator[tuple[int, int, Fraction]]:
    """Row, column and coefficient of the entries of a form that are products of these vectors."""
    place = {vector: row for row, vector in enumerate(vectors)}
    for key, value in form.items():
        if isinstance(key, Entry) and key.first in place and key.second in place:
            yield place[key.first], place[key.second], value


def _halves(form: Form, vectors: Sequence[int]) -> Iterator[tuple[int, int, Fraction]]:
    """Entries as in `placed`, on both sides of the diagonal: <a, b> counts half on each."""
    for i, j, value in placed(form, vectors):
        yield from ((i, j, value),) if i == j else ((i, j, value / 2), (j, i, value / 2))


# How the solver ends that neither has an answer nor says that there is none.
_STUCK = frozenset({"InsufficientProgress", "NumericalError"})


@dataclass(frozen=True)
class Proposal:
    """What the solver found: unknowns in floats, the least cost, and how far inside the answer is."""

    y: NDArray[np.float64]
    cost: float
    margins: NDArray[np.float64]
    status: str


def solve(
    program: Program, cost: Mapping[int, float], fixed: Mapping[int, Fraction] | None = None, *, margins: str = ""
) -> Proposal | None:
    """The unknowns of least cost, or those farthest inside; None where the solver finds none.

    ``margins``: "" for least cost, "one" for the largest multiple of the unit that every matrix and every number may be
    reduced by, "each" for such a multiple of each matrix, and their largest sum.
    """
    if importlib.util.find_spec("clarabel") is None:
        raise InputError("a proof is proposed by clarabel: pip install 'ratecheck[pep]'")
    import clarabel  # type: ignore[import-untyped]
    import scipy.sparse as sp

    fixed = fixed or {}
    first = len(program.names)
    count = first + {"": 0, "one": 1, "each": len(program.blocks)}[margins]
    system = _rows_of(program, fixed, margins, range(first, count))
    objective = np.zeros(count)
    objective[[*cost]] = [*cost.values()]
    objective[first:] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Half of the time of a large program, whose answers are exact enough without.
    settings.iterative_refinement_enable = len(program.names) < _LARGE
    if margins == "one":
        # Any answer well inside will do.
        settings.tol_gap_abs = settings.tol_gap_rel = _NEAR
    matrix = sp.csc_matrix((system.data, (system.rows, system.columns)), shape=(len(system.right), count))
    cones = [getattr(clarabel, name)(size) for name, size in system.cones]
    # Where it gets stuck, which at the edge of what has a solution depends on the processor, other scales may do.
    for settings.equilibrate_enable in (True, False):
        solver = clarabel.DefaultSolver(
            sp.csc_matrix((count, count)), objective, matrix, np.array(system.right), cones, settings
        )
        try:
            with _silenced():
                solution = solver.solve()
        except BaseException as error:
            # Where its arithmetic breaks down the solver panics, which is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            return None
        status = str(solution.status)
        if status in {"Solved", "AlmostSolved"}:
            y = np.array(solution.x)
            return Proposal(y[:first], float(objective @ y), y[first:], status)
        if status not in _STUCK:
            return None
    return None


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Standard error is closed to the solver, which prints the stack where it panics."""
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _rows_of(program: Program, fixed: Mapping[int, Fraction], margins: str, added: range) -> _ConeRows:
    """The program in cones; ``added`` are the unknowns that are margins."""
    zero, least = program.rows
    system = _ConeRows()
    pinned: list[dict[int | None, Fraction]] = [{u: Fraction(1), None: -value} for u, value in fixed.items()]
    for row in [*zero, *pinned]:
        system.row(row)
    system.cone("ZeroConeT")
    for row in least:
        slack = margins == "one" and any(u is not None for u in row)
        system.row(row, margin=added[0] if slack else None)
    for u, signed in enumerate(program.signed):
        if signed and u not in fixed:
            system.row({u: Fraction(1)})
    for margin in added:
        # Not farther inside than 1: the set may be unbounded.
        system.row({margin: Fraction(-1), None: Fraction(1)})
        if margins == "each":
            system.row({margin: Fraction(1)})
    system.cone("NonnegativeConeT")
    for number, block in enumerate(program.blocks):
        system.block(block, margin=None if not margins else added[number if margins == "each" else 0])
    return system


@dataclass
class _ConeRows:
    """Rows b - A y in cones, as Clarabel takes them."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    data: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    cones: list[tuple[str, int]] = field(default_factory=list)
    _closed: int = 0

    def row(self, row: Mapping[int | None, Fraction], margin: int | None = None) -> None:
        """An affine number, less the margin."""
        for u, value in row.items():
            if u is not None:
                self._put(len(self.right), u, -float(value))
        if margin is not None:
            self._put(len(self.right), margin, 1.0)
        self.right.append(float(row.get(None, 0)))

    def cone(self, kind: str) -> None:
        """Close the rows since the last cone, which is of that kind."""
        if len(self.right) > self._closed:
            self.cones.append((kind, len(self.right) - self._closed))
        self._closed = len(self.right)

    def block(self, block: Block, margin: int | None) -> None:
        """The upper triangle of a matrix, column by column, less the margin on its diagonal."""
        size, first = len(block.vectors), len(self.right)
        self.right += [0.0] * (size * (size + 1) // 2)
        for u, form in block.entries.items():
            for i, j, value in placed(form, block.vectors):
                at, found = first + j * (j + 1) // 2 + i, float(value) * (1.0 if i == j else 0.5**0.5)
                if u is None:
                    self.right[at] += found
                else:
                    self._put(at, u, -found)
        if margin is not None:
            for i in range(size):
                self._put(first + i * (i + 1) // 2 + i, margin, 1.0)
        self.cones.append(("PSDTriangleConeT", size))
        self._closed = len(self.right)

    def _put(self, row: int, column: int, value: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.data.append(value)


def certified(program: Program, fixed: Mapping[int, Fraction]) -> list[Fraction] | None:
    """Fractions far inside that meet everything exactly, with some unknowns fixed; None where none are found."""
    found = _inside(program, fixed)
    return found if isinstance(found, list) else None


def faces(program: Program, fixed: Mapping[int, Fraction]) -> Iterator[Program]:
    """The program on faces on which what is proposed for some fixed unknowns seems to lie, where it has no inside.

    Matrices vanish on what they seem to vanish on; then what seems to be 0 is equal to 0 as well.
    """
    found = _inside(program, fixed)
    if found is not None and not isinstance(found, list):
        yield from faces_at(program, fixed, found.y)


def faces_at(program: Program, fixed: Mapping[int, Fraction], y: NDArray[np.float64]) -> Iterator[Program]:
    """The program on faces on which what floats say seems to lie; see `faces`."""
    # A solver knows the kernel of a matrix to fewer digits than the matrix.
    for accuracy, tight in itertools.product(_ACCURACIES, (False, True)):
        equal = [*program.equal, *(_flat(program, fixed, y) if tight else ())]
        yield replace(program, kernels=kernels(program, y, accuracy), equal=equal)


def _flat(
    program: Program, fixed: Mapping[int, Fraction], y: NDArray[np.float64]
) -> Iterator[dict[int | None, Fraction]]:
    """Numbers that have to be nonnegative and are 0 in a proposal, up to the accuracy of the solver."""
    for row in program.rows[1]:
        terms = [float(v) * (1.0 if u is None else float(y[u])) for u, v in row.items()]
        if abs(sum(terms)) <= _FLAT * sum(map(abs, terms)):
            yield row
    for u, signed in enumerate(program.signed):
        if signed and u not in fixed and y[u] < _FLAT:
            yield {u: Fraction(1)}


def _inside(program: Program, fixed: Mapping[int, Fraction]) -> list[Fraction] | Proposal | None:
    """Fractions that meet everything, else the last proposal, None without one."""
    last: Proposal | None = None
    # On a face, of which there are several to try, far inside or as proposed.
    for margins in ("one", "") if program.kernels else ("one", "each", ""):
        proposal = solve(program, {}, fixed, margins=margins)
        if proposal is None:
            continue
        y = exact(program, proposal.y, fixed)
        if y is not None:
            return y
        last = proposal
    return last


def kernels(program: Program, y: NDArray[np.float64], accuracy: float) -> dict[int, tuple[tuple[Fraction, ...], ...]]:
    """Vectors on which the matrices at ``y`` vanish, as simple fractions near them, by the number of the block."""
    found = {}
    for number, block in enumerate(program.blocks):
        matrix = block.whole(y)
        scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        rows = np.flatnonzero(np.diag(matrix) > _FLAT * max(1.0, float(np.diag(matrix).max(initial=0.0))))
        vectors = [
            tuple(Fraction(int(i == j)) for j in range(len(matrix))) for i in range(len(matrix)) if i not in rows
        ]
        if len(rows):
            values, basis = np.linalg.eigh(matrix[np.ix_(rows, rows)] / np.outer(scale[rows], scale[rows]))
            flat = basis[:, values < _FLAT] / scale[rows][:, None]
            for vector in _reduced_rows(flat.T):
                whole = [Fraction(0)] * len(matrix)
                for row, c in zip(rows, vector, strict=True):
                    whole[row] = _simple(float(c), accuracy)
                vectors.append(tuple(whole))
        if vectors:
            found[number] = tuple(vectors)
    return found


def _simple(number: float, accuracy: float) -> Fraction:
    """The simplest fraction that a number is up to that accuracy."""
    for largest in (1, 10, 100, 1000, 10**4, 10**5):
        found = Fraction(number).limit_denominator(largest)
        if abs(float(found) - number) < accuracy * max(1.0, abs(number)):
            return found
    return Fraction(number).limit_denominator(10**6)


def _reduced_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The reduced row echelon form, pivots the largest."""
    rows = np.array(rows)
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) < 1e-6 * np.abs(rows).max():
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        for other in range(len(rows)):
            if other != done:
                rows[other] -= rows[other, column] * rows[done]
        done += 1
    return rows[:done]


def exact(program: Program, y: NDArray[np.float64], fixed: Mapping[int, Fraction]) -> list[Fraction] | None:
    """Fractions near ``y`` that meet everything exactly, or None."""
    for scale in (_SCALES[0], _SCALES[-1]) if program.kernels else _SCALES:
        found = [Fraction(round(float(value) * scale), scale) for value in y]
        for u, signed in enumerate(program.signed):
            # What is forced to be 0 is tiny and positive in floats.
            if signed and found[u] < _SMALL:
                found[u] = Fraction(0)
        for u, value in fixed.items():
            found[u] = value
        if balanced(program, found, fixed) and meets(program, found):
            return found
    return None


def meets(program: Program, y: Sequence[Fraction]) -> bool:
    """Whether fractions meet everything exactly."""
    zero, least = program.rows

    def at(row: Mapping[int | None, Fraction]) -> Fraction:
        return sum((v if u is None else v * y[u] for u, v in row.items()), Fraction(0))

    return (
        all(y[u] >= 0 for u, signed in enumerate(program.signed) if signed)
        and all(at(row) == 0 for row in zero)
        and all(at(row) >= 0 for row in least)
        and all(semidefinite(block.at(y)) for block in program.blocks)
    )


def balanced(program: Program, y: list[Fraction], fixed: Mapping[int, Fraction]) -> bool:
    """Have equations hold exactly by changing one unknown for each, the largest that may be; whether that is possible.

    Elimination forwards, shortest rows first, and substitution backwards. Rows are whole numbers, which are added and
    multiplied many times faster than fractions.
    """
    sizes = [abs(float(value)) for value in y]
    pivots: dict[int, dict[int | None, int]] = {}
    for given in sorted(program.rows[0], key=len):
        common = math.lcm(*(v.denominator for v in given.values()))
        row = {u: v.numerator * (common // v.denominator) for u, v in given.items() if v}
        # An eliminated row may bring unknowns back that later pivots eliminate.
        while hit := next((u for u in row if u in pivots), None):
            row = _eliminated(row, pivots[hit], hit)
        free = [u for u in row if u is not None and u not in fixed]
        if not free:
            # What is fixed alone decides.
            if _at_fractions(row, y):
                return False
            continue
        largest = max(map(abs, row.values()))
        pivot = max(free, key=lambda u: (not program.signed[u], sizes[u] * (abs(row[u]) / largest)))
        pivots[pivot] = row
    for pivot, row in reversed(pivots.items()):
        y[pivot] = -_at_fractions({u: v for u, v in row.items() if u != pivot}, y) / row[pivot]
    return True


def _eliminated(row: dict[int | None, int], pivot: dict[int | None, int], hit: int) -> dict[int | None, int]:
    """A multiple of a row without the unknown ``hit``, which a multiple of another row takes away."""
    shared = math.gcd(row[hit], pivot[hit])
    factor, other = pivot[hit] // shared, row[hit] // shared
    found = {u: factor * v for u, v in row.items()}
    for u, v in pivot.items():
        if value := found.get(u, 0) - other * v:
            found[u] = value
        else:
            found.pop(u, None)
    content = math.gcd(*found.values())
    return {u: v // content for u, v in found.items()} if content > 1 else found


def _at_fractions(row: Mapping[int | None, int], y: Sequence[Fraction]) -> Fraction:
    """The value of an affine number with whole coefficients."""
    common = math.lcm(*(y[u].denominator for u in row if u is not None))
    return Fraction(
        sum(v * (common if u is None else y[u].numerator * (common // y[u].denominator)) for u, v in row.items()),
        common,
    )
