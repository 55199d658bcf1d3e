"""Recordings of a terminal as animated SVG, for README and documents: ``make recordings``.

A program runs in a pseudo-terminal, pyte interprets what it prints, and each screen that stood long enough becomes a frame.
"""
