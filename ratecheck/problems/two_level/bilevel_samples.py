"""Bilevel quadratics whose derivatives are sampled: what a client sees is the mean, plus or minus a given part.

Source: ``simfbo`` ("SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning"),
eq. (3) and Assumption 3. Two values are enough for any variance, and leave every bound that holds for each sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded
from ratecheck.noise import NoiseLaw, Signs
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.problem import WrittenProblem
from ratecheck.problems.two_level.bilevel import LARGEST, Bilevel, lower_hessians

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle


class BilevelSamples(Bilevel):
    """A `Bilevel` problem of which every local step draws three independent signs ``s``, 1 or -1 with probability 1/2.

    One is the sample of each of x, y and v, as in eq. (3) of the paper. Client i sees::

        grad f_i(x, y; s) = grad f_i(x, y) + s noise_f_i      x sees the first d_x entries, v the others
        grad_y g_i(x, y; s) = grad_y g_i(x, y) + s noise_g_i
        grad_yy g_i(s) = A_i + s noise_A_i                    grad_xy g_i(s) = -(B_i + s noise_B_i)'

    so that x moves along ``grad_x f_i(s) - grad_xy g_i(s) v`` and v along ``grad_yy g_i(s) v - grad_y f_i(s)``: the
    noise of second derivatives is multiplied by v, which depends on the run.

    Shapes: ``noise_f`` (n, d_x + d_y), ``noise_g`` (n, d_y), ``noise_A`` (n, d_y, d_y), ``noise_B`` (n, d_y, d_x), 0 by
    default; the others as for `Bilevel`.

    Verdicts follow all outcomes; runs by steps draw them. The noise is the problem's own: `certified` has its sizes,
    ``sigma_gg`` being the Frobenius norm of ``[[0, -noise_B'], [-noise_B, noise_A]]``, which is no smaller than the
    spectral one. Further noise is refused.

    That ``grad_y g_i`` and its derivative have different noise is no contradiction to both being derivatives of one
    g_i(x, y; s). A run of finitely many outcomes visits finitely many points z. With the eigenvectors u_j and
    eigenvalues l_j of the noise of the Hessian, ``s sum_j l_j h^2 (1 - cos(u_j'z/h))`` has the Hessian
    ``s sum_j l_j cos(u_j'z/h) u_j u_j'``, of norm max |l_j| at most, and a gradient of size h. For suitable h near 0
    every cosine at these points is as near to 1 as one likes.

    Raises `InputError` as `Bilevel` does, and for noise of another shape.
    """

    kind: ClassVar[str] = "bilevel-samples"
    affine: ClassVar[bool] = False
    symmetric: ClassVar[frozenset[str]] = Bilevel.symmetric | {"noise_A"}
    law: NoiseLaw = Signs()
    written: ClassVar[tuple[WrittenProblem, ...]] = ()
    noises: ClassVar[tuple[str, ...]] = ()
    # A local step draws one sample of each kind.
    batch = 1
    stored: ClassVar[tuple[str, ...]] = (*Bilevel.stored, "noise_f", "noise_g", "noise_A", "noise_B")

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        b: ArrayLike,
        Q: ArrayLike,
        q: ArrayLike,
        p: ArrayLike | None = None,
        *,
        noise_f: ArrayLike | None = None,
        noise_g: ArrayLike | None = None,
        noise_A: ArrayLike | None = None,
        noise_B: ArrayLike | None = None,
    ) -> None:
        super().__init__(A, B, b, Q, q, p)
        n, d_x, d_y = self.n, self.d_x, self.d_y
        of_noise = (("noise_f", noise_f, (n, d_x + d_y)), ("noise_g", noise_g, (n, d_y)),
                    ("noise_A", noise_A, (n, d_y, d_y)), ("noise_B", noise_B, (n, d_y, d_x)))  # fmt: skip
        self.noise_f, self.noise_g, self.noise_A, self.noise_B = (
            bounded(name, np.zeros(shape) if values is None else values, LARGEST, shape)
            for name, values, shape in of_noise
        )
        if not np.array_equal(self.noise_A, self.noise_A.transpose(0, 2, 1)):
            raise InputError("noise_A differs from its transpose; a Hessian is symmetric")

    def __repr__(self) -> str:
        return f"BilevelSamples(n={self.n}, d_x={self.d_x}, d_y={self.d_y})"

    @property
    def sampled(self) -> tuple[bool, bool, bool]:
        """Whether the directions of x, of y and of v are random at all."""
        first, others = self.noise_f[:, : self.d_x], self.noise_f[:, self.d_x :]
        return (
            bool(first.any() or self.noise_B.any()),
            bool(self.noise_g.any()),
            bool(others.any() or self.noise_A.any()),
        )

    @property
    def signs(self) -> int:
        """See `Problem.signs`: those of the directions that are random, for every client its own."""
        return self.n * sum(self.sampled)

    def moved(self, points: Array, signs: Array) -> Array:
        """The noise of samples in the directions at ``points`` (n, d, outcomes).

        ``signs`` (n, 3, outcomes) are those of x, y and v, each 1 or -1.
        """
        v = points[:, self.d_x + self.d_y :]
        first, others = self.noise_f[:, : self.d_x, None], self.noise_f[:, self.d_x :, None]
        on_x = first + np.einsum("iyx,iyr->ixr", self.noise_B, v)
        on_v = np.einsum("iab,ibr->iar", self.noise_A, v) - others
        on_y = np.broadcast_to(self.noise_g[..., None], on_v.shape)
        return np.concatenate([part * signs[:, k, None] for k, part in enumerate((on_x, on_y, on_v))], axis=1)

    def certified(
        self, start: Mapping[str, Array], noise: Mapping[str, float], weights: Array | None = None
    ) -> Constants:
        """See `Problem.certified`; ``mu_g_samples``, ``L_1_samples`` and ``L_f_samples`` hold for every sample.

        A sample's Hessian differs from its mean by ``noise`` of the spectral norm e at most, so that it is
        ``(L_1 + e)``-smooth and ``(mu_g - e)``-strongly convex; without a positive such number ``mu_g_samples`` is
        absent.
        """
        if given := sorted(name for name, value in noise.items() if value):
            raise InputError(f"the noise of {self.kind} problems is their own: leave out {', '.join(given)}")
        found = super().certified(start, {}, weights)
        hessians = lower_hessians(self.noise_A, self.noise_B)
        off = np.linalg.norm(hessians, 2, axis=(1, 2))
        sizes = {
            "sigma_f": np.linalg.norm(self.noise_f, axis=1),
            "sigma_g": np.linalg.norm(self.noise_g, axis=1),
            "sigma_gg": np.linalg.norm(hessians, axis=(1, 2)),
        }
        sigmas = [
            Constant.exact(name, float(each.max()), "largest of the clients' samples") for name, each in sizes.items()
        ]
        return Constants(*{**found, **{each.name: each for each in (*sigmas, *self._of_samples(found, off))}}.values())

    def _of_samples(self, found: Constants, off: Array) -> tuple[Constant, Constant, Constant]:
        """``mu_g``, ``L_1`` and ``L_f`` of every sample; ``off`` (n,) are the norms of the noise of the Hessians."""
        kind = Certificate.UPPER_BOUND if off.any() else Certificate.EXACT
        why = "of every sample: that of the mean and the norm of the noise of second derivatives"
        mu = float((self._spectra.min(axis=1) - off).min())
        upper = np.abs(np.linalg.eigvalsh(self.Q)).max(initial=0.0)
        lower = np.abs(np.linalg.eigvalsh(lower_hessians(self.A, self.B))).max(axis=1)
        convexity = Constant("mu_g_samples", mu, Certificate.LOWER_BOUND if off.any() else Certificate.EXACT, why)
        if mu <= 0:
            none = f"a sample's lower level may have the curvature {mu:.6g}"
            convexity = Constant.absent("mu_g_samples", none)
        slope = found["L_f"]
        if slope.certificate is not Certificate.ABSENT:
            steepest = max(float(np.linalg.norm(self.q + s * self.noise_f, axis=1).max()) for s in (1.0, -1.0))
            slope = Constant.exact("L_f", steepest, "largest gradient of a sample: every f_i is linear")
        return (
            convexity,
            Constant("L_1_samples", float(max(upper, (lower + off).max())), kind, why),
            Constant("L_f_samples", slope.value, slope.certificate, slope.reason),
        )

    def noise(self, totals: Mapping[str, float]) -> Array:
        """See `Problem.noise`: nothing is added to what samples do."""
        return np.zeros(self.d)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        from ratecheck.kernels.oracle import SAMPLED

        mean = super().oracle(name, noise, lambda_)
        x, y, v = np.split(np.arange(self.d), [self.d_x, self.d_x + self.d_y])
        M, c = np.zeros_like(mean.M), np.zeros_like(mean.c)
        M[:, x[:, None], v], M[:, v[:, None], v] = self.noise_B.transpose(0, 2, 1), self.noise_A
        c[:, x], c[:, y], c[:, v] = -self.noise_f[:, : self.d_x], -self.noise_g, self.noise_f[:, self.d_x :]
        return mean._replace(
            kind=SAMPLED, M=np.concatenate([mean.M, M]), c=np.concatenate([mean.c, c]), d_u=self.d_x, batch=self.batch
        )

    def sampled_sentence(self, notation: Notation) -> list[str]:
        """See `Bilevel.sampled_sentence`: all parts of one sample have the same sign, + or - with probability 1/2."""
        forms = ("d{f}/dx", "d2{g}/dxdy", "d{g}/dy", "d{f}/dy", "d2{g}/dy2")
        if notation.tex:
            forms = (r"\nabla_x {f}", r"\nabla_{{xy}}^2 {g}", r"\nabla_y {g}", r"\nabla_y {f}", r"\nabla_{{yy}}^2 {g}")
        first, others = self.noise_f[:, : self.d_x], self.noise_f[:, self.d_x :]
        parts = (first, -self.noise_B.transpose(0, 2, 1), self.noise_g, others, self.noise_A)
        off = [part.reshape(self.n, -1) for part in parts]
        found = []
        for group in (slice(0, 2), slice(2, 3), slice(3, 5)):
            pairs = [*zip(forms[group], off[group], strict=True)]
            alike = all((rows == rows[0]).all() for _, rows in pairs)
            for i in range(1 if alike else self.n):
                names = {letter: letter if alike else notation.name(f"{letter}_{i + 1}") for letter in "fg"}
                own = {form.format(**names): rows[i] for form, rows in pairs if rows[i].any()}
                found += [notation.words("sampled") + _off(own, notation)] if own else []
        return found


def _off(sample: Mapping[str, Array], notation: Notation) -> str:
    """The derivatives of one sample with what each is off, the upper sign being that of all of them at once."""
    lead = next(float(np.sign(row[np.flatnonzero(row)[0]])) for row in sample.values())
    found = []
    for name, row in sample.items():
        signed = row * lead
        other = bool((signed <= 0).all())
        sign = (r"\mp" if other else r"\pm") if notation.tex else "-+" if other else "+-"
        values = [abs(x) if x == 0 else x for x in (-signed if other else signed).tolist()]
        found.append(f"{name} {sign} {notation.listed(values)}")
    return (r"\text{ and }" if notation.tex else " and ").join(found)
