"""What lm-eval's own model classes tell of a reply's ending, and that it stays with the right request and repeat."""

import copy
import json
import pickle
from types import SimpleNamespace

import pytest
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

from ct_tasks.lm_eval import capture
from ct_tasks.lm_eval.collect import collect
from ct_tasks.lm_eval.task import CtTask
from ct_tasks.paradigms.thinking import opened_by
from ct_tasks.reply import UNKNOWN, Ending, Reply


def chat_choice(content, reason="stop", **message):
    return {"choices": [{"index": 0, "finish_reason": reason, "message": {"content": content, **message}}], "usage": {"completion_tokens": 7}}


@pytest.fixture
def chat():
    capture.install()
    return LocalChatCompletion(base_url="http://127.0.0.1:9/v1/chat/completions", model="m")


@pytest.mark.parametrize(
    ("output", "text", "ending", "truncated"),
    [
        (chat_choice("a"), "a", Ending("stop", None, 7), False),
        (chat_choice("a", "length"), "a", Ending("length", None, 7), True),
        (chat_choice("a", "content_filter"), "a", Ending("content_filter", None, 7), None),
        (chat_choice("a", None), "a", Ending(None, None, 7), None),
        (chat_choice("a", reasoning_content="t"), "a", Ending("stop", None, 7, "t"), False),
        (chat_choice("a", reasoning="t"), "a", Ending("stop", None, 7, "t"), False),
        (chat_choice("a", reasoning_content=None, reasoning="t"), "a", Ending("stop", None, 7, "t"), False),
        (chat_choice(None, "length", reasoning_content="t"), "", Ending("length", None, 7, "t"), True),  # all room went into the thought
        ({"choices": [{"index": 0, "finish_reason": "stop", "stop_reason": "[/ANSWER]", "message": {"content": "a"}}]}, "a", Ending("stop", "[/ANSWER]"), False),
        ({"choices": [{"index": 0, "finish_reason": "stop", "stop_reason": None, "message": {"content": "a"}}]}, "a", Ending("stop", ""), False),
        ({"choices": [{"index": 0, "message": {"content": "a"}}]}, "a", UNKNOWN, None),
    ],
)  # fmt: skip
def test_a_chat_server_tells(chat, output, text, ending, truncated):
    (reply,) = chat.parse_generations(outputs=output, contexts=["p"])
    assert (reply, reply.ending, reply.ending.truncated) == (text, ending, truncated)


def test_what_lm_eval_takes_off_is_the_thought(chat):
    chat.think_end_token = "</think>"
    (reply,) = chat.parse_generations(outputs=chat_choice("so\n</think>\n\n[ANSWER]"), contexts=["p"])
    assert (reply, reply.ending.reasoning) == ("[ANSWER]", "so\n")


def test_a_reply_that_lm_eval_cannot_read_is_left_alone(chat):
    assert chat.parse_generations(outputs=chat_choice(None, None), contexts=["p"]) == [None]
    assert chat.parse_generations(outputs={"error": "no"}, contexts=["p"]) == [""]
    assert chat.parse_generations(outputs={"choices": ["?"]}, contexts=["p"]) == [""]


def test_completions_in_one_reply_keep_their_order():
    capture.install()
    choices = [{"index": 1, "text": "b", "finish_reason": "length"}, {"index": 0, "text": "a", "finish_reason": "stop"}]
    one, two = LocalCompletionsAPI.parse_generations(outputs={"choices": choices, "usage": {"completion_tokens": 9}}, contexts=["p", "q"])
    assert (one, one.ending, two, two.ending) == ("a", Ending("stop"), "b", Ending("length"))  # the usage is that of both together


def test_an_empty_list_of_stop_strings_is_not_sent(chat):
    payload = chat._create_payload([{"role": "user", "content": "p"}], generate=True, gen_kwargs={"until": [], "max_gen_toks": 5})
    assert "stop" not in payload
    assert chat._create_payload([{"role": "user", "content": "p"}], generate=True, gen_kwargs={"until": ["x"]})["stop"] == ["x"]


def test_installing_twice_wraps_once(chat):
    before = LocalChatCompletion.parse_generations
    capture.install()
    assert LocalChatCompletion.parse_generations is before
    assert not hasattr(before.ct_original, "ct_original")


def test_a_reply_is_a_string_that_keeps_its_ending():
    reply = Reply("a\u2028b", Ending("length", None, 3, "t"))
    assert json.dumps([reply]) == json.dumps(["a\u2028b"])
    for copied in (pickle.loads(pickle.dumps(reply)), copy.deepcopy(reply)):
        assert (copied, copied.ending) == (reply, reply.ending)
    assert Ending.from_json(reply.ending.to_json()) == reply.ending
    assert Ending.from_json({"finish_reason": 3, "tokens": True, "key": "k"}) == UNKNOWN
    assert Reply.of(None) == ""
    assert Reply.of("x").ending.truncated is None


