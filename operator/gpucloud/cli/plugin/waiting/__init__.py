"""Waiting for objects, and looking again and again."""
