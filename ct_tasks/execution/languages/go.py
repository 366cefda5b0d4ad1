"""Go: the check is a test, so the file must be named ``_test.go``; the build cache is warm in the image."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="go",
    file="p_test.go",
    compile=("go", "test", "-c", "-vet=off", "-o", "{exe}", "{src}"),
    compile_s=30.0,
    run=("{exe}",),
    run_s=15.0,
    slot="candidate(????)",
    env={"GOFLAGS": "-mod=mod", "GOCACHE": "/opt/ct/gocache", "GO111MODULE": "off", "GOPATH": "/opt/ct/gopath"},
    words=names("map string int int64 float64 bool rune byte interface nil true false struct error"),
    quotes="\"'`",
    memory_mb=2048,
)
