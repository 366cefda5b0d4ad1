"""The far side of the Python pool: supervisor, fork server, one throw-away child a program, and the layers round it.

``supervisor`` talks to the pool over two pipes and keeps the clock; ``zygote`` forks children and never sees a program;
``child`` runs programs; ``gate`` decides which of them may share a child; ``layers``, ``mounts``, ``seccomp`` take
rights away. The same code runs on the host and inside a container. ``docs/sandbox.md`` has the threat model.
"""
