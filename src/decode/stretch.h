/* Bytes of one trace ID that somebody keeps, with the map to where they came from. */
#ifndef CT_DECODE_STRETCH_H
#define CT_DECODE_STRETCH_H

#include <stdbool.h>

#include "coretap/frame.h"

struct ct_stretch {
    uint8_t *data;
    size_t size, cap;
    uint64_t pos; /* stream position of data[0] */
    struct ct_span *spans;
    size_t span_count, span_cap;
};

void ct_stretch_free(struct ct_stretch *piece);
void ct_stretch_clear(struct ct_stretch *piece);

/* Adds a run, which goes on where the piece ends. False without memory. */
bool ct_stretch_append(struct ct_stretch *piece, const struct ct_run *run);

/* Bytes from to to - 1. */
void ct_stretch_run(const struct ct_stretch *piece, size_t from, size_t to, struct ct_run *out);

#endif
