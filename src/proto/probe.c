/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the trace in bytes without a description. */
#include "coretap/probe.h"

#include <inttypes.h>
#include <string.h>

#include "base/out.h"
#include "base/printable.h"
#include "base/require.h"
#include "coretap/frame.h"
#include "coretap/packet_itm.h"

#define IDS       128
#define MOST_ZERO 11 /* zeros of the longest synchronisation packet */
#define ITM_LEAST 64 /* packets by which an ITM is known, and packets for each unlikely one */

/* What the bytes look like. */
struct looks {
    enum ct_framing framing;
    uint64_t bytes[IDS]; /* of each trace ID; without frames all of ID 0 */
    enum ct_protocol protocols[IDS];
    bool without_sync[IDS]; /* an ITM without synchronisation packets */
};

/* ---- protocols ---- */

/* Returns the protocol that ends a run of zeros with `next` and continues with `after`. A synchronisation
 * packet of ETMv4 has 11 zeros, that of PTM, ETMv3 and ITM 5; in PTM and ETMv3 I-Sync or a timestamp follows.
 */
static enum ct_protocol after_zeros(size_t zeros, uint8_t next, uint8_t after)
{
    return next != 0x80 || zeros < 5                         ? CT_PROTOCOL_NONE
           : zeros >= MOST_ZERO                              ? CT_PROTOCOL_ETM4
           : after == 0x08 || after == 0x42 || after == 0x46 ? CT_PROTOCOL_PTM
                                                             : CT_PROTOCOL_ITM;
}

/* Returns whether `next` ends a run of bytes FF as in STP, whose synchronisation is 21 nibbles F and one 0.
 */
static bool ends_async(size_t ones, uint8_t next)
{
    return ones >= 10 && (next == 0x0f || (next & 0x0f) == 0);
}

/* Returns the protocol whose synchronisation packets are in the bytes. The rarer a packet is by chance, the
 * earlier it is in the list. */
