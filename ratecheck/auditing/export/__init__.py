"""Certificates of an audit for other checkers: JSON and Coq."""
