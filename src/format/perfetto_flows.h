/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that go from one core to another, in a trace of Perfetto: arrows between the cores. */
#ifndef CT_FORMAT_PERFETTO_FLOWS_H
#define CT_FORMAT_PERFETTO_FLOWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "format/perfetto.h"

/* The most times that contexts ran which are kept; for what comes behind them there are no arrows. */
#define CT_PERFETTO_RUNS (UINT32_C(1) << 18)

/* One time that a context ran on a core. */
struct ct_perfetto_run {
    uint64_t begin, end;
    uint64_t track; /* of the core */
    uint32_t core;  /* its name, by number */
    uint32_t context;
};

/* All zero is the beginning. */
struct ct_perfetto_flows {
    struct ct_perfetto_run *runs;
    size_t count, room;
    struct ct_names cores;
};

/* Adds a run on the core of this name, which is copied. Context 0, which runs on all cores that have nothing
 * to do, is left out. CT_ERR_NOMEM. */
int ct_perfetto_flows_add(struct ct_perfetto_flows *flows, const struct ct_perfetto_run *run,
                          const char *core);

/* Writes the arrows, from where a context stopped to where it ran next. CT_ERR_NOMEM. */
int ct_perfetto_flows_write(struct ct_perfetto_flows *flows, struct ct_perfetto *to);
void ct_perfetto_flows_free(struct ct_perfetto_flows *flows);

#endif
