"""Atlas管理."""
