/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_text.h"

#include <inttypes.h>
#include <stdbool.h>

/* Names and words by enum ct_ocsd_itm_packet_type. Those of incomplete and invalid packets occur in no
 * listing of OpenCSD. */
static const struct words {
    const char *name;
    const char *words;
} types[] = {
    [CT_OCSD_ITM_NOTSYNC] = {"ITM_NOTSYNC", "ITM data stream not synchronised"},
    [CT_OCSD_ITM_INCOMPLETE_EOT] = {"ITM_INCOMPLETE_EOT", "Incomplete packet flushed at end of trace"},
    [CT_OCSD_ITM_NO_ERR_TYPE] = {"ITM_NO_ERR_TYPE", "Error type not set"},
    [CT_OCSD_ITM_ASYNC] = {"ITM_ASYNC", "Alignment synchronisation packet"},
    [CT_OCSD_ITM_OVERFLOW] = {"ITM_OVERFLOW", "ITM overflow packet"},
    [CT_OCSD_ITM_SWIT] = {"ITM_SWIT", "Software Stimulus write packet"},
    [CT_OCSD_ITM_DWT] = {"ITM_DWT", "DWT hardware stimulus write"},
    [CT_OCSD_ITM_TS_LOCAL] = {"ITM_TS_LOCAL", "Local Timestamp"},
    [CT_OCSD_ITM_TS_GLOBAL_1] = {"ITM_GTS_1", "Global Timestamp [25:0]"},
    [CT_OCSD_ITM_TS_GLOBAL_2] = {"ITM_GTS_2", "Global Timestamp [{63|42}:26]"},
    [CT_OCSD_ITM_EXTENSION] = {"ITM_EXTENSION", "Extension packet"},
    [CT_OCSD_ITM_BAD_SEQUENCE] = {"ITM_BAD_SEQUENCE", "Invalid sequence in packet"},
    [CT_OCSD_ITM_RESERVED] = {"ITM_RESERVED", "Reserved Packet Header"},
};

static const struct words *words_of(uint32_t type)
{
    static const struct words unknown = {"ITM_UNKNOWN", "ERROR: unknown packet type"};
    return type < sizeof types / sizeof *types ? &types[type] : &unknown;
}

/* Adds a value with two digits for each of its bytes. */
static void add_value(struct ct_ocsd_line *line, uint64_t value, unsigned size)
{
    ct_ocsd_line_add(line, "0x%0*" PRIx64, (int)(2 * size), value);
}

/* Adds the events of counters that wrapped. */
static void add_counters(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    static const char *const counters[] = {"CPI", "Exc", "Sleep", "LSU", "Fold", "Cyc"};
    ct_ocsd_line_say(line, "[Event Counter: ");
    add_value(line, p->value, p->size);
    ct_ocsd_line_say(line, "; Flags: ");
    for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++)
        ct_ocsd_line_add(line, " %s ", p->value >> i & 1 ? counters[i] : "---");
    ct_ocsd_line_say(line, "] ");
}

static void add_exception(struct ct_ocsd_line *line, uint32_t value)
{
    static const char *const what[] = {"reserved", "entered", "exited", "returned to"};
    ct_ocsd_line_add(line, "[Exception Num:  0x%04x(%s) ]", value & 0x1ff, what[value >> 12 & 3]);
}

/* Adds what a comparator traced: PC or address (discriminators 8 to 15), data (16 to 23). */
static void add_data(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    static const char *const what[] = {"PC", "Addr", "Val read", "Val write"};
    ct_ocsd_line_add(line, "[Data Trc: comp=%u; %s: ", p->source >> 1 & 3u,
                     what[(p->source >> 3 & 2u) | (p->source & 1u)]);
    add_value(line, p->value, p->size);
    ct_ocsd_line_say(line, "] ");
}

/* Adds a packet of the DWT by its discriminator (DDI 0403E D4.3). */
static void add_hardware(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    ct_ocsd_line_add(line, "{desc: 0x%02x} ", p->source);
    if (p->source == 0) {
        add_counters(line, p);
    } else if (p->source == 1) {
        add_exception(line, p->value);
    } else if (p->source == 2) {
        ct_ocsd_line_say(line, "[PC Sample: ");
        add_value(line, p->value, p->size);
        ct_ocsd_line_say(line, "] ");
    } else if (p->source >= 8 && p->source < 24) {
        add_data(line, p);
    } else {
        ct_ocsd_line_say(line, "[Reserved discriminator value] ");
    }
}

