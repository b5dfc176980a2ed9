"""A picture of a run: who was active in each superstep, and where the time has gone."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.optional import imported
from dask_graphgpu.report import RunReport, last_report

_PARTS = ("work", "package", "exchange", "synchronization")
_WIDE = 30  # times that one frontier may exceed another on a scale that is not logarithmic


@briefly
def plot_report(report: RunReport | None = None, axes: Any = None) -> Any:
    """Draw a run: vertices that were active by superstep, coloured by direction, and seconds by part.

    Parameters
    ----------
    report : RunReport, optional
        What `last_report` gave. Default: what it gives now.
    axes : two matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    array of two matplotlib Axes
        Of the frontier, and of the time: "read" and "build" the graph, "compile", "run"; of a run on several
        ranks where the time of each has gone.

    Raises
    ------
    GraphError
        No method has finished, as of `last_report`.
    InvalidArgument
        ``report`` is no report as `last_report` gives it, or ``axes`` are not two.
    MissingPackage
        matplotlib is not installed: ``pip install 'dask-graphgpu[plot]'``.
    """
    report = last_report() if report is None else report
    if not (isinstance(report, RunReport) and {"seconds", "split"} <= set(report.attrs)):
        raise InvalidArgument(
            f"report is a {type(report).__name__}; give what last_report() gave, as it was given"
        )
    if axes is None:
        plt = imported("matplotlib.pyplot", "plot", "plot_report()")
        _, axes = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[2, 1], layout="constrained")
    axes = np.ravel(np.asarray(axes, dtype=object))
    if len(axes) != 2:
        raise InvalidArgument(f"axes are {len(axes)}; give two: of the frontier, and of the time")
    _draw_frontier(report, axes[0])
    _draw_seconds(report, axes[1])
    return axes


def _draw_frontier(report: RunReport, ax: Any) -> None:
    steps, frontier = report["superstep"].to_numpy(), report["frontier"].to_numpy()
    ends = steps + report["supersteps"].to_numpy() - 1
    ax.set_title(report.attrs["algorithm"])
    ax.set_xlabel("superstep")
    ax.set_ylabel("active vertices")
    if not len(report):
        ax.text(0.5, 0.5, "no supersteps", ha="center", va="center", transform=ax.transAxes)
        return
    ax.plot(np.ravel([steps, ends], "F"), np.repeat(frontier, 2), color="0.7", lw=1, zorder=1)
    for number, direction in enumerate(report["direction"].unique()):
        mine = (report["direction"] == direction).to_numpy()
        ax.scatter(steps[mine], frontier[mine], s=18, color=f"C{number}", label=direction, zorder=2)
    if frontier.min() > 0 and frontier.max() > _WIDE * frontier.min():
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(title="direction", fontsize=8, title_fontsize=8)


def _draw_seconds(report: RunReport, ax: Any) -> None:
    seconds, split = dict(report.attrs["seconds"]), report.attrs["split"]
    if split:
        del seconds["run"]  # which is said rank by rank
    names = [*seconds, *(f"rank {rank}" for rank in range(len(split)))]
    ax.barh(list(seconds), list(seconds.values()), color="C0")
    left = np.zeros(len(split))
    for number, part in enumerate(_PARTS if split else ()):
        widths = np.array([each[part] for each in split])
        ax.barh(names[len(seconds) :], widths, left=left, color=f"C{number + 1}", label=part)
        left += widths
    if split:
        ax.legend(fontsize=8)
    ax.invert_yaxis()
    ax.locator_params(axis="x", nbins=4)
    ax.set_xlabel("seconds")
    ax.set_title("time")
