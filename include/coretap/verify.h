/* SPDX-License-Identifier: Apache-2.0 */
/* coretap verify: TeSSLa specifications bound to the watchpoints of a trace (paper 2, sections III and IV).
 * What the monitors are fed with are events of watchers (watch.h); what comes out are results with the place
 * they happened at. Once for a capture whose `programs` (programs.h) are known:
 *
 *     ct_watches_new(ctx, programs, &watches);
 *     ct_verifier_new(ctx, &options, watches, &verifier);
 *     ct_monitor_compile(ctx, "name", text, strlen(text), &monitor_options, &spec);
 *     ct_verifier_add(verifier, spec, "name", NULL, 0);
 *
 * Then for each stream, where `begin` of struct ct_session_options (session.h) chooses CT_LEVEL_STEPS:
 *
 *     ct_watcher_new(ctx, watches, &watcher);
 *     ct_verifier_begin(verifier, on_result, user);
 *     do { // in `sink.steps` of the turn, with each batch
 *         rc = ct_watcher_run(watcher, batch, events, cap, &count, &more);
 *         rc = rc ? rc : ct_verifier_feed(verifier, events, count);
 *     } while (!rc && more);
 *     ct_verifier_finish(verifier); // in `decoded` of the options */
#ifndef CORETAP_VERIFY_H
#define CORETAP_VERIFY_H

#include "coretap/base.h"
#include "coretap/monitor.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_verify_clock {
    CT_VERIFY_CYCLES,     /* time is the cycles counted */
    CT_VERIFY_TIMESTAMPS, /* time is the last timestamp */
};

struct ct_verify_options {
    size_t size;       /* sizeof of this struct */
    uint8_t clock;     /* enum ct_verify_clock */
    uint64_t ticks;    /* times are ticks of the clock × ticks_to / ticks; 0: as they are */
    uint64_t ticks_to; /* see `ticks`; 0: times are as they are */
    uint64_t forget;   /* what is older than this time cannot change a result; 0: nothing is known of that */
    uint32_t history;  /* places before a result that are told with it, at most 4096 */
    const struct ct_monitor_limits *limits; /* of each monitor, owned by the caller; NULL: the defaults */
};

/* An input of a specification in the stream dialect, and what feeds it. */
struct ct_verify_bind {
    const char *input;
    const char *place; /* as ct_watches_add takes it */
};

/* An event that a specification was fed with, and at what time. */
struct ct_verify_place {
    uint64_t time;
    struct ct_watch_event event;
};

/* A result of one specification. It lives during the call. */
struct ct_verify_result {
    uint64_t time;
    const struct ct_verify_place *place;  /* the last one up to that time; NULL: there was none */
    const struct ct_verify_place *before; /* those before it, the oldest first: `history` of them at most */
    size_t before_count;
    const char *name;  /* of the output */
    const char *value; /* as text; cut at 500 bytes */
    uint32_t spec;     /* in the order of ct_verifier_add */
    uint32_t output;
    uint8_t violation; /* see ct_verifier_violation */
    uint8_t uncertain; /* trace that is missing, or another order of events, may have changed it: see
                          ct_monitor_certain. A violation that only another order has is uncertain, too */
    uint8_t type;      /* of the output: enum ct_monitor_type */
    uint8_t big;       /* 1: an Int of more than 64 bits */
    uint32_t instance; /* of a specification that is of each core (`core`), from 0 on; else 0 */
    union ct_monitor_value number; /* of Bool, Float, verdicts, and of Int unless `big` */
    /* Two events because of whose order it is uncertain, where sources are on one axis; else NULL. */
    const struct ct_verify_place *doubt[2];
    const char *core; /* that the instance is for; NULL: the specification is not of each core */
};

typedef void ct_verify_fn(void *user, const struct ct_verify_result *result);

/* Specifications and the watchpoints that they need. */
struct ct_verifier;

/* Makes a verifier without specifications. `watches` is not owned: places are added to it. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_verifier_new(struct ct_ctx *ctx, const struct ct_verify_options *options,
                           struct ct_watches *watches, struct ct_verifier **out);
CT_API void ct_verifier_free(struct ct_verifier *verifier);

/* Says that runs take `count` sources on one axis (axis.h). `cores` are the names of their cores, which are
 * copied; several sources may be of one. To be called before specifications are added. Places may then end in
 * @CORE, which is a name from the list: they are those of that core alone, and without it those of any. With
 * a place that ends in @each a specification has an instance for each core that gives all such places; what
 * it says it says of each of them (ct_verify_result.core). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_sources(struct ct_verifier *verifier, const char *const *cores, size_t count);

/* Beside the protocol of a source: it is an ETMv3 that traces data (ct_source_traces_data). */
#define CT_VERIFY_TRACES_DATA 0x80

