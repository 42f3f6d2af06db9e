"""ratecheck: is a convergence theorem right, how tight is it, and which step sizes does it admit.

Every command is a function of the same name here (``list`` is `catalogue`), and returns a frozen result with the
command's text as `str` and its JSON as ``to_dict()``. The names stand in ``__init__.pyi`` and are loaded when first
used, so that the command line's help costs no numerical imports.
"""

import functools


def require_own_bounds() -> None:
    """Raise `ImportError` with one line where the imported ``bounds`` is an unrelated package of the same name."""
    import bounds

    if getattr(bounds, "DISTRIBUTION", None) != "ratecheck":
        place = getattr(bounds, "__file__", None) or "an unknown place"
        raise ImportError(
            f"the package 'bounds' at {place} is not ratecheck's: remove it, or install ratecheck elsewhere"
        )


@functools.cache
def _public() -> tuple:
    """The function that loads a name of the stub, and the sorted list of all names."""
    import lazy_loader

    load, _, names = lazy_loader.attach_stub(__name__, __file__)
    return load, sorted([*names, "__version__"])


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("ratecheck")
    load, names = _public()
    if name == "__all__":
        return names
    if name not in names:
        raise AttributeError(f"module 'ratecheck' has no attribute {name!r}")
    require_own_bounds()
    return load(name)


def __dir__() -> list[str]:
    return _public()[1]
