/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "program/text_image.h"

#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/digits.h"
#include "base/room.h"
#include "base/whole_file.h"

#define A64_RET   0xd65f03c0u
#define A32_BX_LR 0xe12fff1eu
#define T32_BX_LR 0x4770u

#define MOST_BYTES 256 /* data of a record: the count is one byte, and includes the sum of S-records */

/* One record, of either format. */
struct record {
    enum {
        DATA,
        BASE,
        ENTRY,
        END,
        OTHER
    } kind;
    uint32_t addr; /* of data; the new base; the entry point */
    uint8_t count; /* bytes of data */
    bool ends;     /* ENTRY of S-records: usually the last record, but more may follow */
    uint8_t bytes[MOST_BYTES];
};

/* Bytes at consecutive addresses. */
struct piece {
    uint64_t addr, size;
    size_t at; /* index of its first byte in `data` */
};

struct reading {
    struct ct_ctx *ctx;
    const char *path;
    uint8_t *data;
    size_t data_size;
    struct piece *pieces;
    size_t count, room;
    uint32_t base, entry;
    bool ended; /* the record that ends the image was read */
};

/* Reads pairs of digits up to the end of the line. Returns their number; 0: other characters, or too many
 * digits. */
static size_t read_pairs(const uint8_t *text, size_t size, uint8_t *bytes)
{
    size_t n = 0;
    while (size && (text[size - 1] == '\r' || text[size - 1] == ' '))
        size--;
    if (size % 2 || size / 2 > MOST_BYTES + 5)
        return 0;
    for (; n < size / 2; n++) {
        const int high = ct_hex_digit_any_case(text[2 * n]);
        const int low = ct_hex_digit_any_case(text[2 * n + 1]);
        if (high < 0 || low < 0)
            return 0;
        bytes[n] = (uint8_t)(high << 4 | low);
    }
    return n;
}

