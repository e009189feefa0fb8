/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the packets and elements of random STM streams, sound and damaged, with those of OpenCSD. CT_SEED
 * sets the first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <opencsd/c_api/opencsd_c_api.h>

#include "support/damage.h"
#include "support/pieces.h"
#include "support/stm_gen.h"

enum {
    STREAM = 1000,
    BYTES = STREAM * 20 + 1024,
    ROOM = 2 * BYTES + 64,
};

/* Known differences of OpenCSD 1.3.3, with counts. */
static struct known {
    const char *what;
    uint64_t count;
} known[] = {
    {"a packet that begins in the high half of a byte: docs/listing.md has the offset of that byte, 1.3.3 of "
     "the next",
     0},
    {"units f before the first alignment packet that it does not need: docs/listing.md counts them to the "
     "run, 1.3.3 "
     "to the packet",
     0},
    {"a header that is no packet's, or one that the end cuts: 1.3.3 announces the packet before", 0},
    {"reserved units taken out: what STPv2 has beyond the Arm STM, and version 2", 0},
    {"a master packet put behind a version packet: docs/listing.md sets master and channel to 0 there, 1.3.3 "
     "keeps them "
     "for elements",
     0},
    {"a Gray coded timestamp of more than 31 bits, which 1.3.3 turns into another number; not compared from "
     "there on",
     0},
};

enum {
    HIGH_HALF,
    SURPLUS,
    STALE_TYPE,
    PATCHED,
    VERSION_MASTER,
    LONG_GRAY,
};

struct theirs {
    ocsd_stm_pkt packet;
    uint64_t index;
};

struct theirs_elem {
    ocsd_generic_trace_elem elem;
    uint64_t payload; /* a copy: OpenCSD reuses the memory */
};

static struct {
    struct theirs packets[ROOM];
    struct theirs_elem elems[2 * ROOM];
    size_t packet_count, elem_count;
} ocsd;

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    (void)context;
    if (op == OCSD_OP_DATA && ocsd.packet_count < ROOM)
        ocsd.packets[ocsd.packet_count++] =
            (struct theirs){.packet = *(const ocsd_stm_pkt *)packet, .index = index};
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_elem(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *elem)
{
    (void)context;
    (void)index;
    (void)id;
    if (ocsd.elem_count == 2 * ROOM)
        abort();
    struct theirs_elem *e = &ocsd.elems[ocsd.elem_count++];
    *e = (struct theirs_elem){.elem = *elem};
    unsigned bits = elem->sw_trace_info.swt_payload_pkt_bitsize;
    if (elem->elem_type == OCSD_GEN_TRC_ELEM_SWTRACE && elem->ptr_extended_data)
        memcpy(&e->payload, elem->ptr_extended_data, (bits + 7) / 8);
    return OCSD_RESP_CONT;
}

/* Runs OpenCSD. Returns 0, or 1 when it gave up. */
static int run_ocsd(const uint8_t *bytes, size_t size, int full)
{
    const ocsd_stm_cfg config = {.reg_tcsr = 0x00a00007, .reg_feat3r = 0x7f, .reg_devid = 0xff};
    unsigned char id;
    uint32_t done;
    int fatal = 0;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    int flags = full ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC;
    if (ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, flags, &config, &id))
        abort();
    if (full)
        ocsd_dt_set_gen_elem_outfn(tree, take_elem, NULL);
    else
        ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, NULL);
    for (size_t at = 0; at < size && !fatal; at += done)
        fatal = OCSD_DATA_RESP_IS_FATAL(ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)at,
                                                             (uint32_t)(size - at), bytes + at, &done));
    if (!fatal)
        ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &done);
    ocsd_destroy_dcd_tree(tree);
    return fatal;
}

static enum ct_stm_type type_of(ocsd_stm_pkt_type type)
{
    static const uint8_t types[] = {
        [STM_PKT_NOTSYNC] = CT_STM_NOT_SYNC,
        [STM_PKT_INCOMPLETE_EOT] = CT_STM_INCOMPLETE_EOT,
        [STM_PKT_ASYNC] = CT_STM_ASYNC,
        [STM_PKT_VERSION] = CT_STM_VERSION,
        [STM_PKT_FREQ] = CT_STM_FREQ,
        [STM_PKT_NULL] = CT_STM_NULL,
        [STM_PKT_TRIG] = CT_STM_TRIG,
        [STM_PKT_GERR] = CT_STM_GERR,
        [STM_PKT_MERR] = CT_STM_MERR,
        [STM_PKT_M8] = CT_STM_M8,
        [STM_PKT_C8] = CT_STM_C8,
        [STM_PKT_C16] = CT_STM_C16,
        [STM_PKT_FLAG] = CT_STM_FLAG,
        [STM_PKT_D4] = CT_STM_D4,
        [STM_PKT_D8] = CT_STM_D8,
        [STM_PKT_D16] = CT_STM_D16,
        [STM_PKT_D32] = CT_STM_D32,
        [STM_PKT_D64] = CT_STM_D64,
        [STM_PKT_BAD_SEQUENCE] = CT_STM_BAD_SEQUENCE,
        [STM_PKT_RESERVED] = CT_STM_RESERVED,
    };
    return types[type];
}

