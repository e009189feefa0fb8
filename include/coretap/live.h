/* SPDX-License-Identifier: Apache-2.0 */
/* coretap live: analyses trace while it is recorded, in memory that does not grow with it (paper 2, section
 * III). Coverage, times, watchpoints and specifications cover everything received so far. A page shows them
 * and accepts requests, which are answered between two pieces of trace.
 *
 *     struct ct_live_options options = {.size = sizeof options, .buffer = &capture->buffers[0],
 *                                       .programs = programs, .timing = 1};
 *     struct ct_live_input input = {.size = sizeof input, .name = "tcp:board:9000"};
 *     if (!ct_live_new(ctx, &options, &live) && !ct_live_add_place(live, "main") &&
 *         !ct_live_open(live, &input) && !ct_live_page(live, "8080", NULL))
 *         rc = ct_live_run(live);
 *     ct_live_status(live, CT_LIVE_TEXT, write, user);
 *     ct_live_free(live);
 *
 * A caller that gets the bytes itself, for example from a probe, calls ct_live_push instead of ct_live_open
 * and ct_live_run. */
#ifndef CORETAP_LIVE_H
#define CORETAP_LIVE_H

#include "coretap/base.h"
#include "coretap/cover.h"
#include "coretap/decode.h"
#include "coretap/input.h"
#include "coretap/monitor.h"
#include "coretap/programs.h"
#include "coretap/timing.h"
#include "coretap/verdict.h"
#include "coretap/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The analyses of one stream. Only one thread may make calls, except for ct_live_stop and ct_live_hurry. */
struct ct_live;

/* Receives the results of specifications, in the thread that analyses. Each function may be NULL. An error
 * that one returns ends the run and becomes its result; `result` and `stopped` are not called after it. They
 * may ask for results, and stop the run; pushing, running, finishing and adding are CT_ERR_ARG from here. */
struct ct_live_sink {
    void *user;
    /* The first step of a trace ID, before its results, and its end. With `one_run` once for all trace IDs
     * together, with an origin that has `several` sources. */
    int (*begin)(void *user, const struct ct_verdict_origin *origin);
    int (*end)(void *user, const struct ct_verdict_origin *origin);
    int (*result)(void *user, const struct ct_verdict_origin *origin, const struct ct_verify_result *result);
    /* Specification `spec` failed and takes no more events; the others continue. */
    int (*stopped)(void *user, const struct ct_verdict_origin *origin, uint32_t spec, const char *why);
    /* A piece of trace was analysed, or a tenth of a second passed without one: time to write buffered
     * output. */
    int (*pause)(void *user);
};

struct ct_live_options {
    size_t size;                    /* sizeof(struct ct_live_options) */
    const struct ct_buffer *buffer; /* describes the stream: sources, framing, images. Its path is not read */
    struct ct_programs *programs;   /* for places, times and names, with ct_programs_options.moved */
    struct ct_programs *covered;    /* the programs whose coverage is kept, without `moved`; NULL: no
                                       coverage */
    uint64_t ids[2];                /* as in struct ct_chain_options */
    const struct ct_verify_options *verify;   /* of the specifications; NULL: the defaults */
    const struct ct_monitor_options *compile; /* for specifications that come from the page, which cannot
                                                 include files; NULL: the defaults */
    const struct ct_verify_bind *violations;  /* outputs with values, as for ct_verifier_violation: for all
                                                 specifications, including later ones */
    size_t violation_count;
    uint8_t timing;  /* 1: keeps times of functions, edges and pairs */
    uint8_t all;     /* 1: results that are no violations are also shown and reported */
    uint8_t one_run; /* 1: all trace IDs are one run of the specifications, on the axis of their timestamps
                        (axis.h); 0: each is a separate run */
    uint8_t idle;    /* 1: with `one_run`, a core without trace is assumed idle
                        (ct_verify_axis_assume_idle) */
    uint8_t pad[4];  /* 0 */
    const struct ct_live_sink *sink; /* NULL: violations are only counted and shown */
    /* Receives messages; NULL: none. Several threads call it, at any time. CT_LOG_ERROR: out of memory;
     * CT_LOG_WARNING: something is incomplete or has stopped; CT_LOG_NOTE: news. */
    ct_log_fn *say;
    void *say_user;
    uint8_t log;      /* 1: the input is an event log of FRACTAL (fractal.h) that is still written; `buffer`
                         has one source, of which only names are used; `ids`, `covered`, `timing` and
                         `one_run` are 0 */
    uint8_t pad2[7];  /* 0 */
    uint16_t threads; /* for decoding, as in ct_chain_options.stream_threads; 0: as many as help */
    uint8_t pad3[6];  /* 0 */
};

