"""Compiled kernels, by the machine they are for.

It may import `config`, `errors`, `interrupting` of the package.
"""
