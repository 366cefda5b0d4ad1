"""Python 3, as the benchmark's nineteenth language: run like the others, in the container."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="py",
    file="p.py",
    run=("python3", "{src}"),
    slot="candidate(????)",
    words=names("True False None set frozenset dict list tuple float r b"),
    comments=("#",),
)
