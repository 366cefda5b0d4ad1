"""The fast sampler: the model's own numbers, greedy text of transformers' generate, DBS forks, its refusals."""

import pytest
import torch

from ct_tasks.errors import ConfigError
from ct_train.dbs import Trajectory, beam, regular
from ct_train.micro.model import model, tokenizer
from ct_train.rollouts.static_sampler import StaticSampler
from ct_train.rollouts.stopping import Codec

TEXTS = ["[PYTHON]\nf(1)", "[PYTHON]\n[LINENO 0]    def f(a):\nThe call: f(12)", "x"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    import tiny
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny.make(tmp_path_factory.mktemp("tiny"), steps=80)
    tokens = AutoTokenizer.from_pretrained(folder)
    return AutoModelForCausalLM.from_pretrained(folder).eval(), tokens, [tokens(tiny.prompt_of(t))["input_ids"] for t in tiny.TRUTHS]


def fresh_logprobs(made, prompt, ids):
    with torch.no_grad():
        policy = torch.log_softmax(made(torch.tensor([[*prompt, *ids]])).logits[0].float(), dim=-1)
    return [float(policy[len(prompt) - 1 + k, token]) for k, token in enumerate(ids)]


@pytest.mark.parametrize("whole", [True, False])
def test_logprobs_are_those_of_a_fresh_forward_pass(whole):
    tokens = tokenizer()
    made = model(tokens, seed=1).eval()
    prompts = [tokens(t)["input_ids"] for t in TEXTS for _ in range(5)]
    sampler = StaticSampler(made, Codec.of(tokens), max_tokens=40, batch_size=8)
    torch.manual_seed(0)
    done = (sampler.complete if whole else sampler.extend)(prompts, [Trajectory()] * len(prompts))
    for prompt, t in zip(prompts, done, strict=True):
        assert t.logprobs == pytest.approx(fresh_logprobs(made, prompt, t.ids), abs=1e-4)


def test_dbs_forks_carry_right_logprobs_and_ids(parts):
    made, tokens, prompts = parts
    torch.manual_seed(1)
    groups = beam(prompts, 4, StaticSampler(made, Codec.of(tokens), max_tokens=120), lambda p, t: len(t.ids) % 3)
    for prompt, group in zip(prompts, groups, strict=True):
        for t in group:
            assert t.finished
            assert t.logprobs == pytest.approx(fresh_logprobs(made, prompt, t.ids), abs=1e-4)
            assert t.text == tokens.decode(list(t.ids), skip_special_tokens=True)


def test_greedy_is_transformers_own_greedy(parts):
    made, tokens, prompts = parts
    ours = StaticSampler(made, Codec.of(tokens), max_tokens=120, temperature=0.0).complete(prompts, [Trajectory()] * len(prompts))
    for prompt, t in zip(prompts, ours, strict=True):
        theirs = made.generate(torch.tensor([prompt]), max_new_tokens=len(t.ids), do_sample=False)[0, len(prompt) :].tolist()
        assert theirs == list(t.ids)


def test_whole_and_block_by_block_draw_from_the_same_distribution(parts):
    made, tokens, prompts = parts
    sampler = StaticSampler(made, Codec.of(tokens), max_tokens=60, temperature=1.5)
    torch.manual_seed(3)
    whole = [len(t.ids) for t in regular([prompts[0]], 120, sampler)[0]]
    blocks = [len(t.ids) for t in beam([prompts[0]], 120, sampler, lambda p, t: 0.0)[0]]
    deviation = (torch.tensor(whole).float().var() / 120 + torch.tensor(blocks).float().var() / 120).sqrt()
    assert abs(sum(whole) - sum(blocks)) / 120 < 4 * float(deviation) + 1e-6


def test_other_architectures_are_refused():
    from transformers import GPT2Config, GPT2LMHeadModel

    with pytest.raises(ConfigError, match="engine=transformers"):
        StaticSampler(GPT2LMHeadModel(GPT2Config(vocab_size=200, n_embd=8, n_layer=1, n_head=1)), Codec.of(tokenizer()), max_tokens=4)


def test_lora_adapters_are_in_the_policy(parts, tmp_path):
    import copy

    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    made, tokens, prompts = parts
    made.save_pretrained(tmp_path / "base")
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    adapted = get_peft_model(copy.deepcopy(base), LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM"))
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    adapted.eval()
    torch.manual_seed(0)
    t = StaticSampler(adapted, Codec.of(tokens), max_tokens=40).complete(prompts[:1], [Trajectory()])[0]
    assert t.logprobs == pytest.approx(fresh_logprobs(adapted, prompts[0], t.ids), abs=1e-4)
    assert t.logprobs != pytest.approx(fresh_logprobs(base, prompts[0], t.ids), abs=1e-1)
