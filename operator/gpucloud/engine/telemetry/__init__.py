"""Metrics and their collectors."""
