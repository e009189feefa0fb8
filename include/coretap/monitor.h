/* SPDX-License-Identifier: Apache-2.0 */
/* coretap monitor: TeSSLa specifications over timestamped events, usable without any trace. docs/tessla.md
 * describes the language. A specification is compiled once and can then run any number of times, in any
 * thread.
 *
 *     static const char text[] = "in x: Events[Int]\n"
 *                                "def big = filter(x, x > 9)\n"
 *                                "out big\n";
 *     if (ct_monitor_compile(ctx, "spec", text, strlen(text), NULL, &spec) == CT_OK &&
 *         ct_monitor_new(ctx, spec, NULL, on_results, user, &monitor) == CT_OK) {
 *         rc = ct_monitor_feed_text(monitor, "5: x = 12\n", 10, 1);
 *         rc = rc ? rc : ct_monitor_finish(monitor);
 *     }
 *     ct_monitor_free(monitor);
 *     ct_monitor_spec_free(spec); */
#ifndef CORETAP_MONITOR_H
#define CORETAP_MONITOR_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_monitor_dialect {
    CT_MONITOR_AUTO,   /* "define" or a monitor source in the text: watchpoint dialect, else stream dialect */
    CT_MONITOR_STREAM, /* def, in, out: the current form of the language */
    CT_MONITOR_WATCHPOINT, /* define, codeLine, monitor(...): paper 2, Listings 1-4 */
};

enum ct_monitor_engine {
    CT_MONITOR_BYTECODE,   /* the reference; compiles in milliseconds */
    CT_MONITOR_NATIVE,     /* machine code, compiled in tenths of a second, if libgccjit is installed; else
                              bytecode */
    CT_MONITOR_BACKGROUND, /* bytecode, until a thread has compiled the machine code of a running
                              specification. ct_monitor_spec_free ends that thread */
};

#define CT_MONITOR_MEMORY ((size_t)64 << 20)

struct ct_monitor_options {
    size_t size;           /* sizeof of this struct */
    uint8_t dialect;       /* enum ct_monitor_dialect */
    uint8_t no_include;    /* 1: "include" finds nothing: for untrusted texts */
    uint8_t changes_only;  /* 1: monitor(...) only outputs its first verdict and changes */
    uint8_t engine;        /* enum ct_monitor_engine */
    const char *time_unit; /* of the timestamps, for time literals: fs ps ns us ms s min h d; NULL: none */
    size_t memory; /* bytes that compiling may use, and the specification then keeps; 0: CT_MONITOR_MEMORY */
};

/* A compiled specification. Any number of threads may read it, and run it in monitors of their own. */
struct ct_monitor_spec;

/* Compiles the specification text[0..size). `name` appears in messages, and "include" is relative to it.
 * `options` may be NULL. Errors in the text become diagnostics of the specification: then the result is
 * CT_ERR_FORMAT, *out is set nevertheless and must be freed, the context has the first error, and
 * ct_monitor_new refuses the specification. CT_ERR_ARG: an unknown time unit or dialect. CT_ERR_LIMIT: too
 * large when expanded. CT_ERR_NOMEM. With these three errors *out is NULL. Deep macros may use 6 MiB of C
 * stack. */
CT_API int ct_monitor_compile(struct ct_ctx *ctx, const char *name, const char *text, size_t size,
                              const struct ct_monitor_options *options, struct ct_monitor_spec **out);
CT_API void ct_monitor_spec_free(struct ct_monitor_spec *spec);

struct ct_monitor_diag {
    const char *file;
    const char *text;
    uint8_t warning;               /* 1: warning, 0: error */
    uint32_t line, column;         /* from 1; columns are characters */
    uint32_t end_line, end_column; /* the first position after it */
};

/* Returns the number of errors and warnings, and one of them. Its texts stay valid as long as the
 * specification. CT_ERR_ARG past the last one. */
CT_API size_t ct_monitor_diag_count(const struct ct_monitor_spec *spec);
CT_API int ct_monitor_diag_get(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_diag *out);

/* Writes an error or a warning as one text: "FILE:line:column: error: TEXT", the source line and a caret
 * below the position, with newlines. Returns its length; when this exceeds `cap` the text was cut (and ends
 * in NUL if cap > 0). */