static void add_local_time(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    static const char *const relations[] = {"TS Sync", "TS Delayed", "TS Sync, Packet Delayed",
                                            "TS Delayed, Packet Delayed"};
    add_value(line, p->value, p->size);
    ct_ocsd_line_add(line, " { %s }", relations[p->source & 3]);
}

/* Adds a part of a global timestamp, with the bits that it contains. */
static void add_global_time(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    const bool is_low = p->type == CT_OCSD_ITM_TS_GLOBAL_1;
    const unsigned top = is_low ? (p->size < 4 ? 7u * p->size - 1 : 25) : p->size > 4 ? 63 : 47;
    ct_ocsd_line_add(line, "{ TS bits [%u:%u]", top, is_low ? 0u : 26u);
    if (is_low && p->source & CT_OCSD_ITM_CLOCK_CHANGED)
        ct_ocsd_line_say(line, ", Clk change");
    if (is_low && p->source & CT_OCSD_ITM_WRAP)
        ct_ocsd_line_say(line, ", Clk wrap");
    ct_ocsd_line_say(line, "} ");
    add_value(line, (uint64_t)p->value_high << 32 | p->value, p->size);
}

static void add_extension(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    enum {
        PAGE = 2, /* highest bit of the page of stimulus ports */
    };
    if (p->source == PAGE)
        ct_ocsd_line_say(line, "{stim port page} ");
    else
        ct_ocsd_line_add(line, "{%s, bits [%u:0]} ", p->source & CT_OCSD_ITM_HARDWARE ? "hw src" : "sw src",
                         p->source & CT_OCSD_ITM_TOP_BIT);
    add_value(line, p->value, p->size);
}

/* Adds the fields of a packet besides its type. */
static void add_fields(struct ct_ocsd_line *line, const struct ct_ocsd_itm_packet *p)
{
    switch (p->type) {
    case CT_OCSD_ITM_SWIT:
        ct_ocsd_line_add(line, "{src id: 0x%02x}  ", p->source);
        add_value(line, p->value, p->size);
        break;
    case CT_OCSD_ITM_DWT:
        add_hardware(line, p);
        break;
    case CT_OCSD_ITM_TS_LOCAL:
        add_local_time(line, p);
        break;
    case CT_OCSD_ITM_TS_GLOBAL_1:
    case CT_OCSD_ITM_TS_GLOBAL_2:
        add_global_time(line, p);
        break;
    case CT_OCSD_ITM_EXTENSION:
        add_extension(line, p);
        break;
    case CT_OCSD_ITM_BAD_SEQUENCE:
    case CT_OCSD_ITM_INCOMPLETE_EOT:
        ct_ocsd_line_add(line, "[%s]", words_of(p->err)->name);
        break;
    default:
        break;
    }
}

size_t ct_ocsd_itm_text(const void *packet, char *text, size_t size)
{
    const struct ct_ocsd_itm_packet *p = packet;
    struct ct_ocsd_line line = {.text = text, .size = size};
    const struct words *words = words_of(p->type);
    ct_ocsd_line_add(&line, "%s: ", words->name);
    add_fields(&line, p);
    ct_ocsd_line_add(&line, "; '%s'", words->words);
    return line.used;
}

void ct_ocsd_itm_element_text(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    static const char *const relations[] = {"TS Sync", "TS Delay", "Packet Delay", "TS and Packet Delay"};
    const struct ct_ocsd_itm_payload p = ct_ocsd_itm_payload_of(e);
    if (p.overflow)
        ct_ocsd_line_say(line, "ITM_OVERFLOW; ");
    switch (p.type) {
    case CT_OCSD_ITM_STIMULUS:
        ct_ocsd_line_add(line, "ITM_SWIT (ch: 0x%x; Data: 0x%0*x) ", p.source, 2 * p.size, p.value);
        break;
    case CT_OCSD_ITM_HARDWARE_SOURCE:
        ct_ocsd_line_add(line, "ITM_DWT (desc: 0x%x; Data: 0x%0*x) ", p.source, 2 * p.size, p.value);
        break;
    case CT_OCSD_ITM_GLOBAL_TIME:
        ct_ocsd_line_add(line, "ITM_TS_GLOBAL ( TS: 0x%016" PRIx64 ") ", e->timestamp);
        break;
    default:
        ct_ocsd_line_add(line, "ITM_TS_LOCAL ( TS delta: 0x%08x, { %s}; TS cumulative: 0x%016" PRIx64 ") ",
                         p.value, relations[(p.type - CT_OCSD_ITM_LOCAL_TIME) & 3], e->timestamp);
        break;
    }
}
