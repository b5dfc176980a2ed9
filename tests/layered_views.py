"""Views of graphs with their layers."""

import copy

from dask_graphgpu.partition.layered import find_levels


def layered(view, root=None):
    """The view with layers from a root, a number."""
    other = copy.copy(view)
    number = None if root is None else int(root)
    other.levels = find_levels(view.out, view.num_vertices, view.user_rank, number, None)
    return other


def layered_share(share, root=None):
    """The same of what one rank has; collective."""
    other = copy.copy(share)
    number = None if root is None else int(root)
    other.levels = find_levels(share.out, share.num_owned, share.numbers, number, share.border)
    return other
