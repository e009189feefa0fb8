/* SPDX-License-Identifier: Apache-2.0 */
/* Checks two things. The messages that a FRACTAL on a random cluster heard make another one log the same
 * events. A stream of messages, sound or damaged, gives the same log, commands, refusals and counts from a
 * file and in pieces, wherever these are cut. CT_SEED sets the first seed, CT_COUNT the number of streams,
 * CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/fractal_run.h"
#include "support/output.h"
#include "support/require.h"
#include "support/rng.h"

enum {
    ACCESSES = 300,
    EVENTS = 4096,
    PAGES = 24,
};

/* A growing buffer of bytes. */
struct world {
    struct ct_soc *soc;
    struct ct_fractal *fractal;
    struct output stream;
    struct ct_fractal_event events[EVENTS];
    size_t count;
};

/* Results of a replay. */
struct outcome {
    struct output log, commands, refusals;
    struct ct_fractal_replay_counts counts;
};

static char path[] = "/tmp/coretap-fractal-replay-XXXXXX";

/* ---- a stream ---- */

static void hear(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct world *w = user;
    char text[256];
    const size_t size = ct_fractal_message_print(m, line, text);
    text[size] = '\n';
    output_append(&w->stream, text, size + 1);
    (void)(line ? ct_fractal_data(w->fractal, m->time, m->addr, line)
                : ct_fractal_take_message(w->fractal, m));
}

static int command(void *user, struct ct_fractal_command *out)
{
    const struct world *w = user;
    return ct_fractal_next_command(w->fractal, out);
}

static void set_up(struct world *w, struct rng *rng, unsigned tap, uint32_t pid)
{
    static const uint8_t modes[] = {CT_FRACTAL_PASSIVE, CT_FRACTAL_POINTS, CT_FRACTAL_ACTIVE};
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_PGD, ct_soc_pgd(w->soc, pid));
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_ASID, ct_soc_asid(w->soc, pid));
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_GEOM, 12 | 48u << 8);
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_RANGE_LO, 0);
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_RANGE_HI, UINT64_C(1) << 48);
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_RANGE_COMMIT, 1);
    ct_soc_reg_write(w->soc, tap, CT_FRACTAL_REG_CTRL,
                     CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(modes[rng_below(rng, 3)]));
}

/* Runs a process with random accesses on a cluster with small caches, and keeps the messages of its port. */
static int make_stream(struct world *w, struct rng *rng)
{
    const struct ct_soc_config config = {.size = sizeof config,
                                         .cores = 2,
                                         .l2_bytes = 64 * 1024,
                                         .seed = rng_next(rng),
                                         .fabric = CT_SOC_FABRIC_COHERENT};
    const struct ct_soc_tap tap = {.user = w, .message = hear, .command = command};
    REQUIRE(!ct_soc_new(NULL, &config, NULL, &w->soc));
    REQUIRE(!ct_fractal_new(NULL, NULL, &w->fractal));
    output_append(&w->stream, CT_FRACTAL_MESSAGES_HEADER "\n", sizeof CT_FRACTAL_MESSAGES_HEADER);
    const unsigned number = (unsigned)ct_soc_attach(w->soc, &tap);
    const uint32_t pid = ct_soc_process(w->soc);
    REQUIRE(pid);
    ct_soc_run(w->soc, 0, pid);
    set_up(w, rng, number, pid);
    for (unsigned i = 0; i < ACCESSES; i++) {
        const uint64_t va =
            UINT64_C(0x400000) + (uint64_t)rng_below(rng, PAGES) * 4096 + rng_below(rng, 4096);
        ct_soc_touch(w->soc, 0, va, (enum ct_soc_access)rng_below(rng, 3));
        if (rng_chance(rng, 8))
            ct_soc_unmap(w->soc, 0, pid, va);
        w->count += ct_fractal_events(w->fractal, w->events + w->count, EVENTS - w->count);
    }
    REQUIRE(w->count < EVENTS);
    return 1;
}

/* Damages lines: changes bytes, adds and removes newlines. */
static void damage(struct output *stream, struct rng *rng)
{
    static const char letters[] = "\n\r,x0#\0";
    for (unsigned i = 1 + rng_below(rng, 30); i--;)
        stream->text[rng_below(rng, (uint32_t)stream->size)] = letters[rng_below(rng, sizeof letters)];
    stream->size -= rng_below(rng, 40);
}

/* ---- replays ---- */

