/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a thread: words of the recorder become what a core executes. */
#ifndef CT_RECORD_PATH_H
#define CT_RECORD_PATH_H

#include "record/code.h"
#include "record/software.h"
#include "record/unit.h"

struct ct_path;

/* Takes an access to watched memory. */
typedef int ct_path_access_fn(void *user, const struct ct_software_access *access);

/* Makes the path of the thread with context ID `id`, in `code`, on the core that `unit` traces. `view` is
 * what that core sees of code that changes, or NULL. None of them is owned. CT_ERR_NOMEM. */
int ct_path_new(struct ct_ctx *ctx, const struct ct_code *code, struct ct_code_view *view,
                struct ct_unit *unit, uint32_t id, struct ct_path **out);
void ct_path_free(struct ct_path *path);

/* Makes the thread a processor of a whole machine, whose exceptions take it to handlers that are traced,
 * too. */
void ct_path_system(struct ct_path *path);

/* Sets who is told of accesses to watched memory. */
void ct_path_accesses(struct ct_path *path, ct_path_access_fn *fn, void *user);

/* Takes words (recorder/trace_stream.h), all of a chunk. CT_ERR_FORMAT: they
 * name a block that is not there. */
int ct_path_words(struct ct_path *path, const uint32_t *words, size_t size);

/* Notes that the core goes to another thread. It comes back with the next words. */
int ct_path_pause(struct ct_path *path);

/* Ends the thread. What it was in the middle of counts up to `at` (see struct trace_thread) when `certain`:
 * the thread was alone and ended by its own fault. Where others ended it nobody knows how far it was. */
int ct_path_end(struct ct_path *path, uint32_t at, uint32_t whole, bool certain);

#endif
