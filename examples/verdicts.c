/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a TeSSLa specification on a capture, and receives its results with the places where they occurred. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <coretap/session.h>
#include <coretap/verify.h>

#define EVENTS 256

/* No run of gcd may take more than 60 cycles. An output of the name "error" is a violation when it is true.
 */
static const char text[] = "define begins := function_call gcd\n"
                           "define ends := function_return gcd\n"
                           "define error := duration(begins, ends) > 60\n"
                           "out error\n";

struct run {
    struct ct_ctx *ctx;
    struct ct_watches *watches;
    struct ct_watcher *watcher; /* of the current stream */
    struct ct_verifier *verifier;
    unsigned results, violations; /* in the current stream */
};

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct run *run = user;
    run->results++;
    if (!result->violation)
        return;
    run->violations++;
    printf("  %" PRIu64 ": %s = %s, at 0x%" PRIx64 "%s\n", result->time, result->name, result->value,
           result->place ? result->place->event.value : 0, result->uncertain ? ", uncertain" : "");
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct run *run = user;
    struct ct_watch_event events[EVENTS];
    size_t count;
    int rc, more;
    (void)stream;
    do {
        rc = ct_watcher_run(run->watcher, batch, events, EVENTS, &count, &more);
        if (!rc)
            rc = ct_verifier_feed(run->verifier, events, count);
    } while (!rc && more);
    return rc;
}

/* Each stream is a run of its own. */
static int begin(void *user, struct ct_session_turn *turn)
{
    struct run *run = user;
    printf("%s\n", turn->source->name);
    run->results = run->violations = 0;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    ct_watcher_free(run->watcher);
    run->watcher = NULL;
    const int rc = ct_watcher_new(run->ctx, run->watches, &run->watcher);
    return rc ? rc : ct_verifier_begin(run->verifier, on_result, run);
}

static int end(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct run *run = user;
    (void)buffer;
    (void)chain;
    const int rc = ct_verifier_finish(run->verifier); /* gives the last results */
    if (!rc)
        printf("  %u results, %u violations\n", run->results, run->violations);
    return rc;
}

/* Decodes the capture for the specification. Its places are in the programs. */
static int verify(struct run *run, const struct ct_capture *capture, struct ct_programs *programs,
                  const struct ct_monitor_spec *spec)
{
    const struct ct_session_options options = {
        .size = sizeof options, .programs = programs, .user = run, .begin = begin, .decoded = end};
    struct ct_session *session = NULL;
    int rc = ct_watches_new(run->ctx, programs, &run->watches);
    if (!rc)
        rc = ct_verifier_new(run->ctx, NULL, run->watches, &run->verifier);
    if (!rc)
        rc = ct_verifier_add(run->verifier, spec, "reports", NULL, 0);
    if (!rc)
        rc = ct_session_new(run->ctx, &options, &session);
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    ct_session_free(session);
    ct_watcher_free(run->watcher);
    ct_verifier_free(run->verifier);
    ct_watches_free(run->watches);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: verdicts CAPTURE ELF\n");
        return 2;
    }
    const struct ct_programs_options moved = {.size = sizeof moved, .moved = 1};
    struct run run = {.ctx = ct_ctx_new()};
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct ct_monitor_spec *spec = NULL;
    int rc = run.ctx ? ct_capture_open(run.ctx, argv[1], &capture) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_programs_new(run.ctx, &moved, &programs);
    if (!rc)
        rc = ct_programs_add(programs, argv[2], NULL, capture, NULL);
    if (!rc)
        rc = ct_monitor_compile(run.ctx, "reports", text, strlen(text), NULL, &spec);
    if (!rc)
        rc = verify(&run, capture, programs, spec);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ct_ctx_error(run.ctx));
    ct_monitor_spec_free(spec);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(run.ctx);
    return rc ? 1 : 0;
}
