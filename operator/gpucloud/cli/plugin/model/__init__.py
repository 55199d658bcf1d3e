"""The objects as the plugin reads them, how they stand, and what waits for what. Pure."""
