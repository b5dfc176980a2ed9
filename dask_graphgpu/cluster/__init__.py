"""Ranks on the workers of a Dask cluster: what starts them, watches them and fetches what they made.

Without a cluster the same functions run on ranks that are threads of this process.

It may import `algorithms`, `arguments`, `checkpoint`, `config`, `engine`, `errors`, `exchange`, `ingest`,
`interrupting`, `io`, `partition`, `report`, `stages`, `store` of the package.
"""
