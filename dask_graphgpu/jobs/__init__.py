"""Jobs, from file to file: the command ``dask graph``, job files, and what runs them.

It may import `algorithms`, `checkpoint`, `cluster`, `config`, `engine`, `errors`, `features`, `graph_options`, `io`,
`loading`, `matching`, `partition`, `progress`, `report`, `store` of the package.
"""
