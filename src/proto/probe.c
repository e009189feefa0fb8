/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* basename */
#include "cli/raw_bytes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/results.h"
#include "coretap/frame.h"
#include "coretap/packet_itm.h"

#define LOOK_MAX  ((size_t)1 << 20) /* bytes that are examined */
#define IDS       128
#define SOURCES   16 /* more trace IDs than this are chance */
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

/* Returns whether the bytes are packets of an ITM from the first one on. Of random bytes, about every fourth
 * packet is unlikely. */
static bool is_itm(const uint8_t *data, size_t size)
{
    const struct ct_source source = {.name = "itm", .protocol = CT_PROTOCOL_ITM, .without_sync = 1};
    struct ct_itm_packet packets[ITM_LEAST];
    struct ct_itm_decoder *decoder = NULL;
    size_t all = 0, unlikely = 0, count = 1;
    if (!size || ct_itm_decoder_new(NULL, &source, &decoder) != CT_OK)
        return false;
    for (size_t at = 0; count; all += count) {
        at += ct_itm_decode(decoder, data + at, size - at, at, 1, packets, ITM_LEAST, &count);
        for (size_t i = 0; i < count; i++)
            unlikely += !is_likely(&packets[i]);
    }
    ct_itm_decoder_free(decoder);
    return all >= ITM_LEAST && unlikely <= all / ITM_LEAST;
}

/* Finds the protocol of the bytes of a trace ID, if it can. */
static void find_protocol(struct looks *looks, unsigned id, const uint8_t *data, size_t size)
{
    looks->bytes[id] = size;
    looks->protocols[id] = protocol_of(data, size);
    looks->without_sync[id] = looks->protocols[id] == CT_PROTOCOL_NONE && is_itm(data, size);
    if (looks->without_sync[id])
        looks->protocols[id] = CT_PROTOCOL_ITM;
}

/* ---- framing ---- */

/* Takes the frames apart. Returns whether the trace IDs are few, as those of real frames are. *synced
 * receives whether one of them has synchronisation packets. */
static bool look_at_frames(struct looks *looks, const uint8_t *data, size_t size, bool *synced)
{
    const struct ct_demux_options options = {.size = sizeof options, .framing = (uint8_t)looks->framing};
    struct ct_ctx *quiet = ct_ctx_new();
    struct ct_demux *demux = NULL;
    size_t count = 0, known = 0, used = 1;
    bool fine = quiet && ct_demux_new(quiet, &options, &demux) == CT_OK;
    for (size_t at = 0; fine && at < size && used; at += used)
        fine = ct_demux_push(demux, data + at, size - at, &used) == CT_OK;
    for (unsigned id = 1; fine && id < IDS; id++) {
        struct ct_run run;
        ct_demux_run(demux, (uint8_t)id, &run);
        find_protocol(looks, id, run.data, run.size);
        count += run.size > 0;
        known += looks->protocols[id] != CT_PROTOCOL_NONE;
        *synced |= looks->protocols[id] != CT_PROTOCOL_NONE && !looks->without_sync[id];
    }
    const struct ct_frame_stats *stats = fine ? ct_demux_stats(demux) : NULL;
    fine = stats && (count == 1 || known) && count <= SOURCES && stats->reserved_bytes < size / 64 &&
           stats->no_id_bytes + stats->lost_bytes - stats->edge_bytes < size / 2;
    ct_demux_free(demux);
    ct_ctx_free(quiet);
    return fine;
}

/* Returns whether the bytes look like trace. */
static bool look_at(struct looks *looks, const uint8_t *data, size_t size)
{
    struct looks framed = {.framing = ct_framing_probe(data, size)};
    bool synced = false;
    const bool has_frames = look_at_frames(&framed, data, size, &synced);
    *looks = (struct looks){.framing = CT_FRAMING_NONE};
    if (!has_frames || !synced)
        find_protocol(looks, 0, data, size);
    if (has_frames && !looks->without_sync[0]) /* an ITM's packets may look like frames */
        *looks = framed;
    return has_frames || looks->protocols[0] != CT_PROTOCOL_NONE;
}

/* ---- messages ---- */

static void print_source(const struct looks *looks, unsigned id)
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
    fprintf(stderr, "\n[source id%02x]\n", id);
    if (id)
        fprintf(stderr, "id = 0x%02x\n", id);
    fputs(looks->without_sync[id] ? "protocol = itm\nsync = none              ; there are no synchronisation "
                                    "packets\n"
                                  : lines[looks->protocols[id]],
          stderr);
}

/* Prints the description that the caller has to complete. */
static void print_description(const struct looks *looks, const char *path)
{
    bool code = false;
    fputs("\n[capture]\nfile = ", stderr);
    cli_put_printable(stderr, basename(path));
    fprintf(stderr, "\nframing = %s\n", ct_framing_name(looks->framing));
    for (unsigned id = 0; id < IDS; id++) {
        if (looks->bytes[id])
            print_source(looks, id);
        code |= looks->bytes[id] && looks->protocols[id] != CT_PROTOCOL_ITM &&
                looks->protocols[id] != CT_PROTOCOL_STM;
    }
    if (code)
        fputs("\n[image program]\nelf = ?                  ; the program that ran\n", stderr);
}

static bool tell(const char *path, const uint8_t *data, size_t size)
{
    struct looks looks;
    const char *trouble = ct_framing_trouble(CT_FRAMING_AUTO, data, size);
    const bool is_trace = !trouble && look_at(&looks, data, size);
    if (!is_trace && !trouble)
        trouble = ct_framing_trouble(CT_FRAMING_FRAMES, data, size);
    if (trouble)
        cli_say("%s: %s", path, trouble);
    if (!is_trace)
        return trouble != NULL;
    cli_say(
        "%s: these are bytes of a trace without their description, so they cannot be decoded; they look like "
        "%s; write the description into a file beside it, such as trace.ini, with the values in place of ?, "
        "and name that file (docs/formats.md, \"Raw traces\"):",
        path,
        looks.framing == CT_FRAMING_NONE ? "the trace of one source"
                                         : "CoreSight frames with the trace of these IDs");
    print_description(&looks, path);
    return true;
}

/* Returns whether the file is text, a damaged perf.data, or too small to tell. */
static bool is_other_file(const uint8_t *data, size_t size)
{
    size_t text = 0;
    while (text < size && (isprint(data[text]) || isspace(data[text])))
        text++;
    return size < 16 || !memcmp(data, "PERF", 4) || text == size;
}

bool cli_raw_bytes_tell(const char *path)
{
    uint8_t *data = malloc(LOOK_MAX);
    const size_t size = data ? cli_results_begin(path, data, LOOK_MAX) : 0;
    const bool told = !is_other_file(data, size) && tell(path, data, size);
    free(data);
    return told;
}
