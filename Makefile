# make demo        a real model on the bundled task, and the report (makes its own virtual environment)
# make test        the whole test suite, as CI runs it
# make test-quick  under three minutes
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One thread a process: two threads gain nothing on two busy cores (16 replies of 64 tokens: 66 s with one, 64 s with two).
export OMP_NUM_THREADS ?= 1
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo test test-quick lint site clean

$(STAMP): pyproject.toml constraints/cpu.txt hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet -c constraints/cpu.txt -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/lm_eval run --model hf --tasks ct_mini --apply_chat_template --device cpu --batch_size 16 --limit $(or $(LIMIT),40) \
	  --model_args "pretrained=$$($(BIN)/python -m ct_tasks model 2>/dev/null),dtype=float32" \
	  --metadata '{"paradigm": "direct"}' --gen_kwargs max_gen_toks=64 --log_samples --output_path demo/direct
	$(BIN)/lm_eval run --model hf --tasks ct_mini --apply_chat_template --device cpu --batch_size 16 --limit $(or $(LIMIT),40) \
	  --model_args "pretrained=$$($(BIN)/python -m ct_tasks model 2>/dev/null),dtype=float32" \
	  --metadata '{"paradigm": "contra", "shots": 1}' --gen_kwargs max_gen_toks=256 --log_samples --output_path demo/contra
	$(BIN)/python -m ct_tasks report demo --out demo/site
	@echo "open demo/site/index.html"

test: $(STAMP) lint
	$(BIN)/python -m pytest -q

test-quick: $(STAMP)
	$(BIN)/python -m pytest -q -m "not slow and not docker and not model and not browser"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) demo build dist *.egg-info
