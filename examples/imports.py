"""The import graph of the running Python's standard library, as a Parquet edge list.

Every module is an id (its dotted name, a string); an edge says that ``source`` imports
``destination``. The modules are parsed, not imported, so nothing of them runs. The same Python
gives the same file.

    python examples/imports.py imports.parquet
"""

import ast
import sys
import sysconfig
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# What is installed beside the standard library, and its own tests.
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}


def modules(library):
    """Dotted name -> file of every module below a folder."""
    found = {}
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and not LEFT_OUT.intersection(parts) and all(p.isidentifier() for p in parts):
            found[".".join(parts)] = path
    return found


def known(name, names):
    """The longest leading part of a dotted name that is a module: a.b of a.b.function."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def imports(name, path, names):
    """Modules that a module imports anywhere in its text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes in old modules
            tree = ast.parse(path.read_bytes())
    except SyntaxError:  # templates that only look like modules
        return set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # one dot is this package, each further one its parent
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {known(target, names) for target in found} - {"", name}


def main(path):
    library = Path(sysconfig.get_path("stdlib"))
    found = modules(library)
    names = {*found, *sys.builtin_module_names, *sys.stdlib_module_names}
    edges = sorted((name, to) for name, file in found.items() for to in imports(name, file, names))
    source, destination = zip(*edges, strict=True)
    pq.write_table(pa.table({"source": source, "destination": destination}), path)
    print(f"{path}: {len(edges)} imports between {len({*source, *destination})} modules")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["imports.parquet"])
