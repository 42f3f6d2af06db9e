"""Any algorithm with something beside it: what follows from the one inside, unless a subclass says otherwise."""

from __future__ import annotations

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Parameters, RecordTerms, Variables
from ratecheck.algorithms.model.asking import named
from ratecheck.aliases import Array

# What a wrapped algorithm says of itself, as far as it is that of the one inside.
_TAKEN = (
    "step_sizes", "optional", "per_client", "default_problem", "blocks", "server", "client", "local",
    "message", "point", "recorded", "oracle", "record_oracle", "second_oracle", "averages", "uses_delay", "weighs",
    "own_functions", "projects", "varying", "of_points", "constants", "linear", "mixed", "compressed", "also",
    "steps_per_sample", "coin", "full_start", "measures",
)  # fmt: skip


class Wrapping(Algorithm):
    """Iterates of ``inner``: every function and attribute is that of ``inner`` where a subclass does not change it."""

    def __init__(self, inner: Algorithm) -> None:
        self.inner = inner
        # A method of one's own has a name in the registry and need not repeat it in its class.
        for name in ("name", "title"):
            setattr(self, name, getattr(inner, name, named(inner)))
        for name in _TAKEN:
            setattr(self, name, getattr(inner, name))

    @property
    def own(self) -> bool:
        return self.inner.own

    @property
    def about(self) -> str:
        return self.inner.about

    @property
    def records_alone(self) -> bool:
        return type(self).records is Wrapping.records and self.inner.records_alone

    def inside(self, p: Parameters) -> Parameters:
        """The parameters as ``inner`` names them."""
        return p

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        return self.inner.start_client(point, gradient, self.inside(p))

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        return self.inner.start_server(point, clients, self.inside(p))

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        return self.inner.coefficients(t, T, self.inside(p))

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        return self.inner.begin(server, client, self.inside(p))

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        return self.inner.step(local, gradient, self.inside(p))

    def after(self, local: Variables, nearest: Variables, p: Parameters) -> Variables:
        """As ``inner``; other local variables stay."""
        return {**local, **self.inner.after(local, nearest, self.inside(p))}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        return self.inner.finish(server, client, local, self.inside(p))

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        return self.inner.sent(client, message, self.inside(p))

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        return self.inner.aggregate(server, total, self.inside(p))

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        return self.inner.records(server, client, gradient, self.inside(p))

    def measure(self, server: Variables, gradient: Variables, p: Parameters) -> Variables:
        return self.inner.measure(server, gradient, self.inside(p))

    def score(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> Variables:
        return self.inner.score(server, client, gradient, self.inside(p))

    def weights(self, shares: Array, work: Array) -> Array:
        return self.inner.weights(shares, work)

    def metric(self, rate: float, n: int) -> dict[str, float]:
        return self.inner.metric(rate, n)
