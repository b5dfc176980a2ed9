"""Where a graph lives, and what a run of it will touch."""
