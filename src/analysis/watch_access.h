/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to data, as a data trace tells of them, and what they say of variables. */
#ifndef CT_ANALYSIS_WATCH_ACCESS_H
#define CT_ANALYSIS_WATCH_ACCESS_H

#include <stdbool.h>

#include "analysis/watch.h"

/* One access. Two halves of 32 bits that an instruction makes of 64 are one. */
struct ct_access {
    uint64_t addr; /* as many of its bits as addr_bits says */
    uint64_t data;
    uint64_t pc;       /* of the instruction; its low 32 bits with a DWT */
    uint8_t addr_bits; /* 16: of a DWT, 32: of an ETMv3 */
    uint8_t bytes;
    uint8_t comparator; /* of a DWT */
    bool is_store;
    bool has_data;
    bool has_pc;
};

/* Puts accesses together from the elements of one stream. All zero is the begin, with `watches` set. */
struct ct_access_reader {
    const struct ct_watches *watches;
    struct ct_access held; /* the last one, which may go on */
    bool is_held;
    struct ct_access coming; /* DWT: of which packets came already */
    bool has_addr;           /* the address of `coming` is among these */
    struct ct_access last;   /* ETMv3: of an instruction that may transfer more */
    bool has_last;
    struct ct_access late[4]; /* accesses whose values come out of order, by tag */
    bool has_late[4];
    bool lacks_address, lacks_code; /* a note said so */
};

/* Takes what a mark says. An access that is held is given up: the caller looks first whether it goes on.
 * Result: whether one is held now. */
bool ct_access_take(struct ct_access_reader *reader, const struct ct_step_mark *mark);

/* Tells whether a mark is a part of the access that is held, or comes before one. */
bool ct_access_goes_on(const struct ct_access_reader *reader, const struct ct_step_mark *mark);

/* What is known of the bytes of a variable, up to the first 8. */
struct ct_known_bytes {
    uint64_t bytes;
    uint8_t known; /* a bit for each byte */
};

/* Tells whether an access is one to the variable, and notes the bytes that it says. */
bool ct_access_see(const struct ct_access *access, const struct ct_watched_variable *variable,
                   struct ct_known_bytes *seen);

/* Gives an event of an access the value of the variable, or none: then `number` is 0. */
void ct_access_value(const struct ct_access *access, const struct ct_watched_variable *variable,
                     const struct ct_known_bytes *seen, struct ct_watch_event *event);

#endif
