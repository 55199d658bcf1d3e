"""See docs/ARCHITECTURE.md for what this room is for."""