/* Makes the analyses. What the options point to must stay valid; `sink` is copied. CT_ERR_IO when the system
 * has no file descriptors left, CT_ERR_ARG, CT_ERR_NOMEM, the errors of ct_chain_new, of ct_program_symbols,
 * ct_program_lines and ct_program_cfg: everything is loaded before trace comes. */
CT_API int ct_live_new(struct ct_ctx *ctx, const struct ct_live_options *options, struct ct_live **out);

/* Stops the page and frees everything. */
CT_API void ct_live_free(struct ct_live *live);

/* Watches a place (ct_watches_add) from now on. CT_ERR_LIMIT: there are 4096 already; the errors of
 * ct_watches_add. */
CT_API int ct_live_add_place(struct ct_live *live, const char *place);

/* Adds a milestone to a log: a place that must be reached `deadline` seconds after the zero of the log's
 * clock; 0: at any time. CT_ERR_LIMIT: there are 256 already; CT_ERR_ARG: the input is no log; the errors of
 * ct_live_add_place. */
CT_API int ct_live_add_milestone(struct ct_live *live, const char *place, double deadline);

/* Writes a line of text for each milestone: whether and when it was reached, and its deadline. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_live_progress_write(struct ct_live *live, ct_write_fn *write, void *user);

/* Writes a line for each place that is watched now: how often execution reached it since then, a tab, the
 * place and what happened there ('coretap watch --format sums'). CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned. */
CT_API int ct_live_places_write(struct ct_live *live, ct_write_fn *write, void *user);

/* Measures from one place to another in all trace IDs that begin from now on. Needs options.timing. The
 * errors of ct_timing_add_pair, CT_ERR_ARG. */
CT_API int ct_live_add_pair(struct ct_live *live, const char *from, const char *to);

/* Starts a specification, which belongs to the run unless there is an error. `name` is its name in messages
 * and requests. CT_ERR_LIMIT: 1024 are running; the errors of ct_verifier_add. */
CT_API int ct_live_add_spec(struct ct_live *live, const char *name, struct ct_monitor_spec *spec,
                            const struct ct_verify_bind *binds, size_t count);

/* Sets the text of a specification for the page; it is copied. Units of outputs are found in it: @unit("us")
 * before "out". A text longer than 1 MiB, or with a NUL in it, is not shown. CT_ERR_NOT_FOUND: no
 * specification of this name is running; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_set_text(struct ct_live *live, const char *name, const char *text, size_t size);

/* Actions for each violation. They run beside the thread that analyses and do not delay it. */
struct ct_live_hook_options {
    size_t size; /* sizeof(struct ct_live_hook_options) */
    /* A program with its arguments, separated by blanks; '…' and "…" keep blanks, \ keeps the next letter. It
     * is not run by a shell. Its standard input is the violation as a line of JSON, and its environment has
     * CORETAP_SPEC, _OUTPUT, _VALUE, _TIME, _ID, _UNCERTAIN (0 or 1), and where known _CORE, _ADDR,
     * _FUNCTION, _FILE and _LINE; what it prints goes to standard error. NULL: none. */
    const char *command;
    const char *url;  /* "http://HOST[:PORT][/PATH]" or https, to which that line is sent by POST, with
                         libcurl; NULL: none */
    uint32_t at_once; /* commands that may run at the same time, at most 64; 0: 4 */
    uint32_t waiting; /* violations that may wait for the command, and for the URL, at most 65536; 0: 256.
                         Others are dropped and counted */
    uint32_t seconds; /* time limit of a command or an answer, in seconds, at most 3600; 0: 10 */
    uint8_t pad[4];   /* 0 */
    const char *ca;   /* file of certificates (PEM) to check the server of an https: URL with; NULL: those of
                         the system */
};

