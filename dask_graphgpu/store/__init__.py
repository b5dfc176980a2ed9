"""Where a graph lives, and what a run of it will touch.

It may import `config`, `errors`, `exchange`, `io`, `kernels`, `markup`, `partition` of the package.
"""
