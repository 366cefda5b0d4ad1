"""TypeScript 7 (the native compiler), then Node.js. Many files compile in one process; a file with an error is built again alone."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="ts",
    file="p.ts",
    compile=(
        "tsc",
        "--strict",
        "false",
        "--target",
        "esnext",
        "--module",
        "commonjs",
        "--moduleDetection",
        "force",
        "--outDir",
        "{dir}/out",
        "{src}",
    ),
    run=("node", "{dir}/out/p.js"),
    slot="candidate(????)",
    words=names("undefined null true false NaN Infinity new Set Map string number any as"),
    quotes="\"'`",
    batch="ts",
)
