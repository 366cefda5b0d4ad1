"""Lets plain ``lm_eval`` find the ``ct_*`` tasks: lm-eval has no plug-in mechanism, so a ``.pth`` file imports this module.

It runs at every start of Python, so it imports nothing but ``sys`` and does nothing until ``lm_eval.tasks.manager`` is
imported; then ``TaskManager`` also scans our task folder and checks ``--metadata`` before a model loads.
``CT_TASKS_NO_AUTOLOAD=1`` switches it off (then: ``lm_eval run --include_path .../ct_tasks/lm_eval/tasks``).
"""

import sys

TARGET = "lm_eval.tasks.manager"


class _Finder:
    """A meta-path finder that wraps the loading of one module and then leaves ``sys.meta_path``."""

    @staticmethod
    def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name != TARGET:
            return None
        sys.meta_path.remove(_Finder)
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):  # type: ignore[no-untyped-def]
            execute(module)
            from ct_tasks.lm_eval.hook import install

            install(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def activate() -> None:
    """Install the finder once, unless ``CT_TASKS_NO_AUTOLOAD`` says otherwise."""
    from os import environ

    if (
        environ.get("CT_TASKS_NO_AUTOLOAD", "") in ("", "0")
        and _Finder not in sys.meta_path
        and TARGET not in sys.modules
    ):
        sys.meta_path.insert(0, _Finder)


activate()
