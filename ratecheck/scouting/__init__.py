"""Scouts: both sides of a statement at thousands of instances at once, in float64, to find those worth a verdict."""
