"""``python -m ct_tasks``: one file a subcommand, imported only when it is asked for."""
