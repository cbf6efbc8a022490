"""Domain Shared Key管理."""