static uint32_t big_endian(const uint8_t *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static uint8_t sum(const uint8_t *bytes, size_t count)
{
    uint8_t all = 0;
    for (size_t i = 0; i < count; i++)
        all = (uint8_t)(all + bytes[i]);
    return all;
}

/* Reads a record of Intel HEX after its colon: count, address, type, data, sum. */
static bool read_hex(const uint8_t *b, size_t n, struct record *r)
{
    if (n < 5 || n != (size_t)b[0] + 5 || sum(b, n))
        return false;
    *r = (struct record){.kind = OTHER, .count = b[0], .addr = big_endian(b + 1, 2)};
    memcpy(r->bytes, b + 4, r->count);
    switch (b[3]) {
    case 0:
        r->kind = DATA;
        return true;
    case 1:
        r->kind = END;
        return true;
    case 2:
    case 4:
        r->kind = BASE;
        r->addr = big_endian(r->bytes, 2) << (b[3] == 2 ? 4 : 16);
        return r->count == 2;
    case 3: /* CS:IP, which objcopy writes for entry points below 1 MiB */
        r->kind = ENTRY;
        r->addr = (big_endian(r->bytes, 2) << 4) + big_endian(r->bytes + 2, 2);
        return r->count == 4;
    case 5:
        r->kind = ENTRY;
        r->addr = big_endian(r->bytes, 4);
        return r->count == 4;
    default:
        return false;
    }
}

/* Reads an S-record after its S and type: count, address, data, sum. */
static bool read_srec(uint8_t type, const uint8_t *b, size_t n, struct record *r)
{
    static const uint8_t address_sizes[10] = {2, 2, 3, 4, 0, 2, 3, 4, 3, 2};
    const size_t address = type >= '0' && type <= '9' ? address_sizes[type - '0'] : 0;
    if (!address || n < address + 2 || n != (size_t)b[0] + 1 || sum(b, n) != 0xff)
        return false;
    *r = (struct record){
        .kind = OTHER, .count = (uint8_t)(n - address - 2), .addr = big_endian(b + 1, address)};
    memcpy(r->bytes, b + 1 + address, r->count);
    if (type >= '1' && type <= '3') {
        r->kind = DATA;
    } else if (type >= '7') {
        r->kind = ENTRY;
        r->ends = true;
    }
    return true;
}

/* Reads the record of a line. False: it is damaged. */
static bool read_record(const uint8_t *line, size_t size, struct record *r)
{
    uint8_t bytes[MOST_BYTES + 5] = {0};
    if (size > 1 && line[0] == ':')
        return read_hex(bytes, read_pairs(line + 1, size - 1, bytes), r);
    if (size > 2 && line[0] == 'S')
        return read_srec(line[1], bytes, read_pairs(line + 2, size - 2, bytes), r);
    return false;
}

static size_t length_of_line(const uint8_t *text, size_t size)
{
    const uint8_t *end = memchr(text, '\n', size);
    return end ? (size_t)(end - text) : size;
}

const char *ct_text_image_kind(const uint8_t *text, size_t size)
{
    struct record r;
    if (!size || !read_record(text, length_of_line(text, size), &r))
        return NULL;
    return text[0] == ':' ? "Intel HEX" : "S-records";
}

/* Appends data to the last piece, or starts a new one. */
static int add_data(struct reading *in, const struct record *r)
{
    const uint64_t addr = (uint64_t)in->base + r->addr;
    struct piece *last = in->count ? &in->pieces[in->count - 1] : NULL;
    memcpy(in->data + in->data_size, r->bytes, r->count);
    in->data_size += r->count;
    if (last && last->addr + last->size == addr) {
        last->size += r->count;
        return CT_OK;
    }
    if (!r->count)
        return CT_OK;
    if (!CT_MAKE_ROOM(in->pieces, in->room, in->count + 1))
        return ct_fail_nomem(in->ctx, in->path);
    in->pieces[in->count++] = (struct piece){.addr = addr, .size = r->count, .at = in->data_size - r->count};
    return CT_OK;
}

static int take_record(struct reading *in, const struct record *r)
{
    switch (r->kind) {
    case DATA:
        return add_data(in, r);
    case BASE:
        in->base = r->addr;
        return CT_OK;
    case ENTRY:
        in->entry = r->addr;
        in->ended |= r->ends;
        return CT_OK;
    case END:
        in->ended = true;
        return CT_OK;
    case OTHER:
        break;
    }
    return CT_OK;
}

/* Warns of an image without an end, such as one truncated between two records, and of records after the end,
 * as in two concatenated files. `rest` is the text after line `line`, the last one read. */
static void tell_end(const struct reading *in, const uint8_t *rest, size_t size, uint64_t line)
{
    struct record r;
    if (!in->ended)
        ct_log(in->ctx, CT_LOG_WARNING,
               "%s: the file has no end record, so it may be truncated after line %" PRIu64
               "; bytes after that line are missing; copy the file again",
               in->path, line);
    for (size_t at = 0, length; in->ended && at < size; at += length + 1) {
        length = length_of_line(rest + at, size - at);
        line++;
        if (!read_record(rest + at, length, &r))
            continue;
        ct_log(in->ctx, CT_LOG_WARNING,
               "%s: line %" PRIu64 " follows the end record of the image; this line and all later lines were "
               "ignored; put them into a separate file",
               in->path, line);
        break;
    }
}

static int read_lines(struct reading *in, const uint8_t *text, size_t size)
{
    int rc = CT_OK;
    uint64_t line = 0;
    size_t at = 0;
    struct record r = {.kind = OTHER};
    for (size_t length; at < size && !rc && r.kind != END; at += length + 1) {
        length = length_of_line(text + at, size - at);
        line++;
        if (!length || (length == 1 && text[at] == '\r'))
            continue;
        rc = read_record(text + at, length, &r)
                 ? take_record(in, &r)
                 : ct_fail(in->ctx, CT_ERR_FORMAT,
                           "%s: line %" PRIu64 " is damaged: it is not a record, or its checksum is wrong; "
                           "the image was not added; copy the file again",
                           in->path, line);
    }
    if (!rc)
        tell_end(in, text + (at < size ? at : size), at < size ? size - at : 0, line);
    return rc;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct piece *)a)->addr;
    const uint64_t y = ((const struct piece *)b)->addr;
    return ct_order(x, y);
}

/* Sorts the pieces, and refuses overlaps. */
static int sort(struct reading *in)
{
    if (!in->count)
        return ct_fail(in->ctx, CT_ERR_FORMAT,
                       "%s: the file has no data record, so it contains no memory image; use a complete copy",
                       in->path);
    qsort(in->pieces, in->count, sizeof *in->pieces, by_address);
    for (size_t i = 1; i < in->count; i++)
        if (in->pieces[i].addr < in->pieces[i - 1].addr + in->pieces[i - 1].size)
            return ct_fail(in->ctx, CT_ERR_FORMAT,
                           "%s: the file gives the byte at 0x%" PRIx64
                           " twice; the image was not added; if the file contains two images, split it",
                           in->path, in->pieces[i].addr);
    return CT_OK;
}

