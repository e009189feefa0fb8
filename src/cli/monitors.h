/* SPDX-License-Identifier: Apache-2.0 */
/* The specifications of the command line and all options about how they run, which 'monitor' and 'live'
 * share. */
#pragma once

#include "cli/capture.h"
#include "cli/spec.h"
#include "coretap/verify.h"
#include "coretap/verify_sums.h"

/* Rows behind CLI_CAPTURE_TABLE. */
enum cli_monitor_option {
    CLI_MONITOR_SPEC = CLI_CAPTURE_OPTIONS,
    CLI_MONITOR_BIND,
    CLI_MONITOR_VIOLATION,
    CLI_MONITOR_CLOCK,
    CLI_MONITOR_FREQUENCY,
    CLI_MONITOR_UNIT,
    CLI_MONITOR_FORGET,
    CLI_MONITOR_ENGINE,
    CLI_MONITOR_BUDGET,
    CLI_MONITOR_MEMORY,
    CLI_MONITOR_SPEC_OPTIONS, /* commands that print no results have only the rows up to here */
    CLI_MONITOR_HISTORY = CLI_MONITOR_SPEC_OPTIONS,
    CLI_MONITOR_ALL,
    CLI_MONITOR_OPTIONS,
};

extern const char *const cli_clocks[];
extern const char *const cli_engines[];

#define CLI_MONITOR_SPEC_TABLE                                                                               \
    CLI_LIST_OPTION("spec", 's', "FILE",                                                                     \
                    "A specification, in TeSSLa (docs/tessla.md). Can be given more than once."),            \
        CLI_LIST_OPTION(                                                                                     \
            "bind", 0, "NAME=PLACE",                                                                         \
            "Feed the input NAME of the specifications from PLACE, as 'coretap watch --at' takes it. "       \
            "itm:PORT, stm:CHANNEL, stm:MASTER:CHANNEL and dwt:COMPARATOR give the values written there; "   \
            "load:VARIABLE and store:VARIABLE those of variables; access:NAME accesses in an event log of "  \
            "coretap fractal. An input of type String receives lines, or names of contexts."),               \
        CLI_LIST_OPTION(                                                                                     \
            "violation", 0, "NAME[=VALUE]",                                                                  \
            "Treat an event of the output NAME as a violation, or only an event with this value. By "        \
            "default these are violations: a verdict that is false; a Bool that is true, if its name is "    \
            "error or violation or ends in _error or _violation; any other Bool that is false; and each "    \
            "event of a Unit output with error or violation in its name."),                                  \
        CLI_CHOICE_OPTION("clock", 0, cli_clocks,                                                            \
                          "Clock of the specifications: counted cycles, or timestamps. Default: cycles, or " \
                          "timestamps if several sources form one run."),                                    \
        CLI_NUMBER_OPTION(                                                                                   \
            "frequency", 0, "HZ", 1, UINT64_C(1000000000000),                                                \
            "Ticks of the clock per second. Times are then in the unit of --time-unit (default: ns)."),      \
        CLI_TEXT_OPTION("time-unit", 'u', "UNIT",                                                            \
                        "fs, ps, ns, us, ms or s: the unit of times, or without --frequency the length of "  \
                        "one tick of the clock. Time literals need it."),                                    \
        CLI_NUMBER_OPTION("forget", 0, "TIME", 1, INT64_MAX,                                                 \
                          "How far back the specifications look at most. Results are certain again when a "  \
                          "loss of trace is further back than this time."),                                  \
        CLI_CHOICE_OPTION(                                                                                   \
            "engine", 0, cli_engines,                                                                        \
            "How specifications are executed: as bytecode, or native, as machine code made by libgccjit. "   \
            "Without libgccjit (CORETAP_GCCJIT may name it) bytecode is used, and a message says so. "       \
            "background: start with bytecode and continue with machine code once it is compiled."),          \
        CLI_BUDGET_OPTION, CLI_MEMORY_OPTION
#define CLI_MONITOR_TABLE                                                                                    \
    CLI_MONITOR_SPEC_TABLE,                                                                                  \
        CLI_NUMBER_OPTION("history", 'n', "N", 0, 4096,                                                      \
                          "Print the last N events of the specification's inputs before each violation."),   \
        CLI_FLAG_OPTION("all", 'a',                                                                          \
                        "Print all results, not only violations; of monitor(...) all verdicts, not only "    \
                        "the first one and the changes.")

#define CLI_MONITOR_TEXT 65536 /* total size in bytes of the texts of --bind, or of --violation */

/* Texts NAME=VALUE, split in two. */
struct cli_pairs {
    struct ct_verify_bind pairs[CLI_LIST_MAX];
    size_t count;
    char room[CLI_MONITOR_TEXT];
};

struct cli_monitors {
    /* set by the caller: number of rows between CLI_CAPTURE_TABLE and those of specifications */
    size_t shift;
    bool all;         /* set by the caller: print all results of monitor(...), not only changes */
    uint32_t history; /* set by the caller: number of events printed before each violation */
    const struct cli_args *args;
    struct ct_monitor_limits limits; /* `verify` points to it */
    struct ct_verify_options verify;
    struct ct_monitor_options compile;
    struct ct_monitor_spec *specs[CLI_LIST_MAX];
    const char *names[CLI_LIST_MAX]; /* as on the command line */
    struct cli_spec_text texts[CLI_LIST_MAX];
    size_t count;
    struct cli_pairs binds, violations;
    bool keeps_texts; /* the texts of the specifications are kept */
};

/* Returns the number of specifications given by option number `spec`. */
size_t cli_monitors_named(const struct cli_args *args, size_t spec);

/* Refuses options of specifications where option number `spec` gives none. Returns false after a message. */
bool cli_monitors_check_idle(const struct cli_args *args, size_t spec);

/* Compiles the specifications. All members that the caller does not set must be zero. Returns false after a
 * message. The caller frees the object in any case. */
bool cli_monitors_load(struct cli_monitors *monitors, const struct cli_args *args);

/* Returns the protocol of a source for ct_verifier_protocols. */
uint8_t cli_monitors_protocol(const struct ct_source *source);

/* Returns whether software trace feeds an input of the specifications. */
bool cli_monitors_need_software(const struct cli_monitors *monitors);

/* Returns whether context switches feed an input of the specifications. */
bool cli_monitors_need_contexts(const struct cli_monitors *monitors);

/* Adds the specifications to a verifier, with their bindings and what counts as a violation. Returns false
 * after a message. */
bool cli_monitors_add(const struct cli_monitors *monitors, struct ct_verifier *verifier);

/* Adds the specifications to sums in the same way. Returns false after a message. */
bool cli_monitors_add_sums(const struct cli_monitors *monitors, struct ct_verify_sums *sums);

/* Copies to `mine` the bindings that belong to inputs of the specification, and marks them in `used` unless
 * that is NULL. Returns their number. */
size_t cli_monitors_binds(const struct ct_monitor_spec *spec, const struct cli_pairs *binds,
                          struct ct_verify_bind *mine, bool *used);
void cli_monitors_free(struct cli_monitors *monitors);
