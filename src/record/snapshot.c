/* SPDX-License-Identifier: Apache-2.0 */
#include "record/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/printable.h"
#include "record/snapshot_file.h"
#include "record/symbol_map.h"

#define PAGE CT_CODE_PAGE

int ct_snapshot_create(struct ct_ctx *ctx, struct ct_snapshot_file *file, const struct ct_snapshot *s,
                       const char *name)
{
    file->ctx = ctx;
    snprintf(file->path, sizeof file->path, "%s/%s%s", s->dir, s->part, name);
    file->out = fopen(file->path, "w");
    return file->out ? CT_OK
                     : ct_fail(ctx, CT_ERR_IO, "%s: cannot be created: %s; the capture is incomplete",
                               file->path, strerror(errno));
}

int ct_snapshot_finish(struct ct_snapshot_file *file)
{
    const bool bad = ferror(file->out);
    if (!fclose(file->out) && !bad)
        return CT_OK;
    return ct_fail(file->ctx, CT_ERR_IO, "%s: cannot be written: %s; the capture is incomplete", file->path,
                   strerror(errno));
}

/* ---- unchanging memory ---- */

static void region_name(char name[40], uint64_t addr)
{
    snprintf(name, 40, "mem_%" PRIx64 ".bin", addr);
}

static bool follows(const struct ct_code_place *place, const struct ct_code_place *next)
{
    return next->addr == place->addr + PAGE;
}

/* Counts the adjacent, unchanging places from `first` on. */
static size_t region_count(const struct ct_snapshot_memory *m, size_t first)
{
    size_t n = 1;
    while (first + n < m->count && !m->changes[first + n] &&
           follows(m->places[first + n - 1], m->places[first + n]))
        n++;
    return n;
}

/* Returns the number of bytes to write behind a region: none before an adjacent one. */
static size_t region_tail(const struct ct_snapshot_memory *m, size_t last)
{
    return last + 1 < m->count && follows(m->places[last], m->places[last + 1]) ? 0 : CT_SNAPSHOT_TAIL;
}

static int write_region(struct ct_ctx *ctx, const struct ct_snapshot *s, const struct ct_snapshot_memory *m,
                        size_t first, size_t count)
{
    char name[40];
    struct ct_snapshot_file file;
    region_name(name, m->places[first]->addr);
    const int status = ct_snapshot_create(ctx, &file, s, name);
    if (status)
        return status;
    for (size_t i = first; i < first + count; i++) {
        const uint32_t version = ct_states_version(s->states, 0, m->places[i]);
        fwrite(ct_code_version(m->places[i], version)->bytes, 1, PAGE, file.out);
    }
    fwrite("\0\0\0", 1, region_tail(m, first + count - 1), file.out);
    return ct_snapshot_finish(&file);
}

static int write_memory(struct ct_ctx *ctx, const struct ct_snapshot *s, const struct ct_snapshot_memory *m)
{
    int status = CT_OK;
    for (size_t i = 0, n; i < m->count && !status; i += n) {
        n = m->changes[i] ? 1 : region_count(m, i);
        if (!m->changes[i])
            status = write_region(ctx, s, m, i, n);
    }
    return status;
}

static int write_core(struct ct_ctx *ctx, const struct ct_snapshot *s, unsigned number,
                      const struct ct_snapshot_memory *m)
{
    char name[40];
    struct ct_snapshot_file file;
    snprintf(name, sizeof name, "cpu_%u.ini", number);
    const int status = ct_snapshot_create(ctx, &file, s, name);
    if (status)
        return status;
    fprintf(file.out, "[device]\nname=cpu_%u\nclass=core\ntype=%s\n", number, s->model);
    for (size_t i = 0, n, k = 1; i < m->count; i += n) {
        n = m->changes[i] ? 1 : region_count(m, i);
        if (m->changes[i])
            continue;
        region_name(name, m->places[i]->addr);
        fprintf(file.out, "\n[dump%zu]\nfile=%s%s\naddress=0x%" PRIx64 "\nlength=0x%" PRIx64 "\n", k++,
                s->part, name, m->places[i]->addr, n * PAGE + region_tail(m, i + n - 1));
    }
    return ct_snapshot_finish(&file);
}

