"""Rust, without debug information and with lld."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="rs",
    file="p.rs",
    compile=(
        "rustc",
        "-Cdebuginfo=0",
        "-Ccodegen-units=1",
        "-Clink-arg=-fuse-ld=lld",
        "-Awarnings",
        "{src}",
        "-o",
        "{exe}",
    ),
    run=("{exe}",),
    run_s=5.0,
    slot="candidate(????)",
    words=names(
        "String from vec Vec new to_string HashMap HashSet BTreeMap Some None Ok Err true false isize usize i32 i64 f64 char str as_str as collect iter into_iter cloned"
    ),
    quotes='"',
)
