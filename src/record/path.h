/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a thread: converts words of the recorder to the execution of a core. */
#pragma once

#include "record/code.h"
#include "record/software.h"
#include "record/unit.h"

struct ct_path;

/* Is called for an access to watched memory. */
typedef int ct_path_access_fn(void *user, const struct ct_software_access *access);

/* Makes the path of the thread with context ID `id`, in `code`, on the core of `unit`. `view` is that core's
 * view of changing code, or NULL. None of them is owned. CT_ERR_NOMEM. */
int ct_path_new(struct ct_ctx *ctx, const struct ct_code *code, struct ct_code_view *view,
                struct ct_unit *unit, uint32_t id, struct ct_path **out);
void ct_path_free(struct ct_path *path);

/* Makes the thread a processor of a whole machine, whose exception handlers are traced too: of the M profile,
 * or of the A profile in A32 and T32 (`arm32`), else in A64. */
void ct_path_system(struct ct_path *path, bool m_profile, bool arm32);

/* Returns the number of blocks that are not traced, because it is unknown how execution left them. */
uint64_t ct_path_unplaced(const struct ct_path *path);

/* Sets the function for accesses to watched memory. */
void ct_path_accesses(struct ct_path *path, ct_path_access_fn *fn, void *user);

/* Processes all words of a chunk (recorder/trace_stream.h). CT_ERR_FORMAT: a block in them does not exist. */
int ct_path_words(struct ct_path *path, const uint32_t *words, size_t size);

/* Notes that the core switches to another thread, until the next words. */
int ct_path_pause(struct ct_path *path);

/* Ends the thread. If `certain`, its current block is executed up to `at` (see struct trace_thread): the
 * thread was alone and ended by its own fault. If others ended it, its position is unknown. */
int ct_path_end(struct ct_path *path, uint32_t at, uint32_t whole, bool certain);
