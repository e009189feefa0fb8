/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the analysing thread of a live run and the threads of its page: the latest status, and one
 * request of each kind at a time. The analysing thread checks it between two pieces of input. */
#pragma once

#include "live/live.h"

struct ct_live_board;

/* Creates a board. NULL: out of memory. */
struct ct_live_board *ct_live_board_new(const struct ct_live_say *say);
void ct_live_board_free(struct ct_live_board *board);

/* ---- the analysing thread ---- */

/* Makes every request wake `ring` from now on. */
void ct_live_board_wakes(struct ct_live_board *board, struct ct_live_ring *ring);

/* Publishes copies of both texts; `parts` are those of the JSON. Returns false, and keeps the texts before,
 * when out of memory. */
bool ct_live_board_publish(struct ct_live_board *board, const struct ct_live_text *json,
                           const struct ct_live_parts *parts, const struct ct_live_text *words);

/* Returns the waiting request of a kind, which the caller must answer; NULL: none. */
struct ct_live_command *ct_live_board_asked(struct ct_live_board *board, enum ct_live_kind kind);
void ct_live_board_answer(struct ct_live_board *board, enum ct_live_kind kind);

/* Ends requests and publishing, and wakes all who wait. */
void ct_live_board_close(struct ct_live_board *board);

/* ---- threads of the page ---- */

/* Returns a copy of the first status after number *serial, and sets *serial to its number. Waits up to
 * `milliseconds`. Returns NULL when there is none yet; when none will come, and sets *over; or when out of
 * memory, with a message. */
char *ct_live_board_read(struct ct_live_board *board, enum ct_live_form form, uint64_t *serial,
                         unsigned milliseconds, size_t *size, bool *over);

/* Returns, in the same way, a JSON object of what changed after number *serial: members of the status, and in
 * "changed" its monitors. With *serial 0 the object is complete. */
char *ct_live_board_changes(struct ct_live_board *board, uint64_t *serial, unsigned milliseconds,
                            size_t *size, bool *over);

/* Makes a request and waits for the answer. */
void ct_live_board_ask(struct ct_live_board *board, struct ct_live_command *command);
