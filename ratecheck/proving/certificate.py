"""Certificates of proofs by potentials: claims about vectors and numbers that `ratecheck.recheck` checks alone.

What has to hold of one round, of the start and of the potential's sign are claims about vectors of a real inner product
space, whose hypotheses are the inequalities that the proof uses. A vector of every client is two: its mean over the
clients, and its deviations from it as one vector of the product space. That the rounds add up to the theorem is a step
of an induction, and a last claim about numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ratecheck import recheck
from ratecheck.algebra.linear_algebra import Entries, squares
from ratecheck.proving.claim_data import Tree, added, constant, proofs, scaled
from ratecheck.proving.forms import ONE, Entry, Form, Key, KnownFact, plus
from ratecheck.proving.program import Affine, Block, Requirement
from ratecheck.proving.prove import PotentialProof, ProofPart, ProvedClaim
from ratecheck.proving.reach import scales

# Rows of a matrix up to which it is decomposed exactly.
_EXACT = 4
# Binary digits of the entries of a factor that approximates a matrix, beside those that its least eigenvalue needs.
_MORE_DIGITS, _DIGITS = 6, 44
# What is left of a matrix for the rounding of that factor, relative to its least eigenvalue.
_KEPT = 0.5
# A factor that is named is rounded up to so many parts.
_DECIMALS = 10**12


def certificates(proof: PotentialProof) -> list[dict[str, Any]]:
    """The claims that make up a proof, each with its certificate, or why there is none.

    Claims that repeat what is known, or whose sides are one number, are left out.
    """
    named = {*proof.statement.written.parameters, *scales(proof.statement.written), "n", "m", "K", "T"}
    numbers = " ".join(f"{name}={value:.12g}" for name, value in proof.shown.items() if name in named)
    answers = []
    for claim in proof.claims:
        about = (
            f"{_share(claim)}{proof.statement.key} at {numbers}{f', {claim.claim}' if len(proof.claims) > 1 else ''}"
        )
        for part in claim.parts:
            where = about if part.round is None else f"{about}, claim on round {part.round}"
            answers += [answered(f"{where}: {name}", make) for name, make in _claims(part)]
    return answers


def _share(claim: ProvedClaim) -> str:
    """Which multiple of the right side the claims are about, where it is more than the theorem's."""
    if claim.factor is None or claim.factor <= 1:
        return ""
    rest = "rest of the " * claim.measured
    return f"{Fraction(math.ceil(claim.factor * _DECIMALS), _DECIMALS)} times the {rest}right side of "


