"""The data side of backups on Spark: DataFrames only; what talks to S3 runs in the executors' Python."""
