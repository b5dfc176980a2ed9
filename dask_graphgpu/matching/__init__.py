"""Ids of groups that stay from one result to the next.

It may import `arguments`, `errors`, `ingest`, `io`, `kernels`, `partition` of the package.
"""

from dask_graphgpu.matching.groups import CHANGES
from dask_graphgpu.matching.match import Matched, match_ids

__all__ = ["CHANGES", "Matched", "match_ids"]
