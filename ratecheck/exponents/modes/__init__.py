"""Moments of one coordinate of identical or alternating clients, from which rate cards are drawn."""
