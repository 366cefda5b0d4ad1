"""Swift 6, compiled (the official way; the interpreter is no faster with a warm module cache)."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="swift",
    file="p.swift",
    compile=("swiftc", "-Onone", "-suppress-warnings", "-module-cache-path", "{cache}", "{src}", "-o", "{exe}"),
    compile_s=45.0,
    run=("{exe}",),
    run_s=5.0,
    slot="f(????)",
    env={"CLANG_MODULE_CACHE_PATH": "{cache}"},
    words=names("String Int Double Float Bool Character Set Dictionary Array as Any nil true false AnyHashable text"),
    quotes='"',
    memory_mb=2048,
)
