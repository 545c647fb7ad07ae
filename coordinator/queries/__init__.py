"""Reads for pages: typed rows from the stored snapshots. Every list is paged by key and backed by an index."""
