"""One graph on many ranks: who owns what, and the share of each rank."""
