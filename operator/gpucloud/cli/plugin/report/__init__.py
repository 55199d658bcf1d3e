"""``report``: what a bug report may hold, and the removal of credentials."""
