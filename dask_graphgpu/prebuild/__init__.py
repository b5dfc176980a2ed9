"""Machine code of the usual kernels, made before a wheel is built.

It may import `algorithms`, `engine`, `kernels`, `program` of the package.
"""
