"""A rank's share of a graph, from one run to the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dask_graphgpu.cluster.relay import Relay
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.empty import EmptyPartition

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.edge_list import RankEdgeList
    from dask_graphgpu.partition.ranks.partition import RankPartition


@dataclass(eq=False)
class Share:
    """What a rank keeps of a graph.

    Attributes
    ----------
    relay : Relay
        Where the partition's collectives go.
    whole : bool
        Whether the last run ended well. Else one rank may have made something of the rows on demand
        that another has not, and they would not come together in making it.
    """

    relay: Relay
    partition: RankPartition | RankEdgeList | EmptyPartition
    whole: bool = True

    @contextmanager
    def over(self, ranks: Ranks) -> Iterator[RankPartition | RankEdgeList]:
        """The partition with its collectives over these ranks. Collective."""
        with self.relay.to(ranks):
            assert not isinstance(self.partition, EmptyPartition)  # which nobody runs on
            if not self.relay.min(int(self.whole)):
                self.partition = self.partition.anew()
            self.whole = False
            yield self.partition
            self.whole = True
