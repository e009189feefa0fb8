/* SPDX-License-Identifier: Apache-2.0 */
/* coretap axis: the sources of a system (usually its cores) on one common time axis, for the specifications
 * of a verifier. The position of an event on the axis is known as precisely as timestamps, and the cycles
 * between them, allow. A verdict is certain only where it does not depend on more precision than that.
 *
 *     ct_verifier_sources(verifier, cores, count);    // before specifications are added
 *     ct_verifier_begin(verifier, on_result, my);
 *     ct_verify_axis_new(ctx, verifier, watches, count, &axis);
 *     while ((source = ct_verify_axis_next(axis)) >= 0)
 *         rc = decode_some(source) ? ct_verify_axis_run(axis) : ct_verify_axis_end(axis, source);
 *     ct_verifier_finish(verifier);
 *
 * where decode_some decodes some more of a source, passes its batches to ct_verify_axis_take, and returns 0
 * at its end. For captures together.h does all this.
 *
 * Events are held until every source has reached the next timestamp after them. A caller that always decodes
 * the source that ct_verify_axis_next returns holds no more events than lie between two timestamps of a
 * source. When sources are decoded one after the other, all their events are held: about 80 bytes for each
 * event of a watchpoint, and as many for each specification that takes the event. */
#ifndef CORETAP_AXIS_H
#define CORETAP_AXIS_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/steps.h"
#include "coretap/verify.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_verify_axis;

/* Makes an axis for `count` sources of a verifier whose run has begun. `watches` are its watchpoints. Neither
 * is owned. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_new(struct ct_ctx *ctx, struct ct_verifier *verifier, struct ct_watches *watches,
                              size_t count, struct ct_verify_axis **out);
CT_API void ct_verify_axis_free(struct ct_verify_axis *axis);

/* Describes a source (borrowed for the call). A timestamp of an STM is the exact time of the write right
 * before it, and so is that of an ITM that adds one to each packet (ITMTCR.GTSFREQ is 3). A timestamp of any
 * other source, or of one that is not described, is a time at or after all that came before it.
 * CT_ERR_ARG. */
CT_API int ct_verify_axis_source(struct ct_verify_axis *axis, size_t source,
                                 const struct ct_source *description);

/* Expects that some sources may have no trace, as in a live run. The instance of a specification for one core
 * (`@each`) then begins with the first step of that core and receives what it missed. A core without steps
 * gives no results. To be called before the first step. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_await_cores(struct ct_verify_axis *axis);

/* Assumes that a source does nothing while the others do not wait for it (ct_verify_axis_pass). Results then
 * do not depend on it. Events of it that still come late count as lost from the time that the others have
 * reached. To be called before the first step. CT_ERR_ARG. */
CT_API int ct_verify_axis_assume_idle(struct ct_verify_axis *axis);

/* Takes steps of a source, in order. The errors of ct_watcher_run. */
CT_API int ct_verify_axis_take(struct ct_verify_axis *axis, size_t source, const struct ct_step_batch *batch);

/* Marks the end of a source. CT_ERR_ARG. */
CT_API int ct_verify_axis_end(struct ct_verify_axis *axis, size_t source);

/* Gives the specifications the events whose position is known by now. They come in portions of some hundred,
 * so that the order of results of different specifications does not depend on how much of each source was
 * decoded. A specification that fails takes no more events, and its error is returned: the errors of
 * ct_verifier_feed. Unless it is CT_ERR_NOMEM, call again, because events may be left. */
CT_API int ct_verify_axis_run(struct ct_verify_axis *axis);

/* Gives the specifications everything that is known by now, for trace that is still being recorded. The order
 * of results of different specifications then depends on when it is called. The errors of
 * ct_verify_axis_run. */
CT_API int ct_verify_axis_settle(struct ct_verify_axis *axis);

/* Returns 1 when the remaining events can wait, else 0. */
typedef int ct_verify_axis_yield_fn(void *user);

/* Sets a function that is asked whether the remaining events can wait. It gives other work its turn: it is
 * asked after each portion. When it returns 1, ct_verify_axis_run and ct_verify_axis_settle return early, and
 * the next call continues. NULL: nothing is asked, and all events are given. CT_ERR_ARG. */
CT_API int ct_verify_axis_yield(struct ct_verify_axis *axis, ct_verify_axis_yield_fn *yield, void *user);

/* Returns the number of events that are held. */
CT_API size_t ct_verify_axis_held(const struct ct_verify_axis *axis);

/* Stops waiting for the source that the others wait for, until its next timestamp. Unless nothing at all has
 * come from it, what it does meanwhile counts as lost. Events of it that arrive after the specifications got
 * later ones count as lost, too. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_pass(struct ct_verify_axis *axis);

/* Stops waiting for sources that have given no step yet. They are presumed to have nothing before the time
 * that the others had reached at the previous call, so that results up to then can be given. Events that
 * still come from before it are too late: no specification takes them, and they count as lost. When the calls
 * are at fixed places of the trace, results depend on the trace alone. CT_ERR_ARG. */
CT_API int ct_verify_axis_presume(struct ct_verify_axis *axis);

/* How well a source kept up with the others. */
struct ct_verify_axis_passed {
    uint64_t times; /* how often the others stopped waiting for it */
    uint64_t late;  /* its events that came too late, so that no specification took them */
    uint8_t came;   /* 1: it gave an event or a timestamp; otherwise it is not missed */
    uint8_t pad[7]; /* 0 */
    /* Its events and losses from before the time that the others had reached while nothing had come from it
     * (ct_verify_axis_presume). Results given by then lack them. */
    uint64_t unforeseen;
};

/* Returns how well a source kept up. CT_ERR_ARG. */
CT_API int ct_verify_axis_passed_of(const struct ct_verify_axis *axis, size_t source,
                                    struct ct_verify_axis_passed *out);

/* How often the timestamps of a source went back, as when the target starts again, and those around the last
 * time. Times of the specifications go on from there, and what happened in between counts as lost. A
 * timestamp that the one after it contradicts is damage, and is left out. */
struct ct_verify_axis_restarts {
    uint64_t times, from, to;
};

/* Returns how often the clock of a source started again. CT_ERR_ARG. */
CT_API int ct_verify_axis_restarts_of(const struct ct_verify_axis *axis, size_t source,
                                      struct ct_verify_axis_restarts *out);

/* Returns 1 when the specifications get this event of a source, else 0. */
typedef int ct_verify_axis_filter_fn(void *user, size_t source, const struct ct_watch_event *event);

/* Sets the filter for all events except losses and timestamps; NULL: none. CT_ERR_ARG. */
CT_API int ct_verify_axis_filter(struct ct_verify_axis *axis, ct_verify_axis_filter_fn *filter, void *user);

/* Hides a source from the specifications (`mute` 1) or shows it again (0). For sources that are filtered out:
 * the others do not wait for a hidden one, and its losses make no result uncertain. CT_ERR_ARG. */
CT_API int ct_verify_axis_mute(struct ct_verify_axis *axis, size_t source, int mute);

/* Updates the axis after specifications were added, replaced or removed during a run. Looks up places again;
 * sources that no specification uses are no longer waited for. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_renew(struct ct_verify_axis *axis);

/* Returns the number of the source that the others wait for; -1 when all have ended. */
CT_API int ct_verify_axis_next(const struct ct_verify_axis *axis);

#ifdef __cplusplus
}
#endif
#endif
