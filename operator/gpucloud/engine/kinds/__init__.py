"""One reconciler a kind, and what they share."""
