"""A vertex program of one's own: the most reliable route to every place.

An edge holds the chance that a road is open, and a route is as good as the product of its edges.
The four functions are plain Python: the engine compiles them, and a debugger can step through them
with ``roads.graph(weight="open", engine="interpreted")``.

    python examples/custom_program.py
"""

import pandas as pd

import dask_graphgpu as dg

most_reliable = dg.VertexProgram(
    # None: a place that no route reaches.
    state={"chance": dg.Field("float64", initial=None, at_source=1.0)},
    # Along one edge. The names of the parameters say what is read.
    compute=lambda source_chance, weight: source_chance * weight,
    # Of several messages to one place, the best.
    combine="max",
    # A place that got better tells its neighbours.
    active=lambda chance, new_chance: new_chance > chance,
)


def main():
    roads = pd.DataFrame(
        {
            "source": ["home", "home", "bridge", "ferry", "bridge", "island"],
            "destination": ["bridge", "ferry", "town", "island", "island", "town"],
            "open": [0.9, 0.6, 0.5, 0.99, 0.2, 0.8],
        }
    )
    graph = roads.graph(weight="open")
    routes = graph.run(most_reliable, source="home")
    print(routes.to_string(index=False))
    return routes


if __name__ == "__main__":
    main()
