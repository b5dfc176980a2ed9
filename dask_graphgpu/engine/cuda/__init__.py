"""Vertex programs as CUDA text and LTO-IR: a program's functions, made ready for the kernels of the GPU engine.

Needs the compilers (the extra ``cuda``), neither CuPy nor a GPU.

Of the engines it may import no other.
"""
