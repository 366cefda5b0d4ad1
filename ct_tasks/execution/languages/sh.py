"""Bash. An answer is one word of the shell: quoted text or a plain word, never an expansion."""

from ct_tasks.execution.languages.base import Language

LANGUAGE = Language(name="sh", file="p.sh", run=("bash", "{src}"), slot="$(candidate ????)", comments=())
