"""Puts the ``.pth`` file that lets lm-eval find the tasks into wheels and into editable installs."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PTH = "codethinker_eval.pth"


class PthHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the file at the root of ``site-packages``, whichever way the project is installed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        key = "force_include_editable" if version == "editable" else "force_include"
        build_data.setdefault(key, {})[PTH] = PTH
