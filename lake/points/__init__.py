"""What of its tables a backup restores: proven from S3, topped up, and kept in the backup as restore points."""
