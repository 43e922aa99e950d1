"""Drives the real binary: LOOSELEAF_BIN=build/bin/looseleaf LOOSELEAF_GOLDEN_DIR=tests/golden/models pytest tests/cli

The model is tiny and random: what it says means nothing, but it must say it in the right shape.
"""
import json
import os
import subprocess
from pathlib import Path

import pytest

BINARY = os.environ.get("LOOSELEAF_BIN", "build/bin/looseleaf")
MODEL = str(Path(os.environ.get("LOOSELEAF_GOLDEN_DIR", "tests/golden/models")) / "llama_f32.gguf")

DONE, REFUSED, USAGE = 0, 1, 2
# `auto` would warn where the GPU's module is built and no GPU is there.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("LOOSELEAF_ARG_")} | {
    "LOOSELEAF_ARG_DEVICE": "cpu"}
THREE = ["--doc-text", "The first text.", "--doc-text", "A second one.", "--doc-text", "And a third."]


def looseleaf(*args, stdin="", env=None, **kwargs):
    kwargs.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([BINARY, *args], input=stdin, stderr=subprocess.PIPE, text=True, timeout=120,
                          env=ENVIRONMENT | (env or {}), **kwargs)


def answers(*args, **kwargs):
    """The JSON objects of a run that must succeed."""
    done = looseleaf("run", MODEL, "--json", "--ignore-eos", *args, **kwargs)
    assert done.returncode == DONE, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def answer(*args, **kwargs):
    (only,) = answers(*args, **kwargs)
    return only


def assert_refused(done, code, *said):
    """One line on standard error, which says all of `said`, and nothing else."""
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("looseleaf: ") and done.stderr.count("\n") == 1, done.stderr
    for text in said:
        assert text in done.stderr


def tokens_of(object_):
    return object_["usage"]["completion_tokens"]


# ---- what an answer looks like


