"""Pages of docs/reference that are printed from the product: ``python -m pages``, a part of ``make crds``.

Each module has one page, or one table of a page, and knows no files; ``__main__`` names them all.
"""
