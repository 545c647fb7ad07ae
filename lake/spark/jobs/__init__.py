"""What a Spark worker can do, one module each: `job(…)` asks for it, `run(spark, params, report)` does it.

DataFrames and SQL only, so that each runs in a JVM of our own and on a cluster alike.
"""
