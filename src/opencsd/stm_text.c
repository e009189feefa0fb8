/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_text.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "opencsd/fields_text.h"

/* names and words by ocsd_stm_pkt_type */
static const struct words {
    const char *name;
    const char *words;
    bool has_forms; /* name and words tell whether there are marker and timestamp */
} types[] = {
    [STM_PKT_NOTSYNC] = {"NOTSYNC", "STM not synchronised", false},
    [STM_PKT_INCOMPLETE_EOT] = {"INCOMPLETE_EOT", "Incomplete packet flushed at end of trace", false},
    [STM_PKT_NO_ERR_TYPE] = {"NO_ERR_TYPE", "Error type not set", false},
    [STM_PKT_ASYNC] = {"ASYNC", "Alignment synchronisation packet", false},
    [STM_PKT_VERSION] = {"VERSION", "Version packet", false},
    [STM_PKT_FREQ] = {"FREQ", "Frequency packet", false},
    [STM_PKT_NULL] = {"NULL", "Null packet", false},
    [STM_PKT_TRIG] = {"TRIG", "Trigger packet", true},
    [STM_PKT_GERR] = {"GERR", "Global Error", false},
    [STM_PKT_MERR] = {"MERR", "Master Error", false},
    [STM_PKT_M8] = {"M8", "Set current master", false},
    [STM_PKT_C8] = {"C8", "Set current channel", false},
    [STM_PKT_C16] = {"C16", "Set current channel", false},
    [STM_PKT_FLAG] = {"FLAG", "Flag packet", true},
    [STM_PKT_D4] = {"D4", "4 bit data", true},
    [STM_PKT_D8] = {"D8", "8 bit data", true},
    [STM_PKT_D16] = {"D16", "16 bit data", true},
    [STM_PKT_D32] = {"D32", "32 bit data", true},
    [STM_PKT_D64] = {"D64", "64 bit data", true},
    [STM_PKT_BAD_SEQUENCE] = {"BAD_SEQUENCE", "Invalid sequence in packet", false},
    [STM_PKT_RESERVED] = {"RESERVED", "Reserved Packet Header", false},
};

static const struct words *words_of(ocsd_stm_pkt_type type)
{
    static const struct words unknown = {"UNKNOWN", "ERROR: unknown packet type", false};
    return (unsigned)type < sizeof types / sizeof *types ? &types[type] : &unknown;
}

/* Adds the name of a type, in the form for the packet. */
static void add_name(struct ct_ocsd_line *line, const ocsd_stm_pkt *p, const struct words *words)
{
    ct_ocsd_line_say(line, words->name);
    if (words->has_forms && p->pkt_has_marker)
        ct_ocsd_line_say(line, "M");
    if (words->has_forms && p->pkt_has_ts)
        ct_ocsd_line_say(line, "TS");
}

static void add_words(struct ct_ocsd_line *line, const ocsd_stm_pkt *p, const struct words *words)
{
    ct_ocsd_line_say(line, words->words);
    if (words->has_forms && p->pkt_has_marker)
        ct_ocsd_line_say(line, " + marker");
    if (words->has_forms && p->pkt_has_ts)
        ct_ocsd_line_say(line, " + timestamp");
}

/* Adds the fields of a packet besides its type. */
static void add_payload(struct ct_ocsd_line *line, const ocsd_stm_pkt *p)
{
    switch (p->type) {
    case STM_PKT_INCOMPLETE_EOT:
    case STM_PKT_BAD_SEQUENCE:
        ct_ocsd_line_say(line, "[");
        add_name(line, p, words_of(p->err_type));
        ct_ocsd_line_say(line, "]");
        break;
    case STM_PKT_VERSION:
        ct_ocsd_line_add(line, "; Ver=%u", p->payload.D8);
        break;
    case STM_PKT_FREQ:
        ct_ocsd_line_add(line, "; Freq=%uHz", p->payload.D32);
        break;
    case STM_PKT_TRIG:
        ct_ocsd_line_add(line, "; TrigData=0x%02x", p->payload.D8);
        break;
    case STM_PKT_M8:
        ct_ocsd_line_add(line, "; Master=0x%02x", p->master);
        break;
    case STM_PKT_C8:
    case STM_PKT_C16:
        ct_ocsd_line_add(line, "; Chan=0x%04x", p->channel);
        break;
    case STM_PKT_D4:
        ct_ocsd_line_add(line, "; Data=0x%x", p->payload.D8 & 15u);
        break;
    case STM_PKT_D8:
        ct_ocsd_line_add(line, "; Data=0x%02x", p->payload.D8);
        break;
    case STM_PKT_D16:
        ct_ocsd_line_add(line, "; Data=0x%04x", p->payload.D16);
        break;
    case STM_PKT_D32:
        ct_ocsd_line_add(line, "; Data=0x%08x", p->payload.D32);
        break;
    case STM_PKT_D64:
        ct_ocsd_line_add(line, "; Data=0x%016" PRIx64, p->payload.D64);
        break;
    default:
        break;
    }
}

size_t ct_ocsd_stm_text(const void *packet, char *text, size_t size)
{
    const ocsd_stm_pkt *p = packet;
    struct ct_ocsd_line line = {.text = text, .size = size};
    const struct words *words = words_of(p->type);
    add_name(&line, p, words);
    ct_ocsd_line_say(&line, ":");
    add_words(&line, p, words);
    add_payload(&line, p);
    if (p->pkt_has_ts)
        ct_ocsd_line_add(&line, "; TS=0x%016" PRIX64, p->timestamp);
    if (p->pkt_has_ts && p->pkt_ts_bits)
        ct_ocsd_line_add(&line, " ~[0x%" PRIX64 "]", p->timestamp & ct_mask64(p->pkt_ts_bits));
    return line.used;
}
