"""The one error that a user's input can cause, under the name by which ``ratecheck`` raises it."""

from bounds.errors import InputError, did_you_mean

__all__ = ["InputError", "did_you_mean"]
