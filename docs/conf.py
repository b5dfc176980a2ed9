"""Settings of Sphinx."""

import dask_graphgpu

project = "dask_graphgpu"
author = "dask_graphgpu developers"
copyright = "2026, dask_graphgpu developers"
release = dask_graphgpu.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"  # notebooks are stored with what came of them
myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name the types
exclude_patterns = ["_build"]
html_theme = "alabaster"
