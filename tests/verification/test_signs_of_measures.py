"""What a method of one's own measures may have either sign, and no verdict takes it for a size unless it is said."""

import pytest

import ratecheck as rc
from bounds.symbols import Domain
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.outcome import Outcome


class Lowered(OneStep):
    """A step of gradient descent, of which a coordinate less 100 is measured."""

    linear = False
    step_sizes = ("gamma_u",)
    measures = ("lowered",)

    def measure(self, server, gradient, p):
        """x_1 - 100."""
        return {"lowered": server["x"][:, :1] - 100}


@pytest.fixture(autouse=True)
def _lowered(monkeypatch):
    algorithm = type("Lowered", (Lowered,), {"server": {"x": "u"}})()
    monkeypatch.setitem(METHODS, "lowered", Method("lowered", "lowered", algorithm, {"K": 1}, personal=False))


def _claim(right, given="smooth", **domain):
    own = symbol("lowered", "x_1 - 100", role="measured", fact="lowered", **domain)
    return theorem(f"last lowered <= {right}", method="lowered", given=given, when="gamma <= 1/L", symbols=own)


class TestSignsOfMeasures:
    """x_1 stays near 0 in all runs, so that x_1 - 100 is below -90, and above -110."""

    @pytest.mark.parametrize("noise", [{}, {"sigma": 0.5}])
    def test_a_true_bound_below_0_is_not_accused(self, noise):
        """Neither as one of a size, which would need no run, nor by a run; a false one is."""
        given = "smooth, noise" if noise else "smooth"
        found = {right: rc.verify(_claim(right, given), d=2, T=10, **noise).outcome for right in (-90, -110)}
        assert found == {-90: Outcome.HOLDS, -110: Outcome.VIOLATED}

    def test_what_is_said_never_to_be_negative_is_compared_with_a_run(self):
        """And refused in a sentence that names it."""
        claim = _claim(1, "smooth, noise", domain="nonnegative")
        with pytest.raises(rc.InputError, match=r"lowered is -10\d?.* in a run, but its symbols say"):
            rc.verify(claim, d=2, T=10, sigma=0.5)

    def test_known_quantities_keep_their_domains(self):
        """A gap is a size; a change of it and what only the method knows have either sign."""
        found = [symbol("s", "s", role="measured", fact=fact).quantity.domain for fact in ("gap", "change:gap", "own")]
        assert found == [Domain.NONNEGATIVE, Domain.REAL, Domain.REAL]
        assert symbol("s", "s").quantity.domain is Domain.POSITIVE
