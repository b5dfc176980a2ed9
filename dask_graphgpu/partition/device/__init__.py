"""Partitions in the memory of a GPU, made of cuDF columns by sorting. Loaded at first use."""
