/* SPDX-License-Identifier: Apache-2.0 */
/* The names of framings, protocols and memory spaces in files. */
#include "input/reader.h"

#include <string.h>
#include <strings.h>

static const char *const framing_names[] = {
    [CT_FRAMING_AUTO] = "auto", [CT_FRAMING_NONE] = "none",       [CT_FRAMING_FRAMES] = "frames",
    [CT_FRAMING_TPIU] = "tpiu", [CT_FRAMING_DSTREAM] = "dstream",
};

const char *ct_framing_name(enum ct_framing framing)
{
    size_t i = (size_t)framing;
    return i < sizeof framing_names / sizeof *framing_names ? framing_names[i] : "unknown";
}

enum ct_protocol ct_protocol_by_type(const char *type)
{
    static const struct {
        const char *type; /* up to the first dot */
        enum ct_protocol protocol;
    } types[] = {
        {"ETM4", CT_PROTOCOL_ETM4}, {"ETMV4", CT_PROTOCOL_ETM4}, {"ETMV4I", CT_PROTOCOL_ETM4},
        {"ETE", CT_PROTOCOL_ETE},   {"ETM3", CT_PROTOCOL_ETM3},  {"ETMV3", CT_PROTOCOL_ETM3},
        {"PTM1", CT_PROTOCOL_PTM},  {"PFT1", CT_PROTOCOL_PTM},   {"PTM", CT_PROTOCOL_PTM},
        {"PFT", CT_PROTOCOL_PTM},   {"STM", CT_PROTOCOL_STM},    {"ITM", CT_PROTOCOL_ITM},
    };
    size_t size = strcspn(type, ".");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].type) == size && strncasecmp(types[i].type, type, size) == 0)
            return types[i].protocol;
    return CT_PROTOCOL_NONE;
}

uint32_t ct_space_by_name(const char *name)
{
    static const struct {
        const char *name;
        uint32_t space;
    } spaces[] = {
        {"EL1S", CT_SPACE_EL1S}, {"SP", CT_SPACE_EL1S},   {"EL1N", CT_SPACE_EL1N}, {"P", CT_SPACE_EL1N},
        {"NP", CT_SPACE_EL1N},   {"EL1R", CT_SPACE_EL1R}, {"EL2S", CT_SPACE_EL2S}, {"EL2", CT_SPACE_EL2N},
        {"EL2N", CT_SPACE_EL2N}, {"H", CT_SPACE_EL2N},    {"EL2R", CT_SPACE_EL2R}, {"EL3", CT_SPACE_EL3},
        {"ROOT", CT_SPACE_ROOT}, {"S", CT_SPACE_ANY_S},   {"N", CT_SPACE_ANY_NS},  {"R", CT_SPACE_ANY_R},
        {"ANY", CT_SPACE_ANY},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcasecmp(spaces[i].name, name) == 0)
            return spaces[i].space;
    return 0;
}
