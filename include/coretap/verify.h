/* SPDX-License-Identifier: Apache-2.0 */
/* coretap verify: runs TeSSLa specifications on the watchpoints of a trace (paper 2, sections III and IV).
 * The monitors are fed with events of watchers (watch.h), and give results with the places where they
 * occurred. Once for a capture whose `programs` (programs.h) are known:
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
 *     do {    // in `sink.steps` of the turn, with each batch
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
    uint64_t ticks;    /* times are ticks of the clock × ticks_to / ticks; 0: not converted */
    uint64_t ticks_to; /* see `ticks`; 0: not converted */
    uint64_t forget;   /* events older than this time cannot change a result; 0: unknown */
    uint32_t history;  /* places before a result that are given with it, at most 4096 */
    const struct ct_monitor_limits *limits; /* of each monitor, owned by the caller; NULL: the defaults */
};

/* Binds an input of a specification in the stream dialect to a place. */
struct ct_verify_bind {
    const char *input;
    const char *place; /* as for ct_watches_add */
};

/* An event that was fed to a specification, and its time. */
struct ct_verify_place {
    uint64_t time;
    struct ct_watch_event event;
};

/* A result of one specification. It is valid during the call. */
struct ct_verify_result {
    uint64_t time;
    const struct ct_verify_place *place;  /* the last place up to that time; NULL: none */
    const struct ct_verify_place *before; /* the places before it, oldest first: at most `history` */
    size_t before_count;
    const char *name;  /* of the output */
    const char *value; /* as text, cut at 500 bytes */
    uint32_t spec;     /* in the order of ct_verifier_add */
    uint32_t output;
    uint8_t violation; /* see ct_verifier_violation */
    uint8_t uncertain; /* 1: missing trace, or another order of events, may have changed it: see
                          ct_monitor_certain. A violation that only another order has is uncertain, too */
    uint8_t type;      /* of the output: enum ct_monitor_type */
    uint8_t big;       /* 1: an Int of more than 64 bits */
    uint32_t instance; /* for a specification with an instance for each core (`core`), from 0; else 0 */
    union ct_monitor_value number; /* of Bool, Float, verdicts, and of Int unless `big` */
    /* Two events whose order makes it uncertain, where sources are on one axis; else NULL. */
    const struct ct_verify_place *doubt[2];
    const char *core; /* core of the instance; NULL: the specification has no instances */
};

/* Receives results, in order of time for each specification. It may not free the verifier. Adding, removing
 * and replacing specifications, feeding, beginning and finishing are CT_ERR_ARG from here. */
typedef void ct_verify_fn(void *user, const struct ct_verify_result *result);

/* Specifications and the watchpoints that they need. */
struct ct_verifier;

/* Makes a verifier without specifications. `watches` is not owned; places are added to it. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_verifier_new(struct ct_ctx *ctx, const struct ct_verify_options *options,
                           struct ct_watches *watches, struct ct_verifier **out);
CT_API void ct_verifier_free(struct ct_verifier *verifier);

/* Prepares runs over `count` sources on one axis (axis.h). `cores` are the names of their cores, which are
 * copied; several sources may belong to one core. To be called before specifications are added. Places may
 * then end in @CORE, with a name from the list, to select that core; without it they are those of any core. A
 * specification with a place that ends in @each has an instance for each core that provides all such places,
 * and its results are given for each of them (ct_verify_result.core). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_sources(struct ct_verifier *verifier, const char *const *cores, size_t count);

/* Flag beside the protocol of a source: an ETMv3 that traces data (ct_source_traces_data). */
#define CT_VERIFY_TRACES_DATA 0x80

/* Sets the core of the one source of each run, where there is no axis: @CORE and @each then refer to it. The
 * name is copied. Without this call @each is the one source, whatever its name. To be called before
 * specifications are added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_core(struct ct_verifier *verifier, const char *core);

/* Sets the protocol (enum ct_protocol) of each source that a run may have: those of ct_verifier_sources in
 * their order, or else all of the capture. Places that no source provides are then refused. To be called
 * before specifications are added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verifier_protocols(struct ct_verifier *verifier, const uint8_t *protocols, size_t count);

/* Adds a compiled specification, called `name` in messages. It is not owned, and must stay valid until the
 * verifier is freed or the specification is removed. Its inputs are bound by their sources
 * (codeLine, function_call, function_return, onExecuting, variable_value, itm_trace), by `binds`, and the
 * rest by their names when these are exception, exception_return, gap, overflow, no_access or context. A Unit
 * input has an event each time. An Int input gets the number of an exception, gap or event, the context ID of
 * a context, and the address of other places. Of a place with values (itm, stm, dwt) an Int is what was
 * written, a Bool whether that is not 0, a Float its 32 or 64 bits as a floating-point number; for a variable
 * (load, store) its type decides which of them are possible. CT_ERR_NOT_FOUND: an input that nothing feeds, a
 * place that is not in the programs or of no source, a bind of no input. CT_ERR_CONFIG: an input whose type
 * the place cannot give. CT_ERR_NOMEM. May be called during a run, between two batches: the specification
 * begins as if the stream began here, and ct_watcher_renew must follow before the next batch. Its number is
 * the lowest free one. */
