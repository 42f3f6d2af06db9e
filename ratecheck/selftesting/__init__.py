"""The power of the checks: statements made wrong on purpose, and the checks that catch them."""
