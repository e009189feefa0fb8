/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ELF files that a system emulator loads, by its arguments. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "record/capture.h"

/* Returns a copy of the file named by `-kernel FILE` or `-device loader,file=FILE`, which begins at `argv`;
 * NULL: it is another argument, or out of memory. */
static char *file_of(char *const *argv)
{
    static const char loader[] = "loader,";
    const char *option = argv[0] + (argv[0][0] == '-' && argv[0][1] == '-');
    if (!argv[1])
        return NULL;
    if (!strcmp(option, "-kernel"))
        return strdup(argv[1]);
    if (strcmp(option, "-device") != 0 || strncmp(argv[1], loader, sizeof loader - 1) != 0)
        return NULL;
    const char *file = strstr(argv[1], ",file=");
    if (!file || strstr(argv[1], "force-raw=on"))
        return NULL;
    file += strlen(",file=");
    return strndup(file, strcspn(file, ","));
}

int ct_recording_firmware(struct ct_ctx *ctx, char *const *argv, struct ct_record_programs *programs)
{
    int rc = CT_OK;
    for (; *argv && !rc; argv++) {
        struct ct_elf_look elf;
        char *file = file_of(argv);
        char *path = file ? realpath(file, NULL) : NULL;
        if (path && ct_elf_look(&ct_files_system, path, &elf) && elf.code_count)
            rc = ct_record_programs_first(ctx, programs, path, 0);
        free(path);
        free(file);
    }
    return rc;
}

int ct_recording_files(struct ct_ctx *ctx, const struct ct_recording *recording, const char *name,
                       struct ct_record_programs *files)
{
    if (!recording->system)
        return ct_record_programs_first(ctx, files, recording->program, 0);
    const int rc = ct_recording_firmware(ctx, recording->argv, files);
    if (rc || files->count)
        return rc;
    return ct_fail(ctx, CT_ERR_NOT_FOUND,
                   "'%s': this is no hexadecimal address, and no -kernel or -device loader names an ELF file "
                   "in which it could be a symbol; nothing is recorded; load the ELF file, or give the "
                   "address",
                   name);
}
