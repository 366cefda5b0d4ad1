"""PHP on the command line. A parse error is reported on stdout."""

from ct_tasks.execution.languages.base import Language

LANGUAGE = Language(
    name="php", file="p.php", run=("php", "{src}"), slot="candidate(????)", fail_text=("PHP Parse error",),
    words=frozenset("array null true false NULL INF NAN".split()), comments=("//", "/*", "#", "?>"),
)
