"""Whether the apiserver in memory answers as a real one does: the same scripts are played to both."""
