"""Cloud objects that this installation made and that no object stands for: the scan and the collector."""
