"""Views of graphs with their layers."""

import copy

import numpy as np
from made_graphs import grid

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


def against_the_order():
    """Vertices 1 to 20 at a level, with a cheap path from the last of them to the first."""
    source = np.concatenate([np.zeros(20, np.int64), np.arange(20, 1, -1)])
    destination = np.concatenate([np.arange(1, 21), np.arange(19, 0, -1)])
    weight = np.concatenate([np.full(19, 100), [1], np.ones(19, np.int64)])
    made = grid(1, directed=True)
    return type(made)(21, source, destination, True, weight=weight)
