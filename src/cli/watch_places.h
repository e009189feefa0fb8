/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints on the command line: places in options, and in a file. */
#pragma once

#include "cli/cli.h"
#include "cli/programs.h"

/* Rows of an option table, in this order. */
#define CLI_WATCH_PLACES_TABLE                                                                               \
    CLI_LIST_OPTION(                                                                                         \
        "at", 'a', "PLACE",                                                                                  \
        "What to watch. Code: a line (main.c:32), a function (main: its entries and returns; entry:main, "   \
        "return:main), the instruction at an address (0x4010, main+0x10), an edge (edge:17, as numbered by " \
        "'coretap graph'). Trace events: exception, exception:NUMBER, exception-return, context, "           \
        "context:ID, context:NAME, timestamp, event:NUMBER. Software trace: itm:PORT, stm:CHANNEL, "         \
        "stm:MASTER:CHANNEL, dwt:COMPARATOR. Variables: load:NAME, store:NAME (store:motor.speed, "          \
        "store:table[3]). Named events: value:NAME, text:FORMAT, begin:NAME, end:NAME (docs/tessla.md)."),   \
        CLI_TEXT_OPTION("list", 0, "FILE", "File with places, one a line; # starts a comment.")
#define CLI_WATCH_PLACES_ROWS 2

/* The rows of a command. The first one is option number `at`. */
struct cli_watch_places {
    const struct cli_args *args;
    size_t at;
};

/* Returns whether the command line names any watchpoint. */
bool cli_watch_places_any(const struct cli_watch_places *places);

/* Calls `add` for each place. Returns false after a message. */
bool cli_watch_places_each(const struct cli_watch_places *places, bool (*add)(void *to, const char *place),
                           void *to);

/* Makes the watchpoints, in known programs. Returns false after a message. */
bool cli_watch_places_open(const struct cli_watch_places *places, struct ct_programs *programs,
                           struct ct_watches **watches);
