/* SPDX-License-Identifier: Apache-2.0 */
/* Checks three things. Messages and commands encoded for a coherence protocol decode to the same. A random
 * flit is refused, or decodes to something that encodes to the same meaning. A FRACTAL behind flits of ACE or
 * CHI logs the same as one without them. CT_SEED sets the first seed, CT_COUNT the number of rounds,
 * CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coretap/fractal_run.h"
#include "support/require.h"
#include "support/rng.h"

enum {
    MESSAGES = 200, /* messages per round */
    ACCESSES = 400,
    EVENTS = 4096,
    PAGES = 24,
};

static const enum ct_fractal_protocol protocols[] = {CT_FRACTAL_ACE, CT_FRACTAL_CHI};

/* Totals over all rounds. */
struct sums {
    uint64_t messages, commands, flits, heard, events;
};

static int same_message(const struct ct_fractal_message *a, const struct ct_fractal_message *b)
{
    return a->time == b->time && a->addr == b->addr && a->value == b->value && a->op == b->op &&
           a->initiator == b->initiator && a->kind == b->kind;
}

/* ---- encoding and decoding ---- */

static struct ct_fractal_message random_message(struct rng *rng)
{
    struct ct_fractal_message m = {.time = rng_wide(rng, 64),
                                   .initiator = (uint8_t)rng_below(rng, 64),
                                   .kind = (uint8_t)rng_below(rng, 3)};
    do
        m.op = (uint8_t)rng_below(rng, CT_FRACTAL_OP_COUNT);
    while (m.op == CT_FRACTAL_DATA || m.op == CT_FRACTAL_REG_WRITE);
    const uint64_t address = rng_wide(rng, 48);
    if (m.op <= CT_FRACTAL_WRITE_BACK)
        m.addr = address & ~UINT64_C(7); /* a port distinguishes addresses 8 bytes apart */
    else if (m.op == CT_FRACTAL_ICI_VA)
        m.addr = address & ~UINT64_C(63);
    else if (m.op != CT_FRACTAL_TLBI_ASID && m.op != CT_FRACTAL_TLBI_ALL)
        m.addr = address & ~UINT64_C(4095);
    if (m.op == CT_FRACTAL_TLBI_VA || m.op == CT_FRACTAL_TLBI_VA_LAST || m.op == CT_FRACTAL_TLBI_ASID ||
        m.op == CT_FRACTAL_ICI_VA)
        m.value = rng_wide(rng, 16);
    return m;
}

/* Passes the flits of a message to a decoder. Returns how many messages came out, and the last one in
 * *out. */
static int decode(struct ct_fractal_wire *wire, const struct ct_fractal_flit *flits, int count,
                  const struct ct_fractal_message *beside, struct ct_fractal_message *out)
{
    struct ct_fractal_message m;
    int heard = 0;
    for (int i = 0; i < count; i++) {
        if (ct_fractal_wire_flit(wire, &flits[i], beside))
            return -1;
        for (; ct_fractal_wire_message(wire, &m); heard++)
            *out = m;
    }
    return heard;
}

static int messages_mirror(struct rng *rng, enum ct_fractal_protocol protocol, struct sums *sums)
{
    struct ct_fractal_wire *wire;
    REQUIRE(!ct_fractal_wire_new(NULL, protocol, &wire));
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct ct_fractal_flit flits[CT_FRACTAL_FLITS], read;
        const struct ct_fractal_message m = random_message(rng);
        struct ct_fractal_message heard = {0}, beside;
        const int count = ct_fractal_encode_message(protocol, &m, flits);
        REQUIRE(count > 0 && count <= CT_FRACTAL_FLITS);
        REQUIRE(decode(wire, flits, count, &m, &heard) == 1);
        REQUIRE(same_message(&m, &heard));
        for (int k = 0; k < count; k++) { /* also as a line of a stream */
            char text[128];
            const size_t length = ct_fractal_flit_print(&flits[k], &m, text);
            REQUIRE(ct_fractal_flit_is_line(text, length));
            REQUIRE(!ct_fractal_flit_parse(NULL, text, length, &beside, &read));
            REQUIRE(memcmp(&read, &flits[k], sizeof read) == 0);
            REQUIRE(beside.time == m.time && beside.initiator == m.initiator && beside.kind == m.kind);
        }
        sums->messages++;
    }
    REQUIRE(!ct_fractal_wire_finish(wire));
    ct_fractal_wire_free(wire);
    return 1;
}

