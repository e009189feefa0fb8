/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes message streams: as recorded text, line by line, and as raw messages, in blocks and one by one. What
 * must hold: queues stay bounded, and both ways give the same events. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "coretap/fractal_wire.h"
#include "fuzz.h"

static struct ct_fractal *make(unsigned flags)
{
    const struct ct_fractal_options options = {.size = sizeof options,
                                               .rtlb_sets = 1u << (flags & 3),
                                               .rtlb_ways = 1 + (flags >> 2 & 3),
                                               .watermarks = 64,
                                               .points = 8,
                                               .ring_bytes = 4096};
    struct ct_fractal *f;
    return ct_fractal_new(NULL, &options, &f) ? NULL : f;
}

/* Answers reads with descriptors made from the address: tables, blocks and pages of all kinds. */
static void answer(struct ct_fractal *f, uint64_t time, unsigned salt)
{
    struct ct_fractal_command c;
    for (unsigned n = 0; ct_fractal_next_command(f, &c); n++) {
        if (n > 1u << 20)
            abort();
        if (c.kind != CT_FRACTAL_CMD_READ && c.kind != CT_FRACTAL_CMD_PEEK)
            continue;
        uint64_t line[CT_FRACTAL_LINE_WORDS];
        for (unsigned i = 0; i < CT_FRACTAL_LINE_WORDS; i++) {
            const uint64_t x = (c.pa / 8 + i + salt) * UINT64_C(0x9e3779b97f4a7c15);
            line[i] = (x & UINT64_C(0x7f000)) | (x >> 60 & 3) | (x >> 58 & 3 ? 0x400 : 0) |
                      (x >> 50 & 15 ? 0 : UINT64_C(1) << 52);
        }
        ct_fractal_data(f, time, c.pa, line);
    }
}

/* Takes a line with a flit: it must print as the same line, and its message goes to the tracer. */
static void take_flit(struct ct_fractal *f, struct ct_fractal_wire *wire, const char *text, size_t size)
{
    struct ct_fractal_message beside, m;
    struct ct_fractal_flit flit, again;
    char printed[128];
    if (ct_fractal_flit_parse(NULL, text, size, &beside, &flit))
        return;
    const size_t length = ct_fractal_flit_print(&flit, &beside, printed);
    if (length >= sizeof printed || ct_fractal_flit_parse(NULL, printed, length, &m, &again) ||
        memcmp(&flit, &again, sizeof flit) != 0)
        abort();
    (void)ct_fractal_wire_flit(wire, &flit, &beside);
    for (unsigned n = 0; ct_fractal_wire_message(wire, &m); n++) {
        if (n > 1u << 21)
            abort();
        if (n < 64) { /* the rest of a range is more of the same */
            ct_fractal_take_message(f, &m);
            answer(f, m.time, 0);
        }
    }
}

static void as_text(const uint8_t *data, size_t size)
{
    struct ct_fractal *f = make(size ? data[0] : 0);
    struct ct_fractal_wire *wire = NULL;
    if (ct_fractal_wire_new(NULL, size > 1 && data[1] & 1 ? CT_FRACTAL_CHI : CT_FRACTAL_ACE, &wire)) {
        ct_fractal_free(f);
        return;
    }
    struct ct_fractal_event events[64];
    while (f && size) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t n = end ? (size_t)(end - data) : size;
        struct ct_fractal_message m;
        uint64_t line[CT_FRACTAL_LINE_WORDS];
        if (ct_fractal_flit_is_line((const char *)data, n)) {
            take_flit(f, wire, (const char *)data, n);
        } else if (!ct_fractal_message_parse(NULL, (const char *)data, n, &m, line)) {
            char text[256];
            struct ct_fractal_message again;
            const size_t length = ct_fractal_message_print(&m, line, text);
            if (ct_fractal_message_parse(NULL, text, length, &again, line) || again.addr != m.addr ||
                again.op != m.op || again.time != m.time)
                abort();
            if (m.op == CT_FRACTAL_DATA)
                ct_fractal_data(f, m.time, m.addr, line);
            else
                ct_fractal_take_message(f, &m);
            answer(f, m.time, 0);
            ct_fractal_events(f, events, 64);
        }
        data += end ? n + 1 : n;
        size -= end ? n + 1 : n;
    }
    (void)ct_fractal_wire_finish(wire);
    ct_fractal_wire_free(wire);
    ct_fractal_free(f);
}

