"""Simpler instances: passes that offer them, their order, and the work that they may take."""
