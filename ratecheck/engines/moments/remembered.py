"""FedSUM's memory: what clients remember of the last round in which they took part, its gradients and their noise.

A_t are the clients that took part up to round t, a_i the last round up to t in which client i did, l_ik its local
iterates there and e_ik the noise of the gradients that it took. With the expectation over the noise alone, who takes
part being given, and t the round that has just been played:

* ``gradients2`` = E||H_t||^2, H_t = sum over i in A_t and k of grad f_i(l_ik);
* ``staleness2`` = E||sum_i K_i grad f_i(x^t) - H_t||^2;
* ``mean_gradients2`` and ``mean_staleness2``: the same with means over k in place of the sums (and without K_i);
* ``noise2`` = E||N_t||^2, N_t = sum over i in A_t and k of e_ik;
* ``noise_inner`` = -(eta_g eta_l/n) E<grad f(x^t), N_t>: what the noise adds, to first order, to f in a step that
  moves x by -eta_g eta_l/n times the gradients that are remembered.
"""

from __future__ import annotations

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments
from ratecheck.engines.moments.moment import Number
from ratecheck.engines.moments.transition import Transition, scaled
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError

OF_NOISE = frozenset({"noise2", "noise_inner"})
NAMES = OF_NOISE | {"gradients2", "staleness2", "mean_gradients2", "mean_staleness2"}
# So many sums of rows are kept, at most.
_KEPT = 64


class Remembered:
    """Quantities of rounds in turn; ``moments`` are those of a method with `Remembering`.

    Those ``OF_NOISE`` are known of one with `RememberingGradients`.
    """

    def __init__(self, moments: Moments) -> None:
        if moments.fixed is None:
            raise InputError("what clients remember depends on who took part: draw a trace")
        self._setup, steps = moments.setup, moments.setup.local_steps
        self._taking, self._present = moments.fixed, np.maximum.accumulate(moments.fixed, axis=0)
        self._noisy = bool(moments.setup.noise.any())
        self._still = np.array([_still(moments.setup, i) for i in range(moments.n)])
        blocks = [block for block, size in moments.setup.sizes.items() if size]
        slopes = np.stack([moments.slope_rows(i) for i in range(moments.n)])

        def kept(name: str) -> Array:
            parts = ([moments.variable_rows(f"{name}_{block}", i) for block in blocks] for i in range(moments.n))
            return np.stack([np.concatenate(each, axis=-2) for each in parts])

        slopes_taken = steps.reshape(-1, *[1] * (slopes.ndim - 1)) * slopes
        # All rows of all clients: sums over these are taken in every round.
        now = np.stack([moments.gradient_rows(i) for i in range(moments.n)])
        gradients = np.asarray(moments.measured[0]) @ kept("last") - slopes_taken
        self._rows = {"now": now, "gradients": gradients}
        self._rows |= {"sizes": _sized(now, slopes), "last_sizes": _sized(gradients, slopes_taken)}
        if f"taken_{blocks[0]}" in moments.setup.algorithm.client:
            self._rows["noise"] = kept("taken") - gradients
        self._sums: dict[tuple[str, bytes], Array] = {}

    def quantity(self, name: str, t: int, round_: Transition) -> Number:
        """One quantity of round t."""
        steps = self._setup.local_steps.astype(float)
        everybody, present = np.ones(len(steps)), self._present[t].astype(float)
        if name in ("noise2", "noise_inner"):
            # Without noise there is nothing to remember, and that of this round's steps is independent of x^t.
            counted = present if name == "noise2" else present * ~self._taking[t]
            if not (self._noisy and counted.any()):
                return 0.0, 0.0
            noise = self._sum("noise", counted)
            if name == "noise2":
                return round_.square(np.zeros_like(noise), noise, self._sum("last_sizes", present))
            p = self._setup.parameters(0)
            now, size = (self._sum(rows, everybody / len(steps)) for rows in ("now", "sizes"))
            # What others remember is, after the round, what it is before it.
            return scaled(-p["eta_g"] * p["eta_l"] / len(steps), round_.inner(now, noise, size=size))
        mean = name.startswith("mean_")
        counted = present / steps if mean else present
        if name not in ("gradients2", "mean_gradients2"):
            # Who has just taken all gradients at x^t remembers what they are there.
            stale = np.where(self._taking[t] & self._still, 0.0, 1.0)
            counted, everybody, steps = counted * stale, everybody * stale, steps * stale
        gradients, size = self._sum("gradients", counted), self._sum("last_sizes", counted)
        if name in ("gradients2", "mean_gradients2"):
            return round_.square(np.zeros_like(gradients), gradients, size)
        whole = everybody if mean else steps
        if not whole.any():
            return 0.0, 0.0
        return round_.square(self._sum("now", whole), -gradients, size + self._sum("sizes", whole))

    def _sum(self, name: str, weights: Array) -> Array:
        """The weighted sum over the clients of their rows of this name: weights come again once all are present."""
        key = name, weights.tobytes()
        if key not in self._sums:
            if len(self._sums) == _KEPT:
                self._sums.clear()
            self._sums[key] = np.tensordot(weights, self._rows[name], 1)
        return self._sums[key]


def _still(setup: Setup, i: int) -> bool:
    """Whether client i takes all gradients of a round at the point that is recorded before it, whatever the run."""
    maps, p = setup.maps, {**setup.parameters(i), "delay": 1.0}
    begun, after = maps.begin(p), maps.step(p)
    found = []
    for b, (group, slot) in enumerate(maps.point()):
        if setup.sizes[setup.algorithm.blocks[b]]:
            first, stays = np.zeros(begun.shape[2]), np.zeros(after.shape[2])
            first[slot], stays[0] = 1.0, 1.0
            moved = setup.local_steps[i] > 1 and not np.array_equal(after[b, 0], stays)
            found.append(group == "server" and not moved and np.array_equal(begun[b, 0], first))
    return all(found)


def _sized(rows: Array, slopes: Array) -> Array:
    """The size of rows whose constant is that of the slopes."""
    size = np.abs(rows)
    size[..., -1] = np.abs(slopes[..., -1])
    return size
