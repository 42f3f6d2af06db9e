"""The interface of noise laws: what an oracle adds to a client's gradient, and what engines may use of it.

A law is one file: a subclass of `NoiseLaw` in this folder, or one that another distribution names by an entry point of
the group ``ratecheck.noise``, as in ``mine = "my_package:Mine"``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.kernels.constants import GAUSSIAN

Keys = NDArray[np.uint64]
Clients = NDArray[np.int64]


class NoiseLaw(ABC):
    """Noise s_c xi_c in coordinate c, independent for clients and local steps; s (d,) is `Problem.noise`.

    xi_c has mean 0, ``variance`` E xi_c^2 and ``fourth`` E xi_c^4. With the variance 1 the noise of a block is
    unbiased and E||noise||^2 = sigma^2 for the total sigma that is given. Of a law without variance sigma is the root
    of a moment, see ``order``; what is certified of it beyond moments of second order says `moment`, `sub_gaussian` and
    `largest`.
    """

    # The law's name in messages and arguments.
    kind: ClassVar[str]
    # Infinite where there is no variance.
    variance: float = 1.0
    # Infinite where there is no fourth moment; at most this where it depends on the number of coordinates.
    fourth: float
    # The moment by which statements on heavy tails measure it, E||noise||^order.
    order: float = 2.0
    # Whether mean and covariance are 0 and diag(s^2) at every point, so that second moments of a run are followed.
    additive: ClassVar[bool] = True
    # What the variance has beside sigma^2, in squares of the norm of the gradient; for laws that are not additive.
    relative: float = 0.0
    # Whether sums of it are normal, so that the noise of many local steps is drawn at once.
    normal: ClassVar[bool] = False
    # Whether compiled rounds draw it, by the law of the kernels of this number and shape; else its `add` is called in
    # every local step.
    compiled: ClassVar[bool] = False
    code: ClassVar[int] = GAUSSIAN
    shape: tuple[float, float] = (0.0, 0.0)
    # Probabilities and values of an xi_c that has few, so that all outcomes may be followed; else empty.
    outcomes: ClassVar[tuple[tuple[Fraction, Fraction], ...]] = ()

    def __str__(self) -> str:
        """Name and numbers, as `ratecheck.noise.build` takes them."""
        return self.kind

    @property
    def spoken(self) -> str:
        """The noise in a sentence, as in "Gaussian noise"."""
        return f"{self} noise"

    @property
    def followed(self) -> bool:
        """Whether second moments of a run follow from sigma alone."""
        return self.additive and math.isfinite(self.variance)

    def moment(self, order: float, d: int) -> float:
        """A bound of E||noise||^order/sigma^order for equal s in d coordinates; infinite where none is known.

        By default that of the variance, for orders up to 2 (Jensen).
        """
        known = self.followed and 0 < order <= 2
        return self.variance ** (order / 2) if known else math.inf

    def largest(self, d: int) -> float:
        """The largest ||noise||/sigma for equal s in d coordinates; infinite where it has no bound, the default."""
        del d
        return math.inf

    def sub_gaussian(self, d: int) -> float:
        """The s/sigma for which E exp(||noise||^2/s^2) <= e, for equal s in d coordinates, or a bound of it.

        By default that of bounded noise.
        """
        return self.largest(d)

    @abstractmethod
    def add(self, scale: Array, i: int, t: int, k: int, out: Array, keys: Keys) -> None:
        """Add to ``out`` (d, lanes) the noise of client i's local step k of round t, with ``scale`` (d,) for s.

        ``out`` has the answers without noise; ``keys`` (2, lanes) name the lanes' random streams. What is drawn is a
        function of stream, client, round and step alone.
        """

    def add_rows(self, scale: Array, clients: Clients, firsts: Clients, keys: Keys, t: int, k: int, out: Array) -> None:
        """Add to ``out`` (rows, d) the noise of several clients' local step k of round t.

        Rows firsts[c] ... firsts[c+1]-1 are client clients[c] with the streams ``keys`` (2, rows). Here they are what
        `add` does, client by client.
        """
        for i, first, last in zip(clients.tolist(), firsts[:-1].tolist(), firsts[1:].tolist(), strict=True):
            answers = np.ascontiguousarray(out[first:last].T)
            self.add(scale, i, t, k, answers, np.ascontiguousarray(keys[:, first:last]))
            out[first:last] = answers.T


class CompiledNoise(NoiseLaw):
    """A law that the kernels draw, ``code`` and ``shape`` saying which; see `ratecheck.kernels.noise.add_law`."""

    compiled: ClassVar[bool] = True

    def add(self, scale: Array, i: int, t: int, k: int, out: Array, keys: Keys) -> None:
        from ratecheck.kernels.noise import add_law

        words = np.empty((4, out.shape[1]), dtype=np.uint64)
        add_law(self.code, self.shape, scale, i, t, k, out, words, keys, out.shape[1])

    def add_rows(self, scale: Array, clients: Clients, firsts: Clients, keys: Keys, t: int, k: int, out: Array) -> None:
        """See `NoiseLaw.add_rows`: by one kernel."""
        from ratecheck.kernels.clients import add_law_rows

        if scale.any() or not self.additive:
            add_law_rows(self.code, self.shape, scale, clients, firsts, keys, t, k, out)


class IndependentNoise(NoiseLaw):
    """A law whose coordinates are independent of one another and of the point, given by its quantile function."""

    @abstractmethod
    def quantile(self, u: Array) -> Array:
        """The xi with P(xi_c <= xi) = u, for probabilities u in (0, 1) of any shape."""

    def add(self, scale: Array, i: int, t: int, k: int, out: Array, keys: Keys) -> None:
        if scale.any():
            out += scale[:, None] * self.quantile(uniforms(len(scale), i, t, k, keys))

    def add_rows(self, scale: Array, clients: Clients, firsts: Clients, keys: Keys, t: int, k: int, out: Array) -> None:
        """See `NoiseLaw.add_rows`: the quantiles of all clients at once."""
        from ratecheck.kernels.clients import noise_words

        if type(self).add is not IndependentNoise.add:
            super().add_rows(scale, clients, firsts, keys, t, k, out)
        elif scale.any():
            words = np.empty(out.shape, dtype=np.uint64)
            noise_words(clients, firsts, keys, t, k, words)
            out += scale * self.quantile(_between(words))


def uniforms(rows: int, i: int, t: int, k: int, keys: Keys) -> Array:
    """Numbers (rows, lanes) in (0, 1), uniform up to 2**-33, from the streams of client i's noise in step k of round t.

    Those of a row do not depend on how many rows there are.
    """
    from ratecheck.kernels.random import NOISE, counter_tag, philox

    lanes = keys.shape[1]
    words = np.empty((4 * -(-rows // 4), lanes), dtype=np.uint64)
    for row in range(0, rows, 4):
        philox(row // 4, k, t, counter_tag(NOISE, i), keys, words[row : row + 4], lanes)
    return _between(words[:rows])


def _between(words: Keys) -> Array:
    """Words of 32 bits as numbers in (0, 1)."""
    return np.asarray((words + 0.5) * 2.0**-32)
