"""What ranks of a run tell each other: one message a peer a step, on threads or between processes.

It may import `config`, `errors`, `kernels` of the package.
"""
