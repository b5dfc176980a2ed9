"""From ids and edges to rows of neighbours over dense ids.

It may import `arguments`, `config`, `errors`, `exchange`, `interrupting`, `kernels`, `stages` of the package.
"""
