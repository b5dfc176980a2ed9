"""Edge and vertex frames in, result frames out, Parquet."""
