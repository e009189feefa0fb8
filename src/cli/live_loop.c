/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live_loop.h"
#include "cli/live_board.h"
#include "cli/live_http.h"
#include "cli/live_source.h"
#include "cli/live_tee.h"
#include "cli/memory_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PUBLISH_EVERY 0.5 /* seconds */
#define PUBLISH_SHARE 20  /* making a status takes a part of the time of 1/20 at most */
#define TICK_MS       100
#define FIRST_BYTES   ((size_t)64 << 10) /* the framing is found out from so many, … */
#define PUSH_S        0.2                /* a part that takes longer makes the next ones smaller, … */
#define LEAST_PART    ((size_t)256)      /* … down to so many bytes */
#define DRAIN_S       0.3                /* what waits is analysed for so long when there is no time left */
#define FIRST_S       0.5                /* … or those that come in this time */

struct run {
    struct cli_live live;
    struct cli_live_wishes wishes;
    struct cli_args described; /* the stream by its description */
    struct cli_live_source source;
    struct cli_live_tee *tee; /* or NULL */
    struct cli_live_reader *reader;
    struct cli_live_board *board; /* NULL: no page */
    struct cli_live_http *http;
    struct cli_memory_file json, words; /* written again and again into the same memory */
    double publish_next;
    double first; /* time of the first bytes */
    bool stopping;
    size_t part;    /* bytes that are analysed at a time at most; 0: all that are there */
    double stopped; /* time at which the specifications were stopped, or 0 */
};

/* Prints into the memory of the text. False: there is none. */
static bool print_again(struct run *r, struct cli_memory_file *t,
                        void (*print)(struct cli_live *live, FILE *out))
{
    if (!t->out && !cli_memory_open(t))
        return false;
    cli_memory_rewind(t);
    print(&r->live, t->out);
    return cli_memory_flush(t);
}

static void publish(struct run *r)
{
    const double begin = cli_live_now();
    if (!print_again(r, &r->json, cli_live_status_json) || !print_again(r, &r->words, cli_live_status_text) ||
        !cli_live_board_publish(r->board, r->json.text, r->json.size, r->words.text, r->words.size))
        cli_no_memory(); /* the page shows what it showed before */
    const double end = cli_live_now(), pause = (end - begin) * PUBLISH_SHARE;
    r->publish_next = end + (pause > PUBLISH_EVERY ? pause : PUBLISH_EVERY);
}

static void free_text(struct cli_memory_file *t)
{
    size_t size;
    if (t->out)
        free(cli_memory_close(t, &size));
}

static void serve_request(struct run *r)
{
    struct cli_live_command *command = r->board ? cli_live_board_asked(r->board) : NULL;
    if (!command)
        return;
    cli_live_exchange(&r->live, command);
    if (command->action == LIVE_STOP && !r->stopping) {
        r->stopping = true;
        cli_live_reader_stop(r->reader);
    }
    publish(r);
    cli_live_board_answer(r->board);
}

static void between_pieces(struct run *r)
{
    const double now = cli_live_now();
    serve_request(r);
    cli_live_sample(&r->live, now);
    cli_live_flush(&r->live);
    if (r->board && now >= r->publish_next)
        publish(r);
}

/* The first bytes decide about the framing: not too few of them. */
static bool is_worth(struct run *r, const struct cli_live_piece *piece)
{
    if (r->live.analysed || piece->size >= FIRST_BYTES || cli_live_ring_look(r->live.ring).ended)
        return true;
    if (r->first == 0)
        r->first = cli_live_now();
    return cli_live_now() - r->first > FIRST_S;
}

/* Whether it is too late for what still waits. */
static bool is_late(struct run *r)
{
    if (__atomic_load_n(&r->live.stop, __ATOMIC_RELAXED) != CT_MONITOR_STOP)
        return false;
    if (r->stopped == 0)
        r->stopped = cli_live_now();
    return cli_live_now() - r->stopped > DRAIN_S;
}

/* Analyses a piece, or the first part of it: requests are answered between two of them, so that slow
 * specifications get less at a time. */
static int push(struct run *r, struct cli_live_piece *piece)
{
    const double begin = cli_live_now();
    if (r->part && piece->size > r->part)
        piece->size = r->part;
    const int rc = cli_live_push(&r->live, piece);
    const double took = cli_live_now() - begin;
    cli_live_ring_done(r->live.ring, piece->size);
    if (took > PUSH_S)
        r->part = piece->size / 4 > LEAST_PART ? piece->size / 4 : LEAST_PART;
    else if (took < PUSH_S / 8 && r->part < LIVE_PIECE)
        r->part *= 2;
    return rc;
}

