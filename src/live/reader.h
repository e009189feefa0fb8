/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that reads trace into the ring. */
#pragma once

struct ct_live;
struct ct_live_reader;

/* Starts the thread. It reads the source of the run into its ring and, if the trace is kept, its file, until
 * the end, an error, ct_live_stop or ct_live_hurry; then it ends the ring. Until it is freed, it ensures that
 * a run in a hurry ends within two seconds, by setting the run's `stop`. Errors: CT_ERR_IO, CT_ERR_NOMEM. */
int ct_live_reader_start(struct ct_live *live, struct ct_live_reader **out);

/* Waits for the thread to end, and frees it. Its input must be over or stopped. */
void ct_live_reader_free(struct ct_live_reader *reader);
