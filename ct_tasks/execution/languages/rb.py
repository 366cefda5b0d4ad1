"""Ruby with test-unit."""

from ct_tasks.execution.languages.base import Language

LANGUAGE = Language(
    name="rb", file="p.rb", run=("ruby", "{src}"), run_s=5.0, slot="candidate.call(????)", words=frozenset("nil true false Set new".split()), comments=("#",),
)
