/* SPDX-License-Identifier: Apache-2.0 */
/* The tracer alone, fed by a recorded message stream. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "base/whole_file.h"
#include "base/room.h"
#include "coretap/fractal_run.h"

#define EVENTS_MAX       1024 /* most events fetched from the ring at once */
#define MESSAGES_A_DRAIN 256  /* messages between two fetches from the ring */
#define REFUSALS_TOLD    10
#define NAME_MAX_BYTES   4096               /* most bytes of a stream's name in a message */
#define PIECE_SIZE       ((size_t)64 << 10) /* of a stream that is read */
#define LINE_SIZE_MAX    ((size_t)1 << 20)  /* longest line that is kept */

struct ct_fractal_replay {
    struct ct_ctx *ctx;
    struct ct_fractal_replay_options options;
    const char *name; /* name of the stream */
    FILE *file;       /* file opened here; NULL: none */
    uint64_t size;    /* size of the file when it was opened; 0 for other inputs */
    struct ct_fractal *fractal;
    struct ct_fractal_port *port;
    struct ct_fractal_wire *wire; /* NULL: the stream has no flits */
    struct ct_fractal_writer *writer;
    struct ct_fractal_replay_counts counts;
    uint64_t line; /* number of the last line read */
    uint64_t dropped;
    uint64_t answers;            /* Data messages that answered a READ or PEEK */
    uint64_t range_lo, range_hi; /* first and last address of the ranges in register writes */
    bool enabled;                /* the tracer was enabled, by the options or by the stream */
    char missing[256];           /* what the log lacks */
    char *rest;                  /* beginning of an incomplete line */
    size_t rest_size, rest_room;
    bool failed; /* takes no more lines */
    struct ct_fractal_event batch[EVENTS_MAX];
};

/* ---- output of the tracer ---- */

/* Prints a command as flits. Returns the number of characters. */
static size_t print_flits(const struct ct_fractal_replay *r, const struct ct_fractal_command *c, char *text,
                          size_t size)
{
    struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
    const int count = ct_fractal_encode_command(r->options.protocol, c, flits);
    size_t n = 0;
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s.%s:0x%llx:0x%llx", i ? " " : "",
                              ct_fractal_channel_name(flits[i].channel),
                              ct_fractal_flit_name(flits[i].channel, flits[i].opcode),
                              (unsigned long long)flits[i].addr, (unsigned long long)flits[i].data);
    return n;
}

/* Writes a command as a CSV line. */
static int write_command(const struct ct_fractal_replay *r, uint64_t time, const struct ct_fractal_command *c,
                         ct_write_fn *write)
{
    char text[320];
    size_t n = (size_t)snprintf(text, sizeof text, "%llu,%s,0x%llx,0x%llx,%u,", (unsigned long long)time,
                                ct_fractal_command_name(c->kind), (unsigned long long)c->pa,
                                (unsigned long long)c->va, c->asid);
    n += print_flits(r, c, text + n, sizeof text - n - 1);
    text[n++] = '\n';
    return write(r->options.commands_user, text, n);
}

/* Counts the pending commands, and writes them unless `write` is NULL. */
static int drain_commands(struct ct_fractal_replay *r, uint64_t time, ct_write_fn *write)
{
    struct ct_fractal_command c;
    int rc = CT_OK;
    while (!rc && ct_fractal_next_command(r->fractal, &c)) {
        r->counts.commands[c.kind]++;
        if (write)
            rc = write_command(r, time, &c, write);
    }
    return rc;
}

/* Describes the target as the registers of the tracer have it. */
static struct ct_fractal_log_info info_of_registers(const struct ct_fractal_replay *r)
{
    uint64_t pgd, asid, geometry, control;
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_PGD, 8, &pgd);
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_ASID, 4, &asid);
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_GEOM, 4, &geometry);
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_CTRL, 4, &control);
    return (struct ct_fractal_log_info){.pgd = pgd,
                                        .range_lo = r->range_lo < r->range_hi ? r->range_lo : 0,
                                        .range_hi = r->range_hi,
                                        .asid = (uint16_t)asid,
                                        .mode = control >> 1 & 3,
                                        .granule = (uint8_t)geometry};
}

