"""Vertex programs that methods and engines have in common; those of hops are in `hops`."""

from dataclasses import replace

from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram

# The length of a shortest path from a source, the sum of its weights.
DISTANCES = VertexProgram(
    state={"distance": Field(dtype="weight", initial=None, at_source=0)},
    compute=lambda source_distance, weight: source_distance + weight,
    combine="min",
    priority=lambda distance: distance,
    bound=lambda max_weight, num_vertices: max_weight * (num_vertices - 1),
)

# The same against the edges: how far it is from each vertex to a target. Without weights every edge counts 1.
DISTANCES_TO = replace(DISTANCES, edges="in")

# The smallest number of a vertex from which edges lead here, or of one's own.
SMALLEST = VertexProgram(
    state={"smallest": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_smallest: source_smallest,
    combine="min",
)
