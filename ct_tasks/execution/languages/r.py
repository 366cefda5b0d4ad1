"""R with ``stopifnot``."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="r",
    file="p.r",
    run=("Rscript", "--vanilla", "{src}"),
    run_s=5.0,
    slot="candidate(????)",
    words=names("list c TRUE FALSE NULL NA character integer numeric logical setNames structure L as vector Inf NaN"),
    comments=("#",),
)
