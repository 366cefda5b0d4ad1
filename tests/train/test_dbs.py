"""DBS with a scripted sampler: the allocation on hand-worked cases, and the loop around it."""

import doctest
import random
from collections import Counter

import pytest

import ct_train.dbs as dbs
from ct_train.dbs import Trajectory, beam, generated_tokens, mixed, regular, shares


def test_examples_in_the_docstring():
    assert doctest.testmod(dbs).failed == 0


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1], [1]),
        ([1, 0, 0, 0], [4, 0, 0, 0]),
        ([0, 0, 0, 1], [0, 0, 0, 4]),
        ([1, 1, 0, 0], [2, 2, 0, 0]),
        ([1, 0, 1, 1], [2, 0, 1, 1]),
        ([0, 0, 0, 0], [1, 1, 1, 1]),
        ([0.8, 0.4, 0.8, 0.0], [2, 0, 2, 0]),
        ([1, 0, 0, 0, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 0]),
        ([1, 1, 0, 0, 0, 0, 0, 0], [4, 4, 0, 0, 0, 0, 0, 0]),
        ([1, 1, 1, 0, 0, 0, 0, 0], [3, 3, 2, 0, 0, 0, 0, 0]),
        ([1, 1, 1, 1, 0, 0, 0, 0], [2, 2, 2, 2, 0, 0, 0, 0]),
        ([0, 1, 1, 1, 1, 1, 0, 0], [0, 2, 2, 2, 1, 1, 0, 0]),
        ([1, 1, 1, 1, 1, 1, 0, 0], [2, 2, 1, 1, 1, 1, 0, 0]),
        ([1, 1, 1, 1, 1, 1, 1, 0], [2, 1, 1, 1, 1, 1, 1, 0]),
        ([1] * 8, [1] * 8),
    ],
)
def test_shares_of_distinct_texts(scores, expected):
    assert shares(scores, [str(i) for i in range(len(scores))]) == expected


@pytest.mark.parametrize(
    ("scores", "texts", "expected"),
    [
        ([1, 1, 1, 0, 0], "aabcd", [2, 1, 2, 0, 0]),
        ([1, 1, 1, 1, 1, 0, 0, 0], "aaabbccc", [2, 2, 1, 2, 1, 0, 0, 0]),
        ([1, 1, 1, 1], "aaab", [1, 1, 1, 1]),
        ([1, 1, 0], "aab", [2, 1, 0]),
    ],
)
def test_distinct_texts_get_the_remainder_first(scores, texts, expected):
    assert shares(scores, list(texts)) == expected


class Script:
    """Block ``k`` of a prompt's draw ``n`` is the next letter of its script; upper case ends the trajectory."""

    def __init__(self, *rounds):
        self.rounds, self.calls, self.prefixes = list(rounds), 0, []

    def extend(self, prompts, trajectories):
        letters = self.rounds[self.calls]
        self.calls += 1
        assert len(letters) == len(trajectories), (letters, [t.text for t in trajectories])
        self.prefixes.append([t.text for t in trajectories])
        return [
            Trajectory((*t.ids, ord(c)), (*t.logprobs, -1.0), t.text + c, finished=c.isupper(), generated=t.generated + 1)
            for t, c in zip(trajectories, letters, strict=True)
        ]


def vowels(_, trajectory):
    """Length of the prefix made of vowels."""
    return next((i for i, c in enumerate(trajectory.text.lower()) if c not in "aeiou"), len(trajectory.text))


def texts(groups):
    return [[t.text for t in g] for g in groups]


def test_budget_moves_to_the_best():
    script = Script("axyz", "xaez", "AEXY")
    out = beam([[0]], 4, script, vowels)
    assert script.prefixes[1] == ["a"] * 4
    assert script.prefixes[2] == ["aa", "aa", "ae", "ae"]
    assert texts(out) == [["aaA", "aaA", "aaE", "aaE"]]
    assert generated_tokens(out) == 12


