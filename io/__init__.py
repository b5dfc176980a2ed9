"""Edge and vertex frames in, result frames out, Parquet.

It may import `arguments`, `config`, `errors`, `exchange`, `interrupting`, `kernels`, `partition`, `stages` of the
package.
"""
