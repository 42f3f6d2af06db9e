"""Clients one by one, in an order that is drawn anew in each epoch or is fixed."""
