"""The commands: ``gpucloud`` and ``kubectl gpucloud``."""
