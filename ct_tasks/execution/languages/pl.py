"""Perl with Test::Deep. The official runner also fails a program that prints ERROR."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="pl",
    file="p.pl",
    run=("perl", "{src}"),
    slot="$candidate->(????)",
    fail_text=("ERROR",),
    words=names("undef qw x"),
    comments=("#",),
)