CT_API size_t ct_monitor_diag_print(const struct ct_monitor_spec *spec, size_t index, char *text, size_t cap);

/* Types of values in inputs and outputs. */
enum ct_monitor_type {
    CT_MONITOR_UNIT,
    CT_MONITOR_INT,
    CT_MONITOR_FLOAT,
    CT_MONITOR_BOOL,
    CT_MONITOR_STRING,
    CT_MONITOR_VERDICT, /* outputs only: enum ct_monitor_verdict in `i` */
    CT_MONITOR_OTHER,   /* Option, List, ...: see type_text; only as text */
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
    uint8_t raw;           /* outputs: @raw, only the value is printed */
    /* for inputs of the watchpoint dialect: "codeLine", "main.c", 32; "function_call", "f", 0; "onExecuting",
     * NULL, address; otherwise NULL */
    const char *source;
    const char *source_arg;
    uint64_t source_number;
    const char *source_core; /* "cpu_1" of "function_call f @ cpu_1"; NULL: any */
};

/* Returns the number of inputs or outputs of the specification. */
CT_API size_t ct_monitor_input_count(const struct ct_monitor_spec *spec);
CT_API size_t ct_monitor_output_count(const struct ct_monitor_spec *spec);

/* Describes an input or an output, by its number from 0. The texts stay valid as long as the specification.
 * CT_ERR_ARG past the last one. */
CT_API int ct_monitor_input(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out);
CT_API int ct_monitor_output(const struct ct_monitor_spec *spec, size_t index, struct ct_monitor_stream *out);

/* Writes a message about an input, with its position in the specification. Returns what ct_monitor_diag_print
 * does. */
CT_API size_t ct_monitor_input_print(const struct ct_monitor_spec *spec, size_t index, const char *message,
                                     char *text, size_t cap);

/* Returns the number of streams and instructions after optimisation, a measure of the cost of a run. */
CT_API size_t ct_monitor_node_count(const struct ct_monitor_spec *spec);

/* Returns which engine runs the specification, CT_MONITOR_BYTECODE or CT_MONITOR_NATIVE. It is bytecode also
 * where machine code was requested and could not be made (no libgccjit, no assembler). For a specification
 * that would take more than a second to compile, only the first parts of its programs are machine code. */
CT_API enum ct_monitor_engine ct_monitor_engine_of(const struct ct_monitor_spec *spec);

/* Returns a hash of the texts of a specification and of its options. Two specifications with the same hash
 * have the same text, included files too, and the same dialect, changes_only and time_unit: their runs over
 * the same events have the same results. 0 for null. */
CT_API uint64_t ct_monitor_sum(const struct ct_monitor_spec *spec);

/* The cost of an output. Operations are those of streams and of their functions; the slowest engine does some
 * tens of millions a second. A call of a recursive function counts as one operation. */
struct ct_monitor_cost {
    uint64_t operations;  /* for an event of the input that causes the most */
    uint32_t streams;     /* streams it needs, after optimisation */
    uint32_t kept;        /* values kept from one event to the next */
    uint8_t may_grow;     /* 1: a text or a collection is built from its previous value and more, so that it
                             may grow without end; 0: what is kept has a bounded size (a number 65536 bits) */
    uint8_t own_instants; /* 1: it may have events at additional instants, caused by a delay; 0: only at those
                             of its inputs, where its value is known at the end of the instant */
    uint8_t pad[6];       /* 0 */
};

/* Computes the cost of an output. CT_ERR_ARG past the last one, and for a specification with errors;
 * CT_ERR_NOMEM. */
CT_API int ct_monitor_output_cost(const struct ct_monitor_spec *spec, size_t output,
                                  struct ct_monitor_cost *out);

/* Computes how many operations of an output an event of an input causes; 0: it does not need that input. The
 * errors of ct_monitor_output_cost. */
CT_API int ct_monitor_output_needs(const struct ct_monitor_spec *spec, size_t output, size_t input,
                                   uint64_t *operations);

/* Writes a message about what may grow in an output, with its position in the specification; nothing if
 * nothing may. Returns what ct_monitor_diag_print does. */
