"""The participants of every round, and how long clients stay away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ratecheck.participation import Participation, delays
from ratecheck.views.drawing import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of clients in an inch, and the least and largest height of their panel.
_ROWS, _LOW, _HIGH = 7.0, 1.6, 6.0


@dataclass(frozen=True)
class Attendance:
    """One draw of a pattern over T rounds: the matrix (T, n) of participation, and its delays."""

    pattern: Participation
    matrix: NDArray[np.bool_]

    @property
    def away(self) -> NDArray[np.int64]:
        """The rounds t - a_{i,t} that client i has been away for in round t, an array (T, n)."""
        return np.asarray(np.arange(len(self.matrix))[:, None] - delays.last_selection(self.matrix))

    @property
    def expected(self) -> delays.Delays | None:
        """E[tau_max] and E[tau_avg] over T - 1 rounds, where they are computed."""
        return None if len(self.matrix) < 2 else delays.expectation(self.pattern, len(self.matrix) - 1)


def attendance_text(found: Attendance) -> str:
    """Sizes and delays in three lines."""
    T, n = found.matrix.shape
    per_round = found.matrix.sum(axis=1)
    few, many = int(per_round.min()), int(per_round.max())
    lines = [
        f"{found.pattern.kind}   {n} clients, {T} rounds, {few if few == many else f'{few} to {many}'} in each",
        f"  tau_max  {delays.maximum(found.matrix)}, over these rounds",
        f"  tau_avg  {delays.average(found.matrix):.4g}",
    ]
    if found.expected is not None and not found.pattern.deterministic:
        longest, mean = found.expected
        lines += [f"  E        tau_max {longest:.4g}, tau_avg {mean:.4g}, over rounds 0 ... {T - 1}"]
    return "\n".join(lines)


def attendance_figure(found: Attendance) -> Figure:
    """The matrix, darker the longer a client has been away, above tau_t."""
    from matplotlib.ticker import MaxNLocator

    T, n = found.matrix.shape
    with style.styled():
        height = min(max(n / _ROWS, _LOW), _HIGH)
        figure = style.new_figure(6.4, height + 2.4)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[height, 1.6])
        away = found.away
        shown = above.imshow(
            away.T, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0, vmax=max(1, int(away.max())),
            extent=(-0.5, T - 0.5, n + 0.5, 0.5),
        )  # fmt: skip
        rounds, clients = np.nonzero(found.matrix)
        size = min(6.0, 300.0 / T, 72 * height / n * 0.6)
        above.plot(rounds, clients + 1, "o", color=style.COLOURS[1], markersize=size, linestyle="none")
        above.grid(visible=False)
        above.set(ylabel="client")
        above.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        figure.colorbar(shown, ax=above, label="rounds away", pad=0.01)
        longest, mean = delays.maximum(found.matrix), delays.average(found.matrix)
        below.step(np.arange(T), delays.per_round(found.matrix), where="mid", color=style.COLOURS[0], label=r"$\tau_t$")
        below.axhline(mean, color=style.COLOURS[2], linestyle="--", label=rf"$\tau_{{\rm avg}}$ = {mean:.3g}")
        if found.expected is not None and math.isfinite(found.expected.tau_max) and not found.pattern.deterministic:
            label = rf"$\mathbb{{E}}\tau_{{\max}}$ = {found.expected.tau_max:.3g}"
            below.axhline(found.expected.tau_max, color=style.COLOURS[3], linestyle=":", label=label)
        below.set(xlabel="rounds $t$", ylabel="longest absence")
        below.set_ylim(bottom=0)
        below.legend(fontsize=8, ncols=3, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)
        figure.suptitle(rf"{found.pattern.kind}, {n} clients: $\tau_{{\max}}$ = {longest} in {T} rounds", fontsize=11)
        return figure
