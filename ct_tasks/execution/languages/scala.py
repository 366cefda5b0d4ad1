"""Scala 2.11 on the JVM. Its compiler takes six seconds to start, so one resident compiler builds all; plain java runs the classes."""

from ct_tasks.execution.languages.base import Language, names

LIBRARIES = (
    "/usr/share/java/scala-library.jar:/usr/share/java/scala-reflect.jar:/usr/share/java/scala-parser-combinators.jar"
)

LANGUAGE = Language(
    name="scala",
    file="Problem.scala",
    compile=("scalac", "-nowarn", "-d", "{dir}", "{src}"),
    compile_s=45.0,
    run=("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", "{dir}:" + LIBRARIES, "Problem"),
    slot="f(????)",
    stderr_fails=True,
    batch="scala",
    memory_mb=2048,
    words=names(
        "List Map Set Tuple2 Some None Option Nil Long Int Float Double String Boolean Char true false null Left Right l L f F"
    ),
)
