/* SPDX-License-Identifier: Apache-2.0 */
/* coretap monitor: TeSSLa specifications over timestamped events, usable without any trace. The
 * language is described in docs/tessla.md; a specification is compiled once and then run any
 * number of times, in any thread. */
#ifndef CORETAP_MONITOR_H
#define CORETAP_MONITOR_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_monitor_dialect {
    CT_MONITOR_AUTO,   /* "define" or a monitor source in the text: watchpoint dialect, else stream dialect */
    CT_MONITOR_STREAM, /* def, in, out: the present form of the language */
    CT_MONITOR_WATCHPOINT, /* define, codeLine, monitor(...): paper 2, Listings 1-4 */
};

enum ct_monitor_engine {
    CT_MONITOR_BYTECODE, /* the reference; compiles in milliseconds */
    CT_MONITOR_NATIVE, /* machine code, in tenths of a second, where libgccjit is installed; else bytecode */
    CT_MONITOR_BACKGROUND, /* bytecode, until a thread has made the machine code of a specification that runs.
                              ct_monitor_spec_free ends that thread */
};

#define CT_MONITOR_MEMORY ((size_t)64 << 20)

struct ct_monitor_options {
    size_t size;           /* sizeof of this struct */
    uint8_t dialect;       /* enum ct_monitor_dialect */
    uint8_t no_include;    /* 1: "include" finds nothing: for texts from strangers */
    uint8_t changes_only;  /* 1: monitor(...) puts out its first verdict and changes only */
    uint8_t engine;        /* enum ct_monitor_engine */
    const char *time_unit; /* of the timestamps, for time literals: fs ps ns us ms s min h d; NULL: none */
    size_t memory; /* bytes that compiling may take, and the specification then keeps; 0: CT_MONITOR_MEMORY */
};

struct ct_monitor_spec;

/* Compiles the specification text[0..size). `name` stands in messages, and "include" is relative to it.
 * `options` may be NULL. Errors in the text are in the specification's diagnostics: then the result is
 * CT_ERR_FORMAT, *out is set nevertheless and must be freed, the context has the first error, and
 * ct_monitor_new refuses it. CT_ERR_ARG: an unknown time unit or dialect. CT_ERR_LIMIT: too large when
 * expanded. CT_ERR_NOMEM. With these three errors *out is NULL. Deep macros may take 6 MiB of C stack. */
CT_API int ct_monitor_compile(struct ct_ctx *ctx, const char *name, const char *text, size_t size,
                              const struct ct_monitor_options *options, struct ct_monitor_spec **out);
CT_API void ct_monitor_spec_free(struct ct_monitor_spec *spec);

struct ct_monitor_diag {
    const char *file;
    const char *text;
    uint8_t warning;               /* 1: warning, 0: error */
    uint32_t line, column;         /* from 1; columns are characters */
    uint32_t end_line, end_column; /* the first that does not belong */
};

/* Returns how many errors and warnings compiling gave, and one of them. Its texts live as long as the
 * specification. CT_ERR_ARG beyond the count. */
CT_API size_t ct_monitor_diag_count(const struct ct_monitor_spec *spec);
CT_API int ct_monitor_diag_get(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_diag *out);

/* Writes an error or a warning as one text: "FILE:line:column: error: TEXT", the line and a caret under the
 * place, with newlines. Result: its length, which may be larger than `cap`; then it was cut (and ends in NUL
 * if cap > 0). */
CT_API size_t ct_monitor_diag_print(const struct ct_monitor_spec *spec, size_t index, char *text, size_t cap);

/* Element types as the caller of ct_monitor_feed sees them. */
enum ct_monitor_type {
    CT_MONITOR_UNIT,
    CT_MONITOR_INT,
    CT_MONITOR_FLOAT,
    CT_MONITOR_BOOL,
    CT_MONITOR_STRING,
    CT_MONITOR_VERDICT, /* outputs only: enum ct_monitor_verdict in `i` */
    CT_MONITOR_OTHER,   /* Option, List, ...: see type_text; as text only */
};

enum ct_monitor_verdict {
    CT_MONITOR_UNKNOWN,
    CT_MONITOR_TRUE,
    CT_MONITOR_FALSE,
};

