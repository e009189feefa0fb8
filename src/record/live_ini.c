/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a stream of trace while it is being recorded, as the .ini of a raw capture (docs/formats.md). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/printable.h"
#include "record/capture.h"
#include "record/snapshot_file.h"

#define LIVE_CORES 16 /* sources to describe: the number of threads is not known yet */

static void write_source(FILE *out, const struct ct_recording *recording, unsigned core)
{
    struct ct_source source = {.arch = recording->unit.source.arch};
    struct ct_unit_wishes wishes = recording->wishes;
    wishes.trace_id = recording->ids[core];
    ct_unit_source(&wishes, &source);
    const struct ct_source_regs *r = &source.regs;
    fprintf(out, "\n[source cpu%u]\nprotocol = %s\nid = 0x%02x\ncore = %s\n", core,
            ct_protocol_name((enum ct_protocol)source.protocol), source.trace_id, recording->model);
    if (source.protocol == CT_PROTOCOL_PTM)
        fprintf(out, "ETMCR = 0x%08x\nETMIDR = 0x%08x\nETMCCER = 0x%08x\n", r->etmcr, r->etmidr, r->etmccer);
    else
        fprintf(out, "TRCCONFIGR = 0x%08x\nTRCIDR0 = 0x%08x\nTRCIDR1 = 0x%08x\nTRCIDR2 = 0x%08x\n",
                r->configr, r->idr0, r->idr1, r->idr2);
}

static void write_itm(FILE *out, const struct ct_recording *recording, struct ct_source *itm)
{
    ct_recording_comparators(recording, &itm->regs);
    fprintf(out, "\n[source itm]\nprotocol = itm\nid = 0x%02x\nITMTCR = 0x%08x\n", itm->trace_id,
            itm->regs.itmtcr);
    for (unsigned i = 0; i < 4; i++)
        if (itm->regs.dwt_comp[i])
            fprintf(out, "DWT_COMP%u = 0x%08x\n", i, itm->regs.dwt_comp[i]);
}

static void write_software(FILE *out, const struct ct_recording *recording)
{
    struct ct_source source;
    if (ct_recording_software(recording, CT_RECORD_ITM, &source))
        write_itm(out, recording, &source);
    if (ct_recording_software(recording, CT_RECORD_STM, &source))
        fprintf(out, "\n[source stm]\nprotocol = stm\nid = 0x%02x\nSTMTCSR = 0x%08x\n", source.trace_id,
                source.regs.stmtcsr);
}

int ct_recording_program(struct ct_ctx *ctx, const struct ct_recording *recording, char **path,
                         uint64_t *bias)
{
    struct ct_elf_look elf;
    char open[CT_KEPT_PATH];
    if (recording->file)
        ct_kept_path(recording->file, open);
    if (!ct_elf_look(&ct_files_system, recording->file ? open : recording->program, &elf) || !elf.code_count)
        return ct_fail(ctx, CT_ERR_NOT_FOUND,
                       "%s: this is not an ELF file with code, so the capture does not "
                       "name it",
                       recording->program);
    uint64_t lowest = elf.code[0].addr;
    for (size_t i = 1; i < elf.code_count; i++)
        lowest = elf.code[i].addr < lowest ? elf.code[i].addr : lowest;
    *bias = recording->code_start - lowest;
    *path = recording->file ? strdup(recording->file->path) : realpath(recording->program, NULL);
    if (*path)
        return CT_OK;
    if (errno == ENOMEM)
        return ct_fail_nomem(ctx, recording->program);
    return ct_fail(ctx, CT_ERR_NOT_FOUND, "%s: cannot be found any more: %s; the capture does not name it",
                   recording->program, strerror(errno));
}

static void write_image(FILE *out, size_t number, const char *path, uint64_t bias)
{
    fprintf(out, "\n[image program%zu]\nelf = ", number);
    ct_put_printable(out, path);
    fprintf(out, "\nbias = 0x%" PRIx64 "\n", bias);
}

static int write_program(struct ct_ctx *ctx, FILE *out, const struct ct_recording *recording)
{
    char *path = NULL;
    uint64_t bias = 0;
    const int rc = ct_recording_program(ctx, recording, &path, &bias);
    if (!rc)
        write_image(out, 0, path, bias);
    free(path);
    return rc;
}

static int write_firmware(struct ct_ctx *ctx, FILE *out, const struct ct_recording *recording)
{
    struct ct_record_programs files = {0};
    const int rc = ct_recording_firmware(ctx, recording->argv, &files);
    for (size_t i = 0; i < files.count && !rc; i++)
        write_image(out, i, files.all[i].path, 0);
    if (!rc && !files.count)
        ct_log(ctx, CT_LOG_WARNING,
               "%s/live.ini: describes no code, because no -kernel or -device loader names an ELF file; name "
               "the ELF files of the machine's code to the reader of the stream, with --elf",
               recording->directory);
    ct_record_programs_free(&files);
    return rc;
}

/* Writes live.ini. It gets its name once it is complete, because readers of the stream wait for it. */
int ct_recording_live_ini(struct ct_ctx *ctx, const struct ct_recording *recording)
{
    const struct ct_snapshot place = {.dir = recording->directory, .part = ""};
    struct ct_snapshot_file file;
    char path[4096];
    snprintf(path, sizeof path, "%s/live.ini", recording->directory);
    int rc = ct_snapshot_create(ctx, &file, &place, "live.ini.part");
    if (rc)
        return rc;
    fprintf(file.out, "[capture]\nfile = -\nframing = frames\n");
    for (unsigned core = 0; core < (recording->contexts ? 1 : LIVE_CORES); core++)
        write_source(file.out, recording, core);
    write_software(file.out, recording);
    const int named = recording->system ? write_firmware(ctx, file.out, recording)
                                        : write_program(ctx, file.out, recording);
    if (named) {
        fclose(file.out);
        unlink(file.path);
        return named;
    }
    rc = ct_snapshot_finish(&file);
    if (!rc && rename(file.path, path))
        rc = ct_fail(ctx, CT_ERR_IO,
                     "%s: cannot be written: %s; the stream cannot be decoded without this "
                     "description",
                     path, strerror(errno));
    if (rc)
        unlink(file.path);
    return rc;
}
