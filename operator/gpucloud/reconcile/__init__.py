"""The core: pure decisions. Frozen facts in, a frozen plan out; no I/O, no clock, no awaiting.

Why it is apart: a decision that cannot look anything up can be tested by tables, explored by a state machine, and read
from top to bottom by the person who is called at night.
"""
