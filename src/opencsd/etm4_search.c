/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/etm4_search.h"

#include <string.h>

#include "coretap/packet.h"

enum {
    GROUP = 8,        /* bytes of a NOT_SYNC packet */
    ASYNC_END = 0x80, /* last byte of an alignment packet */
};

/* Finds a packet of the first bytes. The others begin the next packet. */
static bool find(struct ct_ocsd_etm4_search *s, enum ct_etm4_type type, enum ct_etm4_type err, uint32_t size,
                 struct ct_ocsd_etm4_found *found)
{
    *found = (struct ct_ocsd_etm4_found){.type = (uint8_t)type,
                                         .err = (uint8_t)err,
                                         .first = s->first,
                                         .bytes = memcpy(s->packet, s->bytes, s->size),
                                         .size = size};
    s->size -= size;
    memmove(s->bytes, s->bytes + size, s->size);
    s->ready = 0;
    return true;
}

/* Finds the packet that was ready. */
static bool find_ready(struct ct_ocsd_etm4_search *s, struct ct_ocsd_etm4_found *found)
{
    if (s->zeros == s->size) { /* a zero too many; in 1.3.3 the others keep its index */
        s->zeros--;
        return find(s, CT_ETM4_ASYNC, CT_ETM4_ASYNC, s->ready, found);
    }
    find(s, CT_ETM4_NOT_SYNC, CT_ETM4_NOT_SYNC, s->ready, found);
    s->zeros = s->size; /* the zero that ended the packet, or nothing */
    s->first = s->last;
    return true;
}

bool ct_ocsd_etm4_search_next(struct ct_ocsd_etm4_search *s, uint8_t byte, ocsd_trc_index_t index,
                              struct ct_ocsd_etm4_found *found, bool *taken)
{
    *taken = !s->ready;
    if (s->ready)
        return find_ready(s, found);
    if (!s->size)
        s->first = index;
    s->last = index;
    const uint32_t before = s->size;
    s->bytes[s->size++] = byte;
    if (!byte && s->zeros == before) {
        s->ready = ++s->zeros > CT_OCSD_ASYNC_ZEROS;
        return false;
    }
    if (!byte) {
        s->ready = before;
        return false;
    }
    if (s->zeros == CT_OCSD_ASYNC_ZEROS) {
        s->zeros = 0;
        find(s, byte == ASYNC_END ? CT_ETM4_ASYNC : CT_ETM4_BAD_SEQUENCE, CT_ETM4_ASYNC, s->size, found);
        found->aligned = byte == ASYNC_END;
        return true;
    }
    s->ready = !s->zeros && s->size >= GROUP ? s->size : 0; /* 1.3.3 does not count the byte after zeros */
    s->zeros = 0;
    return false;
}

bool ct_ocsd_etm4_search_end(struct ct_ocsd_etm4_search *s, struct ct_ocsd_etm4_found *found)
{
    const bool zeros = s->zeros == s->size && s->size > 1;
    return s->size &&
           find(s, CT_ETM4_INCOMPLETE_EOT, zeros ? CT_ETM4_ASYNC : CT_ETM4_NOT_SYNC, s->size, found);
}
