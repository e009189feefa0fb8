/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a live run from the first to the last byte of its input. */
#include "base/options.h"
#include "base/require.h"
#include "live/board.h"
#include "live/http.h"
#include "live/live.h"
#include "live/reader.h"
#include "live/tee.h"

#include <string.h>
#include <time.h>

#define TICK_MS     100
#define FIRST_BYTES ((size_t)64 << 10) /* bytes that are enough to detect the framing */
#define FIRST_S     0.5                /* seconds after which fewer bytes have to do */
#define PUSH_S      0.05               /* seconds; a part that takes longer makes the next parts smaller */
#define LEAST_PART  ((size_t)256)      /* smallest part, in bytes */
#define DRAIN_S     0.3                /* seconds for analysing waiting bytes after time is up */

/* ---- creation ---- */

static bool connects(const char *name)
{
    return strncmp(name, "tcp:", 4) == 0 || strncmp(name, "listen:", 7) == 0;
}

static int check_input(struct ct_live *l, const struct ct_live_input *i)
{
    if (!i->name || (i->tee && !i->config))
        return ct_fail_argument(l->ctx, "ct_live_open", "input.name && (input.config || !input.tee)", 1);
    if (l->input.size || l->pushed || l->ended)
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "%s: the run already has an input, or has ended; open one input "
                       "at the start of a run",
                       i->name);
    if (i->ring % LIVE_BLOCK)
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "%s: the size of the input buffer is %zu bytes, which is not a "
                       "multiple of %d; round it",
                       i->name, i->ring, LIVE_BLOCK);
    if (i->reconnect && !connects(i->name))
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "%s: this is not tcp:HOST:PORT or listen:PORT, so it cannot be connected again; omit "
                       "reconnecting",
                       i->name);
    return CT_OK;
}

static int open_all(struct ct_live *l, const struct ct_live_input *i)
{
    int rc = ct_live_source_open(l->ctx, &l->say, &l->source, i->name, i->reconnect);
    if (rc)
        return rc;
    l->ring = ct_live_ring_new(i->ring ? i->ring : LIVE_RING, i->drop || l->source.device);
    if (!l->ring)
        return ct_fail_nomem(l->ctx, i->name);
    return i->tee ? ct_live_tee_open(l->ctx, &l->say, i, l->source.fd, &l->tee) : CT_OK;
}

int ct_live_open(struct ct_live *l, const struct ct_live_input *input)
{
    struct ct_live_input i;
    CT_REQUIRE(NULL, l);
    int rc = ct_options_read(l->ctx, "ct_live_open", input, &i, sizeof i) ?: check_input(l, &i);
    if (rc)
        return rc;
    rc = open_all(l, &i);
    if (!rc) {
        l->input = i;
        l->input.drop |= l->source.device;
        return CT_OK;
    }
    ct_live_ring_free(l->ring);
    l->ring = NULL;
    ct_live_source_close(&l->source);
    return rc;
}

int ct_live_page(struct ct_live *l, const char *address, const char *token)
{
    CT_REQUIRE_OF(l, address);
    if (l->board)
        return ct_fail(l->ctx, CT_ERR_ARG, "%s: the run already has a page; a second one is not served",
                       address);
    l->board = ct_live_board_new(&l->say);
    if (!l->board)
        return ct_fail_nomem(l->ctx, address);
    ct_live_publish(l);
    const int rc =
        ct_live_http_start(l->ctx, &l->say, address, token, &l->compile, l->board, &l->options, &l->http);
    if (rc) {
        ct_live_board_free(l->board);
        l->board = NULL;
    }
    return rc;
}

/* ---- bytes ---- */

/* Returns whether a piece may be analysed. The first piece must be large enough to detect the framing, unless
 * no more bytes come for a while. */
static bool is_worth(struct ct_live *l, const struct ct_live_piece *piece)
{
    if (l->analysed || piece->size >= FIRST_BYTES || ct_live_ring_look(l->ring).ended)
        return true;
    if (l->first == 0)
        l->first = ct_live_now();
    return ct_live_now() - l->first > FIRST_S;
}

/* Returns whether it is too late for waiting bytes. */
static bool is_late(struct ct_live *l)
{
    if (__atomic_load_n(&l->stop, __ATOMIC_RELAXED) != CT_MONITOR_STOP)
        return false;
    if (l->stopped == 0)
        l->stopped = ct_live_now();
    return ct_live_now() - l->stopped > DRAIN_S;
}

/* Analyses a piece, or its first part. Requests are answered between two parts, so parts become smaller when
 * specifications are slow. */
static int take_part(struct ct_live *l, struct ct_live_piece *piece)
{
    const double begin = ct_live_now();
    if (l->part && piece->size > l->part)
        piece->size = l->part;
    const int rc = ct_live_take(l, piece);
    const double took = ct_live_now() - begin;
    ct_live_ring_done(l->ring, piece->size);
    if (took > PUSH_S)
        l->part = piece->size / 4 > LEAST_PART ? piece->size / 4 : LEAST_PART;
    else if (took < PUSH_S / 8 && l->part < LIVE_PIECE)
        l->part *= 2;
    return rc;
}

/* Analyses the input. Returns an error of the analyses, or 0 at the end of the input. */
static int analyse(struct ct_live *l)
{
    int rc = CT_OK;
    while (!rc && !is_late(l)) {
        struct ct_live_piece piece;
        const bool ended =
            ct_live_ring_look(l->ring).ended; /* read first: if the ring has ended, no bytes follow */
        const bool got = ct_live_ring_get(l->ring, TICK_MS, &piece);
        if (!got && ended)
            break;
        if (got && is_worth(l, &piece)) {
            rc = take_part(l, &piece);
        } else if (got) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        if (!rc)
            rc = ct_live_between(l);
    }
    l->unanalysed = ct_live_ring_look(l->ring).fill;
    return rc;
}

/* Analyses all input, and ends the run. The context keeps the text of the first error. */
static int analyse_and_finish(struct ct_live *l)
{
    char why[sizeof l->ctx->error];
    const int rc = analyse(l);
    memcpy(why, l->ctx->error, sizeof why);
    if (rc)
        ct_live_stop(l);
    const int finished = ct_live_end(l);
    if (rc)
        memcpy(l->ctx->error, why, sizeof why);
    return rc ? rc : finished;
}

int ct_live_run(struct ct_live *l)
{
    CT_REQUIRE(NULL, l);
    if (l->working)
        return ct_live_refuse(l, __func__);
    if (!l->input.size || l->ended)
        return ct_fail(l->ctx, CT_ERR_ARG, "ct_live_run: %s",
                       l->ended ? "the run has ended" : "no input is open; call ct_live_open first");
    int rc = ct_live_reader_start(l, &l->reader);
    if (rc)
        return rc;
    if (l->board)
        ct_live_board_wakes(l->board, l->ring);
    l->working = true;
    rc = analyse_and_finish(l);
    l->working = false;
    ct_live_reader_free(l->reader);
    l->reader = NULL;
    l->tee_trouble = ct_live_tee_close(l->tee);
    l->tee = NULL;
    return rc;
}
