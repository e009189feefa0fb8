/* SPDX-License-Identifier: Apache-2.0 */
/* coretap live: trace that is analysed while it comes, in memory that does not grow with it (paper 2, section
 * III). Coverage, times, watchpoints and specifications are of all that came so far; a page shows them and
 * takes requests, which are answered between two pieces of trace.
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
 * Who gets the bytes himself, from a probe of his own, calls ct_live_push in place of ct_live_open and
 * ct_live_run. */
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

/* The analyses of one stream. All calls but ct_live_stop and ct_live_hurry are of one thread. */
struct ct_live;

/* Receives what comes of specifications, in the thread that analyses. Each may be NULL. An error that one
 * returns ends the run, which returns it. */
struct ct_live_sink {
    void *user;
    /* The first step of a trace ID, before any result of it, and its end; with `one_run` of all together,
     * whose origin has `several` sources. */
    int (*begin)(void *user, const struct ct_verdict_origin *origin);
    int (*end)(void *user, const struct ct_verdict_origin *origin);
    int (*result)(void *user, const struct ct_verdict_origin *origin, const struct ct_verify_result *result);
    /* Specification `spec` failed and takes no more events; the others go on. */
    int (*stopped)(void *user, const struct ct_verdict_origin *origin, uint32_t spec, const char *why);
    /* A piece of trace was analysed, or a tenth of a second went by without one: time to write what is held
     * back. */
    int (*pause)(void *user);
};

struct ct_live_options {
    size_t size;                    /* sizeof(struct ct_live_options) */
    const struct ct_buffer *buffer; /* what the stream is: sources, framing, images. Its path is not read */
    struct ct_programs *programs;   /* for places, times and names, with ct_programs_options.moved */
    struct ct_programs *covered;    /* whose coverage is kept, without `moved`; NULL: none is */
    uint64_t ids[2];                /* as in struct ct_chain_options */
    const struct ct_verify_options *verify;   /* of the specifications; NULL: the defaults */
    const struct ct_monitor_options *compile; /* of specifications that come over the page, which can include
                                                 no files; NULL: the defaults */
    const struct ct_verify_bind *violations;  /* outputs with their values, as ct_verifier_violation takes
                                                 them: of all specifications, those that come later too */
    size_t violation_count;
    uint8_t timing;  /* 1: times of functions, edges and pairs are kept */
    uint8_t all;     /* 1: results that are no violations are shown and told of, too */
    uint8_t one_run; /* 1: all trace IDs are one run of the specifications, on the axis of their
                        timestamps (axis.h); 0: each is a run of its own */
    uint8_t idle;    /* 1: with `one_run`, a core of which nothing comes does nothing
                        (ct_verify_axis_assume_idle) */
    uint8_t pad[4];  /* 0 */
    const struct ct_live_sink *sink; /* NULL: violations are counted and shown alone */
    /* Messages; NULL: nobody gets them. It is called by several threads, at any time. CT_LOG_ERROR: memory
     * was missing; CT_LOG_WARNING: something is not whole or does not go on; CT_LOG_NOTE: news. */
    ct_log_fn *say;
    void *say_user;
    uint8_t log;      /* 1: the input is an event log of FRACTAL (fractal.h) while it is written; `buffer` has
                         one source, of which only names count; `ids`, `covered`, `timing` and `one_run`
                         are 0 */
    uint8_t pad2[7];  /* 0 */
    uint16_t threads; /* that decode, as in ct_chain_options.stream_threads; 0: as many as help */
    uint8_t pad3[6];  /* 0 */
};

/* Makes the analyses. What the options point to has to stay; a copy of `sink` is made. CT_ERR_IO when the
 * system gives no descriptors, CT_ERR_ARG, CT_ERR_NOMEM, the errors of ct_chain_new, of ct_program_symbols,
 * ct_program_lines and ct_program_cfg: all is loaded before trace comes. */
CT_API int ct_live_new(struct ct_ctx *ctx, const struct ct_live_options *options, struct ct_live **out);

/* Ends the page and frees all. */
CT_API void ct_live_free(struct ct_live *live);

/* Watches a place (ct_watches_add) from now on. CT_ERR_LIMIT: 4096 were asked for; the errors of
 * ct_watches_add. */
CT_API int ct_live_add_place(struct ct_live *live, const char *place);

/* Adds a milestone of a log: a place that has to be reached, `deadline` seconds behind the zero of the log's
 * clock; 0: some time. CT_ERR_LIMIT: 256 are there; CT_ERR_ARG: the input is no log; the errors of
 * ct_live_add_place. */
CT_API int ct_live_add_milestone(struct ct_live *live, const char *place, double deadline);

