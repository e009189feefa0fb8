/* SPDX-License-Identifier: Apache-2.0 */
/* Decides up to which level a source must be decoded for its events. */
#include "coretap/decode.h"

#include <stdbool.h>

static bool has_program(const struct ct_buffer *buffer)
{
    const struct ct_maps *maps = buffer->maps;
    bool has = buffer->image_count > 0;
    for (size_t i = 0; maps && !has && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            has |= maps->processes[i].generations[k].image_count > 0;
    return has;
}

enum ct_level ct_events_level(const struct ct_buffer *buffer, const struct ct_source *source,
                              enum ct_events_from from)
{
    if (!buffer || !source)
        return CT_LEVEL_FRAME;
    const bool along = from == CT_EVENTS_FROM_PROGRAM || (from == CT_EVENTS_FROM_AUTO && has_program(buffer));
    return along && !ct_protocol_is_software(source->protocol) ? CT_LEVEL_FLOW : CT_LEVEL_ELEMENT;
}

/* Returns whether branch broadcast is on: TRCCONFIGR.BB in ETMv4, bit 8 of ETMCR before that. */
int ct_source_has_branches(const struct ct_source *source)
{
    if (!source)
        return 0;
    if (source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3)
        return source->regs.etmcr >> 8 & 1;
    return ct_protocol_is_software(source->protocol) || source->regs.configr >> 3 & 1;
}
