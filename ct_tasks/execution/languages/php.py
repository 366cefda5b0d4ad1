"""PHP on the command line. A parse error is reported on stdout."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="php",
    file="p.php",
    run=("php", "{src}"),
    slot="candidate(????)",
    fail_text=("PHP Parse error",),
    words=names("array null true false NULL INF NAN"),
    comments=("//", "/*", "#", "?>"),
)
