"""The functions of the NetworkX backend, with NetworkX's signatures: a module for each family.

It may import `errors`, `kernels`, `networkx_graph`, `networkx_weights` of the package.
"""
