"""The settings of the experiments of the FLAME paper (Section 5.2).

All weights are alpha_i = 1/m. Sections 5.2.2 to 5.2.4 do not repeat the number of clients; the only ones in the paper
are 50 and 100. Neither L nor the accuracy of the inner solver is printed. The number of local iterations and their step
size are no parameters of the theorems.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.experiment import Experiment, exact

_CLIENTS = (50, 100)


def _with_clients(m: int) -> dict[str, sp.Rational]:
    weight = f"1/{m}"
    return exact(m=m, alpha_min=weight, alpha_max=weight)


def _setting(place: str, lambda_: int, rho: str, clients: tuple[int, ...], remark: str, **others: int) -> Experiment:
    one = len(clients) == 1
    return Experiment(
        place=place,
        algorithms=("flame",),
        values=exact(lambda_=lambda_, rho=rho, **others) | (_with_clients(*clients) if one else {}),
        alternatives=() if one else tuple(map(_with_clients, clients)),
        remark=remark if one else f"{remark}; m is not repeated there: 50 or 100",
    )


EXPERIMENTS = (
    _setting("Section 5.2.1, Fig. 3, Tables II and III", 5, "0.01", (50,), "the same numbers as in Figs. 4 and 5"),
    _setting("Section 5.2.1, Table II, 100 clients", 5, "0.01", (100,), "with as many clients as in Fig. 7"),
    _setting("Section 5.2.2, Fig. 4, lambda = 1", 1, "0.01", _CLIENTS, "lambda is varied"),
    _setting("Section 5.2.2, Fig. 4, lambda = 3", 3, "0.01", _CLIENTS, "lambda is varied"),
    _setting("Section 5.2.4, Fig. 6, rho = 0.05", 5, "0.05", _CLIENTS, "rho is varied"),
    _setting("Section 5.2.4, Fig. 6, rho = 0.1", 5, "0.1", _CLIENTS, "rho is varied"),
    _setting("Section 5.2.5, Fig. 7", 5, "0.01", (100,), "unbiased and biased selection of 10 clients", s=10),
)
