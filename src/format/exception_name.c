/* SPDX-License-Identifier: Apache-2.0 */
#include "format/exception_name.h"

#include <stdbool.h>
#include <stdio.h>

static const char *const a_profile[32] = {
    [0x00] = "PE reset",
    [0x01] = "debug halt",
    [0x02] = "call",
    [0x03] = "trap",
    [0x04] = "system error",
    [0x06] = "inst debug",
    [0x07] = "data debug",
    [0x0a] = "alignment",
    [0x0b] = "inst fault",
    [0x0c] = "data fault",
    [0x0e] = "IRQ",
    [0x0f] = "FIQ",
    [0x18] = "transaction failure",
};

static const char *const m_profile[32] = {
    [0x01] = "PE reset",     [0x02] = "NMI",        [0x03] = "HardFault",   [0x04] = "MemManage",
    [0x05] = "BusFault",     [0x06] = "UsageFault", [0x07] = "SecureFault", [0x0b] = "SVCall",
    [0x0c] = "DebugMonitor", [0x0e] = "PendSV",     [0x0f] = "SysTick",
};

/* four bits in branch address packets of PTM, and of ETMv3 except for the M profile */
static const char *const v7[16] = {
    [0x01] = "debug halt",
    [0x02] = "SMC",
    [0x03] = "HVC",
    [0x04] = "async data abort",
    [0x05] = "ThumbEE check",
    [0x08] = "PE reset",
    [0x09] = "undefined",
    [0x0a] = "SVC",
    [0x0b] = "prefetch abort",
    [0x0c] = "data abort",
    [0x0d] = "generic",
    [0x0e] = "IRQ",
    [0x0f] = "FIQ",
};

static const char *known_name(const struct ct_source *source, unsigned number)
{
    if (source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3)
        return number < 16 && source->arch.profile != CT_PROFILE_M ? v7[number] : NULL;
    if (number >= 32)
        return NULL;
    return source->arch.profile == CT_PROFILE_M || source->protocol == CT_PROTOCOL_ITM ? m_profile[number]
                                                                                       : a_profile[number];
}

/* Names an exception. In the M profile, numbers from 16 on are external interrupts, counted from 0. */
const char *ct_exception_name(const struct ct_source *source, unsigned number, char *buffer, size_t size)
{
    bool etm4 = source->protocol == CT_PROTOCOL_ETM4 || source->protocol == CT_PROTOCOL_ETE;
    bool numbered = (etm4 && source->arch.profile == CT_PROFILE_M) || source->protocol == CT_PROTOCOL_ITM;
    const char *name = known_name(source, number);
    if (name)
        return name;
    if (numbered && number >= 16)
        snprintf(buffer, size, "IRQ%u", number - 16);
    else
        snprintf(buffer, size, "exception 0x%x", number);
    return buffer;
}
