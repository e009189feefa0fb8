/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packed.h"

#include <string.h>

#define THEN ", which is not unpacked here; unpack it with "

static const struct {
    const char *bytes;
    size_t size;
    size_t offset;
    const char *words;
} kinds[] = {
    {"\x1f\x8b\x08", 3, 0, "the file is compressed with gzip" THEN "'gunzip' first"},
    {"\3757zXZ\0", 6, 0, "the file is compressed with xz" THEN "'unxz' first"},
    {"\x28\xb5\x2f\xfd", 4, 0, "the file is compressed with zstd" THEN "'unzstd' first"},
    {"BZh", 3, 0, "the file is compressed with bzip2" THEN "'bunzip2' first"},
    {"\x04\x22\x4d\x18", 4, 0, "the file is compressed with lz4" THEN "'unlz4' first"},
    {"PK\x03\x04", 4, 0, "this is a zip archive" THEN "'unzip' first"},
    {"7z\xbc\xaf\x27\x1c", 6, 0, "this is a 7z archive" THEN "'7z x' first"},
    {"Rar!\x1a\x07", 6, 0, "this is a rar archive" THEN "'unrar x' first"},
    {"ustar", 5, 257, "this is a tar archive" THEN "'tar -xf' first"},
};

const char *ct_packed_kind(const void *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].offset + kinds[i].size &&
            !memcmp((const char *)bytes + kinds[i].offset, kinds[i].bytes, kinds[i].size))
            return kinds[i].words;
    return NULL;
}
