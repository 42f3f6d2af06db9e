"""Rounds that are put together block by block: those of server and clients, mixed on a graph or sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.moment import turned
from ratecheck.engines.moments.roundmap import Fluctuation, RoundMap, symmetric

# A matrix with at most one entry in so many is multiplied by these alone.
_SPARSE = 16


class Arrow:
    """The rows of a matrix on z that server and clients have: a client's are on the server, itself and the constant.

    A product with it costs a fraction of one with a full matrix. ``own`` (clients, entries) are the rows of clients;
    rows of neither are 0.
    """

    def __init__(self, matrix: Array, servers: int, own: NDArray[np.intp]) -> None:
        mine = own.ravel()
        # Where clients stand one after another, a view does for a copy: what is slow here is memory.
        first = int(mine[0]) if mine.size else 0
        last = first + mine.size
        together = np.array_equal(mine, np.arange(first, last))
        self.at: slice | NDArray[np.intp] = slice(first, last) if together else mine
        self._cut, self._server_rows, self._last = servers, matrix[:servers], matrix[mine, -1:]
        self._from_server = np.ascontiguousarray(matrix[mine, :servers])
        # Whether no client receives the server's state.
        self.apart = not self._from_server.any()
        self.own = np.ascontiguousarray(matrix[own[:, :, None], own[:, None, :]])

    def times(self, X: Array, onto: Array | None = None) -> Array:
        """The product with a matrix X, in place of those rows of ``onto``, zeros unless it is given."""
        cut, result = self._cut, np.zeros_like(X) if onto is None else onto
        if isinstance(self.at, slice) and result.flags.c_contiguous:
            self._put(X, result[:cut], result[self.at])
            return result
        mine = np.empty((self.own.shape[0] * self.own.shape[1], X.shape[-1]))
        self._put(X, result[:cut], mine)
        result[self.at] = mine
        return result

    def told(self, X: Array) -> Array:
        """The rows of the product alone, the server's first."""
        found = np.empty((self._cut + self.own.shape[0] * self.own.shape[1], X.shape[-1]))
        self._put(X, found[: self._cut], found[self._cut :])
        return found

    def _put(self, X: Array, servers: Array, mine: Array) -> None:
        """Fill the rows of the server, and those of clients."""
        cut, (n, size, _), width = self._cut, self.own.shape, X.shape[-1]
        np.matmul(self._server_rows, X, out=servers)
        np.matmul(self.own, X[self.at].reshape(n, size, width), out=mine.reshape(n, size, width))
        if not self.apart:
            mine += self._from_server @ X[:cut]
        if X[-1].any():
            mine += self._last * X[-1:]


@dataclass(frozen=True)
class BlockMixing:
    """z -> P z with probability ``share``: entries ``columns`` of each client become the sum over j of W_ij of j's.

    Clients have ``client`` entries each, from ``first`` on.
    """

    W: Array
    columns: NDArray[np.intp]
    first: int
    client: int
    share: float = 1.0

    @property
    def matrix(self) -> Array:
        """P without the constant and what stands before the clients."""
        n = len(self.W)
        found = np.eye(n * self.client)
        for k in self.columns:
            here = k + self.client * np.arange(n)
            found[np.ix_(here, here)] = self.W
        return found

    @cached_property
    def _weights(self) -> Any:
        """W, by its entries that are not 0 where these are few."""
        if _SPARSE * np.count_nonzero(self.W) > self.W.size:
            return self.W
        from scipy.sparse import csr_array

        return csr_array(self.W)

    def times(self, X: Array) -> Array:
        """P X for a matrix X, in whose place it is put."""
        n, width = len(self.W), X.shape[-1]
        clients = X[self.first : self.first + n * self.client].reshape(n, self.client, width)
        if len(self.columns) == self.client:
            clients[:] = (self._weights @ clients.reshape(n, -1)).reshape(clients.shape)
        else:
            part = np.ascontiguousarray(clients[:, self.columns]).reshape(n, -1)
            clients[:, self.columns] = (self._weights @ part).reshape(n, len(self.columns), width)
        return X

    @cached_property
    def above(self) -> Array:
        """(n, n) weights A with sum_k A_ik B_k on the diagonal above P diag(B_1, ..., B_n) P', for blocks B_k >= 0.

        By the inequality of Cauchy and Schwarz A_ik = |W_ik| sum_j |W_jk|, where all entries of a client are mixed; the
        share counts.
        """
        large = np.abs(self.W)
        return np.asarray(self.share * large * large.sum(axis=0) + (1 - self.share) * np.eye(len(self.W)))

    def moved(self, matrix: Array) -> Array:
        """Share P M P' + (1 - share) M for a symmetric M, E[P_t M P_t'] for P_t = P or 1."""
        half = self.times(matrix.copy() if self.share < 1 else matrix)
        whole = self.times(np.ascontiguousarray(half.T))
        if self.share == 1.0:
            return whole
        whole *= self.share
        return np.asarray(whole + (1 - self.share) * matrix)


