/* SPDX-License-Identifier: Apache-2.0 */
#include "format/code_text.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "format/disasm.h"
#include "format/it_block.h"

#define SLOT_BITS 12

struct slot {
    struct ct_code_address at;
    bool used;
    struct ct_code_line line;
};

/* The memory from which instructions of a buffer are read. */
struct code_memory {
    struct code_memory *next;
    const struct ct_buffer *buffer;
    uint32_t number;
    struct ct_memory *memory;
};

/* A program whose lines cannot be loaded. */
struct lineless {
    struct lineless *next;
    const struct ct_program *program;
};

struct ct_code_text {
    struct ct_code_names *names;
    struct ct_code_text_options options;
    uint32_t renewals; /* of `names`, when the slots were last cleared */
    struct ct_disasm *disasm;
    struct code_memory *memories;
    struct lineless *lineless;
    struct slot slots[1u << SLOT_BITS];
};

int ct_code_text_new(struct ct_code_names *names, const struct ct_code_text_options *options,
                     struct ct_code_text **out)
{
    struct ct_code_text *code = calloc(1, sizeof *code);
    if (!code)
        return ct_fail_nomem(names->ctx, "texts of instructions");
    code->names = names;
    code->options = *options;
    if (options->insns && !(code->disasm = ct_disasm_new())) {
        ct_code_text_free(code);
        return ct_fail_nomem(names->ctx, "disassembler");
    }
    *out = code;
    return CT_OK;
}

void ct_code_text_free(struct ct_code_text *code)
{
    if (!code)
        return;
    while (code->memories) {
        struct code_memory *memory = code->memories;
        code->memories = memory->next;
        ct_memory_free(memory->memory);
        free(memory);
    }
    while (code->lineless) {
        struct lineless *one = code->lineless;
        code->lineless = one->next;
        free(one);
    }
    ct_disasm_free(code->disasm);
    free(code);
}

/* ---- lines of the source ---- */

static bool is_lineless(const struct ct_code_text *code, const struct ct_program *program)
{
    const struct lineless *one = code->lineless;
    while (one && one->program != program)
        one = one->next;
    return one;
}

/* Notes and reports a program whose lines cannot be loaded, so that loading is not tried for each address.
 * CT_ERR_NOMEM. */
static int note_lineless(struct ct_code_text *code, const struct ct_program *program)
{
    struct lineless *one = malloc(sizeof *one);
    if (!one)
        return ct_fail_nomem(code->names->ctx, program->path);
    ct_log(code->names->ctx, CT_LOG_WARNING, "%s; its source lines are not shown",
           ct_ctx_error(code->names->ctx));
    *one = (struct lineless){.next = code->lineless, .program = program};
    code->lineless = one;
    return CT_OK;
}

static int find_line(struct ct_code_text *code, const struct ct_program_place *place, uint64_t addr,
                     struct ct_code_line *out)
{
    const struct ct_lines *lines;
    if (!place || !place->program || is_lineless(code, place->program))
        return CT_OK;
    const int rc = ct_program_lines(place->program, &lines);
    if (rc)
        return rc == CT_ERR_NOMEM ? rc : note_lineless(code, place->program);
    const struct ct_line *line = ct_lines_at(lines, addr - place->shift);
    if (!line || !line->line)
        return CT_OK;
    out->file = ct_lines_file(lines, line->file);
    out->line = line->line;
    return CT_OK;
}

/* ---- memory ---- */

/* Returns the buffer of a source, or NULL. */
static const struct ct_buffer *buffer_of(const struct ct_code_text *code, const struct ct_source *source)
{
    const struct ct_capture *capture = code->options.capture;
    for (size_t i = 0; capture && i < capture->buffer_count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count; k++)
            if (&capture->buffers[i].sources[k] == source)
                return &capture->buffers[i];
    return NULL;
}

/* Adds images. Ignores those that cannot be read, which were reported when the trace was decoded.
 * CT_ERR_NOMEM. */
