/* SPDX-License-Identifier: Apache-2.0 */
/* coretap axis: the sources of a system (its cores, as a rule) on one axis of time, for the specifications of
 * a verifier. Where an event is on it is known as far as timestamps and the cycles between them tell; what a
 * specification says is certain where it does not depend on more than that.
 *
 *     ct_verifier_sources(verifier, cores, count);   before specifications are added
 *     ct_verifier_begin(verifier, on_result, my);
 *     ct_verify_axis_new(ctx, verifier, watches, count, &axis);
 *     while ((source = ct_verify_axis_next(axis)) >= 0)
 *         …decode some more of this source: ct_verify_axis_take(axis, source, batch), at its end
 *         ct_verify_axis_end(axis, source); then ct_verify_axis_run(axis)
 *     ct_verifier_finish(verifier);
 *
 * Events wait until all sources have come to the next timestamp behind them. Whoever decodes the source that
 * ct_verify_axis_next names keeps no more than lies between two timestamps of a source; sources that come one
 * after the other are kept whole: some 80 bytes for each event of a watchpoint, and as many for each
 * specification that takes it. */
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

/* Makes an axis for a verifier whose run has begun. Its watchpoints are `watches`, and it was told of `count`
 * sources. Neither is owned. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_new(struct ct_ctx *ctx, struct ct_verifier *verifier, struct ct_watches *watches,
                              size_t count, struct ct_verify_axis **out);
CT_API void ct_verify_axis_free(struct ct_verify_axis *axis);

/* Says what a source is (borrowed for the call): of an STM, and of an ITM that was told to give a timestamp
 * after each packet (ITMTCR.GTSFREQ is 3), a timestamp is the very time of the write or access right before
 * it; of what nothing is said about, the time up to which all before it was. CT_ERR_ARG. */
CT_API int ct_verify_axis_source(struct ct_verify_axis *axis, size_t source,
                                 const struct ct_source *description);

/* Says that sources may turn out to have no trace, as of a run that goes on: the instance of a specification
 * for a core (`@each`) begins with the first step of that core, with all that it has to be given from before.
 * Of a core that has none there are no results. To be called before the first step. CT_ERR_ARG, CT_ERR_NOMEM.
 */
CT_API int ct_verify_axis_await_cores(struct ct_verify_axis *axis);

/* Says that a source that the others stopped waiting for does nothing meanwhile (ct_verify_axis_pass):
 * results do not hang on it. Events of it that come late all the same count as lost from where the others
 * are. To be called before the first step. CT_ERR_ARG. */
CT_API int ct_verify_axis_assume_idle(struct ct_verify_axis *axis);

/* Takes steps of a source, in order. The errors of ct_watcher_run. */
CT_API int ct_verify_axis_take(struct ct_verify_axis *axis, size_t source, const struct ct_step_batch *batch);

/* Says that a source is at its end. CT_ERR_ARG. */
CT_API int ct_verify_axis_end(struct ct_verify_axis *axis, size_t source);

/* Gives the specifications the events whose place on the axis is known by now. They get some hundred at a
 * time, so that the order of what several of them say does not hang on how much of each source was decoded. A
 * specification that fails takes no more events, which is the result: the errors of ct_verifier_feed. There
 * may be more to be given then: call it again unless it is CT_ERR_NOMEM. */
CT_API int ct_verify_axis_run(struct ct_verify_axis *axis);

/* Gives them all that is known by now, for trace that comes. The order of what several specifications say
 * hangs on when it is called. The same errors as of ct_verify_axis_run. */
CT_API int ct_verify_axis_settle(struct ct_verify_axis *axis);

/* Tells whether what is still to be given may wait: 1, or 0. */
typedef int ct_verify_axis_yield_fn(void *user);

/* Says who is asked whether events may wait, so that something else has its turn. It is asked each time the
 * specifications have had some of them; then ct_verify_axis_run and ct_verify_axis_settle return before all
 * is given, and the next call goes on. NULL: nobody, and all is given. CT_ERR_ARG. */
CT_API int ct_verify_axis_yield(struct ct_verify_axis *axis, ct_verify_axis_yield_fn *yield, void *user);

/* Returns how many events wait. */
CT_API size_t ct_verify_axis_held(const struct ct_verify_axis *axis);

/* Stops waiting for the source that the others wait for, until it has a timestamp again. Unless nothing ever
 * came of it, what it does meanwhile counts as lost, and so do events of it that come too late, when
 * specifications were told later ones. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_pass(struct ct_verify_axis *axis);

/* Stops waiting for sources of which no step ever came. They are presumed to have nothing before the time
 * that the others had come to at the call before this one, so that results of up to then can be given. What
 * comes of them from before it all the same is too late: no specification takes it, and it counts as lost.
 * Results do not depend on more than the trace when it is called at fixed places of the trace. CT_ERR_ARG. */
CT_API int ct_verify_axis_presume(struct ct_verify_axis *axis);

/* How a source kept up with the others. */
struct ct_verify_axis_passed {
    uint64_t times; /* how often they stopped waiting for it */
    uint64_t late;  /* events of it that came too late, which no specification took */
    uint8_t came;   /* 1: it had an event or a timestamp; one of which nothing came is not missed */
    uint8_t pad[7]; /* 0 */
    /* Events and losses of it from before where the others went on to when nothing of it had come
     * (ct_verify_axis_presume): results that were given by then lack them. */
    uint64_t unforeseen;
};

/* Tells how a source kept up. CT_ERR_ARG. */
CT_API int ct_verify_axis_passed_of(const struct ct_verify_axis *axis, size_t source,
                                    struct ct_verify_axis_passed *out);

/* Tells whether the specifications get an event of a source: 1, or 0. */
typedef int ct_verify_axis_filter_fn(void *user, size_t source, const struct ct_watch_event *event);

/* Says who is asked about each event but losses and timestamps; NULL: nobody. CT_ERR_ARG. */
CT_API int ct_verify_axis_filter(struct ct_verify_axis *axis, ct_verify_axis_filter_fn *filter, void *user);

/* Says whether specifications hear nothing of a source (1) or hear it (0). For one that is filtered out: the
 * others do not wait for it, and what it lost makes no result uncertain. CT_ERR_ARG. */
CT_API int ct_verify_axis_mute(struct ct_verify_axis *axis, size_t source, int mute);

/* Has to follow when specifications were added, exchanged or removed during a run: places are looked for
 * anew, and sources that no specification hears of are not waited for. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verify_axis_renew(struct ct_verify_axis *axis);

/* Returns the number of the source that the others wait for; -1 when all are at their end. */
CT_API int ct_verify_axis_next(const struct ct_verify_axis *axis);

#ifdef __cplusplus
}
#endif
#endif
