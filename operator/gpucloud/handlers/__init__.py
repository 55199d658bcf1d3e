"""The only room, beside ``app``, that knows kopf: it turns watch events into calls of the engine. See docs/adr/0001."""
