"""Compiled kernels, by the machine they are for."""
