"""``python -m ct_train``: one file a subcommand, imported only when it is asked for."""
