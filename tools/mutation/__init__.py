"""Mutation testing: small defects made by a machine in ``reconcile`` and ``cloud``, and how many of them the unit tests find.

mutmut makes the mutants and runs, for each, the tests that call the mutated function. It works in ``out/mutants`` on a copy, so
that the checkout is never touched.
"""