class BlockRound(RoundMap):
    """A round of given participants, whose new covariance is put together block by block, and then mixed.

    ``general`` is that round, ``local`` the map z -> (A_0 + B) z before clients are mixed, ``own`` (clients, entries)
    the rows of those that take part.
    """

    def __init__(
        self, general: RoundMap, local: Array, servers: int, own: NDArray[np.intp], mixing: BlockMixing | None = None
    ) -> None:
        super().__init__(general.mean, general.error, general.terms, general.noise, general.fluctuations)
        self._arrow, self._mixing = Arrow(local, servers, own), mixing
        self._servers, self._whole = local[:servers], servers + own.size + 1 == len(local)
        self._at = np.concatenate([np.arange(servers), own.ravel()])

    def linear(self, matrices: Sequence[Array] | Array) -> Array:
        """See `RoundMap.linear`, for symmetric matrices: symmetric as it is made."""
        result = np.empty((len(matrices), *matrices[0].shape))
        for k, matrix in enumerate(matrices):
            new = result[k]
            told = self._arrow.told(matrix)
            square = self._arrow.told(np.ascontiguousarray(told.T))
            self._put(matrix, told, square, new)
            if self._mixing is not None:
                mixed = self._mixing.moved(new)
                np.add(mixed, mixed.T, out=new)
                new *= 0.5
        return result

    def _put(self, matrix: Array, told: Array, square: Array, new: Array) -> None:
        """Fill the second moments after the round: those of whom it leaves, of these with others, and of others."""
        if self._whole:
            np.add(square, square.T, out=new[:-1, :-1])
            new[:-1, :-1] *= 0.5
            new[:-1, -1] = new[-1, :-1] = told[:, -1]
            new[-1, -1] = matrix[-1, -1]
            return
        at = self._at
        new[:] = matrix
        new[at] = told
        new[:, at] = told.T
        new[at[:, None], at] = (square + square.T) / 2

    def followed(self, covariance: Array, bounds: Sequence[Array]) -> Array | list[Array]:
        """See `RoundMap.followed`: bounds by the blocks of clients, where mixing is all that they have in common.

        A bound [[S, C], [C', D]] of server and clients has D = diag(D_1, ..., D_n). Of what the round makes of it, the
        clients' part alone is replaced by one above it: so the whole is above.
        """
        arrow, mixing, cut = self._arrow, self._mixing, len(self._servers)
        n, size = arrow.own.shape[:2]
        by_blocks = mixing is not None and arrow.apart and self._whole and len(mixing.columns) == mixing.client
        if mixing is None or not by_blocks or any(each[-1].any() for each in bounds):
            return self.linear((covariance, *bounds))
        result = [np.zeros_like(covariance) for _ in bounds]
        for old, new in zip(bounds, result, strict=True):
            blocks = _blocks(old[cut:-1, cut:-1], n)
            inner = blocks[np.arange(n), :, np.arange(n)]
            # Booleans are counted many at a time, floats one by one.
            if np.count_nonzero(old[cut:-1, cut:-1] != 0) > np.count_nonzero(inner != 0):
                return self.linear((covariance, *bounds))
            turned = symmetric(arrow.own @ inner @ arrow.own.transpose(0, 2, 1))
            _blocks(new[cut:-1, cut:-1], n)[np.arange(n), :, np.arange(n)] = np.tensordot(mixing.above, turned, 1)
            told = self._servers @ old
            new[:cut, :cut] = told @ self._servers.T
            across = (arrow.own @ told[:, cut:-1].T.reshape(n, size, cut)).reshape(n, -1)
            across = mixing.share * (mixing.W @ across) + (1 - mixing.share) * across
            new[cut:-1, :cut] = across.reshape(n * size, cut)
            new[:cut, cut:-1] = new[cut:-1, :cut].T
        return [*self.linear(covariance[None]), *result]


