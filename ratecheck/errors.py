"""The one error that a user's input can cause, under the name by which ``ratecheck`` raises it."""

from bounds.errors import BeyondFloatsError, InputError, NoValueError, OutOfReachError, did_you_mean, printable, unread

__all__ = ["BeyondFloatsError", "InputError", "NoValueError", "OutOfReachError", "did_you_mean", "printable", "unread"]
