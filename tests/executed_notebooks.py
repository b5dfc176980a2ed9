"""Executes the notebooks of the docs; run as a script, writes them anew with what came of it."""

import base64
import io
import sys
from pathlib import Path

import nbclient
import nbformat
from PIL import Image

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def executed(path, folder):
    """A notebook with the outputs of its cells, executed in a folder."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources=resources
    ).execute()
    return notebook


def write(path, folder):
    """Execute a notebook and store it, without what differs from one time to the next for no reason."""
    notebook = executed(path, folder)
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
    }
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = {}, f"cell-{number}"
        for output in cell.get("outputs", ()):
            output.pop("transient", None)
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = smaller(output["data"]["image/png"])
    nbformat.write(notebook, path)


def smaller(picture):
    """A picture as text, of 64 colours."""
    out = io.BytesIO()
    given = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    given.quantize(64).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


if __name__ == "__main__":
    for each in NOTEBOOKS:
        write(each, sys.argv[1])
        print(each.name, each.stat().st_size)
