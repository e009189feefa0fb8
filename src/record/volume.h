/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how much trace a program makes: each core has a trace unit for each combination of settings, whose
 * bytes are only counted. */
#pragma once

#include "coretap/record.h"
#include "record/unit.h"

struct ct_volume_meter;

/* Makes a meter with units like `unit`, whose source has an `arch`, for programs of 32 or 64 bits; `protocol`
 * 0: all. Sets up the rows of `volume` (not owned), and counts in them. CT_ERR_NOMEM. */
int ct_volume_meter_new(struct ct_ctx *ctx, const struct ct_unit_options *unit, bool arm32, uint8_t protocol,
                        struct ct_volume *volume, struct ct_volume_meter **out);
void ct_volume_meter_free(struct ct_volume_meter *meter);

/* Returns the trace unit of core `number`, with the others beside it; NULL after an error in *rc. */
struct ct_unit *ct_volume_meter_unit(struct ct_volume_meter *meter, unsigned number, int *rc);

/* Ends core `number`: counts the bytes that its units hold back, and adds its sums. The next unit with this
 * number belongs to another core. CT_ERR_NOMEM. */
int ct_volume_meter_end(struct ct_volume_meter *meter, unsigned number);

/* Ends all cores. CT_ERR_NOMEM. */
int ct_volume_meter_finish(struct ct_volume_meter *meter);
