"""What everything else stands on: clock, chance, supervised tasks, the work queue."""