#define RECORD 6

static void make_messages(const uint8_t *data, size_t count, struct ct_fractal_message *m)
{
    uint64_t time = 0;
    for (size_t i = 0; i < count; i++, data += RECORD) {
        time += data[0] >> 6;
        m[i] = (struct ct_fractal_message){.time = time - (data[0] == 0xff),
                                           .op = data[0] & 31,
                                           .initiator = data[1] & 7,
                                           .kind = data[1] >> 3 & 3,
                                           .addr = (uint64_t)(ct_load16(data + 2) & 0x7fff) << 5,
                                           .value = ct_load16(data + 4)};
        if (m[i].op == CT_FRACTAL_REG_WRITE)
            m[i].addr = data[2];
        else if (m[i].op == CT_FRACTAL_TLBI_ASID || m[i].op == CT_FRACTAL_TLBI_VA)
            m[i].value &= 1;
    }
}

static void start(struct ct_fractal *f, unsigned flags)
{
    struct ct_fractal_port *port;
    static const uint8_t granule[] = {12, 14, 16, 12}, bits[] = {39, 47, 48, 25};
    const struct ct_fractal_target t = {.pgd = 0x1000,
                                        .range_hi = UINT64_C(1) << bits[flags & 3],
                                        .granule = granule[flags & 3],
                                        .va_bits = bits[flags & 3],
                                        .mode = flags >> 2 & 3};
    if (ct_fractal_port_model(NULL, f, &port))
        return;
    ct_fractal_port_start(port, &t);
    ct_fractal_port_free(port);
    answer(f, 0, flags);
}

static size_t feed_blocks(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count,
                          unsigned salt, struct ct_fractal_event *out, size_t room)
{
    size_t events = 0;
    for (size_t at = 0; at < count;) {
        int status;
        const size_t n = ct_fractal_messages(f, m + at, count - at < 100 ? count - at : 100, &status);
        at += n + (status ? 1 : 0); /* refused messages are skipped */
        answer(f, m[at < count ? at : count - 1].time, salt);
        events += ct_fractal_events(f, out + events, room - events);
    }
    return events;
}

static size_t feed_singly(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count,
                          unsigned salt, struct ct_fractal_event *out, size_t room)
{
    size_t events = 0;
    for (size_t at = 0; at < count; at++) {
        ct_fractal_take_message(f, &m[at]);
        answer(f, m[at].time, salt);
        events += ct_fractal_events(f, out + events, room - events);
    }
    return events;
}

static void as_messages(const uint8_t *data, size_t size)
{
    enum {
        MOST = 1024,
        ROOM = 4096
    };
    const unsigned flags = data[0];
    const size_t count = (size - 1) / RECORD < MOST ? (size - 1) / RECORD : MOST;
    struct ct_fractal_message *m = calloc(MOST, sizeof *m);
    struct ct_fractal_event *e = calloc(2 * ROOM, sizeof *e);
    struct ct_fractal *f = make(flags >> 4), *g = make(flags >> 4);
    if (m && e && f && g && count) {
        make_messages(data + 1, count, m);
        start(f, flags);
        start(g, flags);
        const size_t a = feed_singly(f, m, count, flags, e, ROOM),
                     b = feed_blocks(g, m, count, flags, e + ROOM, ROOM);
        uint64_t x, y;
        /* A ring that is emptied at other times overflows at other places: then only totals agree. */
        ct_fractal_reg_read(f, CT_FRACTAL_REG_EVENTS, 8, &x);
        ct_fractal_reg_read(g, CT_FRACTAL_REG_EVENTS, 8, &y);
        if (x != y || (a == x && b == y && memcmp(e, e + ROOM, a * sizeof *e)))
            abort();
    }
    ct_fractal_free(f);
    ct_fractal_free(g);
    free(m);
    free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] < 0x80)
        as_text(data, size);
    else
        as_messages(data, size);
    return 0;
}
