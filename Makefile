# SPDX-License-Identifier: Apache-2.0
# The commands a person types; the work is meson's and ninja's. On Debian each target first installs
# what it misses (tools/install-deps says what). CORETAP_NO_INSTALL=1 turns that off.
BUILD      ?= build
SANITIZED  ?= build-asan
AFL        ?= build-afl
ARM64      ?= build-arm64
PREFIX     ?= /usr/local
DESTDIR    ?=
FUZZ_SECONDS ?= 600

MESON = meson
deps  = @tools/install-deps
comma = ,
# The sanitized build is clang's where there is a clang, so that both compilers see all code.
sanitized_cc = $$(command -v clang || echo gcc)
sanitized_suites = $(SANITIZED):unit,property,cli,fuzz
whole = $(filter whole,$(CHECK))
# With CHECK=whole the library and the command are built with -Werror from the start: the option is part of
# each command line of the compiler, so adding it later would build everything again.
strict = $(if $(whole),-Dwerror=true)

.DEFAULT_GOAL := all
.NOTPARALLEL:
.PHONY: fractal-demo fractal-figures
.PHONY: all bench bench-check demo check check-sanitized check-long check-arm64
.PHONY: install clean format lint fuzz fuzz-afl man

all:
	$(deps) build
	@tools/configure $(BUILD) $(strict)
	@ninja -C $(BUILD)

# Speed. The inputs are recorded from a program, which needs the cross compilers and QEMU.
bench: all
	$(deps) arm
	@meson test -C $(BUILD) --benchmark --verbose

# Beside the commit before (or BENCH_BASE), in turns: an error where decoding is slower than 0.95 of it.
bench-check: all
	$(deps) arm
	@ninja -C $(BUILD) bench-check

demo: all
	$(deps) arm
	@examples/record/demo $(BUILD)/coretap $(BUILD)/examples/record/where $(BUILD)/demo.html

# The same for a capture that is in the sources.
.PHONY: quick-demo
quick-demo: all
	@examples/quickstart/demo $(BUILD)/coretap

# Five runs of canny on a full-HD image under the coherence-port tracer; minutes. SIZE=vga is quicker.
fractal-demo: all
	$(deps) arm
	@examples/fractal/demo $(BUILD)/coretap $(or $(SIZE),fullhd)

# The figures of the FRACTAL paper with their data, and a page that compares; an hour, SIZE=cif is minutes.
fractal-figures: all
	$(deps) arm
	@examples/fractal/figures/figures.py $(BUILD)/coretap $(addprefix --size ,$(SIZE))

# All kinds of tests, each once, in the plain build, whose library and command `make` and `make demo` have
# built. With CHECK=whole, which the build server sets, also the tests of the suite `whole`, all cases of the
# others, and those of check-sanitized.
check: configured $(if $(whole),configured-sanitized)
	@tools/run-tests --build $(if $(whole),--whole) $(BUILD) $(if $(whole),$(sanitized_suites)$(comma)golden)

# The tests that run most code in little time again, under ASan and UBSan. (Those that record programs run
# under the sanitizers only in check-long: they run the same code for minutes.)
check-sanitized: configured-sanitized
	@tools/run-tests --build $(if $(whole),--whole) $(sanitized_suites)$(if $(whole),$(comma)golden)

# The same, longer: CT_LONG says how many random cases (tests/support/rng.h), and the tests in the suite
# `long` have no short form. Each test runs once in a build; under the sanitizers a tenth of the cases, and
# minutes of fuzzing. It takes hours, so each part says how it ended and how long it took; with RESUME=1 what
# did well the last time is not run again.
check-long: strict = -Dwerror=true
check-long: builds
	$(deps) fleet whole
	@tools/run-tests --parts $(if $(RESUME),--resume) --timeout-multiplier 60 CT_LONG=1 $(BUILD) $(BUILD):long \
	  CT_LONG=10 CT_FUZZ_SECONDS=60 $(SANITIZED):unit,golden,property,oracle,cli,recorded,fuzz,fuzz-long

# Built for 64-bit Arm and tested under QEMU.
check-arm64:
	$(deps) build arm
	@tools/check-arm64 $(ARM64)

.PHONY: configured builds sanitized configured-sanitized
configured:
	$(deps) build test $(if $(whole),whole)
	@tools/configure $(BUILD) -Dtests=enabled $(strict)

configured-sanitized:
	$(deps) build test $(if $(whole),whole)
	@CC=$(sanitized_cc) tools/configure $(SANITIZED) --sanitize -Dtests=enabled -Dwerror=true

builds: configured configured-sanitized
	@ninja -C $(SANITIZED)
	@ninja -C $(BUILD)

sanitized: configured-sanitized
	@ninja -C $(SANITIZED)

install: all
	@$(MESON) configure $(BUILD) -Dprefix=$(PREFIX)
	@DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(SANITIZED) $(AFL) $(ARM64)

format:
	$(deps) lint
	@tools/check-format --write

lint:
	$(deps) build test
	@tools/configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD)
	@tools/check-cppcheck || [ $$? -eq 77 ]
	@tools/run-tests --whole $(BUILD):lint

fuzz: sanitized
	@CT_FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run-tests --whole --timeout-multiplier 0 $(SANITIZED):fuzz

# AFL++ builds the same bodies; run what lies in build-afl/tests/fuzz with afl-fuzz.
fuzz-afl:
	$(deps) build afl
	@CC=afl-clang-fast tools/configure $(AFL) -Dtests=enabled -Dfuzzer=afl
	@ninja -C $(AFL)
	@echo "Next: afl-fuzz -i tests/fuzz/corpus/NAME -o findings -- $(AFL)/tests/fuzz/fuzz_NAME"

# Writes the generated parts of docs/man again, after a change of an option table.
man: all
	@tools/man-pages --write $(BUILD)/coretap