static int commands_mirror(struct rng *rng, enum ct_fractal_protocol protocol, struct sums *sums)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct ct_fractal_command c = {.kind = (uint8_t)rng_below(rng, CT_FRACTAL_CMD_KIND_COUNT)}, again;
        struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
        if (c.kind <= CT_FRACTAL_CMD_ICI)
            c.pa = rng_wide(rng, 48) & ~UINT64_C(63);
        if (c.kind == CT_FRACTAL_CMD_TLBI_VA)
            c.va = rng_wide(rng, 48) & ~UINT64_C(4095);
        else if (c.kind == CT_FRACTAL_CMD_ICI)
            c.va = rng_wide(rng, 28) & ~UINT64_C(4095);
        if (c.kind >= CT_FRACTAL_CMD_TLBI_VA)
            c.asid = (uint16_t)rng_wide(rng, 16);
        const int count = ct_fractal_encode_command(protocol, &c, flits);
        REQUIRE(count > 0);
        REQUIRE(!ct_fractal_decode_command(NULL, protocol, flits, (size_t)count, &again));
        REQUIRE(c.kind == again.kind && c.pa == again.pa && c.va == again.va && c.asid == again.asid);
        sums->commands++;
    }
    return 1;
}

/* ---- random flits ---- */

static struct ct_fractal_flit random_flit(struct rng *rng)
{
    struct ct_fractal_flit f = {.channel = (uint8_t)rng_below(rng, CT_FRACTAL_CHANNEL_COUNT + 1),
                                .opcode = (uint8_t)rng_wide(rng, 8),
                                .addr = rng_wide(rng, rng_chance(rng, 240) ? 48 : 64),
                                .data = rng_wide(rng, 64) & UINT64_C(0x3ffffffff)};
    if (rng_chance(rng, 60)) { /* a DVM message */
        f.channel = rng_chance(rng, 128) ? CT_FRACTAL_CHANNEL_SNP : CT_FRACTAL_CHANNEL_REQ;
        f.opcode = f.channel == CT_FRACTAL_CHANNEL_SNP ? 0x0d : 0x14;
    }
    return f;
}

/* Passes random flits to a decoder. What it decodes must encode, and decode to the same again. */
static int random_flits(struct rng *rng, enum ct_fractal_protocol protocol, struct sums *sums)
{
    struct ct_fractal_wire *wire, *other;
    REQUIRE(!ct_fractal_wire_new(NULL, protocol, &wire));
    REQUIRE(!ct_fractal_wire_new(NULL, protocol, &other));
    for (unsigned i = 0; i < MESSAGES; i++) {
        const struct ct_fractal_flit f = random_flit(rng);
        const struct ct_fractal_message beside = {.time = i};
        struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
        struct ct_fractal_message m, again = {0};
        unsigned pages = 0;
        sums->flits++;
        const int rc = ct_fractal_wire_flit(wire, &f, &beside);
        REQUIRE(rc == CT_OK || rc == CT_ERR_FORMAT || rc == CT_ERR_LIMIT);
        for (; ct_fractal_wire_message(wire, &m); pages++) {
            REQUIRE(!rc);
            const int count = pages ? 0 : ct_fractal_encode_message(protocol, &m, flits);
            if (count <= 0)
                continue; /* an address of more than 48 bits */
            REQUIRE(decode(other, flits, count, &m, &again) == 1);
            REQUIRE(m.op == again.op && m.addr >> 3 == again.addr >> 3 && m.value == again.value);
            sums->heard++;
        }
        REQUIRE(pages <= 1u << 21);
    }
    ct_fractal_wire_free(wire);
    ct_fractal_wire_free(other);
    return 1;
}

/* ---- a FRACTAL behind the flits ---- */

struct world {
    enum ct_fractal_protocol protocol;
    struct ct_soc *soc;
    struct ct_fractal *fractal;
    struct ct_fractal_wire *wire; /* or NULL */
    struct ct_fractal_event events[EVENTS];
    size_t count;
    unsigned faults;
};

static void give(struct world *w, const struct ct_fractal_message *m)
{
    w->faults += ct_fractal_take_message(w->fractal, m) != CT_OK;
}

static void hear(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct world *w = user;
    struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
    struct ct_fractal_message heard;
    const int count = ct_fractal_encode_message(w->protocol, m, flits);
    if (line) {
        w->faults += ct_fractal_data(w->fractal, m->time, m->addr, line) != CT_OK;
        return;
    }
    w->faults += count < 0;
    if (!count)
        give(w, m);
    for (int i = 0; i < count; i++) {
        w->faults += ct_fractal_wire_flit(w->wire, &flits[i], m) != CT_OK;
        while (ct_fractal_wire_message(w->wire, &heard))
            give(w, &heard);
    }
}