CT_API size_t ct_monitor_output_growth_print(const struct ct_monitor_spec *spec, size_t output, char *text,
                                             size_t cap);

/* Writes the graph of streams in the language of graphviz. Returns what ct_monitor_diag_print does. */
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

/* Receives results in order of time, those of one instant in the order of the out statements. They are valid
 * during the call. Feeding or ending the run from here is CT_ERR_ARG. */
typedef void ct_monitor_fn(void *user, const struct ct_monitor_result *results, size_t count);

struct ct_monitor;

#define CT_MONITOR_BUDGET                                                                                    \
    UINT64_C(2000000) /* about 10 ms of work at most, whatever the specification does                        \
                       */

/* How soon a run must end. */
enum ct_monitor_stop {
    CT_MONITOR_GO_ON,
    CT_MONITOR_STOP_SLOW, /* within some milliseconds, when an event takes more than a fraction of a
                             millisecond */
    CT_MONITOR_STOP,      /* with the next event */
};

struct ct_monitor_limits {
    size_t size; /* sizeof of this struct */
    /* Bytes for the values of a run (strings, lists, ...), of which a third can be kept from one event to the
     * next; 0: CT_MONITOR_MEMORY. */
    size_t memory;
    uint64_t instants; /* instants that timers may add between inputs; 0: no limit */
    /* Work of one event, in units of about one instruction: of its instant, of those that timers add before
     * it, of all functions that are called, of copying the live values when memory is collected after it; 0:
     * CT_MONITOR_BUDGET. The same in both engines. */
    uint64_t budget;
    const int *stop; /* NULL, or enum ct_monitor_stop that another thread sets (atomically) */
};

/* Makes a run of a specification, which must outlive it. `limits` may be NULL. CT_ERR_ARG for a specification
 * with errors, CT_ERR_NOMEM. */
CT_API int ct_monitor_new(struct ct_ctx *ctx, const struct ct_monitor_spec *spec,
                          const struct ct_monitor_limits *limits, ct_monitor_fn *fn, void *user,
                          struct ct_monitor **out);
CT_API void ct_monitor_free(struct ct_monitor *monitor);

/* Takes events in order of time. An instant is evaluated when an event of a later time comes, or the end.
 * CT_ERR_FORMAT: the events are wrong (time decreases, two events of one input at one time) or a value is
 * (error value needed, non-positive delay); the context has the text, results before the error were
 * delivered, and the run has ended. CT_ERR_LIMIT: a limit was reached, or the run was stopped. CT_ERR_ARG: no
 * such input, an input that only text can feed, or the run has ended. */
CT_API int ct_monitor_feed(struct ct_monitor *monitor, const struct ct_monitor_event *events, size_t count);

/* Announces that no event before `time` will come: outputs what is known by then, including timers. The
 * errors of ct_monitor_feed. */
CT_API int ct_monitor_advance(struct ct_monitor *monitor, uint64_t time);

/* Announces that events may have been lost here. The lost events may be any number, with any values, after
 * the last event and before the next one, which must be later. They belong to the inputs for which `kept`
 * (one for each input) is 0, to all when it is NULL. From here on a result is marked unless it is the same in
 * every run with the events of this run and additional lost ones (runs that end in a runtime error do not
 * count). The marks are sound; a result may be certain without being known to be. Other orders of earlier
 * instants (ct_monitor_feed_doubtful, ct_monitor_seal) are no longer followed: results that depend on them
 * are uncertain. CT_ERR_NOMEM, and what the evaluation of the last instant gives. */
CT_API int ct_monitor_lose(struct ct_monitor *monitor, const uint8_t *kept);

/* The interval in which an instant may have been. An instant of another source whose interval overlaps it may
 * have come before it or after it. */
struct ct_monitor_span {
    uint64_t begin, end; /* on any axis, the same for all intervals; end >= begin */
    uint64_t tag;        /* identifies the instant for ct_monitor_doubted */
    uint32_t source;     /* instants of one source come in the given order */
    uint32_t pad;        /* 0 */
};