static uint64_t payload_of(const struct ct_stm_packet *ours, const ocsd_stm_pkt *theirs)
{
    switch (ours->units) {
    case 0:
        return 0;
    case 1:
    case 2:
        return theirs->payload.D8;
    case 4:
        return theirs->payload.D16;
    case 8:
        return theirs->payload.D32;
    default:
        return theirs->payload.D64;
    }
}

/* State of the comparison. */
struct past {
    int gray;
    int long_gray;
};

static int same_timestamp(struct past *past, const struct ct_stm_packet *ours, const ocsd_stm_pkt *theirs)
{
    int timed = (ours->flags & CT_STM_HAS_TS) != 0;
    if (timed != theirs->pkt_has_ts)
        return 0;
    past->long_gray |= timed && past->gray && ours->ts >> 31;
    if (timed && past->long_gray)
        known[LONG_GRAY].count++;
    return !timed || past->long_gray || ours->ts == theirs->timestamp;
}

static int same_packet(struct past *past, const struct ct_stm_packet *ours, const struct theirs *t)
{
    const ocsd_stm_pkt *p = &t->packet;
    uint64_t pos = ours->pos;
    if (ours->flags & CT_STM_HALF) {
        pos++;
        known[HIGH_HALF].count++;
    }
    if (pos != t->index || ours->type != type_of(p->type))
        return 0;
    if (ours->type == CT_STM_NOT_SYNC)
        return 1;
    if (ours->type == CT_STM_BAD_SEQUENCE || ours->type == CT_STM_INCOMPLETE_EOT) {
        if (ours->err != CT_STM_ASYNC && ours->err != CT_STM_RESERVED)
            return ours->err == type_of(p->err_type);
        known[STALE_TYPE].count += ours->err != type_of(p->err_type);
        return 1;
    }
    if (ours->master != p->master || ours->channel != p->channel)
        return 0;
    if (ours->type == CT_STM_VERSION)
        past->gray = ours->value == CT_STM_VERSION_GRAY;
    if (!same_timestamp(past, ours, p))
        return 0;
    int marked = ours->flags & CT_STM_MARKER;
    int is_data = ours->type >= CT_STM_D4 && ours->type <= CT_STM_D64;
    if (is_data && !marked != !p->pkt_has_marker)
        return 0;
    /* Masters and channels have been compared already. */
    if ((ours->type >= CT_STM_M8 && ours->type <= CT_STM_C16) || ours->type == CT_STM_RESERVED)
        return 1;
    return ours->value == payload_of(ours, p);
}

/* Moves surplus units f before the first alignment packet to the run before it, as docs/listing.md says. */
static void move_surplus(const struct ct_stm_packet *ours, size_t count)
{
    size_t first = ocsd.packet_count > 1 && type_of(ocsd.packets[0].packet.type) == CT_STM_NOT_SYNC;
    size_t async = count > 1 && ours[0].type == CT_STM_NOT_SYNC;
    if (!first || async >= count || ours[async].type != CT_STM_ASYNC)
        return;
    uint64_t wanted = ours[async].pos + (ours[async].flags & CT_STM_HALF ? 1 : 0);
    known[SURPLUS].count += ocsd.packets[1].index != wanted;
    ocsd.packets[1].index = wanted;
    if (!async) /* their run is empty, or all of it is surplus: it has no line */
        memmove(ocsd.packets, ocsd.packets + 1, --ocsd.packet_count * sizeof *ocsd.packets);
}

static unsigned unit_at(const uint8_t *bytes, size_t size, size_t at)
{
    return at >= 2 * size ? 0 : at & 1 ? bytes[at / 2] >> 4 : bytes[at / 2] & 15;
}

static void set_unit(uint8_t *bytes, size_t at, unsigned unit)
{
    bytes[at / 2] = (uint8_t)(at & 1 ? (bytes[at / 2] & 0x0f) | unit << 4 : (bytes[at / 2] & 0xf0) | unit);
}

/* Changes a packet at unit `at` that 1.3.3 does not know: M16 to FLAG, others to a reserved one; version 2 to
 * 3. */
