"""Families of instances, one file each: what a statement is tried on, by searches, rate cards and the self-test."""
