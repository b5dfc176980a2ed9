"""Write the table of docs/reference/where.md from what the engines have: `python docs/what_runs_where.py`."""

from pathlib import Path

from dask_graphgpu import where
from dask_graphgpu.algorithms import ALGORITHMS

PAGE = Path(__file__).parent / "reference/where.md"
COLUMNS = {
    "CPU engine": "cpu",
    "GPU engine": "gpu",
    "hybrid": "hybrid",
    "several ranks": "ranks",
    "edges in host memory, GPU engine": "host memory",
    "edges on disk, CPU engine": "disk",
}


def table() -> str:
    """A row for all methods that run in the same places."""
    rows: dict[tuple[str, ...], list[str]] = {}
    there = [where.methods(place) for place in COLUMNS.values()]
    for name in ALGORITHMS:
        cells = tuple("yes" if name in methods else "no" for methods in there)
        rows.setdefault(cells, []).append(f"`{name}`")
    lines = [("method", *COLUMNS), ("---",) * (len(COLUMNS) + 1)]
    lines += [(", ".join(names), *cells) for cells, names in rows.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> str:
    """The page with the table as it is to be."""
    lines = PAGE.read_text().splitlines(keepends=True)
    within = [i for i, line in enumerate(lines) if line.startswith("|")]
    return "".join([*lines[: within[0]], table(), *lines[within[-1] + 1 :]])


if __name__ == "__main__":
    PAGE.write_text(page())
