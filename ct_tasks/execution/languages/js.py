"""JavaScript on Node.js."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="js",
    file="p.js",
    run=("node", "{src}"),
    run_s=5.0,
    slot="candidate(????)",
    words=names("undefined null true false NaN Infinity new Set Map"),
    quotes="\"'`",
)
