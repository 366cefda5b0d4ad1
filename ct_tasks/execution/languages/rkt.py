"""Racket with rackunit, which exits with 0 when a check fails: anything on stderr is a failure."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="rkt",
    file="p.rkt",
    run=("racket", "{src}"),
    slot="(candidate ????)",
    stderr_fails=True,
    words=names("list hash quote cons vector string null empty t f true false nan inf"),
    comments=(";", "#|", "#;"),
    quotes='"',
)
