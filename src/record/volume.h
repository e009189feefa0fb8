/* SPDX-License-Identifier: Apache-2.0 */
/* How much trace a program makes: in place of one trace unit each core has one for each combination of
 * settings, whose bytes are counted and not kept. */
#ifndef CT_RECORD_VOLUME_H
#define CT_RECORD_VOLUME_H

#include "coretap/record.h"
#include "record/unit.h"

struct ct_volume_meter;

/* Makes a meter whose units have what `unit` says, for programs of 32 or 64 bits; `protocol` 0 stands for
 * all. The rows of `volume` (not owned) are set up and then counted in. CT_ERR_NOMEM. */
int ct_volume_meter_new(struct ct_ctx *ctx, const struct ct_unit_options *unit, bool arm32, uint8_t protocol,
                        struct ct_volume *volume, struct ct_volume_meter **out);
void ct_volume_meter_free(struct ct_volume_meter *meter);

/* Returns the trace unit of core `number`, with the others beside it; NULL after an error, which is *rc. */
struct ct_unit *ct_volume_meter_unit(struct ct_volume_meter *meter, unsigned number, int *rc);

/* Ends core `number`: counts what its units hold back, and adds up what it did. The next unit of this number
 * is that of another core. CT_ERR_NOMEM. */
int ct_volume_meter_end(struct ct_volume_meter *meter, unsigned number);

/* Ends all cores, likewise. CT_ERR_NOMEM. */
int ct_volume_meter_finish(struct ct_volume_meter *meter);

#endif
