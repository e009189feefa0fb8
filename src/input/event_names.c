/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the events of trace units: from the capture, or of the PMU events that registers select. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "input/reader.h"

#define MOST_NAME 100 /* characters of a name */

/* Architectural PMU event numbers (DDI 0487, D13.11). */
static const struct {
    uint16_t number;
    const char *name;
} pmu_events[] = {
    {0x0000, "SW_INCR"},
    {0x0001, "L1I_CACHE_REFILL"},
    {0x0002, "L1I_TLB_REFILL"},
    {0x0003, "L1D_CACHE_REFILL"},
    {0x0004, "L1D_CACHE"},
    {0x0005, "L1D_TLB_REFILL"},
    {0x0006, "LD_RETIRED"},
    {0x0007, "ST_RETIRED"},
    {0x0008, "INST_RETIRED"},
    {0x0009, "EXC_TAKEN"},
    {0x000a, "EXC_RETURN"},
    {0x000b, "CID_WRITE_RETIRED"},
    {0x000c, "PC_WRITE_RETIRED"},
    {0x000d, "BR_IMMED_RETIRED"},
    {0x000e, "BR_RETURN_RETIRED"},
    {0x000f, "UNALIGNED_LDST_RETIRED"},
    {0x0010, "BR_MIS_PRED"},
    {0x0011, "CPU_CYCLES"},
    {0x0012, "BR_PRED"},
    {0x0013, "MEM_ACCESS"},
    {0x0014, "L1I_CACHE"},
    {0x0015, "L1D_CACHE_WB"},
    {0x0016, "L2D_CACHE"},
    {0x0017, "L2D_CACHE_REFILL"},
    {0x0018, "L2D_CACHE_WB"},
    {0x0019, "BUS_ACCESS"},
    {0x001a, "MEMORY_ERROR"},
    {0x001b, "INST_SPEC"},
    {0x001c, "TTBR_WRITE_RETIRED"},
    {0x001d, "BUS_CYCLES"},
    {0x001e, "CHAIN"},
    {0x001f, "L1D_CACHE_ALLOCATE"},
    {0x0020, "L2D_CACHE_ALLOCATE"},
    {0x0021, "BR_RETIRED"},
    {0x0022, "BR_MIS_PRED_RETIRED"},
    {0x0023, "STALL_FRONTEND"},
    {0x0024, "STALL_BACKEND"},
    {0x0025, "L1D_TLB"},
    {0x0026, "L1I_TLB"},
    {0x0027, "L2I_CACHE"},
    {0x0028, "L2I_CACHE_REFILL"},
    {0x0029, "L3D_CACHE_ALLOCATE"},
    {0x002a, "L3D_CACHE_REFILL"},
    {0x002b, "L3D_CACHE"},
    {0x002c, "L3D_CACHE_WB"},
    {0x002d, "L2D_TLB_REFILL"},
    {0x002e, "L2I_TLB_REFILL"},
    {0x002f, "L2D_TLB"},
    {0x0030, "L2I_TLB"},
    {0x0031, "REMOTE_ACCESS"},
    {0x0032, "LL_CACHE"},
    {0x0033, "LL_CACHE_MISS"},
    {0x0034, "DTLB_WALK"},
    {0x0035, "ITLB_WALK"},
    {0x0036, "LL_CACHE_RD"},
    {0x0037, "LL_CACHE_MISS_RD"},
    {0x0038, "REMOTE_ACCESS_RD"},
    {0x0039, "L1D_CACHE_LMISS_RD"},
    {0x003a, "OP_RETIRED"},
    {0x003b, "OP_SPEC"},
    {0x003c, "STALL"},
    {0x003d, "STALL_SLOT_BACKEND"},
    {0x003e, "STALL_SLOT_FRONTEND"},
    {0x003f, "STALL_SLOT"},
    {0x0040, "L1D_CACHE_RD"},
    {0x0041, "L1D_CACHE_WR"},
    {0x0042, "L1D_CACHE_REFILL_RD"},
    {0x0043, "L1D_CACHE_REFILL_WR"},
    {0x0044, "L1D_CACHE_REFILL_INNER"},
    {0x0045, "L1D_CACHE_REFILL_OUTER"},
    {0x0046, "L1D_CACHE_WB_VICTIM"},
    {0x0047, "L1D_CACHE_WB_CLEAN"},
    {0x0048, "L1D_CACHE_INVAL"},
    {0x004c, "L1D_TLB_REFILL_RD"},
    {0x004d, "L1D_TLB_REFILL_WR"},
    {0x004e, "L1D_TLB_RD"},
    {0x004f, "L1D_TLB_WR"},
    {0x0050, "L2D_CACHE_RD"},
    {0x0051, "L2D_CACHE_WR"},
    {0x0052, "L2D_CACHE_REFILL_RD"},
    {0x0053, "L2D_CACHE_REFILL_WR"},
    {0x0056, "L2D_CACHE_WB_VICTIM"},
    {0x0057, "L2D_CACHE_WB_CLEAN"},
    {0x0058, "L2D_CACHE_INVAL"},
    {0x005c, "L2D_TLB_REFILL_RD"},
    {0x005d, "L2D_TLB_REFILL_WR"},
    {0x005e, "L2D_TLB_RD"},
    {0x005f, "L2D_TLB_WR"},
    {0x0060, "BUS_ACCESS_RD"},
    {0x0061, "BUS_ACCESS_WR"},
    {0x0062, "BUS_ACCESS_SHARED"},
    {0x0063, "BUS_ACCESS_NOT_SHARED"},
    {0x0064, "BUS_ACCESS_NORMAL"},
    {0x0065, "BUS_ACCESS_PERIPH"},
    {0x0066, "MEM_ACCESS_RD"},
    {0x0067, "MEM_ACCESS_WR"},
    {0x0068, "UNALIGNED_LD_SPEC"},
    {0x0069, "UNALIGNED_ST_SPEC"},
    {0x006a, "UNALIGNED_LDST_SPEC"},
    {0x006c, "LDREX_SPEC"},
    {0x006d, "STREX_PASS_SPEC"},
    {0x006e, "STREX_FAIL_SPEC"},
    {0x006f, "STREX_SPEC"},
    {0x0070, "LD_SPEC"},
    {0x0071, "ST_SPEC"},
    {0x0072, "LDST_SPEC"},
    {0x0073, "DP_SPEC"},
    {0x0074, "ASE_SPEC"},
    {0x0075, "VFP_SPEC"},
    {0x0076, "PC_WRITE_SPEC"},
    {0x0077, "CRYPTO_SPEC"},
    {0x0078, "BR_IMMED_SPEC"},
    {0x0079, "BR_RETURN_SPEC"},
    {0x007a, "BR_INDIRECT_SPEC"},
    {0x007c, "ISB_SPEC"},
    {0x007d, "DSB_SPEC"},
    {0x007e, "DMB_SPEC"},
    {0x0081, "EXC_UNDEF"},
    {0x0082, "EXC_SVC"},
    {0x0083, "EXC_PABORT"},
    {0x0084, "EXC_DABORT"},
    {0x0086, "EXC_IRQ"},
    {0x0087, "EXC_FIQ"},
    {0x0088, "EXC_SMC"},
    {0x008a, "EXC_HVC"},
    {0x008b, "EXC_TRAP_PABORT"},
    {0x008c, "EXC_TRAP_DABORT"},
    {0x008d, "EXC_TRAP_OTHER"},
    {0x008e, "EXC_TRAP_IRQ"},
    {0x008f, "EXC_TRAP_FIQ"},
    {0x0090, "RC_LD_SPEC"},
    {0x0091, "RC_ST_SPEC"},
    {0x00a0, "L3D_CACHE_RD"},
    {0x00a1, "L3D_CACHE_WR"},
    {0x00a2, "L3D_CACHE_REFILL_RD"},
    {0x00a3, "L3D_CACHE_REFILL_WR"},
    {0x00a6, "L3D_CACHE_WB_VICTIM"},
    {0x00a7, "L3D_CACHE_WB_CLEAN"},
    {0x00a8, "L3D_CACHE_INVAL"},
    {0x4000, "SAMPLE_POP"},
    {0x4001, "SAMPLE_FEED"},
    {0x4002, "SAMPLE_FILTRATE"},
    {0x4003, "SAMPLE_COLLISION"},
    {0x4004, "CNT_CYCLES"},
    {0x4005, "STALL_BACKEND_MEM"},
    {0x4006, "L1I_CACHE_LMISS"},
    {0x4009, "L2D_CACHE_LMISS_RD"},
    {0x400a, "L2I_CACHE_LMISS"},
    {0x400b, "L3D_CACHE_LMISS_RD"},
    {0x400c, "TRB_WRAP"},
    {0x400e, "TRB_TRIG"},
    {0x4010, "TRCEXTOUT0"},
    {0x4011, "TRCEXTOUT1"},
    {0x4012, "TRCEXTOUT2"},
    {0x4013, "TRCEXTOUT3"},
    {0x4018, "CTI_TRIGOUT4"},
    {0x4019, "CTI_TRIGOUT5"},
    {0x401a, "CTI_TRIGOUT6"},
    {0x401b, "CTI_TRIGOUT7"},
    {0x4020, "LDST_ALIGN_LAT"},
    {0x4021, "LD_ALIGN_LAT"},
    {0x4022, "ST_ALIGN_LAT"},
    {0x4024, "MEM_ACCESS_CHECKED"},
    {0x4025, "MEM_ACCESS_CHECKED_RD"},
    {0x4026, "MEM_ACCESS_CHECKED_WR"},
};

