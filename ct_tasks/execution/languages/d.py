"""D with ldc2: the check is a ``unittest`` block, so the program is built with ``-unittest`` and run."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="d",
    file="p.d",
    compile=("ldc2", "-unittest", "{src}", "-of={exe}", "-od={dir}"),
    run=("{exe}",),
    slot="candidate(????)",
    words=names("tuple nullable Nullable null true false long int string init assocArray L"),
    quotes="\"'`",
)
