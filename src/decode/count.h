/* Statistics of a stream. */
#ifndef CT_DECODE_COUNT_H
#define CT_DECODE_COUNT_H

#include <stdbool.h>

#include "coretap/decode.h"

/* `whole`: the last reset was where one recording ended and another began, and nothing is missing there. */
void ct_count_elems(struct ct_stream_stats *stats, bool whole, const struct ct_elem *elems, size_t count);

#endif