/* Begins the log, unless it has begun. The registers describe the target from the first event on. */
static int open_log(struct ct_fractal_replay *r)
{
    const struct ct_fractal_replay_options *o = &r->options;
    const struct ct_fractal_target *t = o->by_stream ? NULL : o->target;
    if (!o->log || r->writer)
        return CT_OK;
    struct ct_fractal_log_info info = t ? (struct ct_fractal_log_info){.pgd = t->pgd,
                                                                       .range_lo = t->range_lo,
                                                                       .range_hi = t->range_hi,
                                                                       .asid = t->asid,
                                                                       .mode = t->mode,
                                                                       .granule = t->granule}
                                        : info_of_registers(r);
    info.fields = CT_FRACTAL_FIELD_ALL;
    info.text = "source=message stream\n";
    return ct_fractal_writer_to(r->ctx, o->log, o->log_user, o->log_name ? o->log_name : "log", &info,
                                &r->writer);
}

/* Moves logged events from the ring to the log. */
static int drain_events(struct ct_fractal_replay *r)
{
    uint64_t dropped;
    size_t n;
    int rc = CT_OK;
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_DROPPED, 8, &dropped);
    while (!rc && (n = ct_fractal_events(r->fractal, r->batch, EVENTS_MAX))) {
        r->counts.events += n;
        rc = open_log(r);
        if (!rc && r->writer)
            rc = ct_fractal_writer_add(r->writer, r->batch, n, dropped - r->dropped);
        r->dropped = dropped;
    }
    return rc;
}

/* ---- lines ---- */

/* Counts and reports a line that is no message, or has an invalid one. */
static void refuse(struct ct_fractal_replay *r)
{
    const struct ct_fractal_replay_options *o = &r->options;
    char text[sizeof r->ctx->error + NAME_MAX_BYTES + 64];
    r->counts.refused++;
    if (!o->refused || r->counts.refused > REFUSALS_TOLD + 1)
        return;
    if (r->counts.refused > REFUSALS_TOLD)
        snprintf(text, sizeof text, "%.*s: more lines were refused; they are not shown", NAME_MAX_BYTES,
                 r->name);
    else
        snprintf(text, sizeof text, "%.*s:%llu: %s", NAME_MAX_BYTES, r->name, (unsigned long long)r->line,
                 ct_ctx_error(r->ctx));
    o->refused(o->refused_user, text);
}

/* Notes what a register write says about ranges, and whether the tracer is enabled. */
static void note_registers(struct ct_fractal_replay *r, const struct ct_fractal_message *m)
{
    uint64_t control;
    if (m && m->addr == CT_FRACTAL_REG_RANGE_LO && m->value < r->range_lo)
        r->range_lo = m->value;
    if (m && m->addr == CT_FRACTAL_REG_RANGE_HI && m->value > r->range_hi)
        r->range_hi = m->value;
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_CTRL, 4, &control);
    r->enabled |= (control & CT_FRACTAL_CTRL_ENABLE) != 0;
}

/* Processes a message and the commands that it causes. */
static int take_message(struct ct_fractal_replay *r, const struct ct_fractal_message *m, const uint64_t *line)
{
    const bool data = m->op == CT_FRACTAL_DATA;
    if (data ? ct_fractal_data(r->fractal, m->time, m->addr, line) : ct_fractal_take_message(r->fractal, m))
        refuse(r);
    else
        r->answers += data;
    if (m->op == CT_FRACTAL_REG_WRITE)
        note_registers(r, m);
    return drain_commands(r, m->time, r->options.commands);
}

/* Processes the flit of a line. */
static int take_flit(struct ct_fractal_replay *r, const char *text, size_t size)
{
    struct ct_fractal_message beside, m;
    struct ct_fractal_flit flit;
    int rc = ct_fractal_flit_parse(r->ctx, text, size, &beside, &flit);
    if (!rc && !r->wire)
        rc =
            ct_fail(r->ctx, CT_ERR_FORMAT,
                    "a flit of %s: the protocol is unknown, so the flit was ignored; give it with --protocol",
                    ct_fractal_channel_name(flit.channel));
    if (!rc)
        rc = ct_fractal_wire_flit(r->wire, &flit, &beside);
    if (rc) {
        refuse(r);
        return CT_OK;
    }
    while (!rc && ct_fractal_wire_message(r->wire, &m))
        rc = take_message(r, &m, NULL);
    return rc;
}

