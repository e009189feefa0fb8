/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether the code of a file that the caller names is the code that a capture holds at its place. */
#include "programs/programs.h"

#include "base/bytes.h"
#include "base/elf_look.h"

#include <string.h>

enum {
    PAGE_SIZE = 4096,
    BLOCK = 256,     /* bytes: a function of some size, and more than anybody patches in one place */
    LEAST_WORDS = 4, /* of a page that are compared, or it says nothing */
    OTHER_PART = 8,  /* a kernel is another build when one page of so many differs */
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

/* Tells whether code may be a kernel's. What only its start needed is gone later: whole pages of it differ.
 */
static bool may_be_kernel(uint64_t addr)
{
    return addr >> 63 || (addr <= UINT32_MAX && addr >> 31);
}

/* How many words two pieces of code have, and how many of them differ. */
struct words {
    unsigned all, others;
};

/* Compares word by word. What the capture has zeros for was not there when its memory was written. */
static struct words compare_words(const uint8_t *mine, const uint8_t *theirs, size_t size)
{
    struct words w = {0};
    for (size_t at = 0; at + 4 <= size; at += 4) {
        const uint32_t word = ct_load32(theirs + at);
        w.all += word != 0;
        w.others += word && word != ct_load32(mine + at);
    }
    return w;
}

/* Compares a page of code. A few words differ where code is patched as it runs; of another build most do, in
 * a small program maybe only those of one function. */
static void compare_page(struct ct_same_code *same, uint64_t addr, const uint8_t *mine, const uint8_t *theirs,
                         size_t size)
{
    const struct words page = compare_words(mine, theirs, size);
    bool other = 2 * page.others > page.all;
    if (page.all < LEAST_WORDS)
        return;
    for (size_t at = 0; at + BLOCK <= size && !other && !may_be_kernel(addr); at += BLOCK) {
        const struct words block = compare_words(mine + at, theirs + at, BLOCK);
        other = block.all == BLOCK / 4 && 4 * block.others > 3 * block.all;
    }
    same->pages++;
    if (other && !same->other_pages++)
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

void ct_same_code(const char *path, const struct ct_elf_look *elf, uint64_t bias,
                  const struct ct_image *image, struct ct_same_code *same)
{
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
            compare_parts(same, &mine, &theirs);
        }
    }
}

bool ct_same_code_is_other(const struct ct_same_code *same)
{
    return same->other_pages &&
           (!may_be_kernel(same->first_other) || same->other_pages * OTHER_PART >= same->pages);
}
