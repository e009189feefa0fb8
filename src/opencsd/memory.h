/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a tree's client gave access to: callbacks, buffers, files. */
#ifndef CT_OPENCSD_MEMORY_H
#define CT_OPENCSD_MEMORY_H

#include <opencsd/c_api/opencsd_c_api.h>

/* Addresses that one accessor serves. */
struct ct_ocsd_accessor {
    uint64_t first, last;   /* inclusive */
    uint32_t space;         /* OCSD_MEM_SPACE_… that it serves */
    Fn_MemAcc_CB read;      /* … by this callback, */
    Fn_MemAccID_CB read_id; /* … by this one, which is told the trace ID, */
    const void *context;
    const uint8_t *bytes; /* … or from these bytes */
    uint8_t *owned;       /* the bytes, when they came from a file; freed with the accessor */
    const char *kind;     /* "CB", "Buff", "File": as in the list of accessors */
    char *path;           /* of a file, else NULL */
};

struct ct_ocsd_memory {
    struct ct_ocsd_accessor *accessors;
    size_t count, room;
};

void ct_ocsd_memory_deinit(struct ct_ocsd_memory *memory);

/* Reads up to `size` bytes at `addr` in a space, for the decoder of trace ID `id`. Returns how many there
 * are. */
uint32_t ct_ocsd_memory_read(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space, uint8_t id,
                             uint32_t size, uint8_t *bytes);

#endif
