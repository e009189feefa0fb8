/* SPDX-License-Identifier: Apache-2.0 */
/* A temporal formula as a complete Moore machine over letters (docs/tessla-language.md B.6). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum ct_mon_verdict {
    VERDICT_UNKNOWN,
    VERDICT_TRUE,
    VERDICT_FALSE,
    VERDICT_NONE, /* before the first step */
};

/* A machine. A state is number << 2 | verdict, so that a change of the verdict shows in the low bits. Row
 * `letter` of a table is next[letter * width + state]. Up to 64 states, entries are bytes and width is
 * 256. */
struct ct_mon_machine {
    uint32_t natoms, nstates;
    uint32_t width;
    uint16_t start;          /* initial state, of verdict none; no step leads back to it */
    uint8_t empty;           /* verdict of the empty word */
    bool decided;            /* true or false can be reached */
    const uint8_t *verdicts; /* by state number */
    const uint8_t *next8;
    const uint16_t *next16;
};

static inline uint32_t machine_next(const struct ct_mon_machine *m, uint32_t state, uint32_t letter)
{
    return m->next8 ? m->next8[letter * m->width + state] : m->next16[letter * m->width + state];
}