const char *ct_pmu_event_name(uint32_t number)
{
    for (size_t i = 0; i < sizeof pmu_events / sizeof *pmu_events; i++)
        if (pmu_events[i].number == number)
            return pmu_events[i].name;
    return NULL;
}

/* Finds the PMU event behind an ETE's event. TRCEVENTCTL0R must select a resource that is one external input,
 * and TRCEXTINSELRn selects the event there. Returns false otherwise (IHI 0064H 7.3; DDI 0487, D24). */
static bool selected_event(const struct ct_source_regs *r, unsigned event, uint32_t *number)
{
    const uint32_t control = r->eventctl0r >> 8 * event & 0xff;
    const unsigned resource = control & 0x1f;
    if (!(r->eventctl1r >> event & 1) || control & 0x80 || resource < 2)
        return false;
    const uint32_t selector = r->rsctlr[resource];
    const uint32_t inputs = selector & 0xffff;
    if (selector >> 16 & 0xf || selector >> 20 & 1 || inputs & (inputs - 1) || !(inputs & 0xf))
        return false;
    *number = r->extinselr[__builtin_ctz(inputs)] & 0xffff;
    return true;
}

int ct_source_name_events(struct ct_opening *opening, struct ct_source *source)
{
    uint32_t number;
    for (unsigned i = 0; source->protocol == CT_PROTOCOL_ETE && i < CT_SOURCE_EVENTS; i++) {
        if (source->events[i] || !selected_event(&source->regs, i, &number))
            continue;
        const char *name = ct_pmu_event_name(number);
        source->events[i] = name ? name : ct_arena_printf(opening->arena, "PMU_0x%04x", (unsigned)number);
        if (!source->events[i])
            return ct_fail_nomem(opening->ctx, source->name);
    }
    return CT_OK;
}

int ct_event_set(struct ct_opening *opening, const struct ct_ini_item *item,
                 const char *events[CT_SOURCE_EVENTS])
{
    uint64_t number;
    const int rc = ct_ini_number(item, CT_SOURCE_EVENTS - 1, &number);
    if (rc)
        return rc;
    for (const char *c = item->key; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
            return ct_ini_fail(item, "the name of an event may contain only letters, digits, _, . and -");
    if (isdigit((unsigned char)item->key[0]) || strcmp(item->key, "trigger") == 0 ||
        strlen(item->key) > MOST_NAME)
        return ct_ini_fail(item,
                           "the name of an event must not begin with a digit, be longer than 100 characters, "
                           "or be 'trigger'");
    for (unsigned i = 0; i < CT_SOURCE_EVENTS; i++)
        if (events[i] && (i == number || strcmp(events[i], item->key) == 0))
            return ct_ini_fail(item,
                               "event %u already has the name %.100s; each event and each name may "
                               "appear only once; keep the correct line",
                               i, events[i]);
    events[number] = ct_arena_strdup(opening->arena, item->key);
    return events[number] ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}
