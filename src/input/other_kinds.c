/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that people give in place of a capture: packed captures, programs, parts of a snapshot. */
#include "input/reader.h"

#include <string.h>

/* Bytes by which a kind of file is known, and what to do with it. */
struct other_kind {
    const char *bytes;
    size_t offset, size;
    const char *words;
};

#define KIND(offset, bytes, words)                                                                           \
    {                                                                                                        \
        bytes, offset, sizeof bytes - 1, words                                                               \
    }
#define PACKED(offset, bytes, what, with)                                                                    \
    KIND(offset, bytes, what ", which is not read as a capture; unpack it with '" with "' first")

static const struct other_kind kinds[] = {
    PACKED(0, "\x1f\x8b\x08", "is compressed with gzip", "gunzip"),
    PACKED(0, "\3757zXZ\0", "is compressed with xz", "unxz"),
    PACKED(0, "\x28\xb5\x2f\xfd", "is compressed with zstd", "unzstd"),
    PACKED(0, "BZh", "is compressed with bzip2", "bunzip2"),
    PACKED(0, "\x04\x22\x4d\x18", "is compressed with lz4", "unlz4"),
    PACKED(0, "PK\x03\x04", "is a zip archive", "unzip"),
    PACKED(0, "7z\xbc\xaf\x27\x1c", "is a 7z archive", "7z x"),
    PACKED(257, "ustar", "is a tar archive", "tar -xf"),
    KIND(0, "\177ELF",
         "is a program or other ELF file, not a capture; name the capture, and give the program with --elf"),
    KIND(0, "PERFFILE",
         "is a perf.data file of the first version, without trace; record again with a current perf"),
    KIND(0, "\xff\xfe", "is text in UTF-16, which is not read as a description; convert it to UTF-8"),
};

/* Sections with which the other files of a snapshot begin. */
static const char *const parts[] = {"device", "regs", "trace_buffers", "source_buffers",
                                    "core_trace_sources"};

const char *ct_other_kind(const struct ct_path_to_open *target)
{
    if (target->kind != CT_FILE_REGULAR)
        return NULL;
    if (!target->size)
        return "is empty, so there is nothing to read; copy it again, or record again";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct other_kind *k = &kinds[i];
        if (target->head_size >= k->offset + k->size && !memcmp(target->head + k->offset, k->bytes, k->size))
            return k->words;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(target->section, parts[i]))
            return "is a part of a snapshot and cannot be read alone; name the directory with the "
                   "snapshot.ini";
    return NULL;
}
