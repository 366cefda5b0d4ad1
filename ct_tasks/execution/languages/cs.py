"""C# with mono's mcs (Debian has no .NET). A failed ``Debug.Assert`` exits with 0 and shows on stderr only."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="cs",
    file="p.cs",
    compile=("mcs", "-d:DEBUG", "-r:System.Numerics.dll", "{src}", "-out:{exe}.exe"),
    run=("mono", "{exe}.exe"),
    run_s=5.0,
    slot="F(????)",
    env={"MONO_TRACE_LISTENER": "Console.Error"},
    fail_text=("DefaultTraceListener.Fail", "Unhandled Exception"),
    words=names(
        "new List Dictionary HashSet Tuple Create KeyValuePair string long int float double bool char true false null BigInteger L f"
    ),
)
