/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to data, as found in data trace, and the bytes of variables that they tell. */
#pragma once

#include <stdbool.h>

#include "analysis/watch.h"

/* An access. Two halves of 32 bits of a 64-bit access are joined. */
struct ct_access {
    uint64_t addr; /* valid in its low addr_bits bits */
    uint64_t data;
    uint64_t pc;       /* of the instruction; only its low 32 bits from a DWT */
    uint8_t addr_bits; /* 16 from a DWT, 32 from an ETMv3 */
    uint8_t bytes;
    uint8_t comparator; /* of a DWT */
    bool is_store;
    bool has_data;
    bool has_pc;
};

/* Assembles accesses from the elements of one stream. Starts as all zeros, with `watches` set. */
struct ct_access_reader {
    const struct ct_watches *watches;
    struct ct_access held; /* the last access, which may have a second half */
    bool is_held;
    struct ct_access coming; /* DWT: the access whose packets have begun */
    bool has_addr;           /* `coming` has its address */
    struct ct_access last;   /* ETMv3: an access of an instruction that may transfer more */
    bool has_last;
    struct ct_access late[4]; /* accesses with values that come out of order, by tag */
    bool has_late[4];
    bool lacks_address, lacks_code; /* a warning was given */
};

/* Takes a mark. Drops a held access, so the caller first asks ct_access_goes_on. Returns whether an access is
 * held now. */
bool ct_access_take(struct ct_access_reader *reader, const struct ct_step_mark *mark);

/* Returns whether a mark belongs to the held access, or leads to its second half. */
bool ct_access_goes_on(const struct ct_access_reader *reader, const struct ct_step_mark *mark);

/* The known bytes of a variable, up to its first 8. */
struct ct_known_bytes {
    uint64_t bytes;
    uint8_t known; /* bit mask of the known bytes */
};

/* Returns whether an access is to the variable, and notes the bytes that it tells. */
bool ct_access_see(const struct ct_access *access, const struct ct_watched_variable *variable,
                   struct ct_known_bytes *seen);

/* Sets the value of an access event to that of the variable. Without a value sets `number` to 0. */
void ct_access_value(const struct ct_access *access, const struct ct_watched_variable *variable,
                     const struct ct_known_bytes *seen, struct ct_watch_event *event);