/* Processes a line that is no comment. */
static int take_entry(struct ct_fractal_replay *r, const char *text, size_t size)
{
    struct ct_fractal_message m;
    uint64_t line[CT_FRACTAL_LINE_WORDS];
    int rc = CT_OK;
    r->counts.messages++;
    if (ct_fractal_flit_is_line(text, size))
        rc = take_flit(r, text, size);
    else if (ct_fractal_message_parse(r->ctx, text, size, &m, line))
        refuse(r);
    else
        rc = take_message(r, &m, line);
    return rc || r->counts.messages % MESSAGES_A_DRAIN ? rc : drain_events(r);
}

/* Processes a line, with or without its newline. */
static int take_line(struct ct_fractal_replay *r, const char *text, size_t size)
{
    r->line++;
    while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    if (!size || text[0] == '#' || (r->line == 1 && size >= 5 && memcmp(text, "time,", 5) == 0))
        return CT_OK;
    return take_entry(r, text, size);
}

/* Stores the beginning of a line until the piece with its end comes. */
static int keep(struct ct_fractal_replay *r, const char *text, size_t size)
{
    if (size > LINE_SIZE_MAX - r->rest_size)
        return ct_fail(
            r->ctx, CT_ERR_FORMAT,
            "%.*s:%llu: the line is longer than %zu KiB, so it is no message; the rest is not read; "
            "name a stream of messages",
            NAME_MAX_BYTES, r->name, (unsigned long long)r->line + 1, LINE_SIZE_MAX >> 10);
    if (!CT_MAKE_ROOM(r->rest, r->rest_room, r->rest_size + size))
        return ct_fail_nomem(r->ctx, r->name);
    memcpy(r->rest + r->rest_size, text, size);
    r->rest_size += size;
    return CT_OK;
}

/* Processes a piece that ends with its first newline. */
static int take_end(struct ct_fractal_replay *r, const char *text, size_t size)
{
    if (!r->rest_size)
        return take_line(r, text, size);
    int rc = keep(r, text, size) ?: take_line(r, r->rest, r->rest_size);
    r->rest_size = 0;
    return rc;
}

/* Processes the lines that end in a piece, and stores the rest. */
static int take_piece(struct ct_fractal_replay *r, const char *at, size_t size)
{
    int rc = CT_OK;
    const char *newline;
    while (!rc && size && (newline = memchr(at, '\n', size))) {
        const size_t length = (size_t)(newline + 1 - at);
        rc = take_end(r, at, length);
        at += length;
        size -= length;
    }
    return rc || !size ? rc : keep(r, at, size);
}

/* Processes the rest at the end of the stream. */
static int take_rest(struct ct_fractal_replay *r)
{
    const int rc = r->rest_size ? take_line(r, r->rest, r->rest_size) : CT_OK;
    r->rest_size = 0;
    if (r->wire && ct_fractal_wire_finish(r->wire))
        refuse(r);
    return rc ? rc : drain_events(r);
}

int ct_fractal_replay_push(struct ct_fractal_replay *r, const void *data, size_t size)
{
    CT_REQUIRE_OF(r, data || !size, !r->failed);
    const int rc = take_piece(r, data, size);
    r->failed = rc != CT_OK;
    return rc;
}

/* Processes all lines of the opened stream. */
static int take_stream(struct ct_fractal_replay *r)
{
    char piece[PIECE_SIZE];
    const int fd = fileno(r->file);
    ssize_t size = 0;
    int rc = CT_OK;
    while (!rc && (size = read(fd, piece, sizeof piece)) > 0)
        rc = take_piece(r, piece, (size_t)size);
    if (!rc && size < 0)
        return ct_fail(r->ctx, CT_ERR_IO, "%s: cannot be read: %s", r->name, strerror(errno));
    if (!rc && r->size && (uint64_t)lseek(fd, 0, SEEK_CUR) < r->size)
        return ct_fail_shorter(r->ctx, fd, r->name, r->size);
    return rc ? rc : take_rest(r);
}

