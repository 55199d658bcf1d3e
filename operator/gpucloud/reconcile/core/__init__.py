"""Steps shared by GpuVM, GpuVpc and GpuSnapshot: create exactly one, leak none, and destroy only our own.

A kind adds its facts (a ``CloudFacts``), its words (a ``Subject``) and its own steps.
"""