/* Says of which core the one source of each run is, where there is no axis: @CORE and @each are then of it.
 * The name is copied. Without this call @each is the one source, whatever its name. To be called before
 * specifications are added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_core(struct ct_verifier *verifier, const char *core);

/* Says of which protocol (enum ct_protocol) each source is that a run may have: those of ct_verifier_sources
 * in their order, or else all of the capture. Places that none of them gives are then refused. To be called
 * before specifications are added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_protocols(struct ct_verifier *verifier, const uint8_t *protocols, size_t count);

/* Adds a compiled specification (not owned), called `name` in messages. Its inputs are bound by their sources
 * (codeLine, function_call, function_return, onExecuting, variable_value, itm_trace), by `binds`, and those
 * left by their names when these are exception, exception_return, gap, overflow, no_access or context. A Unit
 * input has an event each time; an Int one gets the number of an exception, gap or event, the context ID of a
 * context, and the address of other places. Of a place with values (itm, stm, dwt) an Int is what was
 * written, a Bool whether that is not 0, a Float what its 32 or 64 bits are as such; of a variable (load,
 * store) its type says which of them there are. CT_ERR_NOT_FOUND: an input that nothing feeds, a place that
 * is not in the programs or of no source that there is, a bind of no input. CT_ERR_CONFIG: an input whose
 * type the place cannot give. CT_ERR_NOMEM. While a run goes on, between two batches: it begins as if the
 * stream began here, and ct_watcher_renew has to follow before the next batch. Its number is the lowest one
 * that is free. */
CT_API int ct_verifier_add(struct ct_verifier *verifier, const struct ct_monitor_spec *spec, const char *name,
                           const struct ct_verify_bind *binds, size_t count);

/* Takes specification `number` away, and frees its number. While a run goes on, between two batches: it is
 * finished as at the end of a stream. CT_ERR_ARG: there is none; CT_ERR_FORMAT, CT_ERR_LIMIT: it failed in
 * its last instants, and is gone. */
CT_API int ct_verifier_remove(struct ct_verifier *verifier, uint32_t number);

/* Exchanges a specification for another one while a run goes on, between two batches. The old one is finished
 * as at the end of a stream; the new one takes its number and begins as if the stream began here. The others
 * notice nothing. Its places are added: ct_watcher_renew has to follow before the next batch. What counts as
 * a violation is as without ct_verifier_violation. When the new one cannot be bound (the errors of
 * ct_verifier_add) the old one goes on. CT_ERR_FORMAT, CT_ERR_LIMIT: the old one failed in its last instants,
 * the new one runs. CT_ERR_ARG: no such specification, or no run. */
CT_API int ct_verifier_exchange(struct ct_verifier *verifier, uint32_t number,
                                const struct ct_monitor_spec *spec, const char *name,
                                const struct ct_verify_bind *binds, size_t count);

/* Tells whether a place, as ct_watches_add takes it, may be fed by software trace: 1 for itm, stm and dwt,
 * for named events, and for load and store, which a DWT gives; else 0. */
CT_API int ct_verify_place_is_software(const char *place);

/* Writes the place that feeds an input which is not bound: that of its source, or that its name stands for.
 * CT_ERR_NOT_FOUND: it has to be bound. CT_ERR_ARG: no place gives values of its type. CT_ERR_LIMIT: the
 * place is longer than `cap`. */
CT_API int ct_verify_input_place(const struct ct_monitor_stream *input, char *place, size_t cap);

/* Says what counts as a violation. Without this call: a verdict that is false; a Bool that is true when the
 * output is called error or violation or its name ends in _error or _violation, and false when it has another
 * name (it says whether a property holds); each event of a Unit output with "error" or "violation" in its
 * name. After it, for the outputs called `output` in all specifications: each event when `value` is NULL,
 * else each event with that value as text. CT_ERR_NOT_FOUND: no specification has that
 * output. CT_ERR_ARG: it is an Int, and the value none. CT_ERR_NOMEM. */
CT_API int ct_verifier_violation(struct ct_verifier *verifier, const char *output, const char *value);

/* Returns 1 when an output of a specification can be a violation; 0: no result is one, whatever happens. */
CT_API int ct_verifier_may_violate(const struct ct_verifier *verifier);

/* Returns 1 when an event of a watchpoint came that a specification takes, in any run, else 0. */
CT_API int ct_verifier_came(const struct ct_verifier *verifier, uint32_t watch);

/* Begins a run over a new stream; all that the monitors knew is forgotten. CT_ERR_NOMEM. */
CT_API int ct_verifier_begin(struct ct_verifier *verifier, ct_verify_fn *fn, void *user);

/* Takes events of a watcher over the same watches, in order; those that no specification is bound to do no
 * harm. Each place that execution comes by is an instant of its own (those of one instruction share theirs):
 * one that the clock does not tell from the one before is one later. After a loss, results that it could have
 * changed are uncertain (ct_monitor_lose). CT_ERR_FORMAT, CT_ERR_LIMIT: a specification failed, and takes no
 * more events; the text says which. All others got all events: a caller may go on. */
CT_API int ct_verifier_feed(struct ct_verifier *verifier, const struct ct_watch_event *events, size_t count);

/* Returns why a specification failed in this run, with its name and the time; NULL: it did not. Of one that
 * is of each core it is the first instance that failed. */
CT_API const char *ct_verifier_failure(const struct ct_verifier *verifier, uint32_t number);

/* Returns why a specification, or an instance of one, failed in this run, and its number; NULL: all that
 * failed were returned before. */
CT_API const char *ct_verifier_next_failure(struct ct_verifier *verifier, uint32_t *number);

/* Ends the stream: the last instants are evaluated. The errors of ct_verifier_feed. */
CT_API int ct_verifier_finish(struct ct_verifier *verifier);

#ifdef __cplusplus
}
#endif
#endif