static int command(void *user, struct ct_fractal_command *out)
{
    struct world *w = user;
    struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
    if (!ct_fractal_next_command(w->fractal, out))
        return 0;
    const int count = ct_fractal_encode_command(w->protocol, out, flits);
    if (count)
        w->faults += count < 0 || ct_fractal_decode_command(NULL, w->protocol, flits, (size_t)count, out);
    return 1;
}

/* Runs a process with random accesses on a cluster with small caches, with a tracer behind the flits of a
 * protocol. */
static int trace(uint64_t seed, enum ct_fractal_protocol protocol, struct world *w)
{
    struct rng rng = {seed};
    const struct ct_soc_config config = {.size = sizeof config,
                                         .cores = 2,
                                         .l2_bytes = 64 * 1024,
                                         .seed = rng_next(&rng),
                                         .port_bytes = 8u << rng_below(&rng, 4),
                                         .fabric = CT_SOC_FABRIC_COHERENT};
    const struct ct_soc_tap tap = {.user = w, .message = hear, .command = command};
    *w = (struct world){.protocol = protocol};
    REQUIRE(!ct_soc_new(NULL, &config, NULL, &w->soc));
    REQUIRE(!ct_fractal_new(NULL, NULL, &w->fractal));
    REQUIRE(protocol == CT_FRACTAL_NEUTRAL || !ct_fractal_wire_new(NULL, protocol, &w->wire));
    const unsigned number = (unsigned)ct_soc_attach(w->soc, &tap);
    const uint32_t pid = ct_soc_process(w->soc);
    REQUIRE(pid);
    ct_soc_run(w->soc, 0, pid);
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_PGD, ct_soc_pgd(w->soc, pid));
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_ASID, ct_soc_asid(w->soc, pid));
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_GEOM, 12 | 48u << 8);
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_RANGE_HI, UINT64_C(1) << 48);
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_RANGE_COMMIT, 1);
    ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_CTRL,
                     CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(CT_FRACTAL_ACTIVE));
    for (unsigned i = 0; i < ACCESSES; i++) {
        const uint64_t va = UINT64_C(0x7fb612345000) + (uint64_t)rng_below(&rng, PAGES) * 4096;
        const uint64_t at = va + rng_below(&rng, 4096);
        if (!i)
            ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_POINT_VA, va);
        if (!i)
            ct_soc_reg_write(w->soc, number, CT_FRACTAL_REG_POINT_CMD, CT_FRACTAL_POINT_ADD);
        ct_soc_touch(w->soc, 0, at, (enum ct_soc_access)rng_below(&rng, 3));
        if (rng_chance(&rng, 8))
            ct_soc_unmap(w->soc, 0, pid, at);
        w->count += ct_fractal_events(w->fractal, w->events + w->count, EVENTS - w->count);
    }
    REQUIRE(w->count < EVENTS && !w->faults);
    ct_soc_free(w->soc);
    ct_fractal_free(w->fractal);
    ct_fractal_wire_free(w->wire);
    return 1;
}

static int same_log(uint64_t seed, enum ct_fractal_protocol protocol, struct sums *sums)
{
    static struct world plain, wired;
    REQUIRE(trace(seed, CT_FRACTAL_NEUTRAL, &plain));
    REQUIRE(trace(seed, protocol, &wired));
    REQUIRE(plain.count == wired.count);
    REQUIRE(memcmp(plain.events, wired.events, plain.count * sizeof *plain.events) == 0);
    sums->events += plain.count;
    return 1;
}

static int holds(uint64_t seed, struct sums *sums)
{
    struct rng rng = {seed};
    for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
        REQUIRE(messages_mirror(&rng, protocols[p], sums));
        REQUIRE(commands_mirror(&rng, protocols[p], sums));
        REQUIRE(random_flits(&rng, protocols[p], sums));
        REQUIRE(same_log(seed, protocols[p], sums));
    }
    return 1;
}

int main(void)
{
    const uint64_t first = test_number("CT_SEED", 1), count = test_count(40, 4000);
    struct sums s = {0};
    int fine = 1;
    for (uint64_t seed = first; fine && seed < first + count; seed++) {
        fine = holds(seed, &s);
        if (!fine)
            printf("# seed %" PRIu64 "\n", seed);
    }
    fine = fine && (count < 40 || (s.heard && s.events)); /* else the test checked nothing */
    printf("%s 1 - protocols carry what is meant\n# %" PRIu64 " messages, %" PRIu64 " commands, %" PRIu64
           " random flits with %" PRIu64 " messages, %" PRIu64 " events\n1..1\n",
           fine ? "ok" : "not ok", s.messages, s.commands, s.flits, s.heard, s.events);
    return !fine;
}
