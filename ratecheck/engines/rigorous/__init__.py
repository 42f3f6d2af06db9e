"""Moments of quadratic problems in interval and in rational arithmetic: what they enclose is proved."""