def test_ties_share_and_remainder_goes_to_the_first():
    script = Script("aexi", "XXXX")
    out = beam([[0]], 4, script, vowels)
    assert script.prefixes[1] == ["a", "a", "e", "i"]
    assert texts(out) == [["aX", "aX", "eX", "iX"]]


def test_a_finished_trajectory_keeps_its_share_and_competes():
    script = Script("Aexx", "ae", "XXXX")
    out = beam([[0]], 4, script, vowels)
    # Round 1: A (finished) and e tie, two slots each; round 2: both continuations of e score 2 and take A's slots too.
    assert script.prefixes[1:] == [["e", "e"], ["ea", "ea", "ee", "ee"]]
    assert texts(out) == [["eaX", "eaX", "eeX", "eeX"]]
    script = Script("Aexx", "xx", "XX")
    # Round 2: both continuations of e still score 1, as A does: A keeps a share beside them.
    out = beam([[0]], 4, script, vowels)
    assert script.prefixes[2] == ["ex", "ex"]
    assert texts(out) == [["A", "A", "exX", "exX"]]


def test_a_finished_trajectory_may_win_everything():
    script = Script("Axxx")
    out = beam([[0]], 4, script, vowels)
    assert texts(out) == [["A", "A", "A", "A"]]
    assert script.calls == 1
    assert generated_tokens(out) == 4


def test_prompts_do_not_mix():
    script = Script("axey", "XXXX")
    out = beam([[1], [2]], 2, script, vowels)
    assert texts(out) == [["aX", "aX"], ["eX", "eX"]]


def test_regular_never_moves_a_slot():
    script = Script("axyz", "AXYZ")
    assert texts(regular([[0]], 4, script)) == [["aA", "xX", "yY", "zZ"]]


def test_both_halves_share_their_calls_and_nothing_else():
    """The first two slots are regular: the best of all stands there and takes no slot of the others, nor loses its own."""
    script = Script("axyi", "aXxE", "A")
    out = mixed([[0]], 2, 2, script, vowels)
    assert script.prefixes == [["", "", "", ""], ["a", "x", "i", "i"], ["aa"]]
    assert texts(out) == [["aaA", "xX", "iE", "iE"]]
    assert generated_tokens(out) == 9


@pytest.mark.parametrize(("own", "by_dbs"), [(4, 0), (0, 4), (1, 3)])
def test_a_split_of_any_size(own, by_dbs):
    (group,) = mixed([[0]], own, by_dbs, Script("xaxx", "XXXX"), vowels)
    assert [t.text for t in group] == ["xX", "aX", "xX", "xX"][:own] + ["aX"] * by_dbs


def test_endless_trajectories_are_cut_and_marked():
    class Endless:
        def extend(self, prompts, trajectories):
            return [Trajectory((*t.ids, 1), (*t.logprobs, 0.0), t.text + "b") for t in trajectories]

    (group,) = regular([[0]], 2, Endless())
    assert all(t.finished and t.truncated and len(t.ids) == dbs.MAX_BLOCKS for t in group)


class Coin:
    def __init__(self, seed):
        self.draw = random.Random(seed)

    def extend(self, prompts, trajectories):
        return [
            Trajectory((*t.ids, 0), (*t.logprobs, 0.0), t.text + self.draw.choice("aab"), finished=len(t.text) == 2) for t in trajectories
        ]


def test_all_ties_sample_like_regular():
    """Chi-square of 8 texts between DBS with equal scores and regular sampling; 24.3 is the 0.1 % point at 7 degrees."""
    counts = [Counter(t.text for group in out for t in group) for out in (beam([[0]] * 2000, 4, Coin(1), lambda *_: 0.0), regular([[0]] * 2000, 4, Coin(2)))]
    chi = sum((counts[0][k] - counts[1][k]) ** 2 / (counts[0][k] + counts[1][k]) for k in counts[0] | counts[1])
    assert len(counts[0]) == 8
    assert chi < 24.3
