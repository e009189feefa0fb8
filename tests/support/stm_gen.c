/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stm_gen.h"

/* Units of the headers: plain, marked, with timestamp, with both. NULL: no such header. */
static const struct form {
    const char *header[4];
    uint8_t units;
} forms[CT_STM_TYPE_COUNT] = {
    [CT_STM_VERSION] = {{"f00"}, 1},
    [CT_STM_NULL] = {{"0", NULL, "f01"}, 0},
    [CT_STM_FREQ] = {{"f08", NULL, "f09"}, 8},
    [CT_STM_TRIG] = {{"f06", NULL, "f07"}, 2},
    [CT_STM_XSYNC] = {{"f0a", NULL, "f0b"}, 2},
    [CT_STM_USER] = {{"f02", NULL, "f03"}, 0},
    [CT_STM_GERR] = {{"f2"}, 2},
    [CT_STM_MERR] = {{"2"}, 2},
    [CT_STM_M8] = {{"1"}, 2},
    [CT_STM_M16] = {{"f1"}, 4},
    [CT_STM_C8] = {{"3"}, 2},
    [CT_STM_C16] = {{"f3"}, 4},
    [CT_STM_FLAG] = {{"fe", NULL, "e"}, 0},
    [CT_STM_D4] = {{"c", "fd", "fc", "d"}, 1},
    [CT_STM_D8] = {{"4", "f8", "f4", "8"}, 2},
    [CT_STM_D16] = {{"5", "f9", "f5", "9"}, 4},
    [CT_STM_D32] = {{"6", "fa", "f6", "a"}, 8},
    [CT_STM_D64] = {{"7", "fb", "f7", "b"}, 16},
    [CT_STM_ASYNC] = {{"fffffffffffffffffffff0"}, 0},
    [CT_STM_RESERVED] = {{"f0c"}, 0},
};

static const char *header_of(const struct ct_stm_packet *p)
{
    return forms[p->type].header[(p->flags & CT_STM_MARKER ? 1 : 0) | (p->flags & CT_STM_HAS_TS ? 2 : 0)];
}

void stm_put_unit(struct stm_writer *w, unsigned unit)
{
    w->bytes[w->units / 2] |= (uint8_t)(w->units & 1 ? unit << 4 : unit);
    w->units++;
}

void stm_put_number(struct stm_writer *w, uint64_t value, unsigned units)
{
    while (units--)
        stm_put_unit(w, value >> (4 * units) & 15);
}

static void put_timestamp(struct stm_writer *w, uint64_t ts, unsigned more)
{
    uint64_t value = ts;
    uint64_t differs = ts ^ w->timestamp;
    if (w->version == CT_STM_VERSION_GRAY) {
        value = ts ^ ts >> 1;
        differs = value ^ w->timestamp ^ w->timestamp >> 1;
    } else if (w->version == CT_STM_VERSION_DELTA) {
        value = differs = ts - w->timestamp;
    }
    unsigned units = 0;
    while (units < 16 && differs >> (4 * units))
        units++;
    units = units + more < 16 ? units + more : 16;
    units += units == 13 || units == 15;
    stm_put_unit(w, units == 16 ? 14 : units == 14 ? 13 : units);
    stm_put_number(w, value, units);
    w->timestamp = ts;
}

static void apply(struct stm_writer *w, const struct ct_stm_packet *p)
{
    switch (p->type) {
    case CT_STM_VERSION:
        w->version = (uint8_t)p->value;
        w->master = w->channel = 0;
        break;
    case CT_STM_GERR:
        w->master = w->channel = 0;
        break;
    case CT_STM_MERR:
        w->channel = 0;
        break;
    case CT_STM_M8:
        w->master = (uint16_t)(w->master >> 8 << 8 | p->value);
        w->channel = 0;
        break;
    case CT_STM_M16:
        w->master = (uint16_t)p->value;
        w->channel = 0;
        break;
    case CT_STM_C8:
        w->channel = (uint16_t)(w->channel >> 8 << 8 | p->value);
        break;
    case CT_STM_C16:
        w->channel = (uint16_t)p->value;
        break;
    default:
        break;
    }
}

void stm_put_packet(struct stm_writer *w, struct ct_stm_packet *p, unsigned more)
{
    size_t begin = w->units;
    for (const char *unit = header_of(p); *unit; unit++)
        stm_put_unit(w, *unit >= 'a' ? (unsigned)(*unit - 'a' + 10) : (unsigned)(*unit - '0'));
    if (p->type == CT_STM_USER)
        stm_put_unit(w, p->units - 1u);
    else
        p->units = forms[p->type].units;
    stm_put_number(w, p->value, p->units);
    if (p->flags & CT_STM_HAS_TS)
        put_timestamp(w, p->ts, more);
    apply(w, p);
    p->pos = begin / 2;
    p->size = (uint8_t)((w->units + 1) / 2 - begin / 2);
    p->flags |= begin & 1 ? CT_STM_HALF : 0;
    p->master = w->master;
    p->channel = w->channel;
}

static int is_arm(const struct ct_stm_packet *p)
{
    switch (p->type) {
    case CT_STM_M16:
    case CT_STM_USER:
    case CT_STM_XSYNC:
        return 0;
    case CT_STM_FREQ:
        return !(p->flags & CT_STM_HAS_TS);
    case CT_STM_VERSION:
        return p->value != CT_STM_VERSION_DELTA;
    default:
        return 1;
    }
}

struct ct_stm_packet stm_gen_packet(struct rng *rng, const struct stm_writer *w, enum stm_gen_kind kind)
{
    struct ct_stm_packet p;
    do {
        p = (struct ct_stm_packet){.type = (uint8_t)rng_below(rng, CT_STM_TYPE_COUNT)};
        if (rng_chance(rng, 128))
            p.flags |= CT_STM_HAS_TS;
        if (rng_chance(rng, 64))
            p.flags |= CT_STM_MARKER;
        unsigned units = forms[p.type].units;
        if (p.type == CT_STM_USER)
            p.units = (uint8_t)(units = 1 + rng_below(rng, 16));
        p.value = units ? rng_wide(rng, 4 * units) : 0;
        if (p.type == CT_STM_VERSION)
            p.value = CT_STM_VERSION_DELTA + rng_below(rng, 3);
        if (p.flags & CT_STM_HAS_TS)
            p.ts = rng_chance(rng, 128) ? w->timestamp + rng_wide(rng, 20) : rng_wide(rng, 64);
    } while (!header_of(&p) || (kind == STM_GEN_ARM && !is_arm(&p)));
    return p;
}
