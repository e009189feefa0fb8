/* SPDX-License-Identifier: Apache-2.0 */
/* Lets threads take turns to compile specifications that come over HTTP: one works, one waits, and any
 * further one is refused. */
#pragma once

#include <stdbool.h>

struct ct_live_turns;

/* Creates the object. NULL: out of memory. */
struct ct_live_turns *ct_live_turns_new(void);
void ct_live_turns_free(struct ct_live_turns *turns);

/* Waits for the caller's turn. Returns false when one thread works and another waits already. */
bool ct_live_turns_take(struct ct_live_turns *turns);
void ct_live_turns_give(struct ct_live_turns *turns);
