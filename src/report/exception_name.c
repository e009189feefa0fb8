#include "report/exception_name.h"

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

/* M profile: numbers from 16 on are external interrupts, counted from 0. */
const char *ct_exception_name(const struct ct_arch *arch, unsigned number, char *buffer, size_t size)
{
    bool m = arch->profile == CT_PROFILE_M;
    if (m && number >= 16) {
        snprintf(buffer, size, "IRQ%u", number - 16);
        return buffer;
    }
    const char *name = number < 32 ? (m ? m_profile : a_profile)[number] : NULL;
    if (name)
        return name;
    snprintf(buffer, size, "exception 0x%x", number);
    return buffer;
}
