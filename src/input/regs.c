/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of trace sources: their names in .ini files, their defaults, and which protocols need them
 * (docs/formats.md). */
#include "input/reader.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FOR(protocol) (1u << (protocol))
#define ETM4_ETE      (FOR(CT_PROTOCOL_ETM4) | FOR(CT_PROTOCOL_ETE))
#define ETM3_PTM      (FOR(CT_PROTOCOL_ETM3) | FOR(CT_PROTOCOL_PTM))
#define AT(member)    offsetof(struct ct_source_regs, member)

static const struct reg {
    const char *name;
    size_t at;       /* offset in struct ct_source_regs */
    uint32_t needed; /* protocols that require it: bit per enum ct_protocol */
    uint32_t value;  /* default for the others */
} regs_table[] = {
    {"TRCCONFIGR", AT(configr), ETM4_ETE, 0},
    {"TRCTRACEIDR", AT(traceidr), ETM4_ETE, 0},
    {"TRCIDR0", AT(idr0), ETM4_ETE, 0},
    {"TRCIDR1", AT(idr1), 0, 0x4100f403},
    {"TRCIDR2", AT(idr2), ETM4_ETE, 0},
    {"TRCIDR8", AT(idr8), 0, 0},
    {"TRCIDR9", AT(idr9), 0, 0},
    {"TRCIDR10", AT(idr10), 0, 0},
    {"TRCIDR11", AT(idr11), 0, 0},
    {"TRCIDR12", AT(idr12), 0, 0},
    {"TRCIDR13", AT(idr13), 0, 0},
    {"TRCDEVARCH", AT(devarch), 0, 0x47705a13},
    {"TRCEVENTCTL0R", AT(eventctl0r), 0, 0},
    {"TRCEVENTCTL1R", AT(eventctl1r), 0, 0},
    {"TRCEXTINSELR", AT(extinselr[0]), 0, 0},
    {"TRCEXTINSELR0", AT(extinselr[0]), 0, 0},
    {"TRCEXTINSELR1", AT(extinselr[1]), 0, 0},
    {"TRCEXTINSELR2", AT(extinselr[2]), 0, 0},
    {"TRCEXTINSELR3", AT(extinselr[3]), 0, 0},
    {"TRCRSCTLR2", AT(rsctlr[2]), 0, 0},
    {"TRCRSCTLR3", AT(rsctlr[3]), 0, 0},
    {"TRCRSCTLR4", AT(rsctlr[4]), 0, 0},
    {"TRCRSCTLR5", AT(rsctlr[5]), 0, 0},
    {"TRCRSCTLR6", AT(rsctlr[6]), 0, 0},
    {"TRCRSCTLR7", AT(rsctlr[7]), 0, 0},
    {"TRCRSCTLR8", AT(rsctlr[8]), 0, 0},
    {"TRCRSCTLR9", AT(rsctlr[9]), 0, 0},
    {"TRCRSCTLR10", AT(rsctlr[10]), 0, 0},
    {"TRCRSCTLR11", AT(rsctlr[11]), 0, 0},
    {"TRCRSCTLR12", AT(rsctlr[12]), 0, 0},
    {"TRCRSCTLR13", AT(rsctlr[13]), 0, 0},
    {"TRCRSCTLR14", AT(rsctlr[14]), 0, 0},
    {"TRCRSCTLR15", AT(rsctlr[15]), 0, 0},
    {"TRCRSCTLR16", AT(rsctlr[16]), 0, 0},
    {"TRCRSCTLR17", AT(rsctlr[17]), 0, 0},
    {"TRCRSCTLR18", AT(rsctlr[18]), 0, 0},
    {"TRCRSCTLR19", AT(rsctlr[19]), 0, 0},
    {"TRCRSCTLR20", AT(rsctlr[20]), 0, 0},
    {"TRCRSCTLR21", AT(rsctlr[21]), 0, 0},
    {"TRCRSCTLR22", AT(rsctlr[22]), 0, 0},
    {"TRCRSCTLR23", AT(rsctlr[23]), 0, 0},
    {"TRCRSCTLR24", AT(rsctlr[24]), 0, 0},
    {"TRCRSCTLR25", AT(rsctlr[25]), 0, 0},
    {"TRCRSCTLR26", AT(rsctlr[26]), 0, 0},
    {"TRCRSCTLR27", AT(rsctlr[27]), 0, 0},
    {"TRCRSCTLR28", AT(rsctlr[28]), 0, 0},
    {"TRCRSCTLR29", AT(rsctlr[29]), 0, 0},
    {"TRCRSCTLR30", AT(rsctlr[30]), 0, 0},
    {"TRCRSCTLR31", AT(rsctlr[31]), 0, 0},
    {"ETMCR", AT(etmcr), ETM3_PTM, 0},
    {"ETMIDR", AT(etmidr), ETM3_PTM, 0},
    {"ETMCCER", AT(etmccer), ETM3_PTM, 0},
    {"ETMTRACEIDR", AT(etmtraceidr), ETM3_PTM, 0},
    {"STMTCSR", AT(stmtcsr), FOR(CT_PROTOCOL_STM), 0},
    {"ITMTCR", AT(itmtcr), FOR(CT_PROTOCOL_ITM), 0},
    {"DWT_COMP0", AT(dwt_comp[0]), 0, 0},
    {"DWT_COMP1", AT(dwt_comp[1]), 0, 0},
    {"DWT_COMP2", AT(dwt_comp[2]), 0, 0},
    {"DWT_COMP3", AT(dwt_comp[3]), 0, 0},
};

