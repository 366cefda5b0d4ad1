# make demo        a real model on the bundled task, and the report (makes its own virtual environment)
# make rescored    the verdicts in results/runs by today's scorer (a test compares them), then the site
# make site        results/site from the result folders in results/runs
# make test        the whole test suite, as CI runs it
# make test-quick  under three minutes
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo
LIMIT ?= 24
# One thread a process: two threads gain nothing on two busy cores (16 replies of 64 tokens: 66 s with one, 64 s with two).
export OMP_NUM_THREADS ?= 1
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo site rescored test test-quick lint clean

define environment
@$(PYTHON) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
  { echo "needs Python 3.11 or newer with venv (Debian: apt install python3-venv); choose one with make PYTHON=..."; exit 1; }
$(PYTHON) -m venv $(VENV)
$(BIN)/pip install --quiet --upgrade pip
$(BIN)/pip install --quiet torch==2.13.0
endef

$(DEMO): pyproject.toml constraints/cpu.txt hatch_build.py
	$(environment)
	$(BIN)/pip install --quiet -c constraints/cpu.txt -e '.[demo,report]'
	touch $(DEMO)

$(STAMP): pyproject.toml constraints/cpu.txt hatch_build.py
	$(environment)
	$(BIN)/pip install --quiet -c constraints/cpu.txt -e '.[dev]'
	touch $(STAMP)

# $(call ask,PARADIGM,SHOTS,TOKENS): one evaluation of the demo model
define ask
model=$$($(BIN)/python -m ct_tasks model) && $(BIN)/lm_eval run --model hf --device cpu --batch_size 16 \
  --model_args "pretrained=$$model,dtype=float32" --tasks ct_mini --limit $(LIMIT) --apply_chat_template \
  --metadata '{"paradigm": "$(1)", "shots": $(2)}' --gen_kwargs max_gen_toks=$(3) --log_samples --output_path demo/$(1)
endef

demo: $(DEMO)
	rm -rf demo
	$(call ask,direct,1,64)
	$(call ask,contra,1,160)
	$(BIN)/python -m ct_tasks report demo --out demo/site
	@echo "open demo/site/index.html"

# the committed results, and the paper's numbers beside them
site: $(DEMO)
	$(BIN)/python -c "from ct_tasks.reports import paper; print(paper.markdown(), end='')" > results/paper.md
	$(BIN)/python -m ct_tasks report results/runs --out results/site

rescored: $(DEMO)
	$(BIN)/python -m ct_tasks rescore results/runs --out results/runs
	$(MAKE) site

test: $(STAMP) lint
	$(BIN)/python -m pytest -q

test-quick: $(STAMP)
	$(BIN)/python -m pytest -q -m "not slow and not docker and not model and not browser"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) demo build dist *.egg-info
