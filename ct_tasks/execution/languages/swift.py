"""Swift 6, compiled (the official way; the interpreter is no faster with a warm module cache)."""

from ct_tasks.execution.languages.base import Language

LANGUAGE = Language(
    name="swift", file="p.swift", compile=("swiftc", "-Onone", "-suppress-warnings", "{src}", "-o", "{exe}"), compile_s=45.0, run=("{exe}",), run_s=5.0,
    slot="f(????)", env={"HOME": "/tmp"},
    words=frozenset("String Int Double Float Bool Character Set Dictionary Array as Any nil true false AnyHashable text".split()), quotes='"', memory_mb=2048,
)
