"""The seven tools and their actions, as the reference lists them."""

ACTIONS = {
    "memory": ["store", "search", "get", "get_related", "update", "delete"],
    "memory_manage": [
        "stats",
        "export",
        "import",
        "change_domain",
        "batch_delete",
        "cleanup",
        "list_categories",
    ],
    "search": ["semantic", "tags", "timerange", "advanced", "similar"],
    "project": ["create", "list", "get", "add_member", "remove_member", "update", "delete"],
    "user": ["get_current", "get_projects", "get_sessions", "create_session", "switch_session", "end_session"],
    "visualize": ["memory_map", "stats_dashboard", "domain_graph", "timeline", "category_chart"],
    "admin": [
        "health_check",
        "system_stats",
        "backup",
        "restore",
        "reindex",
        "cleanup_orphans",
        "migrate_domain",
    ],
}
TOOLS = tuple(ACTIONS)
BY_TYPE = {"search", "visualize"}


def chooser(tool: str) -> str:
    """The parameter that chooses among a tool's actions."""
    return "type" if tool in BY_TYPE else "action"
