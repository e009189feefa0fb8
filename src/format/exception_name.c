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

/* ETMv4 has these between IRQ7 and IRQ8. */
static const char *const m_profile_etm4[32] = {
    [0x18] = "debug halt",
    [0x19] = "lazy FP push",
    [0x1a] = "lockup",
};

/* Numbers of interrupts of the M profile: those of the processor, and from IRQ8 on those of ETMv4
 * (IHI 0064H, table 6-15). */
enum {
    FIRST_IRQ = 16,
    FIRST_ETM4_IRQ = 0x208,
    ETM4_IRQS = 0x200,
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

/* Names an exception. */
const char *ct_exception_name(const struct ct_source *source, unsigned number, char *buffer, size_t size)
{
    const bool is_etm4 = source->protocol == CT_PROTOCOL_ETM4 && source->arch.profile == CT_PROFILE_M;
    const char *name = known_name(source, number);
    if (!name && is_etm4 && number < 32)
        name = m_profile_etm4[number];
    if (name)
        return name;
    if (is_etm4 && number >= FIRST_ETM4_IRQ)
        snprintf(buffer, size, "IRQ%u", number - ETM4_IRQS);
    else if (number >= FIRST_IRQ && (source->protocol == CT_PROTOCOL_ITM || (is_etm4 && number < 24)))
        snprintf(buffer, size, "IRQ%u", number - FIRST_IRQ);
    else
        snprintf(buffer, size, "exception 0x%x", number);
    return buffer;
}