struct ct_monitor_stream {
    const char *name;
    const char *type_text; /* "Int", "Option[Int]" */
    uint8_t type;          /* enum ct_monitor_type */
    uint8_t raw;           /* outputs: @raw, the value alone is printed */
    /* inputs of the watchpoint dialect: "codeLine", "main.c", 32; "function_call", "f", 0; "onExecuting",
     * NULL, address; otherwise NULL */
    const char *source;
    const char *source_arg;
    uint64_t source_number;
    const char *source_core; /* "cpu_1" of "function_call f @ cpu_1"; NULL: any */
};

/* Returns how many inputs and outputs the specification has. */
CT_API size_t ct_monitor_input_count(const struct ct_monitor_spec *spec);
CT_API size_t ct_monitor_output_count(const struct ct_monitor_spec *spec);

/* Describes an input or an output, by its number from 0 on. The texts live as long as the specification.
 * CT_ERR_ARG beyond the count. */
CT_API int ct_monitor_input(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out);
CT_API int ct_monitor_output(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out);

/* Writes a message about an input, with the place where the specification names it. Result: as of
 * ct_monitor_diag_print. */
CT_API size_t ct_monitor_input_print(const struct ct_monitor_spec *spec, size_t index, const char *message,
                                     char *text, size_t cap);

/* Returns how many streams and instructions there are after optimisation: what a run costs. */
CT_API size_t ct_monitor_node_count(const struct ct_monitor_spec *spec);

/* Returns what runs of the specification execute, CT_MONITOR_BYTECODE or CT_MONITOR_NATIVE. It is bytecode
 * also where machine code was asked for and could not be made (no libgccjit, no assembler). Of a
 * specification that would take more than a second to compile, only the first parts of its programs are
 * machine code. */
CT_API enum ct_monitor_engine ct_monitor_engine_of(const struct ct_monitor_spec *spec);

/* Returns a sum over the texts of a specification, and over how it was compiled. Two with the same sum have
 * the same text to the byte, what they include too, and the same dialect, changes_only and time_unit: their
 * runs over the same events have the same results. 0 for null. */
CT_API uint64_t ct_monitor_sum(const struct ct_monitor_spec *spec);

/* What an output costs. Operations are those of streams and of their functions, of which the slowest engine
 * does some tens of millions a second; a function that calls itself counts as one for a call. */
struct ct_monitor_cost {
    uint64_t operations;  /* at an event of the input that makes it do the most */
    uint32_t streams;     /* that it needs, after optimisation */
    uint32_t kept;        /* values that are kept from one event to the next */
    uint8_t may_grow;     /* 1: a text or a collection is made of what it was before and of more, which has no
                             end where nothing takes out as much; 0: what is kept has a size that it never
                             exceeds (a number 65536 bits) */
    uint8_t own_instants; /* 1: it may have events at instants of its own, which a delay makes; 0: only at
                             those of its inputs, where its value is known when the instant is over */
    uint8_t pad[6];       /* 0 */
};

/* Tells what an output costs. CT_ERR_ARG beyond the count, and of a specification with errors; CT_ERR_NOMEM.
 */
CT_API int ct_monitor_output_cost(const struct ct_monitor_spec *spec, size_t output,
                                  struct ct_monitor_cost *out);

/* Tells how many operations an event of an input makes an output do; 0: it does not need that input. The
 * errors of ct_monitor_output_cost. */
CT_API int ct_monitor_output_needs(const struct ct_monitor_spec *spec, size_t output, size_t input,
                                   uint64_t *operations);

/* Writes a message about what of an output may grow, with the place in the specification; nothing where
 * nothing may. Result: as of ct_monitor_diag_print. */
CT_API size_t ct_monitor_output_growth_print(const struct ct_monitor_spec *spec, size_t output, char *text,
                                             size_t cap);

/* Writes the graph of streams in graphviz's language. Result: as of ct_monitor_diag_print. */
CT_API size_t ct_monitor_dot(const struct ct_monitor_spec *spec, char *text, size_t cap);

union ct_monitor_value {
    int64_t i; /* Int, unless ct_monitor_is_big; Bool as 0 or 1; verdict */
    double f;
    const char *s; /* String: `size` bytes of UTF-8, read during the call */
    const void *opaque;
};

