"""What is said of an iteration that has not converged."""

from __future__ import annotations

from dask_graphgpu.errors import NotConverged


def ended(tolerance: float, max_iterations: int, change: float) -> None:
    """Raise NotConverged after the last iteration, unless the tolerance is 0."""
    if tolerance:
        raise NotConverged(
            f"after {max_iterations} iterations the hub scores still change by {change:.3g} in sum: "
            "allow more by max_iterations=, or a larger tolerance="
        )
