"""The image where no container engine is: built by buildah on Debian's own packages, looked into, and run in its root.

Users build it with docker or podman and need nothing of this (docs/how-to/image.md).
"""
