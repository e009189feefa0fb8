/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling specifications that come over HTTP: one at a time, one waits, and the next is turned away. */
#ifndef CT_CLI_LIVE_TURNS_H
#define CT_CLI_LIVE_TURNS_H

#include <stdbool.h>

struct cli_live_turns;

/* NULL: no memory. */
struct cli_live_turns *cli_live_turns_new(void);
void cli_live_turns_free(struct cli_live_turns *turns);

/* Waits for the caller's turn. False: one works and another one waits already. */
bool cli_live_turns_take(struct cli_live_turns *turns);
void cli_live_turns_give(struct cli_live_turns *turns);

#endif
