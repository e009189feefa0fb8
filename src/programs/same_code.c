/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the code of a file named by the caller with the code that a capture has at its address. */
#include "programs/programs.h"

#include "base/bytes.h"
#include "base/elf_look.h"

enum {
    PAGE_SIZE = 4096,
    BLOCK = 256,     /* bytes: the size of a small function, and more than is patched in one place */
    LEAST_WORDS = 4, /* compared words that a page needs to count */
    OTHER_PART = 8,  /* a kernel is another build when one page in so many differs */
};

/* Bytes of a file that are at addresses. */
struct part {
    const char *path;
    uint64_t addr, offset, size;
};

/* Reads up to a page of a part. Returns the number of bytes. */
static size_t read_page(const struct part *part, uint64_t addr, size_t size, uint8_t *bytes)
{
    const ssize_t got = ct_files_system.read_at(ct_files_system.user, part->path,
                                                part->offset + (addr - part->addr), (char *)bytes, size);
    return got > 0 ? (size_t)got : 0;
}

/* Returns whether code may belong to a kernel. It frees code that only its start needs, so whole pages
 * differ. */
static bool may_be_kernel(uint64_t addr)
{
    return addr >> 63 || (addr <= UINT32_MAX && addr >> 31);
}

/* Number of words in two pieces of code, and how many of them differ. */
struct words {
    unsigned all, others;
};

/* Compares word by word. Zeros in the capture stand for memory that was absent when it was written. */
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

/* Compares a page of code. A few words differ where code is patched at run time. In another build most
 * differ, in a small program perhaps only those of one function. */
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

/* Compares the bytes that two parts have at the same addresses. */
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
