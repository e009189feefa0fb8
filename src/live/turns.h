/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling specifications that come over HTTP: one at a time, one waits, and the next is turned away. */
#ifndef CT_LIVE_TURNS_H
#define CT_LIVE_TURNS_H

#include <stdbool.h>

struct ct_live_turns;

/* NULL: no memory. */
struct ct_live_turns *ct_live_turns_new(void);
void ct_live_turns_free(struct ct_live_turns *turns);

/* Waits for the caller's turn. False: one works and another one waits already. */
bool ct_live_turns_take(struct ct_live_turns *turns);
void ct_live_turns_give(struct ct_live_turns *turns);

#endif