def test_json_has_the_keys_of_the_interface():
    got = answer("-q", "Why?", "-n", "4", *THREE)
    assert list(got) == ["text", "tokens", "finish_reason", "usage", "looseleaf"]
    assert len(got["tokens"]) == tokens_of(got) == 4
    assert got["finish_reason"] == "length"
    assert list(got["usage"]) == ["prompt_tokens", "completion_tokens", "prompt_tokens_details"]
    assert got["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    own = got["looseleaf"]
    assert list(own) == ["method", "exact", "device", "ttft_ms", "tpot_ms", "ignored", "timings", "chunks",
                         "repaired_tokens", "flops", "kv_bytes"]
    assert list(own["timings"]) == ["queue_ms", "load_ms", "chunk_prefill_ms", "repair_ms",
                                    "question_prefill_ms", "decode_ms"]
    assert list(own["flops"]) == ["score", "repair", "question", "share_of_full"]
    assert list(own["kv_bytes"]) == ["chunks", "private", "overlay"]
    assert [chunk["index"] for chunk in own["chunks"]] == [0, 1, 2]
    for chunk in own["chunks"]:
        assert list(chunk) == ["index", "id", "document_id", "tokens", "offset", "source", "miss_reason"]
        assert (chunk["source"], chunk["miss_reason"]) == ("computed", "new")
    assert 0 < own["ttft_ms"] < 60_000
    assert own["device"] == "cpu"


def test_echo_tokens_and_logprobs():
    got = answer("-q", "Why?", "-n", "3", "--echo-tokens", "--logprobs", "2")
    assert len(got["prompt_tokens_ids"]) == got["usage"]["prompt_tokens"]
    assert [entry["token"] for entry in got["logprobs"]] == got["tokens"]
    for entry in got["logprobs"]:
        assert list(entry) == ["token", "logprob", "top"]
        assert len(entry["top"]) == 2
        assert entry["top"][0] == [entry["token"], entry["logprob"]]  # greedy takes the best
        assert entry["top"][1][1] <= entry["logprob"] <= 0


def test_text_goes_to_standard_output_alone():
    args = ("-q", "Why?", "-n", "8", "--ignore-eos", *THREE)
    done = looseleaf("run", MODEL, *args)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout == answer(*args)["text"] + "\n"


def test_ask_is_run_and_m_names_the_model():
    args = ("-q", "Why?", "-n", "4")
    assert looseleaf("ask", "-m", MODEL, *args).stdout == looseleaf("run", MODEL, *args).stdout


def test_run_is_greedy_and_seeds_repeat():
    args = ("-q", "Why?", "-n", "16")
    assert answer(*args)["tokens"] == answer(*args, "--temperature", "0", "--seed", "5")["tokens"]
    warm = (*args, "--temperature", "2")
    assert answer(*warm, "--seed", "5")["tokens"] == answer(*warm, "--seed", "5")["tokens"]
    assert answer(*warm, "--seed", "5")["tokens"] != answer(*warm, "--seed", "6")["tokens"]


def test_logit_bias_and_stop():
    biased = answer("-q", "Why?", "-n", "3", "--logit-bias", "65=100")
    assert biased["tokens"] == [65, 65, 65]
    text = answer("-q", "Why?", "-n", "12")["text"]
    word = text[len(text) // 2:][:2]
    stopped = answer("-q", "Why?", "-n", "12", "--stop", word)
    assert stopped["finish_reason"] == "stop"
    assert stopped["text"] == text[:text.index(word)]


def test_timings_line():
    done = looseleaf("run", MODEL, "-q", "Why?", "-q", "How?", "-n", "2", "--timings", *THREE)
    first, second = done.stderr.splitlines()
    assert first.startswith("0 of 3 documents reused, ") and first.endswith(" ms to first token")
    assert second.startswith("3 of 3 documents reused, ")


# ---- documents


def test_later_questions_reuse_chunks_in_any_order():
    first, second, third = answers("-q", "Why?", "-q", "How?", "-q", "Who?", "--order", "0,1,2", "--order",
                                   "2,0,1", "--order", "1,1", "-n", "2", *THREE)
    chunks = [one["looseleaf"]["chunks"] for one in (first, second, third)]
    assert {chunk["source"] for chunk in chunks[0]} == {"computed"}
    assert {chunk["source"] for chunk in chunks[1]} == {"host"}
    assert all(chunk["miss_reason"] is None for chunk in chunks[1])
    ids = [chunk["id"] for chunk in chunks[0]]
    assert [chunk["id"] for chunk in chunks[1]] == [ids[2], ids[0], ids[1]]
    assert chunks[1][0]["offset"] == chunks[0][0]["offset"]
    assert chunks[1][1]["offset"] == chunks[1][0]["offset"] + chunks[1][0]["tokens"]
    assert [chunk["id"] for chunk in chunks[2]] == [ids[1], ids[1]]
    reused = sum(chunk["tokens"] for chunk in chunks[1])
    assert second["usage"]["prompt_tokens_details"]["cached_tokens"] >= reused


def test_the_order_changes_what_is_asked():
    orders = [answer("-q", "Why?", "-n", "8", "--logprobs", "0", "--order", order, *THREE)["logprobs"]
              for order in ("0,1,2", "2,1,0")]
    assert orders[0] != orders[1]


def test_documents_from_files_folders_lists_and_standard_input(tmp_path):
    (tmp_path / "notes/deep").mkdir(parents=True)
    (tmp_path / "notes/b.md").write_text("Text of b.")
    (tmp_path / "notes/deep/a.txt").write_text("Text of a.")
    (tmp_path / "notes/.skipped").write_text("Not this.")
    listed = tmp_path / "more.jsonl"
    listed.write_text('{"text": "One.", "id": "x1"}\n\n"Two."\n')
    got = answer("-q", "Why?", "-n", "1", "--doc", "-", "--doc", str(tmp_path / "notes"), "--docs", str(listed),
                 stdin="From the pipe.")
    chunks = got["looseleaf"]["chunks"]
    assert [chunk["document_id"] for chunk in chunks] == [None, None, None, "x1", None]
    # The same text with and without a title is not the same chunk.
    alone = answer("-q", "Why?", "-n", "1", "--doc-text", "From the pipe.", "--doc-text", "Text of b.")
    ids = [chunk["id"] for chunk in alone["looseleaf"]["chunks"]]
    assert ids[0] == chunks[0]["id"]
    assert ids[1] != chunks[1]["id"]


def test_system_message_changes_the_layout():
    plain = answer("-q", "Why?", "-n", "1", "--system", "Be brief.", "--echo-tokens", *THREE)
    named = answer("-q", "Why?", "-n", "1", "--system", "Be brief.", "--layout", "plain", "--echo-tokens", *THREE)
    other = answer("-q", "Why?", "-n", "1", "--system", "Be brief.", "--layout", "qa", "--echo-tokens", *THREE)
    assert plain["prompt_tokens_ids"] == named["prompt_tokens_ids"]
    assert len(other["prompt_tokens_ids"]) > len(plain["prompt_tokens_ids"])


@pytest.mark.parametrize("name, content, said", [
    ("empty.txt", b"", "is empty"),
    ("blank.md", b" \n\n", "is empty"),
    ("latin.txt", b"caf\xe9", "not UTF-8 at byte 3"),
    ("paper.pdf", b"%PDF-1.7", "pdftotext"),
    ("table.csv", b"a,b", "only text and Markdown"),
    ("list.jsonl", b"[]", "--docs"),
])
def test_documents_that_are_refused(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    done = looseleaf("run", MODEL, "-q", "Why?", "--doc", str(tmp_path / name))
    assert_refused(done, REFUSED, name, said)


# ---- wrong usage and refused data


@pytest.mark.parametrize("args, said", [
    ([], "no command"),
    (["frobnicate"], "frobnicate"),
    (["run"], "no MODEL"),
    (["run", "-q", "Why?"], "no MODEL"),
    (["inspect"], "no MODEL"),
    (["run", MODEL], "nothing is asked"),
    (["run", MODEL, "-q", ""], "-q"),
    (["run", MODEL, "-q"], "-q"),
    (["run", MODEL, "-q", "Why?", "--request", "x.json"], "one of -q, --request and --requests"),
    (["run", MODEL, "--request", "x.json", "--doc-text", "x"], "--doc-text"),
    (["run", MODEL, "-q", "Why?", "--nonsense"], "--nonsense"),
    (["run", MODEL, "-q", "Why?", "surplus"], "surplus"),
    (["run", MODEL, "-q", "Why?", "-n", "0"], "--max-tokens"),
    (["run", MODEL, "-q", "Why?", "-n", "99999999999999999999"], "--max-tokens"),
    (["run", MODEL, "-q", "Why?", "--temperature", "nan"], "--temperature"),
    (["run", MODEL, "-q", "Why?", "--temperature", "1e308"], "--temperature"),
    (["run", MODEL, "-q", "Why?", "--top-p", "0"], "--top-p"),
    (["run", MODEL, "-q", "Why?", "--seed", "-1"], "--seed"),
    (["run", MODEL, "-q", "Why?", "--stop", ""], "--stop"),
    (["run", MODEL, "-q", "Why?", "--logit-bias", "5"], "--logit-bias"),
    (["run", MODEL, "-q", "Why?", "--logit-bias", "x=1"], "--logit-bias"),
    (["run", MODEL, "-q", "Why?", "--logprobs", "2"], "--json"),
    (["run", MODEL, "-q", "Why?", "--cache-bytes", "4X"], "--cache-bytes"),
    (["run", MODEL, "-q", "Why?", "--kv-type", "f17", "--json"], "f17"),
    (["run", MODEL, "-q", "Why?", "--layout", "fancy"], "--layout"),
    (["run", MODEL, "-q", "Why?", "--encoding-prefix", "eos"], "--encoding-prefix"),
    (["run", MODEL, "-q", "Why?", "--method", "nonsense"], "nonsense"),
    (["run", MODEL, "-q", "Why?", "--method", "reuse:0.05..0.30/6"], "sweep"),
    (["run", MODEL, "-q", "Why?", "--order", "0"], "--order"),
    (["run", MODEL, "-q", "Why?", "--order", "0,3", *THREE], "--order"),
    (["run", MODEL, "-q", "Why?", "--order", "0,", *THREE], "--order"),
    (["run", MODEL, "-q", "Why?", "--order", "0", "--order", "1", *THREE], "--order"),
    (["run", MODEL, "-q", "Why?", "--format", "xml"], "--format"),
    (["run", MODEL, "-q", "Why?", "--json", "--format", "openai"], "--format"),
    (["run", MODEL, "-q", "Why?", "--config", "no.toml"], "no.toml"),
])
def test_wrong_usage(args, said):
    assert_refused(looseleaf(*args), USAGE, said)


@pytest.mark.parametrize("args, said", [
    (["run", "no/such.gguf", "-q", "Why?"], "no/such.gguf"),
    (["inspect", "no/such.gguf"], "no/such.gguf"),
    (["run", __file__, "-q", "Why?"], "test_run.py"),
    (["run", MODEL, "-q", "Why?", "--doc", "no/such.txt"], "no/such.txt"),
    (["run", MODEL, "-q", "Why?", "--docs", "no/such"], "no/such"),
    (["run", MODEL, "-q", "Why?", "--doc", "-"], "standard input: is empty"),
    (["run", MODEL, "--request", "no/such.json"], "no/such.json"),
    (["run", MODEL, "--requests", "no/such.jsonl"], "no/such.jsonl"),
    (["run", MODEL, "-q", "x " * 100, "--ctx", "64"], "context of 64"),
    (["run", MODEL, "-q", "Why?", "--cache-bytes", "1K"], "cache-bytes"),
])
def test_refused_data(args, said):
    assert_refused(looseleaf(*args), REFUSED, said)


# ---- bodies


def write_lines(path, *bodies):
    path.write_text("".join((body if isinstance(body, str) else json.dumps(body)) + "\n" for body in bodies))
    return str(path)


def test_a_body_and_the_same_question(tmp_path):
    body = {"messages": [{"role": "user", "content": "Why?"}], "temperature": 0, "max_tokens": 6,
            "documents": ["The first text.", {"page_content": "A second one.", "id": "b"}], "mystery": 1,
            "ignore_eos": True, "return_token_ids": True}
    path = write_lines(tmp_path / "body.json", body)
    got = answer("--request", path)
    same = answer("-q", "Why?", "-n", "6", "--echo-tokens", *THREE[:4])
    assert got["tokens"] == same["tokens"]
    assert got["prompt_tokens_ids"] == same["prompt_tokens_ids"]
    assert got["looseleaf"]["ignored"] == ["mystery"]
    assert got["looseleaf"]["chunks"][1]["document_id"] == "b"
    text = looseleaf("run", MODEL, "--request", "-", stdin=json.dumps(body))
    assert text.stdout == got["text"] + "\n"


def test_completion_body_with_token_lists(tmp_path):
    body = {"prefix": [1, 65], "prompt": [66, 67], "documents": [{"tokens": [70, 71, 72]}], "temperature": 0,
            "return_token_ids": True, "ignore_eos": True, "logprobs": 2}
    got = answer("--request", write_lines(tmp_path / "body.json", body))
    assert got["prompt_tokens_ids"] == [1, 65, 70, 71, 72, 66, 67]
    assert tokens_of(got) == 16  # OpenAI's default
    assert len(got["logprobs"]) == 16
    chunk, = got["looseleaf"]["chunks"]
    assert (chunk["offset"], chunk["tokens"]) == (2, 3)


def test_openai_format(tmp_path):
    chat = {"messages": [{"role": "user", "content": "Why?"}], "max_tokens": 3, "logprobs": True,
            "top_logprobs": 2, "model": "tiny", "ignore_eos": True}
    done = looseleaf("run", MODEL, "--request", write_lines(tmp_path / "chat.json", chat), "--format", "openai")
    got = json.loads(done.stdout)
    assert (got["object"], got["model"]) == ("chat.completion", "tiny")
    choice, = got["choices"]
    assert choice["message"]["role"] == "assistant" and choice["finish_reason"] == "length"
    assert len(choice["logprobs"]["content"]) == 3
    assert got["usage"]["total_tokens"] == got["usage"]["prompt_tokens"] + 3
    assert "cached_tokens" in got["usage"]["prompt_tokens_details"]
    assert got["looseleaf"]["chunks"] == []
    completion = {"prompt": "Once upon", "max_tokens": 3, "ignore_eos": True}
    path = write_lines(tmp_path / "text.json", completion)
    got = json.loads(looseleaf("run", MODEL, "--request", path, "--format", "openai").stdout)
    assert got["object"] == "text_completion"
    assert isinstance(got["choices"][0]["text"], str)


def test_a_refused_body(tmp_path):
    path = write_lines(tmp_path / "body.json", {"messages": [{"role": "user", "content": 5}]})
    done = looseleaf("run", MODEL, "--request", path)
    assert_refused(done, REFUSED, "body.json: messages[0].content: ")
    assert done.stdout == ""


def test_auto_says_why_it_is_full(tmp_path):
    """With dynamic NTK no chunk can be reused: who asks for reuse is refused, who asks for nothing is answered."""
    model = str(Path(MODEL).parent / "llama_dynamic_hf")
    path = write_lines(tmp_path / "body.json", {"prompt": [1, 2], "documents": [{"tokens": [3, 4]}], "max_tokens": 2})
    done = looseleaf("run", model, "--request", path, "--json")
    assert done.returncode == DONE
    own = json.loads(done.stdout)["looseleaf"]
    assert own["method"] == "full" and "dynamic NTK" in own["method_reason"]
    assert done.stderr.startswith("looseleaf: warning: method auto is full here") and done.stderr.count("\n") == 1
    assert_refused(looseleaf("run", model, "--request", path, "--method", "reuse"), REFUSED, "dynamic NTK")


def test_requests_go_on_after_a_refused_one(tmp_path):
    good = {"question": "Why?", "documents": ["A text."], "max_tokens": 2, "ignore_eos": True}
    path = write_lines(tmp_path / "bodies.jsonl", good, "", good | {"temperature": "hot"}, "{",
                       good | {"tools": [{"type": "function"}]}, good | {"method": "nonsense"},
                       {"prompt": [2147483647]}, good)
    done = looseleaf("run", MODEL, "--requests", path)
    assert done.returncode == REFUSED
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 7
    assert [line.get("error", {}).get("param") for line in lines] == [
        None, "temperature", None, "tools", "method", "prompt[0]", None]
    assert lines[2]["error"]["code"] == "invalid_value"
    assert lines[3]["error"]["code"] == "unsupported_parameter"
    assert lines[0]["looseleaf"]["chunks"][0]["source"] == "computed"
    assert lines[6]["looseleaf"]["chunks"][0]["source"] == "host"
    complaints = done.stderr.splitlines()
    assert len(complaints) == 5
    assert complaints[0].startswith(f"looseleaf: {path}:3: temperature: ")


def test_flags_are_the_defaults_of_bodies(tmp_path):
    body = {"prompt": "Once", "ignore_eos": True}
    path = write_lines(tmp_path / "bodies.jsonl", body, body | {"max_tokens": 3})
    five, three = answers("--requests", path, "-n", "5", "--method", "full", "--temperature", "0")
    assert (tokens_of(five), tokens_of(three)) == (5, 3)
    assert five["looseleaf"]["method"] == "full"


# ---- where settings come from


def test_command_line_before_environment_before_file(tmp_path):
    (tmp_path / "c.toml").write_text("max-tokens = 9\nignore_eos = true\n"
                                     "[inspect]\nthreads = 1\n[run]\nmax-tokens = 5\n")
    config = ("--config", str(tmp_path / "c.toml"))
    environment = {"LOOSELEAF_ARG_MAX_TOKENS": "3"}

    def count(*args, env=None):
        done = looseleaf("run", MODEL, "-q", "Why?", "--json", *args, env=env)
        assert (done.returncode, done.stderr) == (DONE, "")
        return tokens_of(json.loads(done.stdout))

    assert count(*config) == 5
    assert count(*config, env=environment) == 3
    assert count(*config, "-n", "2", env=environment) == 2
    assert count("--ignore-eos", env=environment) == 3
    assert count(env=environment | {"LOOSELEAF_ARG_CONFIG": config[1]}) == 3
    assert count("-n", "4", env={"LOOSELEAF_ARG_IGNORE_EOS": "true"}) == 4


def test_unknown_variables_are_told():
    done = looseleaf("methods", env={"LOOSELEAF_ARG_MAX_TOKEN": "3", "LOOSELEAF_ARG_DOC": "x"})
    assert done.returncode == DONE
    assert done.stderr.startswith("looseleaf: warning: LOOSELEAF_ARG_MAX_TOKEN: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text, said", [
    ("max-token = 5\n", "max-token"),
    ("max-tokens = 0\n", "max-tokens"),
    ("exact = 'perhaps'\n", "exact"),
    ("[runs]\nmax-tokens = 5\n", "runs"),
    ("[run.deep]\nmax-tokens = 5\n", "deep"),
])
def test_wrong_settings_in_a_file(tmp_path, text, said):
    (tmp_path / "c.toml").write_text(text)
    done = looseleaf("run", MODEL, "-q", "Why?", "--config", str(tmp_path / "c.toml"))
    assert_refused(done, USAGE, "c.toml", said)


def test_wrong_settings_in_the_environment():
    done = looseleaf("run", MODEL, "-q", "Why?", env={"LOOSELEAF_ARG_CTX": "many"})
    assert_refused(done, USAGE, "LOOSELEAF_ARG_CTX", "many")


def test_print_config_can_be_read_back(tmp_path):
    args = ("-q", 'Say "why"', "-q", "[a, b]", "-n", "3", "--exact", "--cache-bytes", "64M")
    first = looseleaf("run", MODEL, *args, "--print-config")
    assert first.returncode == DONE
    assert 'cache-bytes = "64M"\n' in first.stdout and "exact = true\n" in first.stdout
    (tmp_path / "c.toml").write_text(first.stdout)
    again = looseleaf("run", "--config", str(tmp_path / "c.toml"), "--print-config")
    assert again.stdout == first.stdout


# ---- other commands, and a standard output that nobody reads


def test_inspect():
    facts = json.loads(looseleaf("inspect", MODEL, "--json").stdout)
    table = looseleaf("inspect", MODEL)
    assert table.returncode == DONE and table.stderr == ""
    for key in facts:
        assert f"{key}" in table.stdout
    assert facts["tokenizer"]["chat_template"].startswith("the model's own, ")


def test_methods():
    listed = json.loads(looseleaf("methods", "--json").stdout)
    names = [method["name"] for method in listed]
    assert {"full", "prefix", "block", "reuse", "relaxkv", "prophetkv", "cacheblend"} <= set(names)
    assert {"epic", "weave", "random", "plan"} <= set(names)
    for method in listed:
        assert set(method) >= {"name", "summary", "options", "citation"}
    table = looseleaf("methods").stdout
    assert all(f"\n{name}\n" in table for name in names)


def test_version_and_help():
    assert looseleaf("--version").stdout.startswith("looseleaf ")
    for args in ((), ("run",), ("ask",), ("inspect",), ("methods",)):
        done = looseleaf(*args, "--help")
        assert (done.returncode, done.stderr) == (DONE, "")
        assert "Usage: looseleaf" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 100
    assert "Examples:" in looseleaf("run", "--help").stdout


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_broken_pipe(form):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = looseleaf("run", MODEL, "-q", "Why?", "-n", "64", "--ignore-eos", *form, stdout=write_end)
    os.close(write_end)
    assert_refused(done, REFUSED, "standard output", "Broken pipe")


def test_closed_and_full_standard_output():
    command = f'exec "{BINARY}" run "{MODEL}" -q Why? -n 2 >&-'
    closed = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert_refused(closed, REFUSED, "standard output")
    with open("/dev/full", "w") as full:
        assert_refused(looseleaf("methods", stdout=full), REFUSED, "No space left")


def test_cuda_where_there_is_none():
    done = looseleaf("run", MODEL, "-q", "x", "-n", "1", "--device", "cuda")
    if done.returncode == DONE:
        pytest.skip("there is a GPU")
    assert_refused(done, REFUSED, "--device cuda: ")
    automatic = looseleaf("run", MODEL, "-q", "x", "-n", "1", "--ignore-eos", "--device", "auto")
    assert automatic.returncode == DONE
    for line in automatic.stderr.splitlines():  # none where the module was not built
        assert line.startswith("looseleaf: warning: computing on the CPU")
