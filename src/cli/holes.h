/* SPDX-License-Identifier: Apache-2.0 */
/* Code that ran although its memory is missing, by module. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/programs.h"

/* Writes the regions with the highest counts as "0x8000..0x8fc4 (12 times), ...": the file that was mapped
 * there (unknown with `capture` NULL), the name that `programs` (may be NULL) give to code outside of them,
 * or else the addresses. `one` and `many` name what is counted. */
#define CLI_HOLES_TEXT 2048
void cli_holes_text(char text[CLI_HOLES_TEXT], const struct ct_holes *holes, const struct ct_capture *capture,
                    struct ct_programs *programs, const char *one, const char *many);

/* Returns whether all code that ran outside of `programs` (may be NULL) is code that no program contains and
 * that has a name nevertheless. */
bool cli_holes_are_named(const struct ct_holes *holes, struct ct_programs *programs);

/* Reports in one line on stderr where memory was missing and how often, by the file that was mapped there or
 * by address. */
void cli_holes_say(const char *operand, const struct ct_holes *holes, const struct ct_capture *capture);