int ct_fractal_replay_run(struct ct_fractal_replay *r)
{
    CT_REQUIRE(NULL, r);
    if (!r->file || r->failed)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: no stream is open, so nothing was replayed", __func__);
    const int rc = take_stream(r);
    r->failed = rc != CT_OK;
    return rc;
}

int ct_fractal_replay_finish(struct ct_fractal_replay *r)
{
    CT_REQUIRE(NULL, r);
    const int rc = r->failed ? CT_OK : (take_rest(r) ?: open_log(r));
    const int closed = ct_fractal_writer_close(r->writer);
    r->writer = NULL;
    r->failed = true;
    return rc ? rc : closed;
}

/* ---- the object ---- */

/* Sets an observation point of the target. */
static int set_point(struct ct_fractal_replay *r, uint64_t va)
{
    const struct ct_fractal_target *t = r->options.target;
    const char *why = t->mode == CT_FRACTAL_PASSIVE
                          ? "in passive mode its line stays in the caches, so most accesses would be missed"
                      : va < t->range_lo || va >= t->range_hi
                          ? "it is outside of the traced range, so no hit would be logged"
                          : NULL;
    if (why)
        return ct_fail(r->ctx, CT_ERR_CONFIG, "point 0x%llx: %s; nothing was replayed",
                       (unsigned long long)va, why);
    return ct_fractal_port_point(r->port, va, 1);
}

/* Configures the tracer for the target, if there is one, before the first message. */
static int configure(struct ct_fractal_replay *r)
{
    const struct ct_fractal_replay_options *o = &r->options;
    if (!o->target || o->by_stream)
        return CT_OK;
    int rc = ct_fractal_port_start(r->port, o->target);
    note_registers(r, NULL);
    for (size_t i = 0; i < o->point_count && !rc; i++)
        rc = set_point(r, o->points[i]);
    return rc ? rc : drain_commands(r, 0, o->commands);
}

/* Opens the stream named in the options. */
static int open_stream(struct ct_fractal_replay *r)
{
    if (!r->options.path)
        return CT_OK;
    r->file = strcmp(r->name, "-") == 0 ? stdin : fopen(r->name, "r");
    if (!r->file)
        return ct_fail(r->ctx, CT_ERR_IO, "%s: cannot be opened: %s", r->name, strerror(errno));
    struct stat st;
    r->size = fstat(fileno(r->file), &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return CT_OK;
}

/* Creates everything that the options require. */
static int set_up(struct ct_fractal_replay *r)
{
    const struct ct_fractal_replay_options *o = &r->options;
    int rc = ct_fractal_new(r->ctx, NULL, &r->fractal) ?: ct_fractal_port_model(r->ctx, r->fractal, &r->port);
    if (!rc && o->protocol != CT_FRACTAL_NEUTRAL)
        rc = ct_fractal_wire_new(r->ctx, o->protocol, &r->wire);
    if (!rc)
        rc = open_stream(r);
    if (!rc && o->commands)
        rc = o->commands(o->commands_user, CT_FRACTAL_COMMANDS_HEADER, sizeof CT_FRACTAL_COMMANDS_HEADER - 1);
    if (!rc)
        rc = configure(r);
    return !rc && o->target && !o->by_stream ? open_log(r) : rc;
}

int ct_fractal_replay_new(struct ct_ctx *ctx, const struct ct_fractal_replay_options *options,
                          struct ct_fractal_replay **out)
{
    struct ct_fractal_replay_options own;
    CT_REQUIRE_OUT(ctx, out);
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    if (!rc && !own.points && own.point_count)
        rc = ct_fail(ctx, CT_ERR_ARG, "%s: the points are null, but their number is not 0", __func__);
    if (rc)
        return rc;
    struct ct_fractal_replay *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "a replay");
    r->ctx = ctx;
    r->options = own;
    r->range_lo = UINT64_MAX;
    r->name = own.path ? own.path : "messages";
    rc = set_up(r);
    if (rc)
        ct_fractal_replay_free(r);
    else
        *out = r;
    return rc;
}

