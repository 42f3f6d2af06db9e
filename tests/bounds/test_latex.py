"""LaTeX as the text that it means, and what has two meanings refused."""

import pytest

from bounds.errors import InputError
from bounds.sentences import latex


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"\frac{2 F_0}{\gamma T}", "2*F_0/(gamma*T)"),
        (r"\frac12 L", "1/2*L"),
        (r"\frac{12}{3}", "12/3"),
        (r"\sigma_u^2", "sigma_u**2"),
        (r"\left(1-\frac{\mu}{L}\right)^T R_0^2", "(1 - mu/L)**T*R_0**2"),
        (r"\sqrt{\frac{L F_0\sigma^2}{nT}}", "sqrt(L*F_0*sigma**2/(n*T))"),
        (r"\sqrt[3]{T}", "(T)**(1/3)"),
        (r"\min\left\{\frac1L,\frac{1}{\mu T}\right\}", "min(1/L, 1/(mu*T))"),
        (r"e^{-\mu T/L}", "exp(-mu*T/L)"),
        (r"2L\cdot(T+1)", "2*L*(T + 1)"),
        (r"L\gamma(1+\frac{1}{q})\sigma^2", "L*gamma*(1 + 1/q)*sigma**2"),
        (r"(1-\gamma\mu)^{2t}\|x_0-x^*\|^2", "(1 - gamma*mu)**(2*t)*dist2_0"),
        (r"\frac{f(x_0)-f^\star}{\gamma T}", "F_0/(gamma*T)"),
        (r"\gamma \leq \frac{1}{L}", "gamma <= 1/L"),
        (r"\log(T)/T", "log(T)/T"),
        (r"T^{-1/2}", "T**(-1/2)"),
        (r"-\frac{a - b}{c}", "-(a - b)/c"),
    ],
)
def test_what_it_means(text, read):
    """Written out."""
    assert latex.formula(text) == read


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (r"K\gamma(n-m)", r"write \gamma \cdot (...)"),
        (r"L(1+T)", r"write L \cdot (...)"),
        (r"\sigma^2_u", r"write \sigma_u^{2}"),
        (r"2F_0/\gamma T", r"write \frac"),
        (r"\log T K", r"write \log(...)"),
        (r"\log^2 T", "for a power of a value"),
        (r"x^a^b", "write brackets"),
        (r"\mathcal{O}(1/T)", r"'\\mathcal' is not known"),
        (r"\|y\|^2", "a norm has a name here"),
        (r"\frac{1}{T", "is missing"),
        (r"\frac{1}{T})", "is not expected there"),
        (r"2^\top", "has to stand in braces"),
        (r"\max T", r"write \max\{..., ...\}"),
    ],
)
def test_what_has_two_meanings_is_refused(text, part):
    """In one line that says how to write it."""
    with pytest.raises(InputError) as caught:
        latex.formula(text)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"\frac{1}{R}\sum_{r=0}^{R-1} \|\nabla f(x_r)\|^2 \le \frac{2 R_0^2}{R}", "mean grad2 <= 2*R_0**2/T"),
        (r"\frac1K\sum_{k=0}^{K-1} f(x^k) - f^* \le \frac{F_0}{\gamma K}", "mean gap <= F_0/(gamma*T)"),
    ],
)
def test_rounds_may_have_another_letter(text, read):
    """A mean over r = 0 ... R-1 says which letters are the rounds; R_0 is none of them."""
    assert latex.sentence(text) == read


def test_letters_that_are_taken_stay():
    """R rounds beside a T that means something else are not guessed about."""
    with pytest.raises(InputError, match="a sum is read as the mean"):
        latex.sentence(r"\frac1R\sum_{r=0}^{R-1} \|\nabla f(x_r)\|^2 \le \frac{2 F_0}{\gamma R T}")


def test_a_sum_over_other_rounds_is_refused():
    """x_1 ... x_T are not the rounds that a mean is about."""
    with pytest.raises(InputError, match="over x_0"):
        latex.sentence(r"\frac1T\sum_{t=1}^{T}\|\nabla f(x_t)\|^2 \le 1")
