"""S3, DynamoDB and STS behind small typed functions; the only room that imports botocore."""
