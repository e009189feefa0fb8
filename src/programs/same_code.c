/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether the code of a file that the caller names is the code that a capture holds at its place. */
#include "programs/programs.h"

#include "base/bytes.h"
#include "base/elf_look.h"

#include <string.h>

enum {
    PAGE_SIZE = 4096,
    LEAST_WORDS = 4, /* of a page that are compared, or it says nothing */
    OTHER_PART = 8,  /* a file is another build when one page of so many differs */
};

/* Bytes at addresses, in a file. */
struct part {
    const char *path;
    uint64_t addr, offset, size;
};

/* Reads up to a page of a part. Returns how many bytes there are. */
static size_t read_page(const struct part *part, uint64_t addr, size_t size, uint8_t *bytes)
{
    const ssize_t got = ct_files_system.read_at(ct_files_system.user, part->path,
                                                part->offset + (addr - part->addr), (char *)bytes, size);
    return got > 0 ? (size_t)got : 0;
}

/* Compares a page of code, word by word. What the capture has zeros for was not there when its memory was
 * written. A few words differ where code is patched as it runs, as of a kernel; of another build most do. */
static void compare_page(struct ct_same_code *same, uint64_t addr, const uint8_t *mine, const uint8_t *theirs,
                         size_t size)
{
    unsigned words = 0, others = 0;
    for (size_t at = 0; at + 4 <= size; at += 4) {
        const uint32_t word = ct_load32(theirs + at);
        words += word != 0;
        others += word && word != ct_load32(mine + at);
    }
    if (words < LEAST_WORDS)
        return;
    same->pages++;
    if (2 * others <= words)
        return;
    if (!same->other_pages++)
        same->first_other = addr;
}

/* Compares what lies at the same addresses in two parts. */
static void compare_parts(struct ct_same_code *same, const struct part *mine, const struct part *theirs)
{
    uint8_t a[PAGE_SIZE], b[PAGE_SIZE];
    uint64_t addr = mine->addr > theirs->addr ? mine->addr : theirs->addr;
    addr = (addr + 3) & ~UINT64_C(3);
    while (addr - mine->addr < mine->size && addr - theirs->addr < theirs->size) {
        uint64_t size = PAGE_SIZE - addr % PAGE_SIZE;
        if (size > mine->size - (addr - mine->addr))
            size = mine->size - (addr - mine->addr);
        if (size > theirs->size - (addr - theirs->addr))
            size = theirs->size - (addr - theirs->addr);
        const size_t got = read_page(mine, addr, (size_t)size, a);
        const size_t other = got ? read_page(theirs, addr, (size_t)size, b) : 0;
        if (!other)
            break;
        compare_page(same, addr, a, b, got < other ? got : other);
        addr += size;
    }
}

struct ct_same_code ct_same_code(const char *path, const struct ct_elf_look *elf, uint64_t bias,
                                 const struct ct_image *image)
{
    struct ct_same_code same = {0};
    struct ct_elf_look other;
    const bool known = !image->is_elf || (ct_elf_look(&ct_files_system, image->path, &other) && other.is_elf);
    const size_t count = !known ? 0 : image->is_elf ? other.code_count : 1;
    for (size_t i = 0; i < elf->code_count; i++) {
        const struct ct_elf_code *code = &elf->code[i];
        const struct part mine = {path, code->addr + bias, code->offset, code->size};
        for (size_t k = 0; k < count && !code->writable; k++) {
            const struct part theirs =
                image->is_elf ? (struct part){image->path, other.code[k].addr + image->addr,
                                              other.code[k].offset, other.code[k].size}
                              : (struct part){image->path, image->addr, image->offset, image->size};
            compare_parts(&same, &mine, &theirs);
        }
    }
    same.is_other = same.other_pages && same.other_pages * OTHER_PART >= same.pages;
    return same;
}
