"""The transformers sampler with a real (tiny, random) model: log-probabilities, forks, limits, and where blocks end."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from ct_tasks.errors import HarnessError
from ct_train.dbs import beam, regular
from ct_train.rollouts.stopping import Codec, Window, cut_at
from ct_train.rollouts.transformers_sampler import TransformersSampler
from ct_train.rollouts.vllm_sampler import Piece, VllmSampler

VOCAB = [*"abcdefgh", "\n", "[/LOCALS]", "\n[/LOCALS]", "[/TRACE]\n", "<eos>", "<pad>"]
CODEC = Codec(lambda ids: "".join(VOCAB[i] for i in ids if i < 12), frozenset([12]), 13)
PROMPTS = [[1, 2, 3], [4, 5, 6, 7, 1, 2], [3]]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(VOCAB), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, eos_token_id=12, pad_token_id=13)
    return LlamaForCausalLM(config).eval()


def check(model, prompt, trajectory, temperature):
    ids = torch.tensor([[*prompt, *trajectory.ids]])
    with torch.no_grad():
        logits = model(ids).logits[0, :-1].float() / temperature
    policy = torch.log_softmax(logits, -1)
    fresh = [policy[len(prompt) - 1 + i, token].item() for i, token in enumerate(trajectory.ids)]
    assert fresh == pytest.approx(list(trajectory.logprobs), abs=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("batch_size", [64, 3])
def test_logprobs_equal_a_fresh_forward_pass(model, temperature, batch_size):
    torch.manual_seed(1)
    sampler = TransformersSampler(model, CODEC, max_tokens=60, temperature=temperature, batch_size=batch_size)
    for groups in (beam(PROMPTS, 4, sampler, lambda p, t: float(t.ids[0] % 3)), regular(PROMPTS, 3, sampler)):
        for prompt, group in zip(PROMPTS, groups, strict=True):
            for trajectory in group:
                check(model, prompt, trajectory, temperature)
                assert trajectory.text == CODEC.decode(trajectory.ids)
                assert trajectory.finished
                assert len(trajectory.ids) <= 60
                assert trajectory.truncated == (len(trajectory.ids) == 60 and trajectory.ids[-1] not in (11, 12))


def test_a_fork_shares_its_prefix_token_by_token(model):
    torch.manual_seed(3)
    sampler = TransformersSampler(model, CODEC, max_tokens=40)
    firsts = []

    def first_wins(prompt, trajectory):
        firsts.append(trajectory.ids)
        return float(trajectory.ids[: len(firsts[0])] == firsts[0])

    (group,) = beam([PROMPTS[0]], 4, sampler, first_wins)
    assert all(t.ids[: len(firsts[0])] == firsts[0] for t in group)


@pytest.mark.parametrize(
    ("before", "text", "cut"),
    [("x\n[/LOCALS", "x\n[/LOCALS]", "block"), ("", "[/LOCALS]", "block"), ("x [/LOCALS", "x [/LOCALS]", ""), ("{'a': '[/LOCALS]", "{'a': '[/LOCALS]'}", ""), ("x\n[/TRAC", "x\n[/TRACE]", "end"),
     ("\n[/LOCALS]\nmo", "\n[/LOCALS]\nmore", ""), ("a\n[/LOCALS", "a\n[/LOCALS]\n", "block"), ("", "", ""), ("\n[/LOCALS]\n\ufffd", "\n[/LOCALS]\né", "")],
)
def test_only_a_tag_line_that_is_new_ends_a_block(before, text, cut):
    assert cut_at(before, text) == cut


def test_the_middle_of_a_text_begins_no_line():
    assert cut_at("[/LOCALS", "[/LOCALS]", line_start=False) == ""


def test_window_sees_a_tag_over_several_tokens():
    window = Window(CODEC, [])
    assert [window.push(t) for t in (0, 8, 9)] == ["", "", "block"]
    assert window.push(11) == ""
    assert [window.push(t) for t in (8, 11)] == ["", "end"]


def test_vllm_sampler_goes_on_from_ids_and_skips_tags_inside_lines():
    asked = []

    def generate(prefixes, room, seeds):
        asked.append((prefixes, room, seeds))
        return [Piece([0, 9] if len(asked) == 1 else [10], [-0.5] * (2 if len(asked) == 1 else 1), "stop") for _ in prefixes]

    sampler = VllmSampler(generate, CODEC, max_tokens=20, seed=7)
    (group,) = regular([[1, 2]], 1, _once(sampler))
    assert group[0].ids == (0, 9, 10)  # "a[/LOCALS]" is no tag line, so it went on at once
    assert asked[1][0] == [[1, 2, 0, 9]]
    assert asked[1][1] == [18]
    assert asked[0][2] != asked[1][2]


def _once(sampler):
    class Once:
        def extend(self, prompts, trajectories):
            from dataclasses import replace

            return [replace(t, finished=True) for t in sampler.extend(prompts, trajectories)]

    return Once()


TRACE = "[TRACE]\n[CODE]\n[LINENO 0]    s = '日本 é 🎉 [/LOCALS]'\n[/CODE]\n[THOUGHT]\n→ ❷ naïve “quotes”\n[/THOUGHT]\n[LOCALS]\n{'s': '日本 é 🎉 [/LOCALS]'}\n[/LOCALS]\n🎉é→日本語 ㊙ \n[CODE]\né\n[/CODE]\n[LOCALS]\n{}\n[/LOCALS]\n❷❷[/LOCALS]\n[RETURN]\nassert f() == '🎉'\n[/RETURN]\n[/TRACE]"


@pytest.fixture(scope="module")
def smol(smollm2):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2)


def cuts(codec, ids):
    """(kind, text so far) at each cut."""
    window = Window(codec, [])
    return [(cut, codec.decode(ids[: k + 1])) for k, token in enumerate(ids) if (cut := window.push(token))]


@pytest.mark.model
def test_characters_of_several_bytes_behind_a_tag_cut_nothing(smol):
    """SmolLM2 writes a rare character as several tokens, each of which is text only with the others."""
    found = cuts(Codec.of(smol), smol(TRACE, add_special_tokens=False)["input_ids"])
    ends = [TRACE.index("\n[/LOCALS]") + 10, TRACE.index("{}\n[/LOCALS]") + 12, len(TRACE)]
    assert [cut for cut, _ in found] == ["block", "block", "end"]
    assert [text.rstrip("\n") for _, text in found] == [TRACE[:end] for end in ends]


@pytest.mark.model
def test_every_cut_is_at_a_tag_line_whatever_the_tokens(smol):
    """Random pieces, and random bytes that are no text: as many cuts as new tag lines in the whole text, each at its token."""
    import random

    rng, codec = random.Random(0), Codec.of(smol)
    bytes_ = smol.convert_tokens_to_ids(["Ġ", "Ċ", "ð", "Ł", "İ", "ī", "Ã", "©", "â", "<|im_start|>"])
    for _ in range(60):
        ids = []
        for _ in range(30):
            text = rng.choice(["\n[/LOCALS]\n", "\n[/LOCALS]", "🎉", "é", "日", "x [/LOCALS]", "\n", "[/TRACE]", "\n[/TRACE]\n", "'", ""])
            ids += smol(text, add_special_tokens=False)["input_ids"] or rng.choices(bytes_, k=rng.randint(1, 4))
        texts = [codec.decode(ids[:k]) for k in range(len(ids) + 1)]
        want = [k for k in range(len(ids)) if cut_at(texts[k], texts[k + 1])]
        window = Window(codec, [])
        assert [k for k, token in enumerate(ids) if window.push(token)] == want
        assert len(want) >= sum(("\n" + texts[-1]).count(f"\n{tag}") for tag in ("[/LOCALS]",)) - 1


def replay(pieces):
    """An engine that gives these pieces one after another, and fails when asked for more."""
    given = iter(pieces)
    return lambda prefixes, room, seeds: [next(given) for _ in prefixes]


def extended(pieces, codec=CODEC, begun=(), max_tokens=20):
    from ct_train.dbs import Trajectory

    start = Trajectory(ids=tuple(begun), logprobs=(-1.0,) * len(begun), text=codec.decode(begun))
    return VllmSampler(replay(pieces), codec, max_tokens=max_tokens).extend([[1]], [start])[0]


def piece(*ids, reason="stop", told=True):
    return Piece(list(ids), [-0.5] * len(ids), reason, told)


STRANGE = 14  # a stop token that the codec does not know: special, so it decodes to nothing


@pytest.mark.parametrize(
    ("pieces", "finished", "truncated"),
    [
        ([piece()], True, False), ([piece(told=False)], True, False), ([piece(0, STRANGE)], True, False), ([piece(0, STRANGE, told=False)], True, False), ([piece(0, 1)], True, False),  # the engine says it stopped: on a token that is text
        ([piece(0, 1, told=False)], True, True),  # a limit of the server's own, not told
        ([piece(0, reason="length")], True, True), ([piece(reason="length")], True, True), ([piece(0, 9), piece()], True, False), ([piece(0, 10)], False, False), ([piece(0, 9), piece(8, 9)], False, False),
        ([piece(*[0] * 20, told=False)], True, True), ([piece(0, 12)], True, False),
    ],
)
def test_vllm_sampler_never_asks_again_without_a_tag_inside_a_line(pieces, finished, truncated):
    found = extended(pieces)
    assert (found.finished, found.truncated) == (finished, truncated)
    assert list(found.ids) == [i for p in pieces for i in p.ids]


def test_vllm_sampler_says_when_the_engine_gives_up():
    with pytest.raises(HarnessError, match="abort"):
        extended([piece(0, reason="abort")])


@pytest.mark.model
def test_vllm_sampler_goes_past_a_quoted_tag_with_a_real_tokenizer(smol):
    codec, quoted = Codec.of(smol), TRACE.index("[/LOCALS]") + 9
    ids = [smol(part, add_special_tokens=False)["input_ids"] for part in (TRACE[:quoted], TRACE[quoted : TRACE.index("'}\n") + 12])]
    quoted_twice = [piece(*some) for some in ids]
    assert codec.decode([*ids[0], *ids[1]]).endswith("'}\n[/LOCALS]")
    found = extended(quoted_twice, codec, max_tokens=500)
    assert not found.finished
    assert found.text.endswith("}\n[/LOCALS]")


def test_a_model_whose_weights_are_none_samples_nothing(model):
    import copy

    broken = copy.deepcopy(model)
    with torch.no_grad():
        broken.model.norm.weight.fill_(float("nan"))
    from ct_train.rollouts.static_sampler import StaticSampler

    for sampler in (TransformersSampler(broken, CODEC, max_tokens=9), StaticSampler(broken, CODEC, max_tokens=9)):
        with pytest.raises(HarnessError, match="not finite numbers"):
            regular(PROMPTS, 2, sampler)
