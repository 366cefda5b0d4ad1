"""Ruby with test-unit."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="rb",
    file="p.rb",
    run=("ruby", "{src}"),
    run_s=5.0,
    slot="candidate.call(????)",
    words=names("nil true false Set new"),
    comments=("#",),
)
