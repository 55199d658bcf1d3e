"""What GpuVM, GpuVpc and GpuSnapshot share: one proof of "never twice, never leaked, never not ours" for the three of them.

A kind brings its facts (a ``CloudFacts``) and its words (a ``Subject``), and puts its own steps between these.
"""
