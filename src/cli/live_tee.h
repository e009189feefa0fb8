/* SPDX-License-Identifier: Apache-2.0 */
/* The file that a live run keeps its trace in, and the .ini beside it that describes it: both can be read at
 * any time, also when the run was killed. */
#ifndef CT_CLI_LIVE_TEE_H
#define CT_CLI_LIVE_TEE_H

#include "cli/cli.h"
#include "cli/live_ring.h"
#include "coretap/frame.h"

struct cli_live_tee;

/* Creates `path` and its description from the .ini of the stream, `framing` as the options say. `input` is
 * what is read, and cannot be the file. NULL: said why. A character device, such as /dev/full, has no
 * description. */
struct cli_live_tee *cli_live_tee_open(struct ct_ctx *ctx, const char *path, const char *config,
                                       enum ct_framing framing, int input);

/* Writes bytes that came. When that fails it is said, and no more is written. */
void cli_live_tee_write(struct cli_live_tee *tee, const uint8_t *data, size_t size);

/* What comes next is of another connection. */
void cli_live_tee_break(struct cli_live_tee *tee);

void cli_live_tee_look(const struct cli_live_tee *tee, struct cli_live_intake *intake);

/* False when not all is in the file. */
bool cli_live_tee_close(struct cli_live_tee *tee);

#endif
