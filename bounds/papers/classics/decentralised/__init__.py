"""Clients on a graph."""
