/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL watch: an event log (fractal.h) as events of watchpoints (watch.h), so that specifications
 * and pairs of places can be checked on it as on a trace.
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

/* A log that is being read. Only one thread may use it at a time. */
struct ct_fractal_watch;

/* Adds the names of a log's processes to a set of programs. They are the base names of what the processes
 * run, for places such as "context:NAME". Reads the whole log. To be called before watchpoints are made from
 * the programs. The errors of ct_fractal_reader_open, CT_ERR_NOMEM, CT_ERR_ARG. */
CT_API int ct_fractal_watch_names(struct ct_ctx *ctx, const char *path, struct ct_programs *programs);

/* Opens a log for a set of watchpoints (not owned), which must not change. Their kinds must be those of a
 * log: accesses, contexts, addresses, entries of functions, CT_WATCH_OVERFLOW and CT_WATCH_GAP. The first
 * `marks` of them may be of any kind; those that a log does not have never occur. CT_ERR_ARG: one is of
 * another kind. CT_ERR_CONFIG: the records lack the time, the virtual address, or what a watchpoint needs.
 * The errors of ct_fractal_reader_open. */
CT_API int ct_fractal_watch_open(struct ct_ctx *ctx, const char *path, const struct ct_watches *watches,
                                 uint32_t marks, struct ct_fractal_watch **out);

/* The same for a log that is still written and comes in pieces; messages call it `name`. */
CT_API int ct_fractal_watch_stream(struct ct_ctx *ctx, const char *name, const struct ct_watches *watches,
                                   uint32_t marks, struct ct_fractal_watch **out);

/* Takes the next piece of such a log, of any size. ct_fractal_watch_next then gives the events of all
 * complete blocks. CT_ERR_ARG: the log does not come in pieces, or has ended; CT_ERR_CONFIG: the records have
 * no time or no virtual address; the errors of ct_fractal_reader_push. */
CT_API int ct_fractal_watch_push(struct ct_fractal_watch *watch, const void *data, size_t size);

/* Ends such a log; some events may still follow. The errors of ct_fractal_reader_end. */
CT_API int ct_fractal_watch_end(struct ct_fractal_watch *watch);

/* Updates after the set of watchpoints changed, when all events were given. CT_ERR_ARG: one is of a kind that
 * a log does not have, and nothing changed; CT_ERR_NOMEM. */
CT_API int ct_fractal_watch_renew(struct ct_fractal_watch *watch);

/* Returns the time of the last record. *clock_hz receives the units per second, 0 if unknown. */
CT_API uint64_t ct_fractal_watch_time(const struct ct_fractal_watch *watch, uint64_t *clock_hz);

/* Closes the log and frees the object. */
CT_API void ct_fractal_watch_free(struct ct_fractal_watch *watch);

/* Writes the next events, at most `cap`, in the order of the log; *count is 0 at its end. A record hits a
 * place when it is in the place's line of 64 bytes, and the entry of a function unless data was read. The
 * value of the event is the place, its cycle the time of the record. A watchpoint of kind ACCESS has an event
 * for each record of its process whose line, or part of a line, is in its memory; the value is the address of
 * the record, the number its core. One of kind CONTEXT has an event when the process of a core's record
 * differs from that of the record before; the context ID is its number. CT_WATCH_OVERFLOW comes where the
 * tracer dropped events, CT_WATCH_GAP where the log is damaged, both at the time of the record before.
 * CT_ERR_FORMAT: time goes back. CT_ERR_ARG. */
CT_API int ct_fractal_watch_next(struct ct_fractal_watch *watch, struct ct_watch_event *events, size_t cap,
                                 size_t *count);

/* Returns what was lost up to the last event that was given: dropped events count as overflows, damage as
 * lost bytes. */
CT_API struct ct_losses ct_fractal_watch_losses(const struct ct_fractal_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