/* ---- devices ---- */

static void write_regs(FILE *out, const struct ct_source *source)
{
    const struct ct_source_regs *r = &source->regs;
    if (source->protocol == CT_PROTOCOL_PTM) {
        fprintf(
            out,
            "ETMCR(0x000)=0x%08x\nETMCCER(0x07A)=0x%08x\nETMIDR(0x079)=0x%08x\nETMTRACEIDR(0x080)=0x%08x\n",
            r->etmcr, r->etmccer, r->etmidr, r->etmtraceidr);
        return;
    }
    fprintf(out,
            "TRCCONFIGR(0x004)=0x%08x\nTRCTRACEIDR(0x010)=0x%08x\nTRCIDR0(0x078)=0x%08x\n"
            "TRCIDR1(0x079)=0x%08x\nTRCIDR2(0x07A)=0x%08x\nTRCIDR8(0x060)=0x%08x\n",
            r->configr, r->traceidr, r->idr0, r->idr1, r->idr2, r->idr8);
    if (source->protocol == CT_PROTOCOL_ETE)
        fprintf(out, "TRCDEVARCH=0x%08x\n", r->devarch);
}

static const char *type_of(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_PTM   ? "PTM1.1"
           : source->protocol == CT_PROTOCOL_ETE ? "ETE"
                                                 : "ETM4";
}

static int write_source(struct ct_ctx *ctx, const struct ct_snapshot *s, const struct ct_snapshot_core *core)
{
    char name[40];
    struct ct_snapshot_file file;
    snprintf(name, sizeof name, "device_%u.ini", core->number);
    const int status = ct_snapshot_create(ctx, &file, s, name);
    if (status)
        return status;
    fprintf(file.out, "[device]\nname=ETM_%u\nclass=trace_source\ntype=%s\n\n[regs]\n", core->number,
            type_of(core->source));
    write_regs(file.out, core->source);
    return ct_snapshot_finish(&file);
}

static int write_software(struct ct_ctx *ctx, const struct ct_snapshot *s, const struct ct_source *source)
{
    struct ct_snapshot_file file;
    char name[40];
    snprintf(name, sizeof name, "device_%s.ini", source->name);
    const int status = ct_snapshot_create(ctx, &file, s, name);
    if (status)
        return status;
    fprintf(file.out, "[device]\nname=%s\nclass=trace_source\ntype=%s\n\n[regs]\n", source->name,
            source->name);
    if (source->protocol == CT_PROTOCOL_STM)
        fprintf(file.out, "STMTCSR(0x3A0)=0x%08x\n", source->regs.stmtcsr);
    else
        fprintf(file.out, "ITMTCR(0xE80)=0x%08x\n", source->regs.itmtcr);
    for (unsigned i = 0; i < 4; i++)
        if (source->regs.dwt_comp[i])
            fprintf(file.out, "DWT_COMP%u=0x%08x\n", i, source->regs.dwt_comp[i]);
    return ct_snapshot_finish(&file);
}

static void write_program(FILE *out, const struct ct_snapshot_program *program, size_t number)
{
    if (number)
        fprintf(out, "\n[program%zu]", number);
    else
        fprintf(out, "\n[program]");
    /* a line break in the path would end the line, so it is escaped, and the build id finds the program */
    fputs("\nelf=", out);
    ct_put_printable(out, program->path);
    fprintf(out, "\nbias=0x%" PRIx64 "\n", program->bias);
    if (*program->build_id)
        fprintf(out, "build_id=%s\n", program->build_id);
}

