"""Config files: reading one, and the kinds that other packages add to what ``validate`` knows.

A package names its kinds in the entry-point group ``codethinker.configs``, so nothing here imports it.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import ConfigError

GROUP = "codethinker.configs"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of config. ``command``: what reads it; ``keys``: its top-level keys; ``problems``: everything that is wrong
    with a file and its ``key=value`` overrides."""

    command: str
    keys: frozenset[str]
    problems: Callable[[Path, Sequence[str]], list[ConfigError]]


def kinds() -> list[Kind]:
    """Those of the installed packages: each entry point is a function that lists its own."""
    return [kind for point in importlib.metadata.entry_points(group=GROUP) for kind in point.load()()]


class _Loader(yaml.SafeLoader):
    """Leaves dates as the text that they are written in: YAML's own reading ends in a traceback for a 13th month."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds one mapping. Raises ``ConfigError`` with the line of a syntax error."""
    try:
        config = yaml.load(path.read_text(), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}") from None
    except yaml.YAMLError as error:
        first = str(error).partition("\n")[0]
        raise ConfigError(f"is not YAML: {first} {getattr(error, 'problem_mark', '')}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"holds a {type(config).__name__}, not a mapping of options")
    return config