def test_vllm_tells_and_stop_strings_in_a_thought_do_not_count():
    def output(text, reason, stop=None, ids=(1, 2, 3)):
        return SimpleNamespace(outputs=[SimpleNamespace(text=text, finish_reason=reason, stop_reason=stop, token_ids=list(ids))])

    from lm_eval.models.utils import postprocess_generated_text

    generate = capture._engine(lambda: [output("a", "length"), output("b", "stop", "[/ANSWER]"), output("c", "stop", 2), output("d", "abort"), output("t</think>e[/ANSWER]f", "length")])
    finish = capture._finishing(postprocess_generated_text)
    replies = [finish(r.outputs[0].text, ["[/ANSWER]", "<eos>"], "</think>" if "</think>" in r.outputs[0].text else None) for r in generate()]
    assert replies == ["a", "b", "c", "d", "e"]
    assert [r.ending for r in replies] == [Ending("length", None, 3), Ending("stop", "[/ANSWER]", 3), Ending("stop", "", 3), Ending("abort", None, 3), Ending("stop", "[/ANSWER]", 3, "t")]
    assert type(finish("a[/ANSWER]", ["[/ANSWER]"], None)) is str  # nothing is known


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """lm-eval's own ``hf`` over a real model of 0.1 M parameters."""
    from lm_eval.models.huggingface import HFLM
    from transformers import LlamaForCausalLM

    from tests.train import tiny

    capture.install()
    folder = tiny.make(tmp_path_factory.mktemp("tiny"))
    model, tokenizer = LlamaForCausalLM.from_pretrained(folder), tiny.tokenizer()
    model.generation_config.eos_token_id = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("\n")]  # the model knows no other end
    return HFLM(pretrained=model, tokenizer=tokenizer, device="cpu", batch_size=3)


@pytest.mark.slow
def test_a_model_in_this_process_tells(tiny):
    """Requests of several lengths, sorted and batched by lm-eval; rows that stop early are padded or go on for the others."""

    def ask(room, until):
        requests = [Instance("generate_until", {}, (f"f({n})\n", {"until": list(until), "max_gen_toks": room, "do_sample": False}), i, metadata=("t", i, 1)) for i, n in enumerate([3, 0, 2, 1, 0])]
        return tiny.generate_until(requests, disable_tqdm=True)

    def tokens(text):
        return len(tiny.tokenizer(text, add_special_tokens=False).input_ids)

    def expected(reply, room, stop=""):
        ended = stop or reply.endswith("\n")
        return Ending("stop", stop, tokens(reply + stop)) if ended else Ending("length", None, room)

    whole = ask(99, [])
    assert len({str(r) for r in whole}) > 1
    assert whole[1] == whole[4]
    assert any(r.endswith("\n") for r in whole)
    for reply in whole:
        assert "\n" not in reply[:-1]
        assert reply.ending == expected(reply, 99)
    for reply, full in zip(ask(5, []), whole, strict=True):
        assert full.startswith(reply)
        assert reply.ending == expected(reply, 5)
    stop = str(max(whole, key=len))[-4:-2]  # in one reply, and perhaps at another place in another
    for reply, full in zip(ask(99, [stop]), whole, strict=True):
        assert reply == full.partition(stop)[0]
        assert reply.ending == expected(reply, 99, stop if stop in full else "")


def test_an_ending_stays_with_its_request_and_repeat(chat, monkeypatch):
    asked = []

    def model_call(messages, **_):
        asked.append(messages)
        prompt = json.loads(messages[0].prompt)[0]["content"]
        return {**chat_choice(f"{prompt}/{len(asked)}", "length" if len(asked) % 2 else "stop"), "usage": {"completion_tokens": len(asked)}}

    monkeypatch.setattr(chat, "model_call", model_call)
    prompts = [p for p in ("p", "pppp", "pp") for _ in range(3)]
    requests = [Instance("generate_until", {}, (chat.apply_chat_template([{"role": "user", "content": p}]), {"max_gen_toks": 9}), 0, metadata=("t", 0, 1)) for p in prompts]
    for prompt, reply in zip(prompts, chat.generate_until(requests, disable_tqdm=True), strict=True):
        text, _, number = reply.partition("/")
        assert text == prompt
        assert reply.ending == Ending("length" if int(number) % 2 else "stop", None, int(number))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("<|im_start|>assistant\n<think>\n", True), ("<｜Assistant｜><think>", True), ("...[THINK]", True), ("<|begin_of_thought|>\n\n", True),
        ("<|im_start|>assistant\n", False), ("<think>\n\n</think>\n\n", False), ("<think> is a tag", False), ("", False),
    ],
)  # fmt: skip
def test_a_template_that_opens_the_thought(prompt, expected):
    assert opened_by(prompt) is expected