/* Writes a line of words for each milestone: whether and when it was reached, and its deadline. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_live_progress_write(struct ct_live *live, ct_write_fn *write, void *user);

/* Measures from one place to another in all trace IDs that begin from now on. It needs options.timing. The
 * errors of ct_timing_add_pair, CT_ERR_ARG. */
CT_API int ct_live_add_pair(struct ct_live *live, const char *from, const char *to);

/* Begins a specification, which belongs to the run unless there is an error. `name` is what messages and
 * requests call it. CT_ERR_LIMIT: 1024 run; the errors of ct_verifier_add. */
CT_API int ct_live_add_spec(struct ct_live *live, const char *name, struct ct_monitor_spec *spec,
                            const struct ct_verify_bind *binds, size_t count);

/* Tells the page the text of a specification, which is copied. Units of outputs are looked for in it:
 * @unit("us") before "out". A text longer than 1 MiB, or with a NUL in it, is not shown.
 * CT_ERR_NOT_FOUND: no specification of this name runs; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_set_text(struct ct_live *live, const char *name, const char *text, size_t size);

/* What is done about each violation, beside the thread that analyses and without holding it back. */
struct ct_live_hook_options {
    size_t size; /* sizeof(struct ct_live_hook_options) */
    /* A program with its arguments, parted by blanks; '…' and "…" keep blanks, \ keeps the next letter. No
     * shell reads it. It has the violation as a line of JSON on standard input, and in its environment
     * CORETAP_SPEC, _OUTPUT, _VALUE, _TIME, _ID, _UNCERTAIN (0 or 1), and where they are known _CORE, _ADDR,
     * _FUNCTION, _FILE and _LINE; what it prints goes to standard error. NULL: none is run. */
    const char *command;
    const char *url; /* "http://HOST[:PORT][/PATH]" or the same with https, which gets that line by POST, over
                        libcurl; NULL: nothing does */
    uint32_t at_once; /* commands that run at a time, at most 64; 0: 4 */
    uint32_t waiting; /* violations that may wait for each of both, at most 65536; 0: 256. Others are dropped
                         and counted */
    uint32_t seconds; /* that a command, or an answer, may take, at most 3600; 0: 10 */
    uint8_t pad[4];   /* 0 */
    const char *ca; /* file of certificates (PEM) that the server of an https: URL is trusted by; NULL: those
                       of the system */
};

/* Does something about violations from now on; once for a run. The end of the run (ct_live_finish) waits as
 * long as one violation may take, after ct_live_hurry a fifth of a second; what is not done by then is
 * dropped. Failures and what was dropped are messages, and on the page. CT_ERR_FORMAT: a quote has no end, or
 * it is no such URL; CT_ERR_IO: its host is not known, or `ca` cannot be read; CT_ERR_UNSUPPORTED: a URL, and
 * libcurl is not there; CT_ERR_ARG: nothing is to be done, there are hooks already, or `ca` is for no https:
 * URL; CT_ERR_NOMEM. */
CT_API int ct_live_hook(struct ct_live *live, const struct ct_live_hook_options *options);

/* Shows on the page that a file was written, such as a report. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_note_file(struct ct_live *live, const char *path);

/* Where trace comes from. */
struct ct_live_input {
    size_t size; /* sizeof(struct ct_live_input) */
    /* "-" (standard input), "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for a
     * connection; port 0: any, which a message names), else the path of a FIFO, device or file. */
    const char *name;
    size_t ring;        /* bytes that may wait, a multiple of 512; 0: 16 MiB */
    const char *tee;    /* file that keeps what comes, described by `tee`.ini; NULL: none */
    const char *config; /* the .ini that describes the stream, for the description of the copy */
    uint8_t framing;    /* enum ct_framing, for the same */
    uint8_t drop;       /* 1: what comes when the ring is full is lost; 0: who writes waits. Devices cannot */
    uint8_t reconnect;  /* 1: when a connection ends others follow, and the first need not be there yet */
    uint8_t pad[5];     /* 0 */
};

/* Opens the input; bytes are read by ct_live_run. CT_ERR_IO: it cannot be opened, or there is no connection;
 * CT_ERR_FORMAT: there is no such address; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_open(struct ct_live *live, const struct ct_live_input *input);

/* Serves the page and its API at `address`: PORT, ADDRESS:PORT or [ADDRESS]:PORT; without ADDRESS this
 * machine alone reaches it, port 0 is any, which a message names. `token` is what requests have to know;
 * NULL: nothing. The caller has to ignore SIGPIPE. CT_ERR_ARG: an address that other machines reach needs a
 * token, which is not empty; CT_ERR_FORMAT: it is no address; CT_ERR_IO: the port is in use;
 * CT_ERR_UNSUPPORTED: the library was built without what serves pages. CT_ERR_NOMEM. */
