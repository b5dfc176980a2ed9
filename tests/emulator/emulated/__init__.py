"""Kernels on the CPU: CUDA C++ built by g++, and a runtime of fibers for its threads."""
