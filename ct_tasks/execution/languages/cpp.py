"""C++17 with g++. A precompiled ``bits/stdc++.h`` and lld cut a build to a third."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="cpp",
    file="p.cpp",
    compile=("g++", "-std=c++17", "-I/opt/ct/pch", "-fuse-ld=lld", "{src}", "-o", "{exe}"),
    # A precompiled header counts only before the first other include; every program of the benchmark includes it anyway.
    extra_if=("#include<bits/stdc++.h>", ("-include", "bits/stdc++.h")),
    run=("{exe}",),
    slot="candidate(????)",
    words=names(
        "std string vector map unordered_map set pair make_pair make_tuple tuple optional nullopt union variant long int float double bool true false nullptr L LL f"
    ),
)
