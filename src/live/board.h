/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysing thread of a live run and the threads of its page share: the newest status, and one
 * request at a time. The analysing thread comes by between two pieces of input. */
#ifndef CT_LIVE_BOARD_H
#define CT_LIVE_BOARD_H

#include "live/live.h"

struct ct_live_board;

/* NULL: no memory. */
struct ct_live_board *ct_live_board_new(const struct ct_live_say *say);
void ct_live_board_free(struct ct_live_board *board);

/* ---- the analysing thread ---- */

/* From now on `ring` is woken when there is a request. */
void ct_live_board_wakes(struct ct_live_board *board, struct ct_live_ring *ring);

/* Copies both texts. False: there is no memory for them, and those before them stay. */
bool ct_live_board_publish(struct ct_live_board *board, const char *json, size_t json_size, const char *text,
                           size_t text_size);

/* The request that waits, or NULL; it has to be answered. */
struct ct_live_command *ct_live_board_asked(struct ct_live_board *board);
void ct_live_board_answer(struct ct_live_board *board);

/* No request is taken any more, and nothing will be published: those who wait are told so. */
void ct_live_board_close(struct ct_live_board *board);

/* ---- threads of the page ---- */

/* A copy of the first status behind number *serial, for which it waits up to `milliseconds`;
 * *serial is then its number. NULL: there is none, and with *over set none will come; or there is
 * no memory for it, which is said. */
char *ct_live_board_read(struct ct_live_board *board, enum ct_live_form form, uint64_t *serial,
                         unsigned milliseconds, size_t *size, bool *over);

/* Waits until it is answered. */
void ct_live_board_ask(struct ct_live_board *board, struct ct_live_command *command);

#endif
