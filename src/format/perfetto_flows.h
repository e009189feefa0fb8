/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows between cores in a trace of Perfetto, for contexts that move from one core to another. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "format/perfetto.h"

/* most runs of contexts that are kept; later ones have no arrows */
#define CT_PERFETTO_RUNS (UINT32_C(1) << 18)

/* A run of a context on a core. */
struct ct_perfetto_run {
    uint64_t begin, end;
    uint64_t track; /* track of the core */
    uint32_t core;  /* number of the core's name */
    uint32_t context;
};

/* Starts as all zeros. */
struct ct_perfetto_flows {
    struct ct_perfetto_run *runs;
    size_t count, room;
    struct ct_names cores;
};

/* Adds a run on the core of this name, which is copied. Ignores context 0, which runs on all idle cores.
 * CT_ERR_NOMEM. */
int ct_perfetto_flows_add(struct ct_perfetto_flows *flows, const struct ct_perfetto_run *run,
                          const char *core);

/* Writes the arrows, from where a context stopped to where it ran next. CT_ERR_NOMEM. */
int ct_perfetto_flows_write(struct ct_perfetto_flows *flows, struct ct_perfetto *to);
void ct_perfetto_flows_free(struct ct_perfetto_flows *flows);
