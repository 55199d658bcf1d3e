"""New manifests: of ``create``, by options or by a dialog, and of ``adopt`` and ``export``."""
