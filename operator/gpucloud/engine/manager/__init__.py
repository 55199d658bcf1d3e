"""The engine put together: wiring, start, lead, supervise, stop; and what it serves over HTTP."""
