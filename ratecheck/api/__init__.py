"""The public face: one function for each command, under its name, and the type of its result.

The names are those of ``ratecheck`` itself, which loads them when they are first used.
"""

from bounds import hooks

# A statement of the user's own that names a method which nobody knows is refused where it is read.
hooks.register(hooks.METHOD, "ratecheck.algorithms:method")
