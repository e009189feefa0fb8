/* SPDX-License-Identifier: Apache-2.0 */
#include "format/code_text.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "format/disasm.h"

#define SLOT_BITS 12

struct slot {
    struct ct_code_address at;
    uint8_t it; /* as of ct_disasm_it: the text depends on it */
    bool used;
    struct ct_code_line line;
};

/* The memory that a buffer's instructions were read in. */
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
    uint32_t renewals; /* of the names, when the slots were last empty */
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

/* Notes a program whose lines cannot be loaded, and says so: it is not tried again for each address. */
static int note_lineless(struct ct_code_text *code, const struct ct_program *program)
{
    struct lineless *one = malloc(sizeof *one);
    if (!one)
        return ct_fail_nomem(code->names->ctx, program->path);
    ct_log(code->names->ctx, CT_LOG_WARNING, "%s; its source lines are not told",
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

/* Returns the buffer that a source belongs to, or NULL. */
static const struct ct_buffer *buffer_of(const struct ct_code_text *code, const struct ct_source *source)
{
    const struct ct_capture *capture = code->options.capture;
    for (size_t i = 0; capture && i < capture->buffer_count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count; k++)
            if (&capture->buffers[i].sources[k] == source)
                return &capture->buffers[i];
    return NULL;
}

/* Adds images. Those that cannot be read were told of when the trace was decoded. */
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

/* Finds the memory of a buffer, which is made when it is first asked for. */
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

/* Returns the bytes at an address in one of the spaces, or in any. */
static const uint8_t *bytes_in(const struct ct_memory *memory, uint64_t addr, uint32_t spaces, size_t *size)
{
    const uint8_t *bytes = spaces ? ct_memory_at(memory, addr, spaces, size) : NULL;
    for (uint32_t space = 1; !spaces && !bytes && space & CT_SPACE_ANY; space <<= 1)
        bytes = ct_memory_at(memory, addr, space, size);
    return bytes;
}

/* Finds the bytes of an instruction: as the capture has them, or else the file of the program. */
static int find_bytes(struct ct_code_text *code, const struct ct_code_address *at,
                      const struct ct_program_place *place, const uint8_t **bytes, size_t *size)
{
    const struct ct_buffer *buffer = buffer_of(code, at->source);
    const struct ct_memory *memory = NULL;
    int rc = CT_OK;
    *bytes = NULL;
    if (buffer && !(rc = memory_of(code, buffer, at->memory, &memory)))
        *bytes = bytes_in(memory, at->addr, at->space, size);
    if (rc || *bytes || !place || !place->program)
        return rc;
    rc = ct_program_memory(place->program, &memory);
    if (!rc)
        *bytes = bytes_in(memory, at->addr - place->shift, 0, size);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

/* ---- instructions ---- */

/* Returns how many bytes an instruction has (Arm ARM, F3.1: the first halfword of T32 tells). */
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

static int find_insn(struct ct_code_text *code, const struct ct_code_address *at,
                     const struct ct_program_place *place, struct ct_code_line *out)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    const uint8_t isa = at->isa == CT_ISA_UNKNOWN && place
                            ? (uint8_t)ct_symbols_isa_at(place->symbols, at->addr - place->shift)
                            : at->isa;
    const int rc = isa <= CT_ISA_T32 ? find_bytes(code, at, place, &bytes, &size) : CT_OK;
    if (rc || size < 2 || size < size_of(isa, bytes))
        return rc;
    out->size = size_of(isa, bytes);
    out->begins = isa == CT_ISA_T32 ? ct_disasm_begins(bytes, out->size) : 0;
    ct_disasm_text(code->disasm, isa, at->addr, bytes, out->size, out->insn);
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
    int rc = ct_code_names_find(code->names, at->addr, at->memory, &name); /* loads its programs */
    if (code->renewals != code->names->renewals)
        memset(code->slots, 0, sizeof code->slots);
    code->renewals = code->names->renewals;
    /* Fibonacci hashing, because addresses of code differ in their low bits. */
    const uint64_t hash = (at->addr ^ at->memory) * UINT64_C(0x9e3779b97f4a7c15);
    struct slot *slot = &code->slots[hash >> (64 - SLOT_BITS)];
    const uint8_t it = code->disasm ? ct_disasm_it(code->disasm, at->addr) : 0;
    if (!rc && slot->used && slot->it == it && ct_code_address_same(&slot->at, at)) {
        if (code->disasm)
            ct_disasm_pass(code->disasm, at->addr, slot->line.size, slot->line.begins);
    } else if (!rc) {
        rc = look_up(code, at, &slot->line);
        slot->at = *at;
        slot->it = it;
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
