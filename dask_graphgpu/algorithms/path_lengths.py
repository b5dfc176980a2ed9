"""What methods share whose answers are lengths of paths: by weights or by hops, and the columns of these."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from dask_graphgpu.algorithms.algorithm import Algorithm, reads_optional_weight
from dask_graphgpu.io.results import ColumnType
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class PathLengths(Algorithm):
    """A method of lengths of paths: sums of weights, where the graph has some and unless ``weighted=False``."""

    _: KW_ONLY
    weighted: bool | None = None

    rule = "min"

    name: ClassVar[str]

    def reads_weight(self, schema: EdgeSchema) -> bool:
        asked = f"{self.name} with weighted=True"
        return reads_optional_weight(schema, self.weighted, asked, "; or weighted=False")

    def weight_kind(self, schema: EdgeSchema) -> str | None:
        """The type of the weights that are read; None: none are."""
        return schema.weight_kind if self.reads_weight(schema) else None

    def length_column(self, schema: EdgeSchema, *, nullable: bool = False) -> ColumnType:
        """The type of a column of lengths."""
        return ColumnType(self.weight_kind(schema) or "int64", nullable=nullable)
