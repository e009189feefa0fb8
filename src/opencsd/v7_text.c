/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/v7_text.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "opencsd/fields_text.h"

const char *ct_ocsd_v7_isa_word(ocsd_isa isa)
{
    static const char *const words[] = {
        [ocsd_isa_arm] = "ARM(32)", [ocsd_isa_thumb2] = "Thumb2",   [ocsd_isa_aarch64] = "AArch64",
        [ocsd_isa_tee] = "ThumbEE", [ocsd_isa_jazelle] = "Jazelle",
    };
    return (unsigned)isa < sizeof words / sizeof *words ? words[isa] : "Unknown";
}

const char *ct_ocsd_v7_exception_word(ocsd_armv7_exception exception)
{
    static const char *const words[] = {
        [Excp_Reserved] = "Reserved",
        [Excp_NoException] = "No Exception",
        [Excp_Reset] = "PE Reset",
        [Excp_IRQ] = "IRQ",
        [Excp_FIQ] = "FIQ",
        [Excp_AsyncDAbort] = "Async Data Abort",
        [Excp_DebugHalt] = "Debug Halt",
        [Excp_Jazelle] = "Jazelle",
        [Excp_SVC] = "SVC",
        [Excp_SMC] = "SMC",
        [Excp_Hyp] = "Hyp",
        [Excp_Undef] = "Undefined Instr",
        [Excp_PrefAbort] = "Prefetch Abort",
        [Excp_Generic] = "Generic",
        [Excp_SyncDataAbort] = "Data Fault",
        [Excp_CMUsageFault] = "usage Fault",
        [Excp_CMNMI] = "NMI",
        [Excp_CMDebugMonitor] = "DebugMonitor",
        [Excp_CMMemManage] = "Mem Manage",
        [Excp_CMPendSV] = "PendSV",
        [Excp_CMSysTick] = "SysTick",
        [Excp_CMBusFault] = "BusFault",
        [Excp_CMHardFault] = "HardFault",
    };
    return (unsigned)exception < sizeof words / sizeof *words && words[exception] ? words[exception]
                                                                                  : "Unknown";
}

void ct_ocsd_v7_add_address(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr)
{
    ct_ocsd_fields_address(line, addr);
    if (addr->pkt_bits)
        ct_ocsd_fields_address_bits(line, addr);
}

void ct_ocsd_v7_add_timestamp(struct ct_ocsd_line *line, uint64_t timestamp, unsigned bits)
{
    ct_ocsd_line_add(line, "TS=0x%016" PRIX64, timestamp);
    if (bits)
        ct_ocsd_line_add(line, " ~[0x%" PRIX64 "]", timestamp & ct_mask64(bits));
    ct_ocsd_line_add(line, "(%" PRIu64 "); ", timestamp);
}

void ct_ocsd_v7_add_sync(struct ct_ocsd_line *line, ocsd_iSync_reason reason, const ocsd_pkt_vaddr *addr)
{
    static const char *const reasons[] = {"Periodic", "Trace Enable", "Restart Overflow", "Debug Exit"};
    ct_ocsd_line_add(line, "(%s); ", reasons[reason & 3]);
    if (addr)
        ct_ocsd_line_add(line, "Addr=0x%08x; ", (uint32_t)addr->val);
}
