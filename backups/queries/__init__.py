"""Reads for the pages of backups, returned as rows of plain values."""
