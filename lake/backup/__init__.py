"""The files that S3 Inventory and S3 Batch Operations read and write. Pure: bytes and text in, facts out."""
