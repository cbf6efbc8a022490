"""Context Engine."""
