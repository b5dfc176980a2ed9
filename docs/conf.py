"""Settings of Sphinx."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import llms_txt
import method_pages

import dask_graphgpu

HERE = Path(__file__).parent

project = "dask_graphgpu"
author = "dask_graphgpu developers"
copyright = "2026, dask_graphgpu developers"
release = dask_graphgpu.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
nb_execution_mode = "off"  # notebooks are stored with what came of them
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name the types
exclude_patterns = ["_build"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"dask_graphgpu {release}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_search_scorer = str(HERE / "search_scorer.js")  # methods first, measurements last
html_show_sphinx = False


def setup(app):
    """Write the pages of methods before pages are read, and llms.txt when all are."""
    app.connect("builder-inited", lambda app: method_pages.write(Path(app.srcdir)))
    app.connect("build-finished", llms_txt.write)
