/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications on the command line. */
#pragma once

#include "cli/cli.h"
#include "coretap/monitor.h"

/* Limits of a specification: rows for the option table of each command that runs specifications. */
#define CLI_BUDGET_OPTION                                                                                    \
    CLI_NUMBER_OPTION("event-budget", 0, "UNITS", 1, INT64_MAX,                                              \
                      "The work that a specification may do for one event, in units of about one "           \
                      "instruction; 2000000 without this option, which is 10 ms at most. One that needs "    \
                      "more is stopped with a message; other specifications go on.")
#define CLI_MEMORY_OPTION                                                                                    \
    CLI_NUMBER_OPTION("monitor-memory", 0, "MIB", 1, 65536,                                                  \
                      "The memory for the values of each specification, of which a third can be kept from "  \
                      "one event to the next, and the memory that compiling it may take; 64 MiB without "    \
                      "this option. One that needs more is stopped with a message, or does not compile.")

/* Returns the limits of the two options, and sets the memory of `compile` from them. */
struct ct_monitor_limits cli_spec_limits(const struct cli_value *budget, const struct cli_value *memory,
                                         struct ct_monitor_options *compile);

enum cli_spec_found {
    CLI_SPEC_FINE,
    CLI_SPEC_WRONG, /* does not compile */
    CLI_SPEC_NONE,  /* cannot be read, or memory is missing */
};

/* The text of a specification, which may contain NULs. */
struct cli_spec_text {
    char *text; /* owned; NULL when the file could not be read */
    size_t size;
};

/* Compiles the file (- is standard input), and reports its errors on standard error. The caller frees *spec,
 * which is NULL with CLI_SPEC_NONE. `kept` receives the text unless it is NULL. */
enum cli_spec_found cli_spec_load(const struct cli_args *args, const char *path,
                                  const struct ct_monitor_options *options, struct ct_monitor_spec **spec,
                                  struct cli_spec_text *kept);
