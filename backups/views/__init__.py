"""Pages of backups."""
