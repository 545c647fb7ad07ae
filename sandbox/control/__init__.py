"""S3 Control and S3 Inventory as the sandbox plays them, by S3's own rules, on the objects that moto keeps."""