CT_API int ct_live_page(struct ct_live *live, const char *address, const char *token);

/* Reads and analyses up to the end of the input, ct_live_stop or ct_live_hurry. Then it does what
 * ct_live_finish does. An input that breaks is no error: see ct_live_seen_of. CT_ERR_ARG: no input is open;
 * the errors of ct_chain_push, what the sink returned. What was taken before an error stays. */
CT_API int ct_live_run(struct ct_live *live);

/* Analyses `size` bytes that the caller got, and answers a request of the page. `lost`: bytes that are
 * missing right before them, UINT64_MAX when nobody knows how many. The errors of ct_chain_push, what the
 * sink returned, CT_ERR_ARG. */
CT_API int ct_live_push(struct ct_live *live, const void *data, size_t size, uint64_t lost);

/* Ends the stream: the last instants of specifications are evaluated, and coverage is brought up to date.
 * Behind the first call nothing happens. The errors of ct_chain_finish, what the sink returned. */
CT_API int ct_live_finish(struct ct_live *live);

/* Ends the run: no more is read, and what waits is analysed. Any thread and handlers of signals may call it.
 */
CT_API void ct_live_stop(struct ct_live *live);

/* Ends it within two seconds: as ct_live_stop, but what waits gets 0.7 s, then specifications that are slow
 * are stopped, 0.4 s later all of them, and 0.3 s later what still waits is left. */
CT_API void ct_live_hurry(struct ct_live *live);

/* How a run stands. */
struct ct_live_seen {
    double seconds;    /* since it was made */
    uint64_t read;     /* bytes that came */
    uint64_t analysed; /* bytes of `read` that were analysed, with those that were dropped before them */
    uint64_t dropped;  /* bytes that were lost because the ring was full */
    uint64_t drops;    /* number of places where bytes were dropped */
    uint64_t left;     /* bytes that waited and were not analysed (ct_live_hurry) */
    uint64_t connections;
    uint64_t breaks; /* places between connections where trace is missing */
    uint64_t kept;   /* bytes in the file that keeps the trace */
    uint64_t violations;
    uint32_t failed;  /* specifications that failed and take no more events */
    uint8_t stopping; /* 1: the page asked for the end */
    uint8_t ended;    /* 1: ct_live_finish was there */
    uint8_t pad[2];
    const char *trouble;     /* why the input could not be read to its end; NULL: it could */
    const char *tee_trouble; /* why the file that keeps the trace has not all of it; NULL: it has */
    uint64_t log_lost;       /* of a log: events that the tracer dropped, and damaged bytes */
    uint64_t late;           /* milestones behind their deadlines, reached or not */
};

/* Returns how the run stands now; it belongs to the run, and stays until the next call. */
CT_API const struct ct_live_seen *ct_live_seen_of(struct ct_live *live);

enum ct_live_form {
    CT_LIVE_JSON, /* one line, as /api/status has it (docs/live.md) */
    CT_LIVE_TEXT, /* for people */
};

/* Writes all that the page shows. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_live_status(struct ct_live *live, enum ct_live_form form, ct_write_fn *write, void *user);

/* Returns the chain: streams, losses and counts of edges so far. It belongs to the run. */
CT_API const struct ct_chain *ct_live_chain(const struct ct_live *live);

/* Returns the times of a trace ID; NULL: none are kept, or no step of it came. */
CT_API const struct ct_timing *ct_live_timing(const struct ct_live *live, uint8_t id);

/* Returns the source of a trace ID that a step came of, else NULL. */
CT_API const struct ct_source *ct_live_source(const struct ct_live *live, uint8_t id);

/* Returns the coverage as it was worked out last, behind ct_live_finish all of it. It belongs to the run and
 * stays until the next call of ct_live_push, ct_live_run or ct_live_finish. NULL: none is kept, or memory was
 * missing. */
CT_API struct ct_cover *ct_live_cover(struct ct_live *live);

/* A request to the page of a run, which may be of another process or machine: its API is in docs/live.md. */
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
    unsigned status; /* of HTTP: 200 when it was done */
    char *body;      /* plain text, with a NUL behind it; a part of `text` */
    size_t body_size;
    char *text; /* the whole answer */
};

/* Sends a request and waits for its answer, up to 30 s. CT_ERR_IO: nobody answers, or the answer broke off;
 * CT_ERR_FORMAT: it is no live run that does; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_live_ask(struct ct_ctx *ctx, const struct ct_live_request *request,
                       struct ct_live_answer *answer);

/* Frees what an answer holds. */
CT_API void ct_live_answer_free(struct ct_live_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
