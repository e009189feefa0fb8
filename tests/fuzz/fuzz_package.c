/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes packages of debug information (.dwp): eight bytes with the ID of a unit, then the package. What must
 * hold: a unit that is found becomes an ELF file, not much larger than the package and its headers, whose
 * sections are inside of it. */
#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"
#include "program/dwarf_package.h"
#include "program/elf.h"

#define MOST_BYTES 32768

static void look_at(const uint8_t *image, size_t size, size_t package)
{
    struct ct_elf elf;
    GElf_Shdr header;
    require(size <= 3 * package);
    require(ct_elf_open(NULL, "image", image, size, &elf) == CT_OK);
    for (Elf_Scn *scn = elf_nextscn(elf.elf, NULL); scn; scn = elf_nextscn(elf.elf, scn))
        require(gelf_getshdr(scn, &header) &&
                (header.sh_type == SHT_NOBITS ||
                 (header.sh_offset <= size && header.sh_size <= size - header.sh_offset)));
    ct_elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *image;
    size_t image_size;
    if (size <= 8 || size > MOST_BYTES)
        return 0;
    uint8_t *file = fuzz_file(data + 8, size - 8);
    require(ct_dwarf_package_unit(file, size - 8, ct_load64(data), &image, &image_size) == CT_OK);
    if (image)
        look_at(image, image_size, size - 8);
    free(image);
    free(file);
    return 0;
}