/* Sets the actions for violations from now on; once for each run. The end of the run (ct_live_finish) waits
 * as long as one violation may take, after ct_live_hurry a fifth of a second; then the rest is dropped.
 * Failures and dropped violations are reported in messages and on the page. CT_ERR_FORMAT: a quote has no
 * end, or the URL is malformed; CT_ERR_IO: its host is unknown, or `ca` cannot be read; CT_ERR_UNSUPPORTED: a
 * URL without libcurl; CT_ERR_ARG: there is neither a command nor a URL, actions were set already, or `ca` is
 * given without an https: URL; CT_ERR_NOMEM. */
CT_API int ct_live_hook(struct ct_live *live, const struct ct_live_hook_options *options);

/* Shows on the page that a file was written, such as a report. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_note_file(struct ct_live *live, const char *path);

/* Where trace comes from. */
struct ct_live_input {
    size_t size; /* sizeof(struct ct_live_input) */
    /* "-" (standard input), "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for a
     * connection; port 0: any, reported in a message), else the path of a FIFO, device or file. */
    const char *name;
    size_t ring;        /* bytes that may wait, a multiple of 512; 0: 16 MiB */
    const char *tee;    /* file that receives a copy of the trace, described by `tee`.ini; NULL: none */
    const char *config; /* the .ini that describes the stream, from which that of the copy is made */
    uint8_t framing;    /* enum ct_framing, for the description of the copy */
    uint8_t drop;       /* 1: what comes when the ring is full is lost; 0: the writer waits, which devices
                           cannot do */
    uint8_t reconnect;  /* 1: when a connection ends the next one is awaited, and the first need not exist
                           yet */
    uint8_t pad[5];     /* 0 */
};

/* Opens the input, which ct_live_run will read. CT_ERR_IO: it cannot be opened, or there is no connection;
 * CT_ERR_FORMAT: there is no such address; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_open(struct ct_live *live, const struct ct_live_input *input);

/* Serves the page and its API at `address`: PORT, ADDRESS:PORT or [ADDRESS]:PORT. Without ADDRESS only this
 * machine can reach it; port 0 is any, reported in a message. `token` is required in requests; NULL: none.
 * The caller must ignore SIGPIPE. CT_ERR_ARG: an address that other machines can reach needs a token that is
 * not empty; CT_ERR_FORMAT: the address is malformed; CT_ERR_IO: the port is in use; CT_ERR_UNSUPPORTED: the
 * library was built without the server. CT_ERR_NOMEM. */
CT_API int ct_live_page(struct ct_live *live, const char *address, const char *token);

/* Reads and analyses up to the end of the input, ct_live_stop or ct_live_hurry. Then it calls ct_live_finish.
 * An input that breaks is no error: see ct_live_seen_of. CT_ERR_ARG: no input is open; the errors of
 * ct_chain_push, what the sink returned. Results from before an error are kept. */
CT_API int ct_live_run(struct ct_live *live);

/* Analyses `size` bytes from the caller, and answers a request of the page. `lost` bytes are missing right
 * before them, UINT64_MAX: an unknown number. The errors of ct_chain_push, what the sink returned,
 * CT_ERR_ARG. */
CT_API int ct_live_push(struct ct_live *live, const void *data, size_t size, uint64_t lost);

/* Ends the stream: evaluates the last instants of specifications, and updates coverage. Further calls do
 * nothing. The errors of ct_chain_finish, what the sink returned. */
CT_API int ct_live_finish(struct ct_live *live);