/* Returns whether most returns in the data are those of A64: neither addresses nor records say what
 * instruction set the code has. */
static bool is_a64(const struct reading *in)
{
    size_t a64 = 0;
    size_t arm = 0;
    for (size_t i = 0; i < in->count; i++) {
        const struct piece *piece = &in->pieces[i];
        for (uint64_t at = -piece->addr & 1; at + 4 <= piece->size; at += 2) {
            const uint32_t word = ct_load32(in->data + piece->at + at);
            const bool aligned = ((piece->addr + at) & 3) == 0;
            a64 += aligned && word == A64_RET;
            arm += (word & 0xffff) == T32_BX_LR || (aligned && word == A32_BX_LR);
        }
    }
    return a64 > arm;
}

/* Stores a member of a structure that both classes of ELF files have. */
#define PUT(at, type, member, value)                                                                         \
    ct_store((at) + (wide ? offsetof(Elf64_##type, member) : offsetof(Elf32_##type, member)), value,         \
             wide ? sizeof(((Elf64_##type *)NULL)->member) : sizeof(((Elf32_##type *)NULL)->member))

/* Writes the headers of the file and of its segments. The data starts `headers` bytes from the start of the
 * file. */
static void put_headers(const struct reading *in, uint8_t *elf, bool wide, size_t headers)
{
    const size_t header = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const size_t entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const uint8_t class = wide ? ELFCLASS64 : ELFCLASS32;
    memcpy(elf, (uint8_t[]){ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, class, ELFDATA2LSB, EV_CURRENT}, 7);
    PUT(elf, Ehdr, e_type, ET_EXEC);
    PUT(elf, Ehdr, e_machine, wide ? EM_AARCH64 : EM_ARM);
    PUT(elf, Ehdr, e_version, EV_CURRENT);
    PUT(elf, Ehdr, e_entry, in->entry);
    PUT(elf, Ehdr, e_phoff, header);
    PUT(elf, Ehdr, e_ehsize, header);
    PUT(elf, Ehdr, e_phentsize, entry);
    PUT(elf, Ehdr, e_phnum, in->count);
    for (size_t i = 0; i < in->count; i++) {
        const struct piece *piece = &in->pieces[i];
        uint8_t *segment = elf + header + i * entry;
        PUT(segment, Phdr, p_type, PT_LOAD);
        PUT(segment, Phdr, p_flags, PF_R | PF_X);
        PUT(segment, Phdr, p_offset, headers + piece->at);
        PUT(segment, Phdr, p_vaddr, piece->addr);
        PUT(segment, Phdr, p_paddr, piece->addr);
        PUT(segment, Phdr, p_filesz, piece->size);
        PUT(segment, Phdr, p_memsz, piece->size);
    }
}

/* Writes the pieces as an ELF file. */
static int write_elf(const struct reading *in, uint8_t **out, size_t *out_size)
{
    const bool wide = is_a64(in);
    const size_t headers = wide ? sizeof(Elf64_Ehdr) + in->count * sizeof(Elf64_Phdr)
                                : sizeof(Elf32_Ehdr) + in->count * sizeof(Elf32_Phdr);
    const size_t size = headers + in->data_size;
    uint8_t *elf = calloc(1, size);
    void *pages = NULL;
    if (!elf)
        return ct_fail_nomem(in->ctx, in->path);
    put_headers(in, elf, wide, headers);
    memcpy(elf + headers, in->data, in->data_size);
    const int rc = ct_whole_file_copy(in->ctx, in->path, elf, size, &pages);
    free(elf);
    *out = pages;
    *out_size = size;
    return rc;
}

int ct_text_image_read(struct ct_ctx *ctx, const char *path, const uint8_t *text, size_t size, uint8_t **out,
                       size_t *out_size)
{
    /* each byte is written as two digits, so this is enough */
    struct reading in = {.ctx = ctx, .path = path, .data = malloc(size)};
    if (!in.data)
        return ct_fail_nomem(ctx, path);
    int rc = read_lines(&in, text, size) ?: sort(&in);
    if (!rc && in.count >= PN_XNUM)
        rc = ct_fail(ctx, CT_ERR_LIMIT,
                     "%s: its bytes are in %zu separate areas, more than the limit of %u; the image was not "
                     "added; split the file",
                     path, in.count, PN_XNUM - 1);
    if (!rc)
        rc = write_elf(&in, out, out_size);
    free(in.pieces);
    free(in.data);
    return rc;
}