def instance(args, *replies):
    made = Instance("generate_until", {"id": "x"}, args, 0, metadata=("t", 0, 1))
    made.resps = list(replies)
    return made


DRAFT = "Maybe [ANSWER]\n3\n[/ANSWER]? Let me check that"


def test_a_draft_in_a_cut_thought_is_marked():
    """Seen in the rendered prompt; behind a chat server, in what the other replies of the task do."""
    cut, done = Reply(DRAFT, Ending("length", None, 9)), Reply("so\n</think>\n[ANSWER]\n4\n[/ANSWER]", Ending("stop", None, 9))
    apart = Reply("[ANSWER]\n4\n[/ANSWER]", Ending("stop", None, 9, "so"))

    def marks(prompt, *replies, chat=True):
        return [g.answer.thinking for g in collect([instance((prompt, {}), *replies)], lambda doc: None, chat=chat)]

    unseen = ("messages",)  # lm-eval's JsonChatStr, a tuple
    assert marks("...assistant\n<think>\n", cut, done, apart) == [True, True, False]
    assert marks("...assistant\n", cut, done) == [False, False]
    assert marks("...\n<think>\n", cut, chat=False) == [False]
    assert marks(unseen, cut, done) == [True, False]
    assert marks(unseen, cut, apart) == [False, False]
    assert marks(unseen, cut, Reply("about </think>", Ending("stop")), Reply("3", Ending("stop")), Reply("4", Ending("stop"))) == [False] * 4


def test_a_known_stop_string_is_put_back():
    settings = {"until": ["[/ANSWER]"]}
    replies = [Reply("a", Ending("stop", "[/ANSWER]")), Reply("b", Ending("stop", "")), Reply("c", Ending("stop")), Reply("d"), Reply("e", Ending("stop", "<eos>"))]
    given = [g.answer for g in collect([instance(("p", settings), *replies)], lambda doc: None, chat=False)]
    assert [(a.text, a.truncated, bool(a.extra.get("whole"))) for a in given] == [("a[/ANSWER]", False, True), ("b", False, True), ("c", False, False), ("d", None, False), ("e", False, True)]
    (alone,) = collect([instance(("p", {"until": []}), Reply("c", Ending("stop")))], lambda doc: None, chat=True)
    assert alone.answer.extra["whole"]


def scored(metadata, *replies, chat=False):
    task = CtTask({"task": "ct_mini", "metadata": metadata})
    task.build_all_requests(limit=1, apply_chat_template=chat)
    (request,) = task.instances
    request.resps = [r(task.doc_to_target(request.doc)) for r in replies]
    (rows,) = task.score_instances([request])
    return [json.loads(row) for row in rows]


def test_what_is_known_reaches_the_samples():
    ends = [Ending("length", None, 50), Ending("stop", "", 40, "so"), UNKNOWN]
    rows = scored({"paradigm": "cot", "tokenizer": "", "repeats": 3}, *[lambda gold, e=e: Reply(gold, e) for e in ends])
    assert [row["tokens_out"] for row in rows] == [50, 40, None]
    assert [row["ending"] for row in rows] == [
        {"finish_reason": "length", "tokens": 50, "truncated": True, "thinking": False},
        {"finish_reason": "stop", "stop": "", "tokens": 40, "reasoning": "so", "truncated": False, "thinking": False},
        {"truncated": None, "thinking": False},
    ]


def test_only_what_is_known_to_be_cut_is_truncated():
    cut = lambda gold: "[ANSWER]\n"  # noqa: E731
    rows = scored({"paradigm": "cot", "tokenizer": ""}, *[lambda gold, r=r: Reply("so", Ending(r)) for r in ("length", "stop", None)], cut)
    assert [row["status"] == "truncated" for row in rows] == [True, False, False, False]


@pytest.mark.parametrize("paradigm", ["direct", "cot", "contra", "cwm"])
def test_a_chat_model_gets_no_stop_strings(paradigm):
    task = CtTask({"task": "ct_mini", "metadata": {"paradigm": paradigm}})
    own = list(task.config.generation_kwargs["until"])
    assert own
    for chat in (True, False, True):
        task.build_all_requests(limit=1, apply_chat_template=chat)
        assert {tuple(r.args[1]["until"]) for r in task.instances} == {() if chat else tuple(own)}
    task.set_config("generation_kwargs", {"until": ["mine"]}, update=True)
    task.build_all_requests(limit=1, apply_chat_template=True)
    assert task.instances[0].args[1]["until"] == ["mine"]
