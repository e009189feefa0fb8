/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysing thread of a live run and the threads of its page share: the newest status, and one
 * request of each kind at a time. The analysing thread looks at it between two pieces of input. */
#ifndef CT_LIVE_BOARD_H
#define CT_LIVE_BOARD_H

#include "live/live.h"

struct ct_live_board;

/* Makes a board. NULL without memory. */
struct ct_live_board *ct_live_board_new(const struct ct_live_say *say);
void ct_live_board_free(struct ct_live_board *board);

/* ---- the analysing thread ---- */

/* Lets every request wake `ring` from now on. */
void ct_live_board_wakes(struct ct_live_board *board, struct ct_live_ring *ring);

/* Publishes copies of both texts; `parts` are those of the JSON. Returns false, and keeps the texts before,
 * without memory. */
bool ct_live_board_publish(struct ct_live_board *board, const struct ct_live_text *json,
                           const struct ct_live_parts *parts, const struct ct_live_text *words);

/* Returns the request of a kind that waits, which has to be answered; NULL when none does. */
struct ct_live_command *ct_live_board_asked(struct ct_live_board *board, enum ct_live_kind kind);
void ct_live_board_answer(struct ct_live_board *board, enum ct_live_kind kind);

/* Ends requests and publishing, and tells so to those who wait. */
void ct_live_board_close(struct ct_live_board *board);

/* ---- threads of the page ---- */

/* Returns a copy of the first status behind number *serial, which becomes the number of that status. Waits
 * for it up to `milliseconds`. NULL: there is none yet; or none will come, and *over is set; or memory is
 * missing, which a message tells. */
char *ct_live_board_read(struct ct_live_board *board, enum ct_live_form form, uint64_t *serial,
                         unsigned milliseconds, size_t *size, bool *over);

/* Returns, in the same way, a JSON object of what changed behind number *serial: members of the status, and
 * in "changed" those of its monitors. What is there is all of it when *serial is 0. */
char *ct_live_board_changes(struct ct_live_board *board, uint64_t *serial, unsigned milliseconds,
                            size_t *size, bool *over);

/* Asks, and waits for the answer. */
void ct_live_board_ask(struct ct_live_board *board, struct ct_live_command *command);

#endif
