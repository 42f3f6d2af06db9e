"""Polynomials, certificates of nonnegativity, enclosures and z3; knows nothing of statements."""
