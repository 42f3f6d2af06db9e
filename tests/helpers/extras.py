"""Marks of tests that need an extra: where it is not installed they are skipped, with the reason."""

import importlib.util

import pytest


def _needs(extra, *modules):
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"needs the extra {extra}: pip install 'ratecheck[{extra}]' ({', '.join(missing)} missing)",
    )


needs_data = _needs("data", "sklearn")
needs_pep = _needs("pep", "clarabel", "PEPit")
needs_table = _needs("table", "pyarrow")
needs_distributed = _needs("distributed", "distributed")
