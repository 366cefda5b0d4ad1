"""Lua 5.4 with luaunit."""

from ct_tasks.execution.languages.base import Language, names

LANGUAGE = Language(
    name="lua",
    file="p.lua",
    run=("lua5.4", "{src}"),
    slot="candidate(????)",
    words=names("nil true false None"),
    comments=("--",),
)
