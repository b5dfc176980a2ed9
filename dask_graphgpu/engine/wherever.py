"""What serves every engine: it is done on the host, whichever engine found the edges."""

from dask_graphgpu.engine.cluster_shapes import cluster_batches as cluster_batches
from dask_graphgpu.engine.cluster_shapes import cluster_shapes as cluster_shapes
from dask_graphgpu.engine.directed_triangles import directed_triangles as directed_triangles
from dask_graphgpu.engine.motif_counts import motif_counts as motif_counts
from dask_graphgpu.engine.vertex_motifs import vertex_motifs as vertex_motifs
