/* SPDX-License-Identifier: Apache-2.0 */
/* Memory to which a tree's client gave access: callbacks, buffers, files. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

/* A region of a file in memory. */
struct ct_ocsd_region {
    uint64_t first, last; /* inclusive */
    uint8_t *bytes;
};

/* An accessor: serves a range of addresses, or the regions of a file. */
struct ct_ocsd_accessor {
    uint64_t first, last;   /* inclusive; for a file: the region at its begin, or 0 and 0 if it has none */
    uint32_t space;         /* OCSD_MEM_SPACE_… served */
    Fn_MemAcc_CB read;      /* callback without trace ID, or NULL */
    Fn_MemAccID_CB read_id; /* callback with trace ID, or NULL */
    const void *context;
    const uint8_t *bytes; /* buffer to read instead of a callback, or NULL */
    const char *kind;     /* "CB", "Buff" or "File", as in the list of accessors */
    char *path;           /* path of a file, else NULL */
    bool has_base;        /* regions[0] is at the beginning of the file */
    struct ct_ocsd_region *regions;
    size_t region_count;
};

struct ct_ocsd_memory {
    bool used; /* the client has given access, even if that failed */
    struct ct_ocsd_accessor *accessors;
    size_t count, room;
};

void ct_ocsd_accessor_deinit(struct ct_ocsd_accessor *accessor);
void ct_ocsd_memory_deinit(struct ct_ocsd_memory *memory);

/* Reads up to `size` bytes at `addr` in a space, for the decoder of trace ID `id`. Returns how many were
 * read. */
uint32_t ct_ocsd_memory_read(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space, uint8_t id,
                             uint32_t size, uint8_t *bytes);
