/* SPDX-License-Identifier: Apache-2.0 */
/* The trace units of a perf.data file: its AUXTRACE_INFO record holds their registers, CPU by CPU. */
#include "input/perf.h"

#include "base/bytes.h"

/* Words of metadata before the first CPU: version, PMU type and number of CPUs, snapshot. */
#define INFO_WORDS 3u

/* Indices of a CPU's parameters. */
enum etm3_parameter {
    ETM3_CR,
    ETM3_TRACEIDR,
    ETM3_CCER,
    ETM3_IDR,
    ETM3_PARAMETERS,
};

enum etm4_parameter {
    ETM4_CONFIGR,
    ETM4_TRACEIDR,
    ETM4_IDR0,
    ETM4_IDR1,
    ETM4_IDR2,
    ETM4_IDR8,
    ETM4_AUTHSTATUS,
    ETM4_PARAMETERS, /* number in version 0; ETE has TRCDEVARCH at this index */
};

static uint64_t word(const struct ct_perf_record *r, size_t i)
{
    return ct_load64(r->body + 8 + 8 * i);
}

static uint32_t low(uint64_t x)
{
    return (uint32_t)x;
}

static struct ct_source etm3_source(const uint64_t *parameters)
{
    uint32_t idr = low(parameters[ETM3_IDR]);
    struct ct_source source = {
        .protocol = (idr >> 8 & 0xf) == 3 ? CT_PROTOCOL_PTM : CT_PROTOCOL_ETM3, /* ETMIDR.ETMarchMajor */
        .arch = {.major = 7, .profile = CT_PROFILE_A},
    };
    ct_regs_defaults(&source.regs);
    source.regs.etmcr = low(parameters[ETM3_CR]);
    source.regs.etmtraceidr = low(parameters[ETM3_TRACEIDR]);
    source.regs.etmccer = low(parameters[ETM3_CCER]);
    source.regs.etmidr = idr;
    return source;
}

static struct ct_source etm4_source(const uint64_t *parameters, size_t count, bool ete)
{
    struct ct_source source = {
        .protocol = ete ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
        .arch = {.major = 8, .profile = CT_PROFILE_A, .newest = 1},
    };
    ct_regs_defaults(&source.regs);
    source.regs.configr = low(parameters[ETM4_CONFIGR]);
    source.regs.traceidr = low(parameters[ETM4_TRACEIDR]);
    source.regs.idr0 = low(parameters[ETM4_IDR0]);
    source.regs.idr1 = low(parameters[ETM4_IDR1]);
    source.regs.idr2 = low(parameters[ETM4_IDR2]);
    source.regs.idr8 = low(parameters[ETM4_IDR8]);
    if (ete && count > ETM4_PARAMETERS)
        source.regs.devarch = low(parameters[ETM4_PARAMETERS]);
    return source;
}

/* Reads the CPU whose magic number is word `i`. *used receives the number of its words, 0 when it is
 * truncated or unknown. */
static int take_cpu(struct ct_perf *p, const struct ct_perf_record *r, size_t i, size_t words, size_t *used)
{
    uint64_t parameters[ETM4_PARAMETERS + 2] = {0};
    *used = 0;
    if (words - i < 3)
        return CT_OK;
    uint64_t magic = word(r, i);
    bool etm3 = magic == CT_PERF_MAGIC_ETM3;
    bool ete = magic == CT_PERF_MAGIC_ETE;
    if (!etm3 && !ete && magic != CT_PERF_MAGIC_ETM4)
        return CT_OK;
    size_t head = p->info_version ? 3 : 2;
    uint64_t count = p->info_version ? word(r, i + 2) : etm3 ? ETM3_PARAMETERS : ETM4_PARAMETERS;
    size_t least = etm3 ? ETM3_PARAMETERS : ETM4_PARAMETERS;
    if (count < least || count > words - i - head)
        return CT_OK;
    for (size_t k = 0; k < count && k < sizeof parameters / sizeof *parameters; k++)
        parameters[k] = word(r, i + head + k);
    void *room = NULL;
    int rc = ct_perf_push(p, p->cpus, &p->cpu_count, sizeof *p->cpus, &room);
    if (rc)
        return rc;
    p->cpus = room;
    size_t counter_at = ETM4_PARAMETERS + ete;
    p->cpus[p->cpu_count - 1] = (struct ct_perf_cpu){
        .cpu = low(word(r, i + 1)),
        .source = etm3 ? etm3_source(parameters) : etm4_source(parameters, (size_t)count, ete),
        .virtual_counter = !etm3 && count > counter_at && parameters[counter_at] == 1,
    };
    *used = head + (size_t)count;
    return CT_OK;
}