static int write_index(struct ct_ctx *ctx, const struct ct_snapshot *s)
{
    struct ct_snapshot_file file;
    struct ct_snapshot whole = *s;
    char path[4096];
    whole.part = "";
    const int status = ct_snapshot_create(ctx, &file, &whole, "snapshot.ini.new");
    if (status)
        return status;
    fputs("[snapshot]\nversion=1.0\ndescription=", file.out);
    ct_put_printable(file.out, s->description);
    fputs("\n\n[device_list]\n", file.out);
    for (size_t i = 0; i < s->core_count; i++)
        fprintf(file.out, "device%zu=%scpu_%u.ini\ndevice%zu=%sdevice_%u.ini\n", 2 * i, s->part,
                s->cores[i].number, 2 * i + 1, s->part, s->cores[i].number);
    for (size_t i = 0; i < s->software_count; i++)
        fprintf(file.out, "device%zu=%sdevice_%s.ini\n", 2 * s->core_count + i, s->part,
                s->software[i].source->name);
    fprintf(file.out, "\n[trace]\nmetadata=%strace.ini\n", s->part);
    for (size_t i = 0; i < s->program_count; i++)
        write_program(file.out, &s->programs[i], i);
    if (s->names.symbol_map || s->names.jitdump)
        fprintf(file.out, "\n[symbol_map]\n%s%s",
                s->names.symbol_map ? "file=" CT_RECORD_SYMBOL_MAP "\n" : "",
                s->names.jitdump ? "file=" CT_RECORD_JITDUMP "\n" : "");
    if (ct_snapshot_finish(&file)) {
        remove(file.path);
        return CT_ERR_IO;
    }
    snprintf(path, sizeof path, "%s/snapshot.ini", s->dir);
    return rename(file.path, path)
               ? ct_fail(ctx, CT_ERR_IO, "%s: cannot be written: %s; the capture is incomplete", path,
                         strerror(errno))
               : CT_OK;
}

/* Writes trace.ini: a buffer for each core, or a single one with frames. */
static int write_trace(struct ct_ctx *ctx, const struct ct_snapshot *s, const struct ct_snapshot_memory *m)
{
    struct ct_snapshot_file file;
    int status = ct_snapshot_create(ctx, &file, s, "trace.ini");
    if (status)
        return status;
    const size_t buffers = s->framed && s->core_count ? 1 : s->core_count;
    const size_t all = buffers + (s->framed ? 0 : s->software_count);
    fprintf(file.out, "[trace_buffers]\nbuffers=");
    for (size_t i = 0; i < all; i++)
        fprintf(file.out, "%sbuffer%zu", i ? "," : "", i);
    for (size_t i = 0; i < all; i++)
        fprintf(file.out, "\n\n[buffer%zu]\nname=ETB_%zu\nfile=%s\nformat=%s", i, i,
                i < buffers ? s->cores[i].trace : s->software[i - buffers].trace,
                s->framed ? "coresight" : "source_data");
    fprintf(file.out, "\n\n[source_buffers]\n");
    for (size_t i = 0; i < s->core_count; i++)
        fprintf(file.out, "ETM_%u=ETB_%zu\n", s->cores[i].number, s->framed ? 0 : i);
    for (size_t i = 0; i < s->software_count; i++)
        fprintf(file.out, "%s=ETB_%zu\n", s->software[i].source->name, s->framed ? 0 : buffers + i);
    fprintf(file.out, "\n[core_trace_sources]\n");
    for (size_t i = 0; i < s->core_count; i++)
        fprintf(file.out, "cpu_%u=ETM_%u\n", s->cores[i].number, s->cores[i].number);
    if (ct_states_count(s->states) > 1)
        status = ct_snapshot_write_states(ctx, s, m, buffers, file.out);
    const int finished = ct_snapshot_finish(&file);
    return status ? status : finished;
}

int ct_snapshot_write(struct ct_ctx *ctx, const struct ct_snapshot *s, struct ct_code *code)
{
    struct ct_snapshot_memory memory;
    int status = ct_snapshot_look(ctx, s, code, &memory);
    if (!status)
        status = write_memory(ctx, s, &memory);
    for (size_t i = 0; i < s->core_count && !status; i++) {
        status = write_core(ctx, s, s->cores[i].number, &memory);
        if (!status)
            status = write_source(ctx, s, &s->cores[i]);
    }
    for (size_t i = 0; i < s->software_count && !status; i++)
        status = write_software(ctx, s, s->software[i].source);
    if (!status)
        status = write_trace(ctx, s, &memory);
    free(memory.places);
    free(memory.changes);
    return status ? status : write_index(ctx, s);
}
