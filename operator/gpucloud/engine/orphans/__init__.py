"""Orphans, resources of this installation without an object: the scan and the collector."""
