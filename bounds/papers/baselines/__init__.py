"""Rates of other work, as the papers quote them."""
