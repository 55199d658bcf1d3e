"""The reconcile loop of one kind, and its pacing."""
