/* SPDX-License-Identifier: Apache-2.0 */
/* Listing v1: one line for each packet or element (docs/listing.md). */
#pragma once

#include "coretap/decode.h"
#include "coretap/flow.h"
#include "coretap/packet.h"
#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"
#include "coretap/packet_itm.h"
#include "coretap/packet_stm.h"
#include "format/text.h"

struct ct_listing_code;

/* Appends the part of a packet line behind the offset: ID, bytes (a dash when there are none) and a space. */
void ct_list_packet_bytes(struct ct_text *text, uint8_t id, const uint8_t *bytes, size_t size);

/* Begins the line of a packet: offset, ID, bytes (a dash when there are none), a space and the type. Makes
 * room for the whole line; the caller appends the rest and the newline. */
void ct_list_packet_start(struct ct_text *text, uint8_t id, uint64_t offset, const uint8_t *bytes,
                          size_t size, const char *type);

/* Append a field; `key` is " name=". */
static inline void ct_list_dec(struct ct_text *text, const char *key, uint64_t value)
{
    ct_text_string(text, key);
    ct_text_dec(text, value);
}

static inline void ct_list_hex(struct ct_text *text, const char *key, uint64_t value)
{
    ct_text_string(text, key);
    ct_text_hex(text, value);
}

/* Returns the name of an ETMv4 or ETE packet type in listings, such as "i_atom_f1". */
const char *ct_etm4_type_name(enum ct_etm4_type type);

/* Appends the line of a packet of trace ID `id` at `offset`; `bytes` are its packet->size bytes. */
void ct_list_etm4_packet(struct ct_text *text, uint8_t id, uint64_t offset, const uint8_t *bytes,
                         const struct ct_etm4_packet *packet, const struct ct_source *source);

/* Appends the part of that line behind the offset. */
void ct_list_etm4_rest(struct ct_text *text, uint8_t id, const uint8_t *bytes,
                       const struct ct_etm4_packet *packet, const struct ct_source *source);

/* A cached line of a short ETMv4 packet, from behind the offset on. A cache line. */
struct ct_packet_line {
    uint32_t atoms; /* the fields up to `id` are the content of the packet */
    uint32_t count;
    uint16_t flags;
    uint16_t info;
    uint8_t type;
    uint8_t natoms;
    uint8_t id;
    uint8_t size; /* of the text; 0: empty */
    char text[48];
};

#define CT_PACKET_LINES 256u /* indexed by header byte */

/* How the packets of a protocol other than ETMv4 are listed. */
struct ct_packet_listing {
    const char *const *names; /* of types */
    unsigned types;           /* number of names */
    size_t size;              /* of a packet's struct */
    size_t pos;               /* offset of its member of this name */
    /* Appends the line of a packet, like ct_list_etm4_packet. */
    void (*list)(struct ct_text *text, uint8_t id, uint64_t offset, const uint8_t *bytes, const void *packet,
                 const struct ct_source *source);
};

extern const struct ct_packet_listing ct_list_etm3, ct_list_ptm, ct_list_stm, ct_list_itm;

/* Names of instruction sets and of reasons for an i-sync, in ETMv3 and PTM. */
extern const char *const ct_v7_isa_names[];
extern const char *const ct_sync_reason_names[];

/* Appends one line for each packet of the batch. `lines` is a cache of CT_PACKET_LINES lines, initially
 * zeros; NULL: no cache. */
void ct_list_packets(struct ct_text *text, struct ct_packet_line *lines, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch);

/* Appends the heading of a buffer and a trace ID. NULL and -1 stand for none. */
void ct_list_heading(struct ct_text *text, const char *buffer, int id);

/* A cached line of a range, from behind the trace ID on. Two cache lines. */
struct ct_range_line {
    uint64_t start;
    uint64_t end;
    uint64_t others; /* the other parts of the record that the line depends on */
    uint8_t size;    /* of the text; 0: empty */
    char text[103];
};

#define CT_RANGE_LINE_BITS 13

/* Appends the lines of elements. Holds back the last line, because a cycle count may follow that belongs to
 * it. */
struct ct_element_lister {
    struct ct_text *text;
    struct ct_range_line *ranges; /* cache of 2^CT_RANGE_LINE_BITS lines, by start; NULL: none */
    uint8_t id;
    bool open;                    /* the last line has no newline yet */
    const char *last_fields;      /* fields of the last line that follow a cycle count */
    struct ct_elem source;        /* of software trace: the source of the values */
    const struct ct_source *of;   /* the source of the elements; NULL: unknown */
    bool names_apart;             /* names of events are not part of the lines */
    struct ct_listing_code *code; /* writes lines of code below those of elements; NULL: none */
    uint32_t memory;              /* memory of the records */
    uint32_t last_memory;         /* memory of the last line */
    struct ct_flow last;          /* record of the last line */
};

void ct_list_flow(struct ct_element_lister *lister, const struct ct_flow *record);

/* Prefetches the cached line of a record that comes soon. */
void ct_list_flow_soon(const struct ct_element_lister *lister, const struct ct_flow *record);

/* Ends the last line. */
void ct_list_flow_end(struct ct_element_lister *lister);
