"""The cloud side: accounts, their sessions, and the shared cache of cloud records."""