int ct_perf_take_info(struct ct_perf *p, const struct ct_perf_record *r)
{
    uint32_t kind = r->size >= 8 ? ct_load32(r->body) : 0;
    size_t words = r->size >= 8 ? (r->size - 8) / 8 : 0;
    if (kind != CT_PERF_AUXTRACE_CS_ETM)
        return ct_fail(
            p->opening->ctx, CT_ERR_UNSUPPORTED,
            "%s: its hardware trace is of kind %u, not CoreSight (kind %u), and cannot be decoded; record "
            "with 'perf record -e cs_etm//'",
            p->file.path, kind, CT_PERF_AUXTRACE_CS_ETM);
    if (p->has_info || words < INFO_WORDS)
        return CT_OK; /* each session repeats it */
    p->has_info = true;
    p->info_version = word(r, 0);
    p->pmu = low(word(r, 1) >> 32);
    uint32_t count = low(word(r, 1));
    if (p->info_version > 2)
        ct_log(p->opening->ctx, CT_LOG_NOTE,
               "%s: its metadata has version %llu, but coretap knows 0 to 2; it is read as version 2",
               p->file.path, (unsigned long long)p->info_version);
    int rc = CT_OK;
    size_t used = 0;
    for (size_t i = INFO_WORDS; !rc && i < words && p->cpu_count < CT_ITEMS_MAX; i += used) {
        rc = take_cpu(p, r, i, words, &used);
        if (!rc && !used)
            rc = ct_perf_damage(
                p,
                "the registers of trace unit %zu (of %u) cannot be read; its trace and that of later "
                "units is not decoded",
                p->cpu_count, count);
        if (!used)
            break;
    }
    return rc;
}

/* Sets the trace ID, which AUX_OUTPUT_HW_ID has in bits 7:0 and, with minor version 1 (59:56), the sink in
 * 39:8. */
static void apply_hw_id(struct ct_perf *p, const struct ct_perf_hw_id *id)
{
    for (size_t i = 0; i < p->cpu_count; i++) {
        struct ct_perf_cpu *cpu = &p->cpus[i];
        if (cpu->cpu != id->cpu)
            continue;
        uint64_t given = 0;
        ct_regs_put_id(cpu->source.protocol, id->value & 0x7f, &cpu->source.regs, &given);
        cpu->sink = id->value >> 56 & 0xf ? low(id->value >> 8) : 0;
        cpu->unused = false;
    }
}

int ct_perf_finish_sources(struct ct_perf *p)
{
    /* a bit of the ID itself marks IDs that another record contains */
    for (size_t i = 0; i < p->cpu_count; i++) {
        const struct ct_source_regs *regs = &p->cpus[i].source.regs;
        bool v7 =
            p->cpus[i].source.protocol == CT_PROTOCOL_PTM || p->cpus[i].source.protocol == CT_PROTOCOL_ETM3;
        p->cpus[i].unused = p->hw_id_count && (v7 ? regs->etmtraceidr : regs->traceidr) & CT_PERF_ID_UNUSED;
    }
    for (size_t i = 0; i < p->hw_id_count; i++)
        apply_hw_id(p, &p->hw_ids[i]);
    for (size_t i = 0; i < p->cpu_count; i++) {
        struct ct_perf_cpu *cpu = &p->cpus[i];
        uint8_t id = ct_regs_trace_id(cpu->source.protocol, &cpu->source.regs);
        uint64_t given = 0;
        ct_regs_put_id(cpu->source.protocol, id, &cpu->source.regs, &given);
        cpu->source.trace_id = id;
        cpu->source.name = ct_arena_printf(p->opening->arena, "cpu%u", cpu->cpu);
        cpu->source.core = cpu->source.name;
        if (!cpu->source.name)
            return ct_fail_nomem(p->opening->ctx, p->file.path);
        if (cpu->source.protocol != CT_PROTOCOL_ETM3 && cpu->source.protocol != CT_PROTOCOL_PTM)
            p->clock.known &= cpu->virtual_counter;
    }
    return CT_OK;
}
