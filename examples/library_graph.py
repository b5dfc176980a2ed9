"""A knowledge graph for retrieval, on real data: what Python's standard library says of itself.

Modules, classes and functions are entities with a text, their docstring. An edge says that one contains, inherits from,
imports or mentions another. A question finds entities by its words, and the graph finds what belongs to them: passages
to hand to a reader or a language model, and the way that leads there.

    python examples/library_graph.py "compress files into a zip archive"
"""

import ast
import re
import sys
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from imports import known, modules

import dask_graphgpu as dg

WEIGHTS = {"contains": 1.0, "inherits": 2.0, "imports": 0.5, "mentions": 3.0}
LEFT_OUT = {"distutils", "encodings", "idlelib", "lib2to3", "pydoc_data", "turtledemo"}
DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def read(library):
    """The entities, with their texts, and the triples of the modules below a folder."""
    files = {
        name: path
        for name, path in modules(library).items()
        if name.partition(".")[0] not in LEFT_OUT
    }
    texts, triples = {}, []
    for module, path in files.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # old escapes in old modules
                tree = ast.parse(path.read_bytes())
        except SyntaxError:  # templates that only look like modules
            continue
        walk(module, tree, texts, triples, files)
    names = {}
    for entity in texts:  # what a plain word may mean, if it means one thing
        names.setdefault(entity.rpartition(".")[2], []).append(entity)
    for entity, text in texts.items():
        for word in set(re.findall(r"\b[A-Za-z_][\w.]{3,}\b", text)):
            meant = [word] if word in texts else names.get(word, [])
            if len(meant) == 1 and meant[0] != entity and not (word.islower() and word.isalpha()):
                triples.append((entity, "mentions", meant[0]))
    frame = pd.DataFrame(triples, columns=["subject", "relation", "object"]).drop_duplicates()
    return pd.Series(texts, name="text"), frame[frame["object"].isin(texts)]


def walk(name, node, texts, triples, files):
    """Take down an entity and what is defined in it."""
    texts[name] = ast.get_docstring(node) or ""
    for base in getattr(node, "bases", []):
        module = known(name, files)
        triples += [
            (name, "inherits", f"{module}.{ast.unparse(base)}"),
            (name, "inherits", ast.unparse(base)),
        ]
    for below in node.body:
        if isinstance(below, DEFINITIONS) and not below.name.startswith("_"):
            triples.append((name, "contains", f"{name}.{below.name}"))
            walk(f"{name}.{below.name}", below, texts, triples, files)
        elif isinstance(below, ast.Import):
            triples += [(name, "imports", alias.name) for alias in below.names]
        elif isinstance(below, ast.ImportFrom) and below.module and not below.level:
            triples.append((name, "imports", below.module))


def by_words(texts, question):
    """The entities whose words answer a question best: rare words count more, in short texts more."""
    score = np.zeros(len(texts))
    for word in {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", question.lower())}:
        has = (texts.index + " " + texts).str.contains(rf"(?i)\b{word}", regex=True).to_numpy()
        score += has * np.log(len(texts) / max(has.sum(), 1))
    score *= (texts.str.len() > 0) / np.log(60 + texts.str.len())
    return pd.Series(score, texts.index, name="score").nlargest(5)


def graph_of(texts, triples):
    """The relations, the stronger the more they say; entities without one are vertices, too."""
    edges = triples.assign(weight=triples["relation"].map(WEIGHTS))
    vertices = pd.DataFrame({"vertex": texts.index})
    ends = {"source": "subject", "destination": "object"}
    return dg.graph(edges, **ends, weight="weight", directed=False, vertices=vertices)


def by_relations(graph, seeds):
    """Other entities by how often a surfer comes by who starts at the seeds and follows relations either way."""
    start = seeds.rename_axis("vertex").reset_index()
    found = graph.pagerank(damping=0.7, personalization=start).merge(graph.degree(), on="vertex")
    # A hub is near everything: what counts is how much nearer it is to these seeds.
    found["score"] = found["rank"] / np.sqrt(found["degree"].clip(lower=1))
    return found[~found["vertex"].isin(seeds.index)].set_index("vertex")["score"]


def main(question="compress files into a zip archive"):
    texts, triples = read(Path(sysconfig.get_path("stdlib")))
    print(
        f"{len(texts)} entities, {len(triples)} triples: {triples['relation'].value_counts().to_dict()}"
    )
    seeds = by_words(texts, question)
    graph = graph_of(texts, triples).persist()
    near = by_relations(graph, seeds)
    near = near[texts[near.index].str.len() > 0].nlargest(6)
    for title, found in (
        (f"{question}? By its words", seeds),
        ("By what they have to do with", near),
    ):
        print(f"\n{title}:")
        for entity in found.index:
            print(f"  {entity:36.36} {' '.join(texts[entity].split())[:78]}")

    first, last = seeds.index[0], near.index[-1]
    path = graph.shortest_path(first, last, weighted=False)
    print(f"\nWhat {last} has to do with it:\n  {' -> '.join([first, *path['object']])}")

    topic = graph.leiden(resolution=2.0).set_index("vertex")["community"]
    members = topic.index[topic == topic[first]]
    print(
        f"\nThe topic of {first}: {len(members)} of {len(topic)} entities, to be summed up at once"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