CT_API int ct_verifier_add(struct ct_verifier *verifier, const struct ct_monitor_spec *spec, const char *name,
                           const struct ct_verify_bind *binds, size_t count);

/* Removes specification `number`, and frees its number. May be called during a run, between two batches: the
 * specification is finished as at the end of a stream. CT_ERR_ARG: there is none; CT_ERR_FORMAT,
 * CT_ERR_LIMIT: it failed in its last instants, and was removed. */
CT_API int ct_verifier_remove(struct ct_verifier *verifier, uint32_t number);

/* Replaces a specification by another one during a run, between two batches. The old one is finished as at
 * the end of a stream; the new one takes its number and begins as if the stream began here. Others are not
 * affected. Its places are added: ct_watcher_renew must follow before the next batch. Violations are those
 * without ct_verifier_violation. When the new one cannot be bound (the errors of ct_verifier_add) the old one
 * continues. CT_ERR_FORMAT, CT_ERR_LIMIT: the old one failed in its last instants, the new one runs.
 * CT_ERR_ARG: no such specification, or no run. */
CT_API int ct_verifier_exchange(struct ct_verifier *verifier, uint32_t number,
                                const struct ct_monitor_spec *spec, const char *name,
                                const struct ct_verify_bind *binds, size_t count);

/* Returns whether software trace may feed a place, as for ct_watches_add: 1 for itm, stm and dwt, for named
 * events, and for load and store, which a DWT gives; else 0. */
CT_API int ct_verify_place_is_software(const char *place);

/* Writes the place that feeds an input without a bind: that of its source, or the one its name stands for.
 * CT_ERR_NOT_FOUND: it must be bound. CT_ERR_ARG: no place gives values of its type. CT_ERR_LIMIT: the place
 * is longer than `cap`. */
CT_API int ct_verify_input_place(const struct ct_monitor_stream *input, char *place, size_t cap);

/* Defines what counts as a violation. Without this call: a verdict that is false; a Bool that is true when
 * the output is called error or violation or its name ends in _error or _violation, and false when it has
 * another name (it says whether a property holds); each event of a Unit output with "error" or "violation" in
 * its name. With it, for the outputs called `output` in all specifications: each event when `value` is NULL,
 * else each event with that value as text. CT_ERR_NOT_FOUND: no specification has that output. CT_ERR_ARG:
 * the output is an Int, and `value` is not. CT_ERR_NOMEM. */
CT_API int ct_verifier_violation(struct ct_verifier *verifier, const char *output, const char *value);

/* Returns 1 when an output of a specification can be a violation; 0: no result ever is. */
CT_API int ct_verifier_may_violate(const struct ct_verifier *verifier);

/* Returns 1 when, in any run, an event of a watchpoint that a specification uses has come, else 0. */
CT_API int ct_verifier_came(const struct ct_verifier *verifier, uint32_t watch);

/* Begins a run over a new stream, also during another one, and resets all monitors. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_verifier_begin(struct ct_verifier *verifier, ct_verify_fn *fn, void *user);

/* Takes events of a watcher over the same watches, in order; those that no specification uses are ignored.
 * Each place that execution reaches is a separate instant (those of one instruction share one): when the
 * clock does not distinguish it from the instant before, it is one later. After a loss, results that it could
 * have changed are uncertain (ct_monitor_lose). CT_ERR_FORMAT, CT_ERR_LIMIT: a specification failed, and
 * takes no more events; the text says which. All others got all events: the caller may continue. CT_ERR_ARG:
 * no run was begun, or it has ended, and none got any. */
CT_API int ct_verifier_feed(struct ct_verifier *verifier, const struct ct_watch_event *events, size_t count);

/* Returns why a specification failed in this run, with its name and the time; NULL: it did not. With
 * instances for each core it is the first instance that failed. */
CT_API const char *ct_verifier_failure(const struct ct_verifier *verifier, uint32_t number);

/* Returns the next specification, or instance of one, that failed in this run: the reason, and its number.
 * NULL: all were returned before. */
CT_API const char *ct_verifier_next_failure(struct ct_verifier *verifier, uint32_t *number);

/* Ends the stream and evaluates the last instants. Does nothing when no run was begun, or it has ended. The
 * errors of ct_verifier_feed. */
CT_API int ct_verifier_finish(struct ct_verifier *verifier);

#ifdef __cplusplus
}
#endif
#endif
