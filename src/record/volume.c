/* SPDX-License-Identifier: Apache-2.0 */
#include "record/volume.h"

#include <stdlib.h>

#include "base/ctx.h"

struct ct_volume_meter {
    struct ct_ctx *ctx;
    struct ct_unit_options unit;
    struct ct_volume *volume;
    struct ct_unit *cores[CT_RECORD_CORES]; /* by core: its first unit, which has the others beside it */
    unsigned core_count;
    uint64_t budgets[CT_VOLUME_ROWS]; /* of instructions: the units of a row share one */
};

static int count(void *user, const uint8_t *bytes, size_t size)
{
    struct ct_volume_row *row = user;
    (void)bytes;
    row->bytes += size;
    return CT_OK;
}

/* Adds the rows of a protocol. The M profile has no context IDs. */
static void add_rows(struct ct_volume *volume, uint8_t protocol, bool m_profile)
{
    for (unsigned bits = 0; bits < 32; bits += m_profile ? 2 : 1)
        volume->rows[volume->row_count++] = (struct ct_volume_row){.protocol = protocol,
                                                                   .branch_broadcast = bits >> 4 & 1,
                                                                   .cycle_count = bits >> 3 & 1,
                                                                   .return_stack = bits >> 2 & 1,
                                                                   .timestamps = bits >> 1 & 1,
                                                                   .context_id = bits & 1};
}

int ct_volume_meter_new(struct ct_ctx *ctx, const struct ct_unit_options *unit, bool arm32, uint8_t protocol,
                        struct ct_volume *volume, struct ct_volume_meter **out)
{
    static const uint8_t protocols[] = {CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE, CT_PROTOCOL_PTM};
    struct ct_volume_meter *meter = calloc(1, sizeof *meter);
    const bool m_profile = unit->source.arch.profile == CT_PROFILE_M;
    if (!meter)
        return ct_fail_nomem(ctx, "volume");
    meter->ctx = ctx;
    meter->unit = *unit;
    meter->volume = volume;
    for (size_t i = 0; i < sizeof protocols; i++)
        if ((!protocol || protocol == protocols[i]) && (arm32 || protocols[i] != CT_PROTOCOL_PTM) &&
            (!m_profile || protocols[i] == CT_PROTOCOL_ETM4))
            add_rows(volume, protocols[i], m_profile);
    for (size_t i = 0; i < volume->row_count; i++)
        meter->budgets[i] = unit->budget ? *unit->budget : 0;
    *out = meter;
    return CT_OK;
}

void ct_volume_meter_free(struct ct_volume_meter *meter)
{
    if (!meter)
        return;
    for (unsigned i = 0; i < meter->core_count; i++)
        ct_unit_free(meter->cores[i]);
    free(meter);
}

/* Makes the unit of a row, for core `number`. Its timestamp period is 0 if the row has none. */
static int make_unit(struct ct_volume_meter *meter, unsigned number, size_t row, struct ct_unit **out)
{
    struct ct_volume_row *r = &meter->volume->rows[row];
    struct ct_unit_options options = meter->unit;
    const struct ct_unit_wishes wishes = {.protocol = r->protocol,
                                          .trace_id = 0x10,
                                          .branch_broadcast = r->branch_broadcast,
                                          .cycle_count = r->cycle_count,
                                          .timestamps = r->timestamps,
                                          .context_id = r->context_id,
                                          .return_stack = r->return_stack};
    options.source.name = "ETM";
    ct_unit_source(&wishes, &options.source);
    options.ts_period = r->timestamps ? options.ts_period : 0;
    options.seed += number;
    /* The first unit uses the recording's own budget, whose end ends the recording. */
    if (options.budget && row)
        options.budget = &meter->budgets[row];
    options.write = count;
    options.user = r;
    return ct_unit_new(meter->ctx, &options, out);
}

static int add_core(struct ct_volume_meter *meter, unsigned number)
{
    struct ct_unit *first = NULL;
    int rc = make_unit(meter, number, 0, &first);
    for (size_t i = 1; i < meter->volume->row_count && !rc; i++) {
        struct ct_unit *unit;
        rc = make_unit(meter, number, i, &unit);
        if (!rc)
            ct_unit_beside(first, unit);
    }
    if (rc)
        ct_unit_free(first);
    else {
        meter->cores[number] = first;
        meter->core_count += meter->core_count == number;
    }
    return rc;
}

struct ct_unit *ct_volume_meter_unit(struct ct_volume_meter *meter, unsigned number, int *rc)
{
    *rc = CT_OK;
    while (!*rc && meter->core_count <= number)
        *rc = add_core(meter, meter->core_count);
    if (!*rc && !meter->cores[number])
        *rc = add_core(meter, number);
    return *rc ? NULL : meter->cores[number];
}

int ct_volume_meter_end(struct ct_volume_meter *meter, unsigned number)
{
    struct ct_volume *v = meter->volume;
    struct ct_unit *unit = number < meter->core_count ? meter->cores[number] : NULL;
    const int rc = unit ? ct_unit_finish(unit) : CT_OK;
    if (!unit)
        return rc;
    v->instructions += ct_unit_traced(unit);
    v->untraceable += ct_unit_untraceable(unit);
    v->branches += ct_unit_waypoints(unit);
    v->cycles += ct_unit_clock(unit);
    v->cores++;
    ct_unit_free(unit);
    meter->cores[number] = NULL;
    return rc;
}

int ct_volume_meter_finish(struct ct_volume_meter *meter)
{
    int rc = CT_OK;
    for (unsigned i = 0; i < meter->core_count && !rc; i++)
        rc = ct_volume_meter_end(meter, i);
    return rc;
}
