/* SPDX-License-Identifier: Apache-2.0 */
/* What describes a stream of trace while it is being recorded: a raw capture's .ini (docs/formats.md). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "cli/output.h"
#include "cli/record.h"
#include "input/elf_look.h"

#define LIVE_CORES 16 /* sources that are named: how many threads there will be nobody knows yet */

static void write_source(FILE *out, const struct cli_record_options *o, unsigned core)
{
    struct ct_source source = {0};
    struct ct_unit_wishes wishes = o->wishes;
    wishes.trace_id = o->ids[core];
    ct_unit_source(&wishes, &source);
    const struct ct_source_regs *r = &source.regs;
    fprintf(out, "\n[source cpu%u]\nprotocol = %s\nid = 0x%02x\ncore = ARM-AA64\n", core,
            ct_protocol_name((enum ct_protocol)source.protocol), source.trace_id);
    if (source.protocol == CT_PROTOCOL_PTM)
        fprintf(out, "ETMCR = 0x%08x\nETMIDR = 0x%08x\nETMCCER = 0x%08x\n", r->etmcr, r->etmidr, r->etmccer);
    else
        fprintf(out, "TRCCONFIGR = 0x%08x\nTRCIDR0 = 0x%08x\nTRCIDR1 = 0x%08x\nTRCIDR2 = 0x%08x\n",
                r->configr, r->idr0, r->idr1, r->idr2);
}

int cli_record_program(const struct cli_record_options *o, char **path, uint64_t *bias)
{
    struct ct_elf_look elf;
    if (!ct_elf_look(&ct_files_system, o->program, &elf) || !elf.code_count) {
        cli_say("%s: not an ELF file with code; the capture does not name it", o->program);
        return CLI_FAILED;
    }
    uint64_t lowest = elf.code[0].addr;
    for (size_t i = 1; i < elf.code_count; i++)
        lowest = elf.code[i].addr < lowest ? elf.code[i].addr : lowest;
    *bias = o->code_start - lowest;
    *path = realpath(o->program, NULL);
    if (*path)
        return CLI_CLEAN;
    if (errno == ENOMEM)
        cli_no_memory();
    cli_say("%s: cannot be found any more: %s; the capture does not name it", o->program, strerror(errno));
    return CLI_FAILED;
}

static int write_image(FILE *out, const struct cli_record_options *o)
{
    char *path = NULL;
    uint64_t bias = 0;
    if (cli_record_program(o, &path, &bias))
        return CLI_FAILED;
    fputs("\n[image program]\nelf = ", out);
    ct_put_printable(out, path);
    fprintf(out, "\nbias = 0x%" PRIx64 "\n", bias);
    free(path);
    return CLI_CLEAN;
}

int cli_record_live(const struct cli_record_options *o)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/live.ini", o->dir);
    struct cli_output output;
    FILE *out = cli_output_open(&output, path);
    if (!out)
        return CLI_FAILED;
    fprintf(out, "[capture]\nfile = -\nframing = frames\n");
    for (unsigned core = 0; core < (o->contexts ? 1 : LIVE_CORES); core++)
        write_source(out, o, core);
    const int code = write_image(out, o);
    return cli_output_close(&output, code == CLI_CLEAN) ? code : CLI_FAILED;
}
