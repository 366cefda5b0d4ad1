"""A slice of the two fuzzers of benchmarks/: texts that mislead a reader, and values that cost too much."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def benchmark(name):
    spec = importlib.util.spec_from_file_location(f"{name}_for_test", ROOT / "benchmarks" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_texts_full_of_syntax():
    assert set(benchmark("fuzz_values").run(3000, seed=7)) >= {"value", "read", "refused"}


hostile = benchmark("hostile_values")
SLICE = ("nested frozensets of two", "ranges", "nested constructors", "hexadecimal digits", "colliding integers", "a chain of complex numbers", "brackets in strings", "backslashes", "more integers")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("name", SLICE)
def test_no_value_costs_much_and_nothing_escapes(name):
    """The limit on time only ends what would run for ever; benchmarks/hostile_values.py gives the figures."""
    for how, work in hostile.readings(hostile.VALUES[name]):
        row = hostile.measured(work, 30.0)
        assert not row["escaped"], (how, row)
        assert row["mb"] < 100, (how, row)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("name", hostile.PROGRAMS)
def test_no_program_ends_the_tracer(name):
    row = hostile.measured(lambda: hostile.traced(hostile.PROGRAMS[name]), 60.0)
    assert not row["escaped"], row
