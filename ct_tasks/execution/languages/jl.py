"""Julia, in an image of its own (Debian 12 and 13 have none)."""

from ct_tasks.execution.languages.base import JULIA_IMAGE, Language, names

LANGUAGE = Language(
    name="jl",
    file="p.jl",
    run=("julia", "--startup-file=no", "-O0", "--compile=min", "{src}"),
    run_s=5.0,
    slot="candidate(????)",
    words=names(
        "Dict Set Any Int64 Int Float64 String Char Bool Vector Array Tuple Union Nothing nothing true false missing Inf NaN"
    ),
    comments=("#",),
    image=JULIA_IMAGE,
)
