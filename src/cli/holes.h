/* SPDX-License-Identifier: Apache-2.0 */
/* Code that ran and whose memory is missing, by module. */
#ifndef CT_CLI_HOLES_H
#define CT_CLI_HOLES_H

#include "coretap/input.h"
#include "coretap/losses.h"

/* Writes the regions with most as "0x8000..0x8fc4 (12 times), ...", with what is counted as `one` and `many`:
 * the file that was mapped there (`capture` NULL: not known), or its addresses. */
#define CLI_HOLES_TEXT 2048
void cli_holes_text(char text[CLI_HOLES_TEXT], const struct ct_holes *holes, const struct ct_capture *capture,
                    const char *one, const char *many);

/* Says in one line on stderr where memory was missing and how often: by the file that
 * was mapped there, or by address. */
void cli_holes_say(const char *operand, const struct ct_holes *holes, const struct ct_capture *capture);

#endif