/* Replays a stream from the file at `path`, or, without `file`, from memory in random pieces. */
static int replay(const struct output *stream, int file, struct rng *rng, struct outcome *o)
{
    const struct ct_fractal_replay_options options = {.size = sizeof options,
                                                      .path = file ? path : NULL,
                                                      .log = output_append,
                                                      .log_user = &o->log,
                                                      .commands = output_append,
                                                      .commands_user = &o->commands,
                                                      .refused = output_line,
                                                      .refused_user = &o->refusals};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_fractal_replay *r;
    REQUIRE(ctx && !ct_fractal_replay_new(ctx, &options, &r));
    if (file)
        REQUIRE(!ct_fractal_replay_run(r));
    for (size_t at = 0; !file && at < stream->size;) {
        const size_t most = rng_chance(rng, 128) ? 3 : 700, left = stream->size - at;
        const size_t wanted = rng_below(rng, (uint32_t)most), size = wanted < left ? wanted : left;
        REQUIRE(!ct_fractal_replay_push(r, stream->text + at, size));
        at += size;
    }
    REQUIRE(!ct_fractal_replay_finish(r));
    o->counts = *ct_fractal_replay_counts_of(r);
    ct_fractal_replay_free(r);
    ct_ctx_free(ctx);
    return 1;
}

/* Makes the refusals of a file equal to those of pieces, in which the stream is called "messages". */
static void rename_stream(struct output *refusals)
{
    struct output out = {0};
    for (size_t at = 0; at < refusals->size;) {
        const char *line = refusals->text + at;
        const size_t size = (size_t)((char *)memchr(line, '\n', refusals->size - at) + 1 - line);
        const size_t name = strlen(path);
        if (size > name && memcmp(line, path, name) == 0) {
            output_append(&out, "messages", 8);
            output_append(&out, line + name, size - name);
        } else {
            output_append(&out, line, size);
        }
        at += size;
    }
    free(refusals->text);
    *refusals = out;
}

static int write_stream(const struct output *stream)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file);
    REQUIRE(fwrite(stream->text, 1, stream->size, file) == stream->size);
    REQUIRE(fclose(file) == 0);
    return 1;
}

/* Compares a log with the events that the first FRACTAL logged. */
static int is_logged(const struct world *w, const struct output *log)
{
    struct ct_fractal_reader *reader;
    struct ct_fractal_event e;
    size_t count = 0;
    REQUIRE(!ct_fractal_reader_open_bytes(NULL, log->text, log->size, &reader));
    while (ct_fractal_reader_next(reader, &e, 1)) {
        const struct ct_fractal_event *want = &w->events[count++];
        REQUIRE(count <= w->count);
        REQUIRE(e.time == want->time && e.va == want->va && e.pa == want->pa && e.op == want->op &&
                e.kind == want->kind && e.flags == want->flags);
    }
    REQUIRE(count == w->count);
    uint64_t dropped, damaged;
    ct_fractal_reader_losses(reader, &dropped, &damaged);
    REQUIRE(!dropped && !damaged);
    ct_fractal_reader_free(reader);
    return 1;
}

static void free_outcome(struct outcome *o)
{
    free(o->log.text);
    free(o->commands.text);
    free(o->refusals.text);
}

/* Totals over all streams of a test. */
struct sums {
    uint64_t events, refused;
};

static int holds(uint64_t seed, struct sums *sums)
{
    static struct world w;
    struct rng rng = {seed};
    struct outcome whole = {0}, cut = {0};
    w = (struct world){0};
    REQUIRE(make_stream(&w, &rng));
    const int damaged = rng_chance(&rng, 128);
    if (damaged)
        damage(&w.stream, &rng);
    REQUIRE(write_stream(&w.stream));
    REQUIRE(replay(NULL, 1, NULL, &whole));
    REQUIRE(replay(&w.stream, 0, &rng, &cut));
    rename_stream(&whole.refusals);
    REQUIRE(output_same(&whole.log, &cut.log));
    REQUIRE(output_same(&whole.commands, &cut.commands));
    REQUIRE(output_same(&whole.refusals, &cut.refusals));
    REQUIRE(memcmp(&whole.counts, &cut.counts, sizeof cut.counts) == 0);
    if (!damaged) {
        REQUIRE(!whole.counts.refused);
        REQUIRE(whole.counts.events == w.count);
        REQUIRE(is_logged(&w, &whole.log));
    }
    sums->events += whole.counts.events;
    sums->refused += whole.counts.refused;
    free_outcome(&whole);
    free_outcome(&cut);
    free(w.stream.text);
    ct_soc_free(w.soc);
    ct_fractal_free(w.fractal);
    return 1;
}

int main(void)
{
    const uint64_t first = test_number("CT_SEED", 1), count = test_count(40, 4000);
    struct sums sums = {0};
    int fine = 1;
    const int fd = mkstemp(path);
    if (fd < 0 || close(fd))
        return 1;
    for (uint64_t seed = first; fine && seed < first + count; seed++) {
        fine = holds(seed, &sums);
        if (!fine)
            printf("# seed %" PRIu64 "\n", seed);
    }
    unlink(path);
    fine = fine && (count < 40 || (sums.events && sums.refused)); /* else the test checked nothing */
    printf("%s 1 - replays of %" PRIu64 " streams\n# %" PRIu64 " events, %" PRIu64 " lines refused\n1..1\n",
           fine ? "ok" : "not ok", count, sums.events, sums.refused);
    return !fine;
}