def _blocks(matrix: Array, n: int) -> Array:
    """A view (n, size, n, size) of a square matrix."""
    return matrix.reshape(n, len(matrix) // n, n, len(matrix) // n)


class SampledRound(RoundMap):
    """A round whose new covariance is put together block by block.

    With Bbar = sum_i B_i, P(i takes part) = pi_1 and P(i and j take part) = pi_2, a second moment goes to

        A_0 C A_0' + pi_1 (Bbar C A_0' + A_0 C Bbar') + pi_2 Bbar C Bbar' + (pi_1 - pi_2) sum_i B_i C B_i',

    whose first terms are C + G + G' with G = (pi_1 + pi_2/2 Bbar) (Bbar C)' but for the server, on which A_0 acts.

    ``parts`` are the B_i of the clients that may take part.
    """

    def __init__(
        self, general: RoundMap, Bbar: Array, keep: Array, parts: Sequence[Fluctuation], inclusion: tuple[float, float]
    ) -> None:
        # What is not symmetric would stay, as the rest is symmetric as it is made.
        noise = replace(general.noise, covariance=symmetric(general.noise.covariance[None])[0])
        super().__init__(general.mean, general.error, general.terms, noise, general.fluctuations)
        servers = len(keep)
        self._keep, self._inclusion, self._cut = keep, inclusion, servers
        self._idle = bool((keep == np.eye(servers)).all())
        self._told = inclusion[1] * Bbar[:servers]
        self._told[:, :servers] += inclusion[0] * keep
        self._rows, self._columns = (np.stack(part) for part in zip(*((p.rows, p.columns) for p in parts), strict=True))
        own = self._rows[:, servers:]
        both = inclusion[0] * np.eye(len(Bbar)) + inclusion[1] / 2 * Bbar
        self._arrow, self._both = Arrow(Bbar, servers, own), Arrow(both, servers, own)
        self._matrices = np.stack([part.matrix for part in parts])

    def linear(self, matrices: Sequence[Array] | Array) -> Array:
        """The second moments after the round, noise aside, of a stack of them before it: see the class."""
        one, cut = self._inclusion[0], self._cut
        new = np.empty((len(matrices), *matrices[0].shape))
        for k, matrix in enumerate(matrices):
            half = np.ascontiguousarray(self._arrow.times(matrix).T)
            part = self._both.times(half)
            # The constant, of which an arrow has no row.
            part[-1] += one * half[-1]
            np.add(part, part.T, out=new[k])
            new[k] += matrix
            if not self._idle:
                # A server that moves far: what cancels in A_0 + pi_1 Bbar is added before it is multiplied.
                told = self._keep @ matrix[:cut] + one * half[:, :cut].T
                told[:, :cut] = told[:, :cut] @ self._keep.T
                told += self._told @ half
                new[k, :cut], new[k, :, :cut] = told, told.T
        self._one_by_one(new, matrices)
        return new

    def followed(self, covariance: Array, bounds: Sequence[Array]) -> Array:
        """See `RoundMap.followed`: all but the server's part is symmetric as it is made."""
        found, cut = self.linear((covariance, *bounds)), self._cut
        found[:, :cut, :cut] = symmetric(found[:, :cut, :cut])
        return found

    def _scattered(self, matrices: Array, moved: Array) -> Array:
        """See `RoundMap._scattered`: (pi_2 - pi_1^2) Bbar M Bbar' + (pi_1 - pi_2) sum_i B_i M B_i'."""
        one, two = self._inclusion
        found = np.stack([self._arrow.times(np.ascontiguousarray(self._arrow.times(each).T)) for each in matrices])
        found *= two - one * one
        self._one_by_one(found, matrices)
        return found

    def _one_by_one(self, sums: Array, matrices: Sequence[Array] | Array) -> None:
        """Add (pi_1 - pi_2) sum_i B_i M B_i'."""
        one, two = self._inclusion
        if one == two:
            return
        square = self._columns[:, :, None], self._columns[:, None, :]
        inner = np.stack([matrix[square] for matrix in matrices])
        squares = np.matmul(np.matmul(self._matrices, inner), self._matrices.transpose(0, 2, 1))
        self._spread_out(sums, (one - two) / 2 * (squares + squares.transpose(0, 1, 3, 2)))

    def _spread_out(self, matrices: Array, parts: Array) -> None:
        """Add parts (stack, clients, entries, entries) to a stack of matrices, at the rows of server and client."""
        cut, own = self._cut, self._rows[:, self._cut :]
        mine, (many, n, size, _) = own.ravel(), parts.shape
        matrices[:, :cut, :cut] += parts[:, :, :cut, :cut].sum(axis=1)
        matrices[:, mine, :cut] += parts[:, :, cut:, :cut].reshape(many, n * (size - cut), cut)
        matrices[:, :cut, mine] += parts[:, :, :cut, cut:].transpose(0, 2, 1, 3).reshape(many, cut, n * (size - cut))
        matrices[:, own[:, :, None], own[:, None, :]] += parts[:, :, cut:, cut:]

    def from_mean(self, mean: Array) -> tuple[Array, Array]:
        """(pi_2 - pi_1^2) (Bbar m)(Bbar m)' + (pi_1 - pi_2) sum_i (B_i m)(B_i m)', and its uncancelled diagonal."""
        (one, two), cut = self._inclusion, self._cut
        shift = self._arrow.times(mean[:, None])[:, 0]
        spread, size = (two - one * one) * np.outer(shift, shift), abs(two - one * one) * shift**2
        if one != two:
            shifts = np.matmul(self._matrices, mean[self._columns][:, :, None])[:, :, 0]
            self._spread_out(spread[None], ((one - two) * (shifts[:, :, None] * shifts[:, None, :]))[None])
            size[:cut] += (one - two) * (shifts[:, :cut] ** 2).sum(axis=0)
            size[self._rows[:, cut:]] += (one - two) * shifts[:, cut:] ** 2
        return spread, size


class OwnRound(SampledRound):
    """A `SampledRound` without a server, of whose second moments those between two clients are left at 0.

    With C_i that of client i's state and the constant, where it alone is asked for,

        C_i' = C_i + pi_1 (B_i C_i + C_i B_i' + B_i C_i B_i').
    """

    def linear(self, matrices: Sequence[Array] | Array) -> Array:
        """See `SampledRound.linear`: client by client."""
        one, size = self._inclusion[0], self._rows.shape[1]
        new = np.zeros((len(matrices), *matrices[0].shape))
        square, own = ((at[:, :, None], at[:, None, :]) for at in (self._columns, self._rows))
        for matrix, found in zip(matrices, new, strict=True):
            inner = matrix[square]
            told = self._matrices @ inner
            half = told[..., :size] + (told @ turned(self._matrices)) / 2
            found[own] = inner[:, :size, :size] + one * (half + turned(half))
            last = inner[:, :size, size] + one * told[..., size]
            found[self._rows, -1] = found[-1, self._rows] = last
            found[-1, -1] = matrix[-1, -1]
        return new

    def from_mean(self, mean: Array) -> tuple[Array, Array]:
        """See `SampledRound.from_mean`: (pi_1 - pi_1^2) (B_i m)(B_i m)' for each client."""
        one, spread, size = self._inclusion[0], np.zeros((len(mean), len(mean))), np.zeros(len(mean))
        shifts = np.matmul(self._matrices, mean[self._columns][:, :, None])[:, :, 0]
        self._spread_out(spread[None], (one - one * one) * (shifts[:, :, None] * shifts[:, None, :])[None])
        size[self._rows] = (one - one * one) * shifts**2
        return spread, size