static int patch_packet(uint8_t *bytes, size_t size, size_t at)
{
    unsigned second = unit_at(bytes, size, at + 1);
    unsigned third = unit_at(bytes, size, at + 2);
    if (unit_at(bytes, size, at) != 15)
        return 0;
    if (second == 1)
        set_unit(bytes, at + 1, 14);
    else if (second == 0 && (third == 2 || third == 3 || third == 9 || third == 10 || third == 11))
        set_unit(bytes, at + 2, 12);
    else if (second == 0 && third == 0 && unit_at(bytes, size, at + 3) == 2)
        set_unit(bytes, at + 3, 3);
    else
        return 0;
    known[PATCHED].count++;
    return 1;
}

static const struct ct_source source = {.name = "random", .protocol = CT_PROTOCOL_STM};

/* Decodes and patches until nothing is left to patch, since each change alters what follows. Returns the
 * number of packets. */
static size_t decode(uint8_t *bytes, size_t size, struct ct_stm_packet *packets)
{
    for (;;) {
        size_t count = pieces_decode(ct_protocol_ops(CT_PROTOCOL_STM), &source, bytes, size, NULL,
                                     (uint8_t *)packets, ROOM);
        int patched = 0;
        for (size_t i = 0; i < count && !patched; i++)
            if (packets[i].type != CT_STM_NOT_SYNC)
                patched =
                    patch_packet(bytes, size, 2 * packets[i].pos + (packets[i].flags & CT_STM_HALF ? 1 : 0));
        if (!patched)
            return count;
    }
}

static int compare_packets(uint8_t *bytes, size_t size, uint64_t *done)
{
    static struct ct_stm_packet ours[ROOM];
    struct past past = {0};
    size_t count = decode(bytes, size, ours);
    ocsd.packet_count = 0;
    if (run_ocsd(bytes, size, 0))
        return 0;
    move_surplus(ours, count);
    *done += count;
    for (size_t i = 0; i < count && i < ocsd.packet_count; i++) {
        const struct ct_stm_packet *p = &ours[i];
        const struct theirs *t = &ocsd.packets[i];
        if (same_packet(&past, p, t))
            continue;
        printf("# packet %zu: coretap at %" PRIu64 "%s type %u err %u value %" PRIx64 " ts %" PRIx64
               " master %x channel %x flags %x\n",
               i, p->pos, p->flags & CT_STM_HALF ? "h" : "", p->type, p->err, p->value, p->ts, p->master,
               p->channel, p->flags);
        printf("#   OpenCSD at %" PRIu64 " type %u err %u value %" PRIx64 " ts %" PRIx64
               " master %x channel %x marker %u ts %u\n",
               t->index, type_of(t->packet.type), type_of(t->packet.err_type), t->packet.payload.D64,
               t->packet.timestamp, t->packet.master, t->packet.channel, t->packet.pkt_has_marker,
               t->packet.pkt_has_ts);
        return 0;
    }
    if (count != ocsd.packet_count)
        printf("# %zu packets, OpenCSD has %zu\n", count, ocsd.packet_count);
    return count == ocsd.packet_count;
}

static int same_elem(const struct ct_elem *from, const struct ct_elem *e, const struct ct_elem *next,
                     const struct theirs_elem *t)
{
    const ocsd_generic_trace_elem *g = &t->elem;
    const ocsd_swt_info_t *info = &g->sw_trace_info;
    int timed = (e->aux & CT_SW_TIMED) != 0;
    if (e->kind == CT_ELEM_GAP)
        return g->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC;
    if (e->kind == CT_ELEM_END)
        return g->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE;
    if (g->elem_type != OCSD_GEN_TRC_ELEM_SWTRACE || (e->n == CT_SW_ERROR_ANY) != info->swt_global_err)
        return 0;
    if (e->n == CT_SW_ERROR_ANY)
        return 1;
    if (info->swt_id_valid != from->n ||
        (from->n && (info->swt_master_id != from->v || info->swt_channel_id != from->aux)))
        return 0;
    if ((e->n == CT_SW_ERROR) != info->swt_master_err || timed != info->swt_has_timestamp ||
        ((e->aux & CT_SW_MARKED) != 0) != info->swt_marker_packet)
        return 0;
    if (timed && (next->kind != CT_ELEM_TIMESTAMP || next->v != g->timestamp))
        return 0;
    return info->swt_payload_pkt_bitsize == (e->aux & CT_SW_BITS) && e->v == t->payload;
}

