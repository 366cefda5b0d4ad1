"""Java 21 with assertions on. One resident compiler builds many programs; each still runs in a JVM of its own."""

from ct_tasks.execution.languages.base import Language, names

CLASSPATH = "/usr/share/java/javatuples.jar"

LANGUAGE = Language(
    name="java",
    file="Problem.java",
    compile=("javac", "-encoding", "UTF8", "-cp", CLASSPATH, "-d", "{dir}", "{src}"),
    run=(
        "java",
        "-ea",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx256m",
        "-Xshare:auto",
        "-cp",
        "{dir}:" + CLASSPATH,
        "Problem",
    ),
    slot="f(????)",
    words=names(
        "new ArrayList Arrays asList List of Map HashMap HashSet Set Pair with Triplet Optional empty ofNullable Long Float String Integer Double Boolean long int float double boolean char true false null Union l L f F d entry ofEntries Collections emptyList"
    ),
    batch="java",
    memory_mb=2048,
)
