"""The only package, beside ``app``, that imports kopf: it turns watch events into calls of the engine. See docs/adr/0001."""