/* Ends the run: stops reading, and analyses what waits. May be called from any thread and from signal
 * handlers. */
CT_API void ct_live_stop(struct ct_live *live);

/* Ends the run within two seconds: like ct_live_stop, but after 0.7 s it stops slow specifications, 0.4 s
 * later all of them, and 0.3 s later it drops what still waits. */
CT_API void ct_live_hurry(struct ct_live *live);

/* The state of a run. */
struct ct_live_seen {
    double seconds;    /* since ct_live_new */
    uint64_t read;     /* bytes received */
    uint64_t analysed; /* bytes analysed, including those dropped before them */
    uint64_t dropped;  /* bytes lost because the ring was full */
    uint64_t drops;    /* number of places where bytes were dropped */
    uint64_t left;     /* bytes that waited and were not analysed (ct_live_hurry) */
    uint64_t connections;
    uint64_t breaks; /* places between connections where trace is missing */
    uint64_t kept;   /* bytes in the copy of the trace (`tee`) */
    uint64_t violations;
    uint32_t failed;  /* specifications that failed and take no more events */
    uint8_t stopping; /* 1: the page requested the end */
    uint8_t ended;    /* 1: ct_live_finish was called */
    uint8_t pad[2];
    const char *trouble;     /* why the input could not be read to its end; NULL: it could */
    const char *tee_trouble; /* why the copy of the trace is incomplete; NULL: it is complete */
    uint64_t log_lost;       /* for a log: events that the tracer dropped, and damaged bytes */
    uint64_t late;           /* milestones that missed their deadlines, reached or not */
};

/* Returns the state of the run; it belongs to the run, and stays valid until the next call. */
CT_API const struct ct_live_seen *ct_live_seen_of(struct ct_live *live);

enum ct_live_form {
    CT_LIVE_JSON, /* one line, as in /api/status (docs/live.md) */
    CT_LIVE_TEXT, /* for people */
};

/* Writes everything that the page shows. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_live_status(struct ct_live *live, enum ct_live_form form, ct_write_fn *write, void *user);

/* Returns the chain, with streams, losses and counts of edges so far. It belongs to the run. */
CT_API const struct ct_chain *ct_live_chain(const struct ct_live *live);

/* Returns the times of a trace ID; NULL: none are kept, or it gave no step. */
CT_API const struct ct_timing *ct_live_timing(const struct ct_live *live, uint8_t id);

/* Returns the source of a trace ID that gave a step, else NULL. */
CT_API const struct ct_source *ct_live_source(const struct ct_live *live, uint8_t id);

/* Returns the coverage as of its last update, which after ct_live_finish is all of it. It belongs to the run
 * and stays valid until the next ct_live_push, ct_live_run or ct_live_finish. NULL: none is kept, or memory
 * ran out. */
CT_API struct ct_cover *ct_live_cover(struct ct_live *live);

/* A request to the page of a run, perhaps of another process or machine. docs/live.md describes its API. */
struct ct_live_request {
    size_t size;         /* sizeof(struct ct_live_request) */
    const char *address; /* PORT, HOST:PORT or [HOST]:PORT */
    const char *method;  /* "GET" or "POST" */
    const char *path;    /* such as "/api/status" */
    const char *token;   /* NULL: none */
    const char *body;    /* JSON; NULL: none */
    size_t body_size;    /* bytes */
};

struct ct_live_answer {
    unsigned status; /* HTTP status: 200 on success */
    char *body;      /* plain text, terminated by NUL; a part of `text` */
    size_t body_size;
    char *text; /* the whole answer */
};

/* Sends a request and waits for its answer, up to 30 s. CT_ERR_IO: no answer, or an incomplete one;
 * CT_ERR_FORMAT: the answer is not that of a live run; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_ask(struct ct_ctx *ctx, const struct ct_live_request *request,
                       struct ct_live_answer *answer);

/* Frees what an answer holds. */
CT_API void ct_live_answer_free(struct ct_live_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
