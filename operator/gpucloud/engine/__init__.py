"""The shell around the core: everything that talks, waits or reads a clock. It knows neither kopf nor the command line."""