static int compare_elems(uint8_t *bytes, size_t size)
{
    static struct ct_stm_packet packets[ROOM];
    static struct ct_elem elems[2 * ROOM];
    struct ct_elem from = {0};
    size_t count = decode(bytes, size, packets);
    count = pieces_resolve(ct_protocol_ops(CT_PROTOCOL_STM), &source, (const uint8_t *)packets, count, NULL,
                           elems, 2 * ROOM);
    ocsd.elem_count = 0;
    if (run_ocsd(bytes, size, 1)) {
        printf("# OpenCSD gave up after %zu elements\n", ocsd.elem_count);
        return 0;
    }
    size_t theirs = 0;
    for (size_t i = 0; i < count; i++) {
        if (elems[i].kind == CT_ELEM_SW_SOURCE)
            from = elems[i];
        if (elems[i].kind != CT_ELEM_GAP && elems[i].kind != CT_ELEM_SW && elems[i].kind != CT_ELEM_END)
            continue;
        if (theirs == ocsd.elem_count ||
            !same_elem(&from, &elems[i], &elems[i + (i + 1 < count)], &ocsd.elems[theirs])) {
            const ocsd_generic_trace_elem *g = &ocsd.elems[theirs].elem;
            printf("# OpenCSD: type %u bits %u payload %" PRIx64 " ts %" PRIx64
                   " timed %u marker %u master %x\n",
                   g->elem_type, g->sw_trace_info.swt_payload_pkt_bitsize, ocsd.elems[theirs].payload,
                   g->timestamp, g->sw_trace_info.swt_has_timestamp, g->sw_trace_info.swt_marker_packet,
                   g->sw_trace_info.swt_master_id);
            printf("# element %zu at %u: kind %u n %u aux %x v %" PRIx64 "\n", theirs, elems[i].pos,
                   elems[i].kind, elems[i].n, elems[i].aux, elems[i].v);
            return 0;
        }
        theirs++;
    }
    return theirs == ocsd.elem_count;
}

static size_t begin(struct stm_writer *w, enum ct_stm_version version)
{
    struct ct_stm_packet p = {.type = CT_STM_ASYNC};
    stm_put_packet(w, &p, 0);
    p = (struct ct_stm_packet){.type = CT_STM_VERSION, .value = version};
    stm_put_packet(w, &p, 0);
    return w->units / 2;
}

/* Returns whether 1.3.3 makes elements of a packet. Its decoder stops at triggers, frequencies and reserved
 * packets. */
static int makes_elements(const struct ct_stm_packet *p)
{
    return p->type != CT_STM_TRIG && p->type != CT_STM_FREQ && p->type != CT_STM_RESERVED;
}

static size_t fill(struct rng *rng, uint8_t *bytes, int for_elements)
{
    struct stm_writer w = {.bytes = bytes};
    memset(bytes, 0, BYTES);
    if (!for_elements && rng_chance(rng, 64))
        for (unsigned n = rng_below(rng, 30); n; n--)
            stm_put_unit(&w, rng_chance(rng, 128) ? 15 : rng_below(rng, 16));
    int natural = rng_chance(rng, 128);
    size_t first = begin(&w, natural ? CT_STM_VERSION_NATURAL : CT_STM_VERSION_GRAY);
    for (unsigned n = 0; n < STREAM || w.units & 1; n++) {
        struct ct_stm_packet p = {.type = CT_STM_NULL};
        if (n < STREAM)
            p = stm_gen_packet(rng, &w, STM_GEN_ARM);
        if (natural && p.type == CT_STM_VERSION)
            p.value = CT_STM_VERSION_NATURAL;
        if (!natural)
            p.ts &= INT32_MAX;
        if (for_elements && !makes_elements(&p))
            continue;
        stm_put_packet(&w, &p, rng_chance(rng, 64) ? rng_below(rng, 16) : 0);
        if (for_elements && p.type == CT_STM_VERSION) {
            p = (struct ct_stm_packet){.type = CT_STM_M8, .value = rng_below(rng, 256)};
            stm_put_packet(&w, &p, 0);
            known[VERSION_MASTER].count++;
        }
    }
    size_t size = w.units / 2;
    if (for_elements)
        return size;
    if (rng_chance(rng, 32))
        for (size_t i = first + 1; i < size; i++)
            bytes[i] = (uint8_t)rng_next(rng);
    else if (rng_chance(rng, 128))
        size = first + 1 + damage(rng, bytes + first + 1, size - first - 1, BYTES - first - 1);
    return size;
}

int main(void)
{
    static uint8_t bytes[BYTES];
    uint64_t seed = test_number("CT_SEED", 1), done = 0;
    uint64_t packets = test_count(200000, 10000000);
    int same[2] = {1, 1};
    printf("TAP version 13\n1..2\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, packets);
    for (; done < packets && same[0] && same[1]; seed++) {
        struct rng rng = {seed};
        size_t size = fill(&rng, bytes, 0);
        same[0] = compare_packets(bytes, size, &done);
        size = fill(&rng, bytes, 1);
        same[1] = compare_elems(bytes, size);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        printf("# %" PRIu64 " times: %s\n", known[i].count, known[i].what);
    printf("# %" PRIu64 " packets\n", done);
    for (int i = 0; i < 2; i++) {
        printf("%sok %d - %s are OpenCSD's", same[i] ? "" : "not ", i + 1, i ? "elements" : "packets");
        printf(same[i] ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    }
    return !(same[0] && same[1]);
}