struct ct_monitor_event {
    uint64_t time;  /* in base units, at most 2^63-1; never decreasing */
    uint32_t input; /* index of the input */
    uint32_t size;  /* String: bytes */
    union ct_monitor_value v;
};

struct ct_monitor_result {
    uint64_t time;
    union ct_monitor_value v; /* String and other types: ct_monitor_print only */
    uint32_t output;          /* index of the output */
    uint32_t form;            /* for ct_monitor_print and ct_monitor_certain */
};

/* Receives results in order of time; those of one instant in the order of the out statements. They live
 * during the call. To feed the run, or to end it, from here is CT_ERR_ARG. */
typedef void ct_monitor_fn(void *user, const struct ct_monitor_result *results, size_t count);

struct ct_monitor;

#define CT_MONITOR_BUDGET                                                                                    \
    UINT64_C(2000000) /* about 10 ms of work at most, whatever the specification does                        \
                       */

/* How soon a run has to end: within some milliseconds. */
enum ct_monitor_stop {
    CT_MONITOR_GO_ON,
    CT_MONITOR_STOP_SLOW, /* when an event takes more than a fraction of a millisecond */
    CT_MONITOR_STOP,      /* with the next event */
};

struct ct_monitor_limits {
    size_t size; /* sizeof of this struct */
    /* Bytes of its values (strings, lists, ...), of which a third can live on from one event to the next; 0:
     * CT_MONITOR_MEMORY. */
    size_t memory;
    uint64_t instants; /* instants that timers add between inputs; 0: no limit */
    /* Work of one event, in units of about one instruction: of its instant, of those that timers add before
     * it, of all functions that are called, of copying the values that live when memory is collected behind
     * it; 0: CT_MONITOR_BUDGET. The same in both engines. */
    uint64_t budget;
    const int *stop; /* NULL, or enum ct_monitor_stop that another thread sets (atomically) */
};

/* Makes a run of a specification, which must live longer. `limits` may be NULL. CT_ERR_ARG for a
 * specification with errors, CT_ERR_NOMEM. */
CT_API int ct_monitor_new(struct ct_ctx *ctx, const struct ct_monitor_spec *spec,
                          const struct ct_monitor_limits *limits, ct_monitor_fn *fn, void *user,
                          struct ct_monitor **out);
CT_API void ct_monitor_free(struct ct_monitor *monitor);

/* Takes events in order of time. An instant is evaluated when an event of a later time comes, or the end.
 * CT_ERR_FORMAT: the events are wrong (time decreases, two events of one input at one time) or a value is
 * (error value needed, non-positive delay); the context has the text, results before the error were
 * delivered, and the run is over. CT_ERR_LIMIT: a limit was reached, or the run was stopped. CT_ERR_ARG: no
 * such input, an input that only text can feed, or the run is over. */
CT_API int ct_monitor_feed(struct ct_monitor *monitor, const struct ct_monitor_event *events, size_t count);

/* Says that no event before `time` will come any more: what can be known by then is put out, timers included.
 * The errors of ct_monitor_feed. */
CT_API int ct_monitor_advance(struct ct_monitor *monitor, uint64_t time);

/* Says that events may have been lost here. They may be any number of events with any values, behind the last
 * event and before the next one, which must be later: of the inputs for which `kept` (as many as there are
 * inputs) is 0, of all when it is NULL. From here on results are marked that are not the same in every run
 * that got the events of this one and, in addition, lost ones (runs that end in a runtime error do not
 * count). The marks are sound; a result may be certain without being known to be. Instants that may come
 * behind it (ct_monitor_feed_doubtful, ct_monitor_seal) are followed no longer: their results are uncertain.
 * CT_ERR_NOMEM, and what the
 * evaluation of the last instant gives. */
CT_API int ct_monitor_lose(struct ct_monitor *monitor, const uint8_t *kept);

/* When an instant may have been: an instant of another source whose interval overlaps this one may have come
 * before it or behind it. */
struct ct_monitor_span {
    uint64_t begin, end; /* on any axis, as long as it is the same for all; end >= begin */
    uint64_t tag;        /* names the instant to ct_monitor_doubted */
    uint32_t source;     /* the instants of one source come in the order in which they are given */
    uint32_t pad;        /* 0 */
};

