/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL watch: an event log (fractal.h) as events of watchpoints (watch.h), so that specifications
 * and pairs of places can be held against it as against a trace.
 *
 *     ct_fractal_watch_open(ctx, "monday.log", watches, 0, &watch);
 *     while (ct_fractal_watch_next(watch, events, 256, &count) == CT_OK && count)
 *         ct_verifier_feed(verifier, events, count);
 *     ct_fractal_watch_free(watch); */
#ifndef CORETAP_FRACTAL_WATCH_H
#define CORETAP_FRACTAL_WATCH_H

#include "coretap/base.h"
#include "coretap/losses.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A log that is read. Belongs to one thread at a time. */
struct ct_fractal_watch;

/* Gives a set of programs the names of the processes of a log. They are the base names of what the processes
 * run, for places such as "context:NAME". It reads the whole log. To be called before sets of watchpoints are
 * made of the programs. The errors of ct_fractal_reader_open, CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_fractal_watch_names(struct ct_ctx *ctx, const char *path, struct ct_programs *programs);

/* Opens a log for the watchpoints of a set (not owned), which has to stay as it is. They are of kinds that a
 * log has: accesses, contexts, addresses, entries of functions, CT_WATCH_OVERFLOW and CT_WATCH_GAP; the first
 * `marks` of them may be any, and those that a log has not never come. CT_ERR_ARG: one is of another kind.
 * CT_ERR_CONFIG: the records have no time or no virtual address, or not what a watchpoint asks for. The
 * errors of ct_fractal_reader_open. */
CT_API int ct_fractal_watch_open(struct ct_ctx *ctx, const char *path, const struct ct_watches *watches,
                                 uint32_t marks, struct ct_fractal_watch **out);
CT_API void ct_fractal_watch_free(struct ct_fractal_watch *watch);

/* Writes the next events, `cap` at most, in the order of the log; *count is 0 at its end. A record comes by a
 * place when it is of the place's line of 64 bytes, and by the entry of a function unless data was read; the
 * value of the event is the place, its cycle the time of the record. A watchpoint of kind ACCESS has an event
 * with each record of its process whose line, or part of a line, lies in its memory; the value is the address
 * of the record, the number its core. One of kind CONTEXT has one where the process of a core's record is
 * another one than that of the record before; the context ID is its number. Where the tracer dropped events
 * comes CT_WATCH_OVERFLOW, where the log is damaged CT_WATCH_GAP, both at the time of the record before.
 * CT_ERR_FORMAT: time goes back. CT_ERR_ARG. */
CT_API int ct_fractal_watch_next(struct ct_fractal_watch *watch, struct ct_watch_event *events, size_t cap,
                                 size_t *count);

/* Returns what was lost up to the last event that was given: dropped events are overflows, damage is lost
 * bytes. */
CT_API struct ct_losses ct_fractal_watch_losses(const struct ct_fractal_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
