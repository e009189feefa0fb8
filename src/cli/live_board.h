/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysing thread of a live run and the threads of its page share: the newest status, and one
 * request at a time. The analysing thread comes by between two pieces of input. */
#ifndef CT_CLI_LIVE_BOARD_H
#define CT_CLI_LIVE_BOARD_H

#include "cli/live.h"

struct cli_live_board;

/* NULL: no memory. `ring` is woken when there is a request. */
struct cli_live_board *cli_live_board_new(struct cli_live_ring *ring);
void cli_live_board_free(struct cli_live_board *board);

/* ---- the analysing thread ---- */

/* Copies both texts. False: there is no memory for them, and those before them stay. */
bool cli_live_board_publish(struct cli_live_board *board, const char *json, size_t json_size,
                            const char *text, size_t text_size);

/* The request that waits, or NULL; it has to be answered. */
struct cli_live_command *cli_live_board_asked(struct cli_live_board *board);
void cli_live_board_answer(struct cli_live_board *board);

/* No request is taken any more, and nothing will be published: those who wait are told so. */
void cli_live_board_close(struct cli_live_board *board);

/* ---- threads of the page ---- */

enum cli_live_form {
    LIVE_JSON,
    LIVE_TEXT,
};

/* A copy of the first status behind number *serial, for which it waits up to `milliseconds`;
 * *serial is then its number. NULL: there is none, and with *over set none will come; or there is
 * no memory for it, which is said. */
char *cli_live_board_read(struct cli_live_board *board, enum cli_live_form form, uint64_t *serial,
                          unsigned milliseconds, size_t *size, bool *over);

/* Waits until it is answered. */
void cli_live_board_ask(struct cli_live_board *board, struct cli_live_command *command);

#endif
