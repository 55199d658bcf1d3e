"""``doctor``: what is gathered, what is found in it, and how that is shown."""