/* Takes events whose order is only partly known, and one span for each. Events with the same time are one
 * instant, with one span. The run takes them as they are given, by the beginnings of their spans, with times
 * as for ct_monitor_feed. All other orders that the spans allow are followed beside it: in another order the
 * times stay in their places, and the instants move. A result is certain when every order has it at its
 * instant (ct_monitor_certain). A result that only another order has is given, too, and is marked
 * (ct_monitor_possible). An output of changes is certain once every order has its value. Events that are fed
 * in another way come after all those given here. Results are given when nothing can come before their
 * instants any more. Up to 256 states of other orders and 64 instants are followed; beyond that, results are
 * uncertain as after a loss. Inputs must be of type Unit, Int, Bool, Float or String, else CT_ERR_ARG; so are
 * spans that begin before the last one. The bytes of a String are read later, too: they must stay valid until
 * its span was sealed (ct_monitor_seal), or something was fed in another way. Other errors as for
 * ct_monitor_feed, of the run itself; CT_ERR_NOMEM. */
CT_API int ct_monitor_feed_doubtful(struct ct_monitor *monitor, const struct ct_monitor_event *events,
                                    const struct ct_monitor_span *spans, size_t count);

/* Announces that no span that begins before `begin` will come. CT_ERR_ARG. */
CT_API int ct_monitor_seal(struct ct_monitor *monitor, uint64_t begin);

/* Returns 1 for a result that the run has only after another order of its events.
 * Such a result is not certain. */
CT_API int ct_monitor_possible(const struct ct_monitor_result *result);

/* Returns the tags of two instants whose order makes a result uncertain. Only to be called in the receiver.
 * CT_ERR_NOT_FOUND: it is certain, or only lost events make it uncertain. */
CT_API int ct_monitor_doubted(const struct ct_monitor *monitor, const struct ct_monitor_result *result,
                              uint64_t tags[2]);

/* Returns 1 when all orders of the events were followed, so that each result of any order was given. 0: at
 * some time there were too many. */
CT_API int ct_monitor_followed(const struct ct_monitor *monitor);

/* Returns 1 when a later result may refer to the instant with this tag, else 0. */
CT_API int ct_monitor_remembers(const struct ct_monitor *monitor, uint64_t tag);

/* Returns 1 when neither a loss nor another order of events can have changed this result, else 0. 1 means
 * that in each of those runs the output has this event; or, for an output of the changes of a signal or
 * verdict, that it has this value from this time on. */
CT_API int ct_monitor_certain(const struct ct_monitor_result *result);

/* Returns 1 for an Int of more than 64 bits: v.i is not its value, and ct_monitor_print gives its digits.
 * Ints have at most 65536 bits; more is a runtime error when the value is needed. Only ct_monitor_feed_text
 * can feed such Ints. */
CT_API int ct_monitor_is_big(const struct ct_monitor *monitor, const struct ct_monitor_result *result);

/* Ends the input and evaluates the last instant. Later timers never fire. The errors of ct_monitor_feed. */
CT_API int ct_monitor_finish(struct ct_monitor *monitor);

/* Takes events as text: lines "TIME: NAME = VALUE". A line may be cut anywhere between two calls; `last` says
 * that the text ends here. The errors are those of ct_monitor_feed, with the number of the line and the name
 * of the text from ct_monitor_text_name. Events of undeclared streams are ignored, and so are events beyond
 * the number that ct_monitor_text_limit sets. */
CT_API int ct_monitor_feed_text(struct ct_monitor *monitor, const char *text, size_t size, int last);
CT_API void ct_monitor_text_name(struct ct_monitor *monitor, const char *name);
CT_API void ct_monitor_text_limit(struct ct_monitor *monitor, uint64_t limit);

/* Writes results as lines "TIME: NAME = VALUE\n", or as the value alone for a @raw output. Only to be called
 * in the receiver. *done is the number of results written: as many as fit whole. When not even one fits, the
 * result and *done are 0; call again with more room. Returns the number of bytes written. */
CT_API size_t ct_monitor_print(const struct ct_monitor *monitor, const struct ct_monitor_result *results,
                               size_t count, char *text, size_t cap, size_t *done);

#ifdef __cplusplus
}
#endif
#endif