static enum ct_protocol protocol_of(const uint8_t *data, size_t size)
{
    static const enum ct_protocol order[] = {CT_PROTOCOL_ETM4, CT_PROTOCOL_STM, CT_PROTOCOL_PTM,
                                             CT_PROTOCOL_ITM};
    size_t found[CT_PROTOCOL_ITM + 1] = {0}, zeros = 0, ones = 0;
    for (size_t i = 0; i + 1 < size; i++) {
        found[after_zeros(zeros, data[i], data[i + 1])]++;
        found[CT_PROTOCOL_STM] += ends_async(ones, data[i]);
        zeros = data[i] ? 0 : zeros + 1;
        ones = data[i] == 0xff ? ones + 1 : 0;
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (found[order[i]])
            return order[i];
    return CT_PROTOCOL_NONE;
}

/* Returns whether the ITM could have written the packet: the DWT has no other sources and sizes (DDI 0403E
 * D4.3, DDI 0553), and pages are rare. */
static bool is_likely(const struct ct_itm_packet *p)
{
    static const uint8_t sizes[] = {8, 16, 8 | 32, 8};
    const bool is_access = p->source >= 8 && p->source < 24;
    switch (p->type) {
    case CT_ITM_DWT:
        return is_access || (p->source < sizeof sizes && (sizes[p->source] & p->bits));
    case CT_ITM_BAD_SEQUENCE:
    case CT_ITM_RESERVED:
    case CT_ITM_EXTENSION:
        return false;
    default:
        return true;
    }
}

/* Finds whether the bytes are packets of an ITM from the first one on. Of random bytes, about every fourth
 * packet is unlikely. CT_ERR_NOMEM. */
static int find_itm(const uint8_t *data, size_t size, bool *found)
{
    const struct ct_source source = {.name = "itm", .protocol = CT_PROTOCOL_ITM, .without_sync = 1};
    struct ct_itm_packet packets[ITM_LEAST];
    struct ct_itm_decoder *decoder = NULL;
    size_t all = 0, unlikely = 0, count = 1;
    *found = false;
    if (!size)
        return CT_OK;
    const int rc = ct_itm_decoder_new(NULL, &source, &decoder);
    if (rc)
        return rc;
    for (size_t at = 0; count; all += count) {
        at += ct_itm_decode(decoder, data + at, size - at, at, 1, packets, ITM_LEAST, &count);
        for (size_t i = 0; i < count; i++)
            unlikely += !is_likely(&packets[i]);
    }
    ct_itm_decoder_free(decoder);
    *found = all >= ITM_LEAST && unlikely <= all / ITM_LEAST;
    return CT_OK;
}

/* Finds the protocol of the bytes of a trace ID, if it can. CT_ERR_NOMEM. */
static int find_protocol(struct looks *looks, unsigned id, const uint8_t *data, size_t size)
{
    looks->bytes[id] = size;
    looks->protocols[id] = protocol_of(data, size);
    if (looks->protocols[id] != CT_PROTOCOL_NONE)
        return CT_OK;
    const int rc = find_itm(data, size, &looks->without_sync[id]);
    if (looks->without_sync[id])
        looks->protocols[id] = CT_PROTOCOL_ITM;
    return rc;
}

/* ---- framing ---- */

/* Whether bytes are frames of trace. */
struct framed {
    struct looks looks;
    bool fine;   /* the trace IDs are few, as those of real frames are */
    bool synced; /* one of them has synchronisation packets */
};

/* Looks at the trace of each ID. CT_ERR_NOMEM. */
static int look_at_ids(struct framed *f, struct ct_demux *demux, size_t size)
{
    size_t count = 0, known = 0;
    for (unsigned id = 1; id < IDS; id++) {
        struct ct_run run;
        ct_demux_run(demux, (uint8_t)id, &run);
        const int rc = find_protocol(&f->looks, id, run.data, run.size);
        if (rc)
            return rc;
        count += run.size > 0;
        known += f->looks.protocols[id] != CT_PROTOCOL_NONE;
        f->synced |= f->looks.protocols[id] != CT_PROTOCOL_NONE && !f->looks.without_sync[id];
    }
    const struct ct_frame_stats *stats = ct_demux_stats(demux);
    f->fine = (count == 1 || known) && count <= CT_PROBE_SOURCES && stats->reserved_bytes < size / 64 &&
              stats->no_id_bytes + stats->lost_bytes - stats->edge_bytes < size / 2;
    return CT_OK;
}

/* Takes the frames apart. CT_ERR_NOMEM. */
static int look_at_frames(struct framed *f, const uint8_t *data, size_t size)
{
    const struct ct_demux_options options = {.size = sizeof options, .framing = (uint8_t)f->looks.framing};
    struct ct_demux *demux = NULL;
    size_t used = 1;
    int rc = ct_demux_new(NULL, &options, &demux);
    for (size_t at = 0; !rc && at < size && used; at += used)
        rc = ct_demux_push(demux, data + at, size - at, &used);
    if (!rc)
        rc = look_at_ids(f, demux, size);
    ct_demux_free(demux);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

/* Finds what the bytes look like. CT_ERR_NOMEM. */
static int look_at(struct looks *looks, bool *is_trace, const uint8_t *data, size_t size)
{
    struct framed framed = {.looks = {.framing = ct_framing_probe(data, size)}};
    int rc = look_at_frames(&framed, data, size);
    *looks = (struct looks){.framing = CT_FRAMING_NONE};
    if (!rc && (!framed.fine || !framed.synced))
        rc = find_protocol(looks, 0, data, size);
    *is_trace = framed.fine || looks->protocols[0] != CT_PROTOCOL_NONE;
    if (framed.fine && !looks->without_sync[0]) /* an ITM's packets may look like frames */
        *looks = framed.looks;
    return rc;
}

/* Returns whether a byte is of ASCII text. */
static bool is_text(uint8_t c)
{
    return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r');
}

/* Returns whether the file is text, a damaged perf.data, or too small to tell. */
static bool is_other_file(const uint8_t *data, size_t size)
{
    size_t text = 0;
    while (text < size && is_text(data[text]))
        text++;
    return size < 16 || !memcmp(data, "PERF", 4) || text == size;
}

static void store(struct ct_probe *probe, const struct looks *looks)
{
    probe->framing = looks->framing;
    for (unsigned id = 0; id < IDS && probe->count < CT_PROBE_SOURCES; id++)
        if (looks->bytes[id])
            probe->sources[probe->count++] =
                (struct ct_probe_source){.bytes = looks->bytes[id],
                                         .protocol = looks->protocols[id],
                                         .id = (uint8_t)id,
                                         .without_sync = looks->without_sync[id]};
}

int ct_probe_bytes(struct ct_ctx *ctx, const uint8_t *data, size_t size, struct ct_probe *out)
{
    struct looks looks;
    bool is_trace = false;
    if (out)
        memset(out, 0, sizeof *out);
    CT_REQUIRE(ctx, data || !size, out);
    if (is_other_file(data, size))
        return CT_OK;
    out->trouble = ct_framing_trouble(CT_FRAMING_AUTO, data, size);
    if (out->trouble)
        return CT_OK;
    if (look_at(&looks, &is_trace, data, size))
        return ct_fail_nomem(ctx, "what bytes look like");
    if (is_trace)
        store(out, &looks);
    else
        out->trouble = ct_framing_trouble(CT_FRAMING_FRAMES, data, size);
    return CT_OK;
}

/* ---- the description ---- */

static void write_source(FILE *out, const struct ct_probe_source *source)
{
    static const char *const lines[] = {
        [CT_PROTOCOL_NONE] = "protocol = ?             ; etmv4i, ete, etmv3, ptm, stm or itm\n",
        [CT_PROTOCOL_ETM4] =
            "protocol = etmv4i        ; or ete\ncore = ?                 ; such as Cortex-A53\n"
            "TRCCONFIGR = ?           ; registers of the trace unit during the capture\n"
            "TRCIDR0 = ?\nTRCIDR2 = ?\n",
        [CT_PROTOCOL_PTM] =
            "protocol = ptm           ; or etmv3\ncore = ?                 ; such as Cortex-A9\n"
            "ETMCR = ?                ; registers of the trace unit during the capture\n"
            "ETMIDR = ?\nETMCCER = ?\n",
        [CT_PROTOCOL_STM] = "protocol = stm\n",
        [CT_PROTOCOL_ITM] = "protocol = itm           ; or ptm, etmv3\n",
    };
    const unsigned protocol = (unsigned)source->protocol;
    const char *known = protocol < sizeof lines / sizeof *lines ? lines[protocol] : NULL;
    fprintf(out, "\n[source id%02x]\n", source->id);
    if (source->id)
        fprintf(out, "id = 0x%02x\n", source->id);
    fputs(source->without_sync ? "protocol = itm\nsync = none              ; there are no synchronisation "
                                 "packets\n"
          : known              ? known
                               : lines[CT_PROTOCOL_NONE],
          out);
}

int ct_probe_write(const struct ct_probe *probe, const char *file, ct_write_fn *write, void *user)
{
    struct ct_out out;
    bool code = false;
    CT_REQUIRE(NULL, probe, file, write, probe->count <= CT_PROBE_SOURCES);
    const int rc = probe->count ? ct_out_open(&out, NULL, write, user) : CT_OK;
    if (rc || !probe->count)
        return rc;
    fputs("[capture]\nfile = ", out.file);
    ct_put_printable(out.file, file);
    fprintf(out.file, "\nframing = %s\n", ct_framing_name(probe->framing));
    for (size_t i = 0; i < probe->count; i++) {
        write_source(out.file, &probe->sources[i]);
        code |= !ct_protocol_is_software((uint8_t)probe->sources[i].protocol);
    }
    if (code)
        fputs("\n[image program]\nelf = ?                  ; the program that ran\n", out.file);
    return ct_out_close(&out, CT_OK);
}