/* Takes events of which not all is known of the order, `spans` as many as events. Those with one time are one
 * instant, with one span. The run has them as they are given, by the begins of their spans, with times as of
 * ct_monitor_feed. All other orders that the spans allow are followed beside it: in another one the times
 * stay in their places, and the instants change theirs. A result is certain when every order has it at its
 * instant (ct_monitor_certain); one that only another order has comes, too, and is marked
 * (ct_monitor_possible). An output of changes is certain once every order has its value. Whatever is fed in
 * another way comes behind all that was given here. Results are given when nothing can come before their
 * instants any more. Up to 256 states of other orders and 64 instants are followed; where there are more,
 * results are uncertain as behind a loss. Inputs are of type Unit, Int, Bool, Float or String, else
 * CT_ERR_ARG; so are spans that begin before the one given last. The bytes of a String are read later, too:
 * they have to stay until its span was sealed (ct_monitor_seal), or something was fed in another way. Other
 * errors as of ct_monitor_feed, of the run alone; CT_ERR_NOMEM. */
CT_API int ct_monitor_feed_doubtful(struct ct_monitor *monitor, const struct ct_monitor_event *events,
                                    const struct ct_monitor_span *spans, size_t count);

/* Says that no span that begins before `begin` will be given any more. CT_ERR_ARG. */
CT_API int ct_monitor_seal(struct ct_monitor *monitor, uint64_t begin);

/* Returns 1 for a result that the run does not have, and would have after another order of its events. Such a
 * result is not certain. */
CT_API int ct_monitor_possible(const struct ct_monitor_result *result);

/* Gives the tags of two instants because of whose order a result is not certain. To be called inside of the
 * receiver alone. CT_ERR_NOT_FOUND: it is certain, or only events that were lost make it uncertain. */
CT_API int ct_monitor_doubted(const struct ct_monitor *monitor, const struct ct_monitor_result *result,
                              uint64_t tags[2]);

/* Returns 1 when all orders of the events were followed. Then each result that one of them has was put out.
 * 0: they were too many at some time. */
CT_API int ct_monitor_followed(const struct ct_monitor *monitor);

/* Returns 1 when a later result may name the instant with this tag, 0 when none will. */
CT_API int ct_monitor_remembers(const struct ct_monitor *monitor, uint64_t tag);

/* Tells whether a loss, or another order of events, may have changed this result. Result: 0 when one may
 * have, 1 when none can have: in each of those runs the output has this event; or, where an output puts out
 * the changes of a signal or of a verdict only, it has this value from this time on. */
CT_API int ct_monitor_certain(const struct ct_monitor_result *result);

/* Returns 1 for an Int of more than 64 bits: v.i is not its value, and ct_monitor_print has its digits. Ints
 * have at most 65536 bits; more is a runtime error when the value is needed. Such Ints come in by
 * ct_monitor_feed_text. */
CT_API int ct_monitor_is_big(const struct ct_monitor *monitor, const struct ct_monitor_result *result);

/* Ends the input: evaluates the last instant. Timers later than it never fire. The errors
 * of ct_monitor_feed. */
CT_API int ct_monitor_finish(struct ct_monitor *monitor);

/* Takes events as text: lines "TIME: NAME = VALUE". A line may be cut anywhere between two calls; `last` says
 * that the text ends here. The errors are those of ct_monitor_feed, with the number of the line and the name
 * that ct_monitor_text_name gives the text. Events of undeclared streams are passed over. After more events
 * than ct_monitor_text_limit allows the rest is ignored. */
CT_API int ct_monitor_feed_text(struct ct_monitor *monitor, const char *text, size_t size, int last);
CT_API void ct_monitor_text_name(struct ct_monitor *monitor, const char *name);
CT_API void ct_monitor_text_limit(struct ct_monitor *monitor, uint64_t limit);

/* Writes results as lines "TIME: NAME = VALUE\n", or as the bare value of a @raw output. To be called inside
 * of the receiver alone. *done is how many results were written: as many as fit whole. When a single one does
 * not fit, the result and *done are 0; come again with more room. Result: bytes written. */
CT_API size_t ct_monitor_print(const struct ct_monitor *monitor, const struct ct_monitor_result *results,
                               size_t count, char *text, size_t cap, size_t *done);

#ifdef __cplusplus
}
#endif
#endif
