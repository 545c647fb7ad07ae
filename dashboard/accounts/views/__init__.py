"""Pages of signing in, of a person's own account, and of people."""
