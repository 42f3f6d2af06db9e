"""The sequences of accelerated methods as formulas, which have no closed form."""

from __future__ import annotations


def theta(t: int) -> str:
    """theta_t of theta_0 = 1, theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2))/2.

    >>> theta(1)
    '((1 + sqrt(1 + 4*1**2))/2)'
    """
    found = "1"
    for _ in range(t):
        found = f"((1 + sqrt(1 + 4*{found}**2))/2)"
    return found


def last_theta(before: str) -> str:
    """The larger one at an end of the sequence, (1 + sqrt(1 + 8 theta^2))/2."""
    return f"((1 + sqrt(1 + 8*{before}**2))/2)"


def exact_sequence(steps: int) -> str:
    """A_N of A_0 = 0, A_{k+1} = ((1 + q) A_k + 2 (1 + sqrt((1 + A_k)(1 + q A_k))))/(1 - q)^2 with q = mu/L."""
    found = "0"
    for _ in range(steps):
        found = f"(((1 + mu/L)*{found} + 2*(1 + sqrt((1 + {found})*(1 + mu/L*{found}))))/(1 - mu/L)**2)"
    return found
