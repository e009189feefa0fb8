/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that people give in place of a capture: packed captures, programs, parts of a snapshot. */
#include "input/reader.h"

#include <string.h>

#include "base/packed.h"

/* Bytes by which a kind of file is known, and what to do with it. */
struct other_kind {
    const char *bytes;
    size_t size;
    const char *words;
};

static const struct other_kind kinds[] = {
    {"\177ELF", 4,
     "this is a program or other ELF file, not a capture; name the capture, and give the program with --elf"},
    {"PERFFILE", 8,
     "this is a perf.data file of the first version, without trace; record again with a current perf"},
    {"\xff\xfe", 2, "this is text in UTF-16, which is not read as a description; convert it to UTF-8"},
};

/* Sections with which the other files of a snapshot begin. */
static const char *const parts[] = {"device", "regs", "trace_buffers", "source_buffers",
                                    "core_trace_sources"};

const char *ct_other_kind(const struct ct_path_to_open *target)
{
    if (target->kind != CT_FILE_REGULAR)
        return NULL;
    if (!target->size)
        return "the file is empty, so there is nothing to read; copy it again, or record again";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (target->head_size >= kinds[i].size && !memcmp(target->head, kinds[i].bytes, kinds[i].size))
            return kinds[i].words;
    const char *packed = ct_packed_kind(target->head, target->head_size);
    if (packed)
        return packed;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(target->section, parts[i]))
            return "this is a part of a snapshot and cannot be read alone; name the directory with the "
                   "snapshot.ini";
    return NULL;
}
