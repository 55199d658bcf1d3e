"""One reconciler per kind, and the parts that the reconcilers share."""
