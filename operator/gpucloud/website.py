"""Addresses of pages of the documentation, for messages: who reads one in a cluster has no checkout of the repository."""

from __future__ import annotations

SITE = "https://gpucloud.dev/docs/latest/"  # as mkdocs.yml has it; the version is the one that the site shows first
INSTALL = "https://gpucloud.dev/docs/latest/how-to/install-with-helm/"
ORDERS = "https://gpucloud.dev/docs/latest/reference/orders/"
ORPHANS = "https://gpucloud.dev/docs/latest/how-to/orphans/"
PLUGIN = "https://gpucloud.dev/docs/latest/how-to/kubectl-plugin/"
RUN = "https://gpucloud.dev/docs/latest/how-to/run-the-operator/"