static int add_images(struct ct_memory *memory, const struct ct_image *images, size_t count)
{
    int rc = CT_OK;
    for (size_t i = 0; i < count && rc != CT_ERR_NOMEM; i++)
        rc = ct_memory_add_image(memory, &images[i]);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

static int fill(struct ct_code_text *code, struct code_memory *m)
{
    const struct ct_buffer *buffer = m->buffer;
    const struct ct_generation *generation =
        buffer->maps ? ct_maps_generation(buffer->maps, m->number) : NULL;
    int rc = ct_memory_new(code->names->ctx, &m->memory);
    if (!rc && generation)
        rc = add_images(m->memory, generation->images, generation->image_count);
    return rc ? rc : add_images(m->memory, buffer->images, buffer->image_count);
}

/* Finds the memory of a buffer, and makes it at the first use. */
static int memory_of(struct ct_code_text *code, const struct ct_buffer *buffer, uint32_t number,
                     const struct ct_memory **out)
{
    struct code_memory *m = code->memories;
    while (m && (m->buffer != buffer || m->number != number))
        m = m->next;
    int rc = CT_OK;
    if (!m) {
        m = calloc(1, sizeof *m);
        if (!m)
            return ct_fail_nomem(code->names->ctx, buffer->name);
        *m = (struct code_memory){.next = code->memories, .buffer = buffer, .number = number};
        code->memories = m;
        rc = fill(code, m);
    }
    *out = m->memory;
    return rc;
}

/* The bytes of an instruction, and where they were found. */
struct code_bytes {
    const uint8_t *bytes; /* NULL: not found */
    size_t size;
    const struct ct_memory *memory;
    uint64_t addr;
    uint32_t space;
};

/* Finds the bytes at the address in the memory, in the given spaces, or in any when there are none. */
static void find_in(struct code_bytes *found, uint32_t spaces)
{
    found->space = spaces ? spaces : 1;
    do {
        found->bytes = ct_memory_at(found->memory, found->addr, found->space, &found->size);
    } while (!found->bytes && !spaces && (found->space <<= 1) & CT_SPACE_ANY);
}

/* Finds the bytes of an instruction: in the capture or, failing that, in the file of the program. */
static int find_bytes(struct ct_code_text *code, const struct ct_code_address *at,
                      const struct ct_program_place *place, struct code_bytes *found)
{
    const struct ct_buffer *buffer = buffer_of(code, at->source);
    int rc = CT_OK;
    *found = (struct code_bytes){.addr = at->addr};
    if (buffer && !(rc = memory_of(code, buffer, at->memory, &found->memory)))
        find_in(found, at->space);
    if (rc || found->bytes || !place || !place->program)
        return rc;
    found->addr = at->addr - place->shift;
    rc = ct_program_memory(place->program, &found->memory);
    if (!rc)
        find_in(found, 0);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

/* ---- instructions ---- */

/* Returns the size of an instruction in bytes. For T32 the first halfword tells it (Arm ARM, F3.1). */
static uint8_t size_of(uint8_t isa, const uint8_t *bytes)
{
    return isa == CT_ISA_T32 && ct_load16(bytes) >> 11 < 29 ? 2 : 4;
}

static void trim(char *text)
{
    size_t size = strlen(text);
    while (size && text[size - 1] == ' ')
        text[--size] = '\0';
}

/* Returns the ITSTATE of a T32 instruction. Its IT block lies within the span that the symbols describe. */
static uint8_t it_of(const struct code_bytes *found, const struct ct_program_place *place, uint64_t addr)
{
    struct ct_symbol_span span = {0};
    if (place)
        ct_symbols_around(place->symbols, addr - place->shift, &span);
    const uint64_t from = place ? span.from + place->shift : 0;
    return ct_it_block_at(found->memory, found->space, from + (found->addr - addr), found->addr);
}

/* Returns the instruction set that symbols tell. In 32-bit programs without symbols they only guess: bounds
 * of functions are the same for A32 and T32. */
static uint8_t told_isa(const struct ct_program_place *place, uint64_t addr)
{
    const enum ct_isa isa = ct_symbols_isa_at(place->symbols, addr);
    const struct ct_symbol *symbol = ct_symbols_code_at(place->symbols, addr, NULL);
    const bool guessed = !symbol || symbol->source == CT_SYMBOL_UNWIND || symbol->source == CT_SYMBOL_CODE;
    return isa != CT_ISA_A64 && guessed ? CT_ISA_UNKNOWN : (uint8_t)isa;
}

static int find_insn(struct ct_code_text *code, const struct ct_code_address *at,
                     const struct ct_program_place *place, struct ct_code_line *out)
{
    struct code_bytes found = {0};
    const uint8_t isa =
        at->isa == CT_ISA_UNKNOWN && place ? told_isa(place, at->addr - place->shift) : at->isa;
    const int rc = isa <= CT_ISA_T32 ? find_bytes(code, at, place, &found) : CT_OK;
    if (rc || !found.bytes || found.size < 2 || found.size < size_of(isa, found.bytes))
        return rc;
    const uint8_t it = isa == CT_ISA_T32 ? it_of(&found, place, at->addr) : 0;
    out->size = size_of(isa, found.bytes);
    ct_disasm_text(code->disasm, isa, it, at->addr, found.bytes, out->size, out->insn);
    trim(out->insn);
    return ct_disasm_lacked_memory(code->disasm) ? ct_fail_nomem(code->names->ctx, "disassembler") : CT_OK;
}

/* ---- addresses ---- */

static int look_up(struct ct_code_text *code, const struct ct_code_address *at, struct ct_code_line *out)
{
    const struct ct_program_place *place = ct_code_names_place(code->names, at->addr, at->memory);
    *out = (struct ct_code_line){0};
    const int rc = code->options.lines ? find_line(code, place, at->addr, out) : CT_OK;
    return rc || !code->options.insns ? rc : find_insn(code, at, place, out);
}

int ct_code_text_find(struct ct_code_text *code, const struct ct_code_address *at,
                      const struct ct_code_line **out)
{
    const struct ct_address_name *name;
    /* also loads the programs of the memory */
    int rc = ct_code_names_find(code->names, at->addr, at->memory, &name);
    if (code->renewals != code->names->renewals)
        memset(code->slots, 0, sizeof code->slots);
    code->renewals = code->names->renewals;
    /* Fibonacci hashing, because addresses of code differ in their low bits */
    const uint64_t hash = (at->addr ^ at->memory) * UINT64_C(0x9e3779b97f4a7c15);
    struct slot *slot = &code->slots[hash >> (64 - SLOT_BITS)];
    if (!rc && !(slot->used && ct_code_address_same(&slot->at, at))) {
        rc = look_up(code, at, &slot->line);
        slot->at = *at;
        slot->used = !rc;
    }
    *out = &slot->line;
    return rc;
}

void ct_code_source_put(struct ct_text *t, enum ct_address_style style, const struct ct_code_line *line)
{
    if (!line->file)
        return;
    if (style == CT_ADDRESS_CSV)
        ct_text_csv(t, line->file);
    else
        ct_text_printable(t, line->file);
    ct_text_char(t, ':');
    ct_text_dec(t, line->line);
}