#define REG_COUNT (sizeof regs_table / sizeof *regs_table)

_Static_assert(REG_COUNT <= 64, "a bit for each in what is given");

static uint32_t *slot(struct ct_source_regs *regs, const struct reg *reg)
{
    return (uint32_t *)(void *)((char *)regs + reg->at);
}

void ct_regs_defaults(struct ct_source_regs *regs)
{
    for (size_t i = 0; i < REG_COUNT; i++)
        *slot(regs, &regs_table[i]) = regs_table[i].value;
}

static const struct reg *find(const char *key)
{
    size_t size = strcspn(key, "(");
    while (size && (key[size - 1] == ' ' || key[size - 1] == '\t'))
        size--;
    for (size_t i = 0; i < REG_COUNT; i++)
        if (strlen(regs_table[i].name) == size && strncasecmp(regs_table[i].name, key, size) == 0)
            return &regs_table[i];
    return NULL;
}

int ct_regs_set(const struct ct_ini_item *item, struct ct_source_regs *regs, uint64_t *given, int *known)
{
    const struct reg *reg = find(item->key);
    *known = reg != NULL;
    if (!reg)
        return CT_OK;
    uint64_t value;
    int status = ct_ini_number(item, 0xffffffff, &value);
    if (status)
        return status;
    const uint64_t bit = UINT64_C(1) << (reg - regs_table);
    if (*given & bit && *slot(regs, reg) != value)
        return ct_ini_fail(item, "the register already has the value 0x%x; keep the correct line",
                           (unsigned)*slot(regs, reg));
    *given |= bit;
    *slot(regs, reg) = (uint32_t)value;
    return CT_OK;
}

int ct_regs_check(struct ct_ctx *ctx, enum ct_protocol protocol, uint64_t given, const char *path,
                  const char *name)
{
    for (size_t i = 0; i < REG_COUNT; i++)
        if (regs_table[i].needed & FOR(protocol) && !(given >> i & 1))
            return ct_fail(ctx, CT_ERR_CONFIG,
                           "%.300s: source %.100s: register %s is missing, and %s cannot be decoded without "
                           "it; add the line %s=VALUE with the value of the register during the capture",
                           path, name, regs_table[i].name, ct_protocol_name(protocol), regs_table[i].name);
    return CT_OK;
}

/* Where a protocol has its trace ID: seven bits of one register. */
struct id_field {
    size_t at;
    unsigned shift;
};

static struct id_field id_field(enum ct_protocol protocol)
{
    switch (protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        return (struct id_field){AT(traceidr), 0};
    case CT_PROTOCOL_ETM3:
    case CT_PROTOCOL_PTM:
        return (struct id_field){AT(etmtraceidr), 0};
    case CT_PROTOCOL_STM:
        return (struct id_field){AT(stmtcsr), 16};
    default:
        return (struct id_field){AT(itmtcr), 16};
    }
}

static unsigned index_of(size_t at)
{
    unsigned i = 0;
    while (regs_table[i].at != at)
        i++;
    return i;
}

uint8_t ct_regs_trace_id(enum ct_protocol protocol, const struct ct_source_regs *regs)
{
    struct id_field field = id_field(protocol);
    const uint32_t *reg = (const uint32_t *)(const void *)((const char *)regs + field.at);
    return *reg >> field.shift & 0x7f;
}

int ct_regs_id_given(enum ct_protocol protocol, uint64_t given)
{
    return (int)(given >> index_of(id_field(protocol).at) & 1);
}

void ct_regs_put_id(enum ct_protocol protocol, uint8_t id, struct ct_source_regs *regs, uint64_t *given)
{
    struct id_field field = id_field(protocol);
    unsigned i = index_of(field.at);
    *slot(regs, &regs_table[i]) = (uint32_t)id << field.shift;
    *given |= UINT64_C(1) << i;
}
