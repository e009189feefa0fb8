/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that people give in place of a capture: packed captures, programs, parts of a snapshot. */
#include "input/reader.h"

#include <stdbool.h>
#include <string.h>

/* Bytes by which a kind of file is known, and what to do with it. */
struct other_kind {
    const char *bytes;
    size_t size;
    const char *words;
};

#define THEN ", which is not read as a capture; unpack it with "

static const struct other_kind kinds[] = {
    {"\x1f\x8b\x08", 3, "is compressed with gzip" THEN "'gunzip' first"},
    {"\3757zXZ\0", 6, "is compressed with xz" THEN "'unxz' first"},
    {"\x28\xb5\x2f\xfd", 4, "is compressed with zstd" THEN "'unzstd' first"},
    {"BZh", 3, "is compressed with bzip2" THEN "'bunzip2' first"},
    {"\x04\x22\x4d\x18", 4, "is compressed with lz4" THEN "'unlz4' first"},
    {"PK\x03\x04", 4, "is a zip archive" THEN "'unzip' first"},
    {"7z\xbc\xaf\x27\x1c", 6, "is a 7z archive" THEN "'7z x' first"},
    {"\177ELF", 4,
     "is a program or other ELF file, not a capture; name the capture, and give the program with --elf"},
    {"PERFFILE", 8,
     "is a perf.data file of the first version, without trace; record again with a current perf"},
    {"\xff\xfe", 2, "is text in UTF-16, which is not read as a description; convert it to UTF-8"},
};

static bool has_at(const struct ct_path_to_open *target, size_t offset, const char *bytes, size_t size)
{
    return target->head_size >= offset + size && !memcmp(target->head + offset, bytes, size);
}

/* Sections with which the other files of a snapshot begin. */
static const char *const parts[] = {"device", "regs", "trace_buffers", "source_buffers",
                                    "core_trace_sources"};

const char *ct_other_kind(const struct ct_path_to_open *target)
{
    if (target->kind != CT_FILE_REGULAR)
        return NULL;
    if (!target->size)
        return "is empty, so there is nothing to read; copy it again, or record again";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_at(target, 0, kinds[i].bytes, kinds[i].size))
            return kinds[i].words;
    if (has_at(target, 257, "ustar", 5))
        return "is a tar archive" THEN "'tar -xf' first";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(target->section, parts[i]))
            return "is a part of a snapshot and cannot be read alone; name the directory with the "
                   "snapshot.ini";
    return NULL;
}