void ct_fractal_replay_free(struct ct_fractal_replay *r)
{
    if (!r)
        return;
    (void)ct_fractal_writer_close(r->writer);
    if (r->file && r->file != stdin)
        fclose(r->file);
    ct_fractal_port_free(r->port);
    ct_fractal_wire_free(r->wire);
    ct_fractal_free(r->fractal);
    free(r->rest);
    free(r);
}

/* ---- counts ---- */

const struct ct_fractal_replay_counts *ct_fractal_replay_counts_of(const struct ct_fractal_replay *r)
{
    return r ? &r->counts : NULL;
}

/* Returns why the log has no event. */
static const char *why_empty(const struct ct_fractal_replay *r)
{
    uint64_t walks, refills;
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_WALKS, 8, &walks);
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_REFILLS, 8, &refills);
    return !r->counts.messages ? "the stream has no messages"
           : !r->enabled       ? "no register write in the stream enables the tracer; name the target's page "
                                 "table (--pgd)"
           : !walks            ? "the stream has no read of the target's page table: its address (--pgd) "
                                 "is wrong, or all walks hit in the caches"
           : !refills ? "no descriptor that was read maps an address of the traced ranges; check the ranges, "
                        "the granule and the bits of an address"
                      : "no read was of a page whose translation is known";
}

const char *ct_fractal_replay_missing(struct ct_fractal_replay *r)
{
    uint64_t status;
    if (!r)
        return NULL;
    const uint64_t asked = r->counts.commands[CT_FRACTAL_CMD_READ] + r->counts.commands[CT_FRACTAL_CMD_PEEK];
    ct_fractal_reg_read(r->fractal, CT_FRACTAL_REG_STATUS, 4, &status);
    if (asked > r->answers)
        snprintf(r->missing, sizeof r->missing,
                 "of %llu lines of page tables that the tracer asked for, the stream has only %llu as Data; "
                 "translations and their events are missing",
                 (unsigned long long)asked, (unsigned long long)r->answers);
    else if (status & CT_FRACTAL_STATUS_LOST)
        snprintf(r->missing, sizeof r->missing,
                 "the tracer had no room for an observation point or a page table; events are missing");
    else if (!r->counts.events)
        snprintf(r->missing, sizeof r->missing, "there are no events, because %s", why_empty(r));
    else
        return NULL;
    return r->missing;
}

/* Prints a name and a number. */
static void print_count(FILE *out, const char *name, uint64_t count)
{
    fprintf(out, "%-16s %llu\n", name, (unsigned long long)count);
}

/* Prints the counts and the counting registers. */
static void print(const struct ct_fractal_replay *r, FILE *out)
{
    struct ct_fractal_reg_info info;
    uint64_t value;
    print_count(out, "messages", r->counts.messages);
    print_count(out, "refused", r->counts.refused);
    for (unsigned i = 0; !ct_fractal_reg_describe(i, &info); i++) {
        if (info.offset < CT_FRACTAL_REG_SNOOPS || info.offset == CT_FRACTAL_REG_INCONSISTENT)
            continue;
        ct_fractal_reg_read(r->fractal, info.offset, 8, &value);
        print_count(out, info.name, value);
    }
    for (unsigned k = 0; k < CT_FRACTAL_CMD_KIND_COUNT; k++)
        fprintf(out, "  %-14s %llu\n", ct_fractal_command_name(k), (unsigned long long)r->counts.commands[k]);
}

int ct_fractal_replay_write(struct ct_fractal_replay *r, ct_write_fn *write, void *user)
{
    struct ct_out out;
    CT_REQUIRE_OF(r, write);
    const int rc = ct_out_open(&out, r->ctx, write, user);
    if (rc)
        return rc;
    print(r, out.file);
    return ct_out_close(&out, CT_OK);
}
