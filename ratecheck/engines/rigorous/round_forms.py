"""Changes of a round, and quantities of its local steps, as quadratic forms in the state z before it.

A round is z' = A z + F z + noise with F of mean zero, so that a change of z'Qz, a squared move ||P(z' - z)||^2 and an
inner product <G z, P(z' - z)> have expectations that are quadratic forms of z. Names and definitions are those of
`ratecheck.engines.moments.changes` and `ratecheck.engines.moments.lemmas`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ratecheck.algebra.ball import Ball
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import Entries, product
from ratecheck.algorithms.model.algorithm import U, Variables
from ratecheck.engines.rigorous.linear_forms import LinearForms, units, zeros

# Local steps of all clients that are followed one by one.
_MOST_STEPS = 2_000
_CHANGES = ("change:", "step:")
_OF_A_ROUND = frozenset({"descent", "inner_u", "inner_v", "du2", "dv2"})
_OF_LOCAL_STEPS = frozenset({"E", "T_1u", "T_1v", "T_2u", "T_2v", "T_3u"})


def of_a_round(name: str) -> bool:
    """Whether a quantity is about a round and not about the state before it."""
    return name in _OF_A_ROUND | _OF_LOCAL_STEPS or name.startswith(_CHANGES)


@dataclass(frozen=True)
class MomentMap:
    """One round: M' = sum of weight * A M A' over all terms, plus ``noise``.

    ``means`` are what rounds of several kinds do to z on average, with their probabilities, and ``fluctuations`` what
    is added to that, of mean zero given z.
    """

    means: Sequence[tuple[Number, Ball]]
    fluctuations: Sequence[tuple[Number, Ball]]
    noise: Ball

    @property
    def terms(self) -> Sequence[tuple[Number, Ball]]:
        """Means and fluctuations."""
        return (*self.means, *self.fluctuations)

    def advance(self, moment: Ball) -> Ball:
        """The second moment after the round."""
        total = self.noise
        for weight, A in self.terms:
            total = total + (A @ moment @ A.T).scaled(weight)
        return total


def mixed(maps: Sequence[tuple[Fraction, MomentMap]]) -> MomentMap:
    """The mixture of several rounds, with these probabilities."""
    means = [(q * w, A) for q, each in maps for w, A in each.means]
    apart = [(q * w, A) for q, each in maps for w, A in each.fluctuations]
    noise = maps[0][1].noise.scaled(maps[0][0])
    for q, each in maps[1:]:
        noise = noise + each.noise.scaled(q)
    return MomentMap(means, apart, noise)


@dataclass(frozen=True)
class _LocalForms:
    """K local steps of a client from y = (server, client, 1), the oracle of step k being evaluated at l_k.

    ``drift`` is sum_k ||E l_k - l_0||^2 as a form in y, ``spread`` the trace of sum_k Cov(l_k); ``total`` is E sum_k
    l_k as rows on y, and ``covariance`` that of sum_k l_k.
    """

    drift: Ball
    spread: Enclosure
    total: Ball
    covariance: Ball


class RoundForms:
    """The quantities of a round as matrices Q of forms z'Qz.

    ``share`` is m/n, None where the number of participants changes; ``plain`` gives the form of
    what is recorded before a round.
    """

    def __init__(
        self, forms: LinearForms, variances: Sequence[Number], K: int, bits: int, share: Fraction | None,
        plain: Callable[[str], Ball],
    ) -> None:  # fmt: skip
        self._forms, self._variances, self._K, self._bits = forms, variances, K, bits
        self._share, self._plain = share, plain
        self._shared, self._own = slice(forms.sizes.get(U, forms.d)), slice(forms.sizes.get(U, forms.d), None)

    def form(self, name: str, law: MomentMap) -> Ball:
        """A quantity of a round of this law; raises `UndecidedError` for one that is not followed."""
        head, _, what = name.rpartition(":")
        if head == "change" or name == "descent":
            return self._change(self._values if what in ("descent", "gap") else self._plain(what), law)
        if head == "step":
            return self._moved([(Fraction(1), rows) for rows in self._variable(what)], law)
        if name in _OF_LOCAL_STEPS:
            return self._drift if name == "E" else self._of_sums(name)
        part, each = self._own if "v" in name else self._shared, Fraction(1, self._forms.n)
        points = [point[part] for point in self._points]
        if name in ("du2", "dv2"):
            return self._moved([(each, rows) for rows in points], law)
        return self._along([(each, g[part], x) for g, x in zip(self._gradients, points, strict=True)], law)

    # --- Changes of the state ---

    @cached_property
    def _points(self) -> list[Entries]:
        """Where quantities are recorded, by client."""
        forms = self._forms
        server = forms.forms(forms.algorithm.server, 0, forms.size)
        return [forms.recorded_point(server, self._client(i), forms.size) for i in range(forms.n)]

    def _client(self, i: int) -> Variables:
        forms = self._forms
        return forms.forms(forms.algorithm.client, forms.server + i * forms.client, forms.size)

    @cached_property
    def _gradients(self) -> list[Entries]:
        """The gradient of f_i there, by client."""
        return [self._forms.answer("gradient", i, point) for i, point in enumerate(self._points)]

    def _variable(self, name: str) -> list[Entries]:
        """A variable of the server, or of every client."""
        forms = self._forms
        if name in forms.algorithm.server:
            return [forms.forms(forms.algorithm.server, 0, forms.size)[name]]
        if name not in forms.algorithm.client:
            raise UndecidedError(f"{name} is no variable that is followed rigorously")
        return [self._client(i)[name] for i in range(forms.n)]

    @cached_property
    def _values(self) -> Ball:
        """F = (1/n) sum_i (x_i' H_i x_i/2 - g_i' x_i)."""
        forms = self._forms
        if not forms.potential:
            raise UndecidedError("an operator has no values")
        Q = zeros(forms.size, forms.size)
        for H, g, x in zip(forms.H, forms.g, self._points, strict=True):
            lowered = product(H, x) * Fraction(1, 2) + zeros(*x.shape)
            lowered[:, -1] = lowered[:, -1] - g
            Q = Q + product(x.T, lowered) / Fraction(forms.n)
        return self._ball((Q + Q.T) * Fraction(1, 2))

    def _ball(self, entries: Entries) -> Ball:
        return Ball.of(entries, self._bits)

    def _constant(self, value: Enclosure) -> Ball:
        """A number as a form: the last entry of z is 1."""
        last = [self._forms.size - 1]
        return Ball.of([[value.plain]], self._bits).placed(self._forms.size, last, last)

    def _change(self, Q: Ball, law: MomentMap) -> Ball:
        """E[z''Qz'] - z'Qz, z' being what the round makes of z."""
        total = self._constant(Q.inner(law.noise))
        for weight, A in law.means:
            total = total + (A.T @ Q @ A - Q).scaled(weight)
        for weight, A in law.fluctuations:
            total = total + (A.T @ Q @ A).scaled(weight)
        return total

    def _moved(self, parts: Sequence[tuple[Fraction, Entries]], law: MomentMap) -> Ball:
        """The sum of weight * E||P(z' - z)||^2."""
        size, still = self._forms.size, self._still
        Q = self._ball(sum((weight * product(P.T, P) for weight, P in parts), zeros(size, size)))
        total = self._constant(Q.inner(law.noise))
        for weight, A in [*((q, A - still) for q, A in law.means), *law.fluctuations]:
            total = total + (A.T @ Q @ A).scaled(weight)
        return total

    def _along(self, parts: Sequence[tuple[Fraction, Entries, Entries]], law: MomentMap) -> Ball:
        """The sum of weight * E<G z, P(z' - z)>."""
        size, half = self._forms.size, Fraction(1, 2)
        Q = self._ball(sum((weight * product(G.T, P) for weight, G, P in parts), zeros(size, size)))
        total = self._ball(zeros(size, size))
        for weight, A in law.means:
            one = Q @ (A - self._still)
            total = total + (one + one.T).scaled(weight * half)
        return total

    @cached_property
    def _still(self) -> Ball:
        return self._ball(units(self._forms.size, 0, self._forms.size))

    # --- Local steps, of all clients, whether they take part or not ---

    @cached_property
    def _locals(self) -> list[_LocalForms]:
        forms, K = self._forms, self._K
        if forms.n * K > _MOST_STEPS:
            raise UndecidedError(f"more than {_MOST_STEPS} local steps one by one are not followed rigorously")
        if forms.algorithm.oracle != "gradient":
            raise UndecidedError("local steps without gradients")
        return [self._local(i) for i in range(forms.n)]

    def _local(self, i: int) -> _LocalForms:
        forms, p = self._forms, self._forms.parameters(i)
        begun, width = forms.begun(p), forms.server + forms.client + 1
        step, loading = forms.local_step(i, p)
        # What is added up stands behind the local variables.
        at, count = self._asked_at, forms.local + 1
        argument = zeros(forms.d, count)
        argument[np.arange(forms.d), at] = 1
        wide = np.block([[step, zeros(count, forms.d)], [argument, units(forms.d, 0, forms.d)]])
        S = self._ball(wide)
        loaded = product(loading * np.array(self._variances, dtype=object), loading.T)
        fresh = self._ball(np.block([[loaded, zeros(count, forms.d)], [zeros(forms.d, count + forms.d)]]))
        start = self._ball(np.concatenate([begun, zeros(forms.d, width)]))
        here, noise = start, Ball(0 * fresh.middle, 0, self._bits)
        drift, spread = self._ball(zeros(width, width)), Enclosure.of(0)
        for _ in range(self._K):
            moved = (here - start).taken(at, range(width))
            drift = drift + moved.T @ moved
            spread = sum((noise.entry(c, c) for c in at), spread)
            here, noise = S @ here, S @ noise @ S.T + fresh
        behind = range(count, count + forms.d)
        return _LocalForms(drift, spread, here.taken(behind, range(width)), noise.taken(behind, behind))

    @cached_property
    def _asked_at(self) -> list[int]:
        """The entries of the local variables at which the oracle is evaluated: the first variable of each block."""
        forms, local = self._forms, self._forms.algorithm.local
        ends = np.cumsum([forms.sizes[block] for block in local.values()]).tolist()
        starts = {name: end - forms.sizes[local[name]] for name, end in zip(local, ends, strict=True)}
        first = {block: name for name, block in reversed([*local.items()])}
        found = [starts[first[block]] + c for block in forms.algorithm.blocks for c in range(forms.sizes[block])]
        return [int(place) for place in found]

    def _places(self, i: int) -> list[int]:
        """Where y of client i stands in z."""
        forms = self._forms
        own = range(forms.server + i * forms.client, forms.server + (i + 1) * forms.client)
        return [*range(forms.server), *own, forms.size - 1]

    def _lifted(self, i: int, form: Ball) -> Ball:
        """A form in y of client i as one in z."""
        places = self._places(i)
        return form.placed(self._forms.size, places, places)

    def _rows(self, i: int, rows: Ball) -> Ball:
        """Rows on y of client i as rows on z."""
        middle = zeros(rows.shape[0], self._forms.size)
        middle[:, self._places(i)] = rows.middle
        return Ball(middle, rows.radius, rows.bits)

    @cached_property
    def _sums(self) -> list[tuple[Ball, Ball]]:
        """s_i = sum_k grad f_i(l_ik), its mean as rows on z and its covariance."""
        forms, found = self._forms, []
        for i, local in enumerate(self._locals):
            H, shift = self._ball(forms.H[i]), zeros(forms.d, forms.size)
            shift[:, -1] = -self._K * forms.g[i]
            found.append((H @ self._rows(i, local.total) + self._ball(shift), H @ local.covariance @ H.T))
        return found

    @cached_property
    def _drift(self) -> Ball:
        """E = sum_ik E||l_ik - l_i0||^2."""
        total = self._nothing
        for i, local in enumerate(self._locals):
            total = total + self._lifted(i, local.drift) + self._constant(local.spread)
        return total

    @property
    def _nothing(self) -> Ball:
        return self._ball(zeros(self._forms.size, self._forms.size))

    def _of_sums(self, name: str) -> Ball:
        """T_1 = -(gamma/n) <grad, sum_i s_i>, T_2 = (gamma/n)^2 E||sum_i s_i||^2 and T_3 of u; those of v by client."""
        forms, n, personal = self._forms, self._forms.n, name.endswith("v")
        part = self._own if personal else self._shared
        d, share = range(forms.d)[part], self._share if personal else Fraction(1)
        if share is None:
            raise UndecidedError("the number of participants is not the same in every round")
        sums = [rows.taken(d, range(forms.size)) for rows, _ in self._sums]
        noise = [sum((C.entry(c, c) for c in d), Enclosure.of(0)) for _, C in self._sums]
        gradients = [self._ball(g[part]) for g in self._gradients]
        if name == "T_3u":
            return self._deviations(sums, noise) if n > 1 else self._nothing
        p = forms.parameters(0)
        gamma = p["gamma_v"] * p["eta_v"] if personal else p["gamma_u"] * p["eta_u"]
        weight = Fraction(share, n)
        if not personal:
            weight = Fraction(1, n * n)
            sums, gradients = [_added(sums)], [_added(gradients)]
        total = self._nothing
        if name.startswith("T_1"):
            for g, each in zip(gradients, sums, strict=True):
                total = total + _symmetric(g.T @ each)
            return total.scaled(-gamma * weight)
        for each in sums:
            total = total + each.T @ each
        return (total + self._constant(sum(noise, Enclosure.of(0)))).scaled(gamma * gamma * weight)

    def _deviations(self, sums: Sequence[Ball], noise: Sequence[Enclosure]) -> Ball:
        """sum_i E||s_i - s||^2 with the mean s, the noise of different clients being independent."""
        n = Fraction(len(sums))
        mean = _added(sums).scaled(1 / n)
        total = self._constant((1 - 1 / n) * sum(noise, Enclosure.of(0)))
        for each in sums:
            total = total + (each - mean).T @ (each - mean)
        return total


def _added(parts: Sequence[Ball]) -> Ball:
    total = parts[0]
    for each in parts[1:]:
        total = total + each
    return total


def _symmetric(form: Ball) -> Ball:
    return (form + form.T).scaled(Fraction(1, 2))
