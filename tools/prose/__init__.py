"""The linter of spelling and prose for the documents: Vale, with this project's styles and vocabulary.

It reads Markdown only. Wordings in the code's messages are the business of ``tests/unit/test_wording.py``.
"""
