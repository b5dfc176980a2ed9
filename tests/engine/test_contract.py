"""Engines have the functions of the contract as it states them; read and not imported, as some need a GPU."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = (
    "cpu",
    "paged",
    "ranks",
    "gpu",
    "tiered",
    "device_ranks",
    "hybrid",
    "hybrid.on_disk",
    "tiered.on_disk",
)
SHORTCUTS = "dask_graphgpu.engine.shortcuts"
# An engine that has what another has where it has nothing of its own.
REST = {"dask_graphgpu.engine.device_ranks": "dask_graphgpu.engine.ranks"}


def tree(module):
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text())


def contract():
    """Function -> how it is called, by the contract."""
    methods = {}
    files = (ROOT / "dask_graphgpu/engine").glob("contract*.py")
    for module in sorted(path.stem for path in files):
        (part,) = (
            node
            for node in tree(f"dask_graphgpu.engine.{module}").body
            if isinstance(node, ast.ClassDef)
        )
        here = {
            node.name: called(node)[1:] for node in part.body if isinstance(node, ast.FunctionDef)
        }
        assert not methods.keys() & here.keys()
        methods |= here
    return methods


def called(function):
    """Parameters of a function: name, whether it is given by name, and its default."""
    given = function.args
    assert given.vararg is None
    assert given.kwarg is None
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    listed = [(each.arg, False, each_default(d)) for each, d in zip(plain, defaults, strict=True)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return listed + [(each.arg, True, each_default(default)) for each, default in named]


def each_default(node):
    return None if node is None else ast.unparse(node)


def names(module):
    """Functions of the contract that a module has, or imports from where they stand."""
    found = set()
    for node in tree(module).body:
        if isinstance(node, ast.FunctionDef):
            found |= names(REST[module]) if node.name == "__getattr__" else {node.name}
        elif isinstance(node, ast.ImportFrom):
            listed = {alias.asname or alias.name for alias in node.names}
            found |= names(node.module) if "__getattr__" in listed else set()
            found |= names(node.module) if "*" in listed else listed
    return found & contract().keys()


def stands(module, name):
    """How a function is called that a module has or imports, and the module where it stands."""
    body = tree(module).body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return called(node), module
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return of_a_class(module, name), module
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        if name in {each.name for each in node.names}:
            return stands(node.module, name)
    for node in imports:
        if "*" in {each.name for each in node.names} and name in names(node.module):
            return stands(node.module, name)
    if module in REST:
        return stands(REST[module], name)
    if module != SHORTCUTS:
        return stands(SHORTCUTS, name)
    raise AssertionError(f"{module} has no {name}")


def of_a_class(module, name):
    """How a method is called of the class that a module has or imports, and of which it makes one."""
    body = tree(module).body
    (made,) = (
        node.value.func.id
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if ast.unparse(node.targets[0]).startswith("_") and isinstance(node.value.func, ast.Name)
    )
    for node in body:
        if isinstance(node, ast.ImportFrom) and made in {each.name for each in node.names}:
            body = tree(node.module).body
    (owner,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == made)
    (method,) = (
        node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return called(method)[1:]


@pytest.mark.parametrize("engine", [*ENGINES, "interpret"])
def test_engines_are_called_as_the_contract_says(engine):
    module = f"dask_graphgpu.engine.{engine}"
    found = {name: stands(module, name)[0] for name in names(module)}
    assert found == {name: contract()[name] for name in found}
    # What need not be there is there all the same, and says so.
    assert {"run", *names(SHORTCUTS)} <= {*found}


def test_one_engine_has_all_of_it():
    module = "dask_graphgpu.engine.cpu"
    assert names(module) == contract().keys()
    assert SHORTCUTS not in {stands(module, name)[1] for name in contract()}
