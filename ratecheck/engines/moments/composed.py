"""Many local steps as one affine map, with a bound of its rounding.

A step is x' = (I + change) x + noise. Two maps one after the other are another one; what rounding does to them obeys
the same recursion, with the norms of the maps in place of the maps. The variables fall into groups, two being in one
where each acts on the other (or alone, such as a constant). Norms are those of the blocks between groups, in
coordinates in which a gradient step is symmetric: I - gamma*H is a contraction there, whatever its entries are, so that
the bound grows like the error and not like a power of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.repeated import repeated
from ratecheck.aliases import Array

_EPS = float(np.finfo(float).eps)


class AffineBlocks:
    """Groups of the entries of a vector; ``pattern`` says which entry depends on which, ``scale`` how they compare."""

    def __init__(self, pattern: NDArray[np.bool_], scale: Array) -> None:
        size = len(pattern)
        reach = pattern | np.eye(size, dtype=bool)
        for _ in range(size.bit_length()):
            reach = (reach.astype(float) @ reach.astype(float)) > 0
        mutual = reach & reach.T
        first = mutual.argmax(axis=1)
        self.members = [np.flatnonzero(first == k) for k in np.unique(first)]
        self.large = [(a, group) for a, group in enumerate(self.members) if len(group) > 1]
        self.indicator = np.zeros((size, len(self.members)))
        for a, group in enumerate(self.members):
            self.indicator[group, a] = 1.0
        self.scale = scale
        # Terms of an inner product, and the roundings around it.
        self.terms = int(pattern.sum(axis=1).max(initial=0)) + 4

    def scaled(self, matrices: Array) -> Array:
        """Matrices in the coordinates in which entries compare."""
        return matrices * (self.scale / self.scale[:, None])

    def frobenius(self, matrices: Array) -> Array:
        """Frobenius norms of the blocks, (..., groups, groups)."""
        scaled = self.scaled(matrices)
        return np.asarray(np.sqrt(self.indicator.T @ (scaled * scaled) @ self.indicator))

    def lengths(self, covariances: Array) -> Array:
        """Roots of the expected squares of the groups, (..., groups)."""
        diagonal = np.maximum(np.diagonal(covariances, axis1=-2, axis2=-1), 0.0)
        return np.asarray(np.sqrt((diagonal / self.scale**2) @ self.indicator))

    def spectral(self, changes: Array) -> Array:
        """Norms of the diagonal blocks of I + change, for groups of more than one, (..., large groups)."""
        scaled = self.scaled(changes)
        found = np.zeros((*changes.shape[:-2], len(self.large)))
        for k, (_, group) in enumerate(self.large):
            block = scaled[..., group[:, None], group] + np.eye(len(group))
            finite = np.asarray(np.isfinite(block).all(axis=(-2, -1)))
            block = np.where(finite[..., None, None], block, 0.0)
            found[..., k] = np.where(finite, np.linalg.norm(block, 2, axis=(-2, -1)), np.inf)
        return found

    def symmetric(self, changes: Array) -> bool:
        """Whether the diagonal blocks are symmetric, so that norms of powers are powers of norms."""
        scaled = self.scaled(changes)
        for _, group in self.large:
            block = scaled[..., group[:, None], group]
            if not np.allclose(block, block.swapaxes(-1, -2), rtol=1e-9, atol=1e-13 * np.abs(block).max(initial=0.0)):
                return False
        return True


@dataclass(frozen=True)
class AffineMap:
    """Maps x' = (I + change) x + noise, one per client, and how far they may be from the exact ones.

    In the norms of `AffineBlocks`: ``error`` (n, groups, groups) bounds the error of ``change``; ``noise`` is the
    covariance of a noise that differs from the exact one by at most ``off`` (n, groups) in mean square, up to an error
    whose blocks are bounded by the products of ``rough`` (n, groups). ``diagonal`` holds the norms of I + change on
    large groups, where they multiply.
    """

    blocks: AffineBlocks
    change: Array
    noise: Array
    error: Array
    off: Array
    rough: Array
    diagonal: Array | None

    @staticmethod
    def step(blocks: AffineBlocks, change: Array, noise: Array, error: Array) -> AffineMap:
        """A single step, ``error`` bounding that of its change entry by entry."""
        lengths = blocks.lengths(noise)
        diagonal = blocks.spectral(change) if blocks.symmetric(change) else None
        rough = np.sqrt(8 * _EPS) * lengths
        return AffineMap(blocks, change, noise, blocks.frobenius(error), 8 * _EPS * lengths, rough, diagonal)

    @cached_property
    def _frobenius(self) -> Array:
        return self.blocks.frobenius(self.change)

    @cached_property
    def _norms(self) -> Array:
        """Norms of the blocks of I + change."""
        norms = self._frobenius.copy()
        entries = np.diagonal(self.change, axis1=-2, axis2=-1)
        for a, group in enumerate(self.blocks.members):
            if len(group) == 1:
                norms[..., a, a] = np.abs(1.0 + entries[..., group[0]])
        spectral = self.blocks.spectral(self.change) if self.diagonal is None else self.diagonal
        for k, (a, _) in enumerate(self.blocks.large):
            norms[..., a, a] = spectral[..., k]
        return norms

    def after(self, first: AffineMap) -> AffineMap:
        """The map ``first`` and then this one: I + S + T + S T with noise (I + S) N_1 (I + S)' + N_2.

        With || || the norms of blocks, their errors obey e = ||I + S|| e_1 + e_2 (||I + T|| + e_1) + rounding.
        """
        S, T, terms = self.change, first.change, self.blocks.terms
        half = S @ first.noise
        noise = first.noise + half + half.swapaxes(-1, -2) + half @ S.swapaxes(-1, -2) + self.noise
        product = self._frobenius @ first._frobenius
        rounding = _EPS * (terms * product + 2 * (self._frobenius + first._frobenius))
        error = self._norms @ first.error + self.error @ (first._norms + first.error) + rounding
        lengths = self.blocks.lengths(first.noise)
        off = _applied(self._norms, first.off) + _applied(self.error, lengths + first.off)
        fresh = np.sqrt(4 * terms * _EPS) * (lengths + _applied(self._frobenius, lengths))
        rough = np.hypot(_applied(self._norms + self.error, first.rough), fresh)
        both = self.diagonal is not None and first.diagonal is not None
        return AffineMap(
            self.blocks,
            S + T + S @ T,
            noise,
            error,
            np.hypot(off, self.off),
            np.hypot(rough, self.rough),
            self.diagonal * first.diagonal if both else None,  # type: ignore[operator]
        )

    def repeated(self, times: int) -> AffineMap:
        """The map ``times`` times, by squaring: O(log times) products."""
        return repeated(self, times, lambda first, second: second.after(first))

    def errors(self) -> tuple[Array, Array, Array]:
        """``error``, ``off`` and ``rough`` entry by entry: arrays (n, s, s), (n, s) and (n, s)."""
        indicator, scale = self.blocks.indicator, self.blocks.scale
        error = (indicator @ self.error @ indicator.T) * (scale[:, None] / scale)
        return error, (self.off @ indicator.T) * scale, (self.rough @ indicator.T) * scale


def _applied(matrices: Array, vectors: Array) -> Array:
    return np.asarray((matrices @ vectors[..., None])[..., 0])
