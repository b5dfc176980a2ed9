"""Numba kernels for the CPU: functions over a block that hold no lock."""
