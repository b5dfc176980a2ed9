"""Write llms.txt beside the pages: a line for each, for readers that are programs (https://llmstxt.org)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

HEAD = """# dask_graphgpu

> Graph analytics as dataframe methods: an edge list is a frame of Dask, pandas, polars, Arrow or cuDF, and so is the
> result of `edges.graph.pagerank()`. On all cores, on the workers of a Dask cluster, or on an NVIDIA GPU.
"""
LENGTH = 160  # characters of a page's first sentence, at most


def write(app: Any, exception: Exception | None) -> None:
    """Write the file into the folder of HTML."""
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "llms.txt").write_text("\n".join([HEAD, *lines(app.env)]) + "\n")


def lines(env: Any) -> list[str]:
    """A section for each folder of the docs, and a line for each page, in the order of the navigation."""
    folders: dict[str, list[str]] = {}
    for page in pages(env, "index"):
        line = f"- [{env.titles[page].astext()}]({page}.html)"
        said = first_sentence(env.get_doctree(page))
        folders.setdefault(page.rpartition("/")[0], []).append(f"{line}: {said}" if said else line)
    made: list[str] = []
    for folder, found in folders.items():
        made += [f"\n## {folder or 'start'}\n", *found]
    return made


def pages(env: Any, page: str) -> Iterator[str]:
    """A page and those below it."""
    yield page
    for below in env.toctree_includes.get(page, []):
        yield from pages(env, below)


def first_sentence(page: nodes.document) -> str:
    """What a page, or the docstring on it, begins with."""
    for paragraph in page.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | addnodes.desc_content):
            first = " ".join(paragraph.astext().split()).split(". ")[0].rstrip(".:")
            return first if len(first) <= LENGTH else first[:LENGTH].rsplit(" ", 1)[0] + " ..."
    return ""