def answered(name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The certificate of a claim if the checker accepts it, else why it does not; neither where nothing is to prove."""
    recheck.LEFT[0] = recheck.WORK
    try:
        found = {"id": name, **make(), "digest": ""}
        found["digest"] = recheck.digest(found)
        recheck.step(found)
    except recheck.RepeatedError:
        # Both sides are one expression, or it is one of the inequalities that are known.
        return {"id": name, "certificate": None, "reason": ""}
    except ArithmeticError as error:
        return {"id": name, "certificate": None, "reason": str(error)}
    except ValueError:
        # Python writes whole numbers of up to 4300 digits.
        return {"id": name, "certificate": None, "reason": "a fraction of thousands of digits"}
    return {"id": name, "certificate": found, "reason": ""}


def _claims(part: ProofPart) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """What makes every claim of a proof with its certificate, by name."""
    assert part.y is not None
    program = part.plan.program
    for number, requirement in enumerate(program.required):
        blocks = [block for block in program.blocks if block.form == number]
        yield requirement.name, _VectorClaim(requirement, blocks, part.y).data
    for name, claim in part.plan.summed(part.y):
        yield name, claim.data


# --- Claims about vectors ---


class _VectorClaim:
    """A requirement at the numbers that were found, as a claim of the checker."""

    def __init__(self, requirement: Requirement, blocks: Sequence[Block], y: Sequence[Fraction]) -> None:
        self.requirement, self.blocks, self.y = requirement, blocks, y
        self.used = [(fact, y[u]) for u, fact in requirement.facts if y[u]]
        self.left, self.right = _at(requirement.left, y), _at(requirement.right, y)

    def data(self) -> dict[str, Any]:
        """The claim with its hypotheses and its proof."""
        forms = [self.left, self.right, *(fact.form for fact, _ in self.used)]
        keys = [*dict.fromkeys(key for form in forms for key in form if key != ONE)]
        vectors = [*dict.fromkeys(v for key in keys if isinstance(key, Entry) for v in self._pair(key))]
        claim = {
            "variables": {key.name: "real" for key in keys if not isinstance(key, Entry)},
            "vectors": vectors,
            "left": self._tree(self.left),
            "relation": "<=",
            "right": self._tree(self.right),
            "hypotheses": [self._hypothesis(fact) for fact, _ in self.used],
        }
        return {**claim, "proofs": self._proofs(claim)}

    def _vector(self, key: Entry, number: int) -> str:
        """The name of a vector: the mean over the clients, or their deviations from it."""
        name, *more = self.requirement.vectors[number - 1], key.block
        return f"{'deviations of ' * key.deviations}{name}, {more[0]}"

    def _pair(self, key: Entry) -> tuple[str, str]:
        return self._vector(key, key.first), self._vector(key, key.second)

    def _tree(self, form: Form) -> Tree:
        """A form as an expression of the checker."""
        return added([scaled(c, self._expression(key)) for key, c in form.items()])

    def _expression(self, key: Key) -> Tree:
        if isinstance(key, Entry):
            return ["dot", *self._pair(key)]
        return "1" if key == ONE else key.name

    def _hypothesis(self, fact: KnownFact) -> dict[str, Any]:
        above = {key: c for key, c in fact.form.items() if c > 0}
        below = {key: -c for key, c in fact.form.items() if c < 0}
        return {"left": self._tree(above), "relation": "==" if fact.equal else "<=", "right": self._tree(below)}

    def _proofs(self, claim: Mapping[str, Any]) -> list[Any]:
        norms = itertools.chain.from_iterable(map(self._norms, self.blocks))
        terms = [{"factor": constant(weight), "norm": norm} for weight, norm in norms]
        rest = plus((1, self.right), (-1, self.left), *((value, fact.form) for fact, value in self.used)).get(ONE)
        uses = [(str(turn), fact.equal and value > 0, abs(value)) for turn, (fact, value) in enumerate(self.used, 1)]
        return proofs(claim, uses, [*terms, *([{"factor": constant(rest)}] if rest else [])])

    def _norms(self, block: Block) -> Iterator[tuple[Fraction, list[Any]]]:
        """A block as a sum of multiples of squared norms."""
        vectors = [self._vector(Entry(block.space, block.deviations, 0, 0), number) for number in block.vectors]
        for weight, row in sum_of_squares(block.at(self.y)):
            yield weight, [[constant(c), vector] for c, vector in zip(row, vectors, strict=True) if c]


def _at(affine: Affine, y: Sequence[Fraction]) -> Form:
    return plus(*((1 if u is None else y[u], form) for u, form in affine.items()))


def sum_of_squares(matrix: Entries) -> Iterator[tuple[Fraction, list[Fraction]]]:
    """Weights and rows with matrix = sum of weight * row' row, for a positive semidefinite matrix.

    Of a large positive definite one a rounded factor with few digits, and what is left, which is diagonally dominant;
    else the exact decomposition, which has fewer terms and longer numbers.
    """
    found = _rounded_factor(matrix) if len(matrix) > _EXACT else None
    if found is None:
        exact = squares(matrix.tolist())
        assert exact is not None
        found = [(pivot, row) for _, pivot, row in exact]
    yield from found


def _rounded_factor(matrix: Entries) -> list[tuple[Fraction, list[Fraction]]] | None:
    size = len(matrix)
    floats = matrix.astype(float)
    if not size or np.diag(floats).min() <= 0:
        return None
    # Powers of 2 bring the diagonal near 1.
    scale = np.exp2(np.round(np.log2(np.diag(floats)) / 2))
    near = floats / np.outer(scale, scale)
    least = float(np.linalg.eigvalsh(near)[0])
    digits = _MORE_DIGITS + math.ceil(math.log2(size / least)) if least > 0 else _DIGITS + 1
    if digits > _DIGITS:
        return None
    factor = np.linalg.cholesky(near - _KEPT * least * np.eye(size))
    exact = np.full((size, size), Fraction(0), dtype=object)
    for i, j in itertools.product(range(size), repeat=2):
        exact[i, j] = Fraction(round(float(factor[i, j]) * 2**digits), 2**digits) * Fraction(scale[i])
    left = matrix - exact @ exact.T
    found = [(Fraction(1), list(exact[:, k])) for k in range(size)]
    weights = [left[i, i] for i in range(size)]
    for i, j in itertools.combinations(range(size), 2):
        if left[i, j]:
            # c (s x_i + sign y_j/s)^2 with s the ratio of the scales takes as much from both diagonals, relatively.
            ratio = Fraction(scale[i] / scale[j])
            row = [Fraction(0)] * size
            row[i], row[j] = ratio, Fraction(1 if left[i, j] > 0 else -1)
            share = abs(left[i, j]) / ratio
            found.append((share, row))
            weights[i] -= share * ratio**2
            weights[j] -= share
    if min(weights) < 0:
        return None
    unit = [[Fraction(int(i == k)) for i in range(size)] for k in range(size)]
    return found + [(weight, unit[k]) for k, weight in enumerate(weights) if weight]
