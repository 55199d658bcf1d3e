"""Two operators to measure against: yardsticks, not examples to follow."""
