"""The way to the apiserver: the user's own kubeconfig and rights, JSON in and out.

A small reader and transport on the standard library serve the usual kubeconfigs, since loading the ``kubernetes`` library takes
longer than a verb's requests. The library serves the rest, and forwards ports.
"""