/* Result: an error of the analyses, or 0 at the end of the input. */
static int analyse(struct run *r)
{
    int rc = CT_OK;
    while (!rc && !is_late(r)) {
        struct cli_live_piece piece;
        const bool ended =
            cli_live_ring_look(r->live.ring).ended; /* asked first: then there is nothing behind it */
        const bool got = cli_live_ring_get(r->live.ring, TICK_MS, &piece);
        if (!got && ended)
            break;
        if (got && is_worth(r, &piece)) {
            rc = push(r, &piece);
        } else if (got) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        between_pieces(r);
    }
    r->live.unanalysed = cli_live_ring_look(r->live.ring).fill;
    return rc ? rc : ct_chain_finish(r->live.chain);
}

static bool make_folder(const char *path)
{
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    cli_say("%s: cannot be created: %s", path, strerror(errno));
    return false;
}

/* Signals are for the thread that reads the input. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* who looks at the page may go */
}

static bool start_page(struct run *r)
{
    if (!r->wishes.http)
        return true;
    r->board = cli_live_board_new(r->live.ring);
    if (!r->board) {
        cli_no_memory();
        return false;
    }
    publish(r);
    r->http = cli_live_http_start(r->wishes.http, r->wishes.token, &r->live.monitors.compile, r->board);
    return r->http != NULL;
}

static bool open_tee(struct run *r, const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    if (r->wishes.tee)
        r->tee = cli_live_tee_open(args->ctx, r->wishes.tee, v[CLI_CAPTURE_CONFIG].text,
                                   (enum ct_framing)v[CLI_CAPTURE_FRAMING].number, r->source.fd);
    return !r->wishes.tee || r->tee;
}

static bool start(struct run *r, const struct cli_args *args)
{
    if (!make_folder(r->wishes.output) || !cli_live_source_open(&r->source, r->wishes.input, r->wishes.again))
        return false;
    r->wishes.drop |= r->source.device;
    r->live.ring = cli_live_ring_new(r->wishes.ring, r->wishes.drop);
    if (!r->live.ring) {
        cli_no_memory();
        return false;
    }
    if (!cli_live_prepare(&r->live, args, &r->wishes) || !open_tee(r, args))
        return false;
    block_signals();
    r->reader = start_page(r) ? cli_live_reader_start(&r->source, r->live.ring, r->tee, &r->live.stop) : NULL;
    return r->reader != NULL;
}

static int run(struct run *r)
{
    int code = CLI_CLEAN;
    if (analyse(r) != CT_OK) {
        code = cli_library_error(r->live.ctx);
        cli_live_reader_stop(r->reader);
    }
    const struct cli_live_ring_state input = cli_live_ring_look(r->live.ring);
    if (input.trouble) {
        cli_say("%s: cannot be read any more: %s", r->wishes.input, input.trouble);
        code = CLI_FAILED;
    }
    if (input.intake.trouble) /* it was said when it happened */
        code = CLI_FAILED;
    const int reported = cli_live_report(&r->live);
    if (r->board)
        publish(r);
    cli_live_reader_free(r->reader);
    return reported > code ? reported : code;
}

static bool connects(const char *input)
{
    return strncmp(input, "tcp:", 4) == 0 || strncmp(input, "listen:", 7) == 0;
}

int cli_live_run(const struct cli_args *args, const struct cli_live_wishes *wishes)
{
    struct run *r = calloc(1, sizeof *r);
    if (!r) {
        cli_no_memory();
        return CLI_FAILED;
    }
    int code = CLI_FAILED;
    r->wishes = *wishes;
    r->wishes.input = args->operand;
    r->described = *args;
    r->described.operand = "-"; /* the bytes come from here, what they are says --config */
    if (!args->values[CLI_CAPTURE_CONFIG].given)
        cli_usage_error(args->command,
                        "--config FILE.ini is needed, which describes the stream (docs/formats.md)");
    else if (r->wishes.again && !connects(r->wishes.input))
        cli_usage_error(args->command,
                        "--reconnect goes with tcp:HOST:PORT and listen:PORT; the end of '%s' is the end "
                        "of the trace",
                        r->wishes.input);
    else if (start(r, &r->described))
        code = run(r);
    if (r->board)
        cli_live_board_close(r->board);
    cli_live_http_stop(r->http);
    cli_live_board_free(r->board);
    free_text(&r->json);
    free_text(&r->words);
    cli_live_release(&r->live);
    if (r->tee && !cli_live_tee_close(r->tee))
        code = CLI_FAILED;
    cli_live_source_close(&r->source);
    free(r);
    return code;
}
