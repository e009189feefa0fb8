/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the control flow graph, and answers queries about it. */
#include "program/cfg.h"
#include "base/require.h"
#include "program/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/name_suffix.h"
#include "base/options.h"
#include "base/room.h"
#include "base/search.h"
#include "base/table_memory.h"
#include "program/elf.h"

/* Returns the piece of code that contains `addr`. */
static const struct ct_cfg_code *code_at(const struct ct_cfg *cfg, uint64_t addr)
{
    for (size_t i = 0; i < cfg->code_count; i++)
        if (addr - cfg->codes[i].start < cfg->codes[i].size)
            return &cfg->codes[i];
    return NULL;
}

uint8_t *ct_cfg_mark(const struct ct_cfg *cfg, uint64_t addr)
{
    const struct ct_cfg_code *code = code_at(cfg, addr);
    return code ? &code->marks[(addr - code->start) / 2] : NULL;
}

/* Returns the smallest distance between two instructions, in bytes. */
static unsigned step_of(const struct ct_cfg *cfg)
{
    return cfg->is_a64 ? 4 : 2;
}

struct ct_cfg_here *ct_cfg_here(const struct ct_cfg *cfg, uint64_t addr)
{
    const struct ct_cfg_code *code = addr % step_of(cfg) ? NULL : code_at(cfg, addr);
    return code ? &code->here[(addr - code->start) / step_of(cfg)] : NULL;
}

/* Makes a direct branch of BX PC in T32, which continues in A32. Linkers write it where T32 code enters A32.
 */
static void resolve_bx_pc(uint64_t addr, uint32_t op, struct ct_insn *insn)
{
    if (op >> 16 != 0x4778)
        return;
    insn->type = CT_INSN_BR;
    insn->target = (addr + 4) & ~UINT64_C(3);
    insn->isa = CT_ISA_A32;
}

bool ct_cfg_insn(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct ct_insn *insn, uint32_t *op)
{
    const struct ct_cfg_code *code = code_at(cfg, addr);
    uint64_t left = code ? code->size - (addr - code->start) : 0;
    if (left < (isa == CT_ISA_T32 ? 2 : 4))
        return false;
    const uint8_t *bytes = code->bytes + (addr - code->start);
    uint32_t word = isa != CT_ISA_T32
                        ? ct_load32(bytes)
                        : (uint32_t)ct_load16(bytes) << 16 | (left >= 4 ? ct_load16(bytes + 2) : 0);
    if (isa == CT_ISA_A64)
        ct_insn_decode_a64(word, addr, &cfg->arch, insn);
    else if (isa == CT_ISA_A32)
        ct_insn_decode_a32(word, addr, &cfg->arch, insn);
    else
        ct_insn_decode_t32(word, addr, &cfg->arch, insn);
    if (isa == CT_ISA_T32)
        resolve_bx_pc(addr, word, insn);
    insn->cond |= (code->marks[(addr - code->start) / 2] & CT_CFG_MARK_COND) != 0;
    if (op)
        *op = word;
    return insn->size <= left;
}

bool ct_cfg_lift(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct ct_lift *out)
{
    uint32_t op;
    struct ct_insn insn;
    if (!ct_cfg_insn(cfg, addr, isa, &insn, &op))
        return false;
    if (isa == CT_ISA_A64) {
        ct_lift_a64(op, addr, out);
    } else if (isa == CT_ISA_A32) {
        ct_lift_a32(op, addr, out);
    } else {
        ct_lift_t32(op, addr, out);
        out->is_maybe = insn.cond && !ct_cfg_ends_block(&insn);
    }
    return true;
}

uint64_t ct_cfg_before(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa)
{
    if (isa != CT_ISA_T32)
        return addr - 4;
    for (unsigned size = 2; size <= 4; size += 2) {
        const uint8_t *mark = ct_cfg_mark(cfg, addr - size);
        if (mark && *mark & CT_CFG_MARK_INSN)
            return addr - size;
    }
    return 0;
}

const uint8_t *ct_cfg_fixed(const struct ct_cfg *cfg, uint64_t addr, size_t size)
{
    for (size_t i = 0; i < cfg->fixed.count; i++) {
        const struct ct_cfg_fixed *f = &cfg->fixed.at[i];
        if (addr - f->start < f->size && size <= f->size - (addr - f->start))
            return f->bytes + (addr - f->start);
    }
    return NULL;
}

bool ct_cfg_ends_block(const struct ct_insn *insn)
{
    return insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR || insn->type == CT_INSN_ISB;
}

/* ---- contents of the file ---- */

static int add_code(struct ct_cfg *cfg, const GElf_Phdr *segment, const uint8_t *bytes)
{
    struct ct_cfg_code *code = &cfg->codes[cfg->code_count++];
    *code = (struct ct_cfg_code){
        .start = segment->p_vaddr + cfg->bias, .size = segment->p_filesz, .bytes = bytes + segment->p_offset};
    code->marks = calloc((size_t)code->size / 2 + 1, 1);
    code->here = ct_table_of_zeros((size_t)code->size / step_of(cfg) + 1, sizeof *code->here);
    return code->marks && code->here ? CT_OK : ct_fail_nomem(cfg->ctx, cfg->name);
}

/* Returns whether the contents of a segment are in the file. The memory made before refuses a segment that is
 * not in the file, unless its size in memory is 0. */
static bool is_there(const GElf_Phdr *segment, const struct ct_mapped_file *file)
{
    return segment->p_type == PT_LOAD && segment->p_filesz && segment->p_filesz <= segment->p_memsz &&
           segment->p_filesz <= file->size && segment->p_offset <= file->size - segment->p_filesz;
}

static int add_segments(struct ct_cfg *cfg, const struct ct_elf *elf, const struct ct_mapped_file *file)
{
    int rc = CT_OK;
    cfg->codes = calloc(elf->segments + 1, sizeof *cfg->codes);
    cfg->datas = calloc(elf->segments + 1, sizeof *cfg->datas);
    if (!cfg->codes || !cfg->datas)
        return ct_fail_nomem(cfg->ctx, cfg->name);
    for (size_t i = 0; !rc && i < elf->segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf->elf, (int)i, &segment) || !is_there(&segment, file))
            continue;
        if (segment.p_flags & PF_X)
            rc = add_code(cfg, &segment, file->bytes);
        else if (segment.p_flags & PF_W)
            cfg->datas[cfg->data_count++] =
                (struct ct_cfg_data){file->bytes + segment.p_offset, (size_t)segment.p_filesz};
    }
    return rc;
}

/* Adds bytes to the list of those that may be written, or to that of those that never are. */
static int add_piece(struct ct_cfg *cfg, const struct ct_mapped_file *file, bool is_written,
                     struct ct_cfg_fixed piece, uint64_t offset)
{
    if (offset > file->size || piece.size > file->size - offset)
        return CT_OK;
    const int rc = is_written ? CT_CFG_ROOM(cfg, &cfg->written) : CT_CFG_ROOM(cfg, &cfg->fixed);
    piece.bytes = file->bytes + offset;
    if (!rc && is_written)
        cfg->written.at[cfg->written.count++] = piece;
    else if (!rc)
        cfg->fixed.at[cfg->fixed.count++] = piece;
    return rc;
}

static bool is_for_unwinding(const struct ct_elf *elf, const GElf_Shdr *s)
{
    size_t names;
    const char *name =
        elf_getshdrstrndx(elf->elf, &names) == 0 ? elf_strptr(elf->elf, names, s->sh_name) : NULL;
    return s->sh_type == SHT_ARM_EXIDX || (name && !strncmp(name, ".eh_frame", 9));
}

/* Lists what is never written, by sections: firmware often has one segment for everything. Without sections,
 * by segments. What is written is listed in the same way. */
static int list_pieces(struct ct_cfg *cfg, const struct ct_elf *elf, const struct ct_mapped_file *file)
{
    int rc = CT_OK;
    Elf_Scn *section = NULL;
    bool has_sections = false;
    while (!rc && (section = elf_nextscn(elf->elf, section))) {
        GElf_Shdr s;
        if (!gelf_getshdr(section, &s) || !(s.sh_flags & SHF_ALLOC))
            continue;
        has_sections = true;
        const struct ct_cfg_fixed piece = {
            .start = s.sh_addr + cfg->bias, .size = s.sh_size, .unwinds = is_for_unwinding(elf, &s)};
        if (s.sh_type != SHT_NOBITS)
            rc = add_piece(cfg, file, s.sh_flags & SHF_WRITE, piece, s.sh_offset);
    }
    for (size_t i = 0; !rc && !has_sections && i < elf->segments; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf->elf, (int)i, &p) && is_there(&p, file))
            rc = add_piece(cfg, file, p.p_flags & PF_W,
                           (struct ct_cfg_fixed){.start = p.p_vaddr + cfg->bias, .size = p.p_filesz},
                           p.p_offset);
    }
    return rc;
}

static int open_file(struct ct_cfg *cfg, const struct ct_mapped_file *file)
{
    struct ct_elf elf = {0};
    int rc = ct_symbols_make(cfg->ctx, cfg->name, cfg->separate_names ? cfg->name : NULL, file->bytes,
                             file->size, &cfg->names, &cfg->symbols)
             ?: ct_memory_new(cfg->ctx, &cfg->memory)
             ?: ct_memory_add_elf(cfg->memory, file, cfg->bias, CT_SPACE_ANY)
             ?: ct_elf_open(cfg->ctx, cfg->name, file->bytes, file->size, &elf);
    if (rc)
        return rc;
    cfg->is_a64 = elf.header.e_machine == EM_AARCH64;
    cfg->start = elf.header.e_entry + cfg->bias;
    /* the addresses of functions are not in a module before it is linked, and those of A32 in
     * position-independent code are distances from anywhere */
    cfg->has_unknown_callers = elf.header.e_type == ET_REL || (elf.header.e_type == ET_DYN && !cfg->is_a64);
    rc = add_segments(cfg, &elf, file);
    if (!rc)
        rc = list_pieces(cfg, &elf, file);
    ct_elf_close(&elf);
    return rc;
}

static int by_entry(const void *a, const void *b)
{
    const struct ct_cfg_func *x = a, *y = b;
    return ct_order(x->entry, y->entry);
}

/* Numbers all functions by address, however they were found. */
static void number_functions(struct ct_cfg *cfg)
{
    for (size_t i = 0; i < cfg->funcs.count; i++)
        if (cfg->funcs.at[i].part_of != CT_CFG_NONE) /* still the entry address */
            cfg->funcs.at[i].whole = cfg->funcs.at[cfg->funcs.at[i].part_of].entry;
    if (cfg->funcs.count)
        qsort(cfg->funcs.at, cfg->funcs.count, sizeof *cfg->funcs.at, by_entry);
    for (size_t i = 0; i < cfg->funcs.count; i++)
        ct_cfg_here(cfg, cfg->funcs.at[i].entry)->function = (uint32_t)i + 1;
    for (size_t i = 0; i < cfg->funcs.count; i++)
        if (cfg->funcs.at[i].part_of != CT_CFG_NONE)
            cfg->funcs.at[i].part_of = ct_cfg_function_at(cfg, cfg->funcs.at[i].whole);
}

static int make(struct ct_cfg *cfg, const struct ct_mapped_file *file, const struct ct_cfg_options *options)
{
    const char *targets = options->targets;
    int rc = open_file(cfg, file);
    if (!rc && targets)
        rc = ct_cfg_targets_read(cfg, options->targets_name, targets, true);
    if (!rc)
        rc = ct_cfg_seed(cfg);
    if (!rc)
        rc = ct_cfg_explore(cfg);
    if (!rc)
        number_functions(cfg);
    if (!rc)
        rc = ct_cfg_build(cfg);
    if (!rc && targets)
        rc = ct_cfg_targets_read(cfg, options->targets_name, targets, false);
    return rc ? rc : ct_cfg_update(cfg);
}

static struct ct_cfg *new_cfg(struct ct_ctx *ctx, const char *name, const struct ct_cfg_options *options)
{
    struct ct_cfg *cfg = calloc(1, sizeof *cfg);
    if (!cfg)
        return NULL;
    cfg->ctx = ctx;
    cfg->bias = options->bias;
    cfg->separate_names = options->names != NULL;
    cfg->arch = options->arch;
    cfg->name = ct_arena_strdup(&cfg->arena, name);
    if (cfg->name)
        return cfg;
    ct_cfg_free(cfg);
    return NULL;
}

static int read_options(struct ct_ctx *ctx, const struct ct_cfg_options *options, struct ct_cfg_options *out,
                        struct ct_symbol_options *names)
{
    const int rc = ct_options_read(ctx, "ct_cfg_load", options, out, sizeof *out);
    return rc ? rc : ct_options_read(ctx, "ct_cfg_load", out->names, names, sizeof *names);
}

int ct_cfg_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                      const struct ct_cfg_options *options, struct ct_cfg **out)
{
    CT_REQUIRE_OUT(ctx, out, name, bytes || !size);
    struct ct_cfg_options o;
    struct ct_symbol_options names;
    int rc = read_options(ctx, options, &o, &names);
    if (rc)
        return rc;
    struct ct_cfg *cfg = new_cfg(ctx, name, &o);
    struct ct_mapped_file *file = cfg ? ct_arena_alloc(&cfg->arena, sizeof *file + strlen(name) + 1) : NULL;
    if (!file) {
        ct_cfg_free(cfg);
        return ct_fail_nomem(ctx, name);
    }
    cfg->names = names;
    cfg->names.bias = o.bias;
    file->bytes = bytes;
    file->size = size;
    memcpy(file->path, name, strlen(name) + 1);
    rc = make(cfg, file, &o);
    if (rc)
        ct_cfg_free(cfg);
    else
        *out = cfg;
    return rc;
}

int ct_cfg_load(struct ct_ctx *ctx, const char *path, const struct ct_cfg_options *options,
                struct ct_cfg **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    struct ct_cfg_options o;
    struct ct_symbol_options names;
    struct ct_mapped_file *file;
    int rc = read_options(ctx, options, &o, &names) ?: ct_mapped_file_open(ctx, path, names.placed, &file);
    if (rc)
        return rc;
    rc = ct_cfg_load_bytes(ctx, path, file->bytes, file->size, options, out);
    if (*out)
        (*out)->file = file;
    else
        ct_mapped_file_close(file);
    return rc;
}

void ct_cfg_free(struct ct_cfg *cfg)
{
    if (!cfg)
        return;
    for (size_t i = 0; i < cfg->code_count; i++) {
        free(cfg->codes[i].marks);
        free(cfg->codes[i].here);
    }
    void *const lists[] = {
        cfg->codes,      cfg->datas,      cfg->funcs.at,   cfg->waits.at, cfg->work.at,      cfg->computed.at,
        cfg->leaders.at, cfg->tables.at,  cfg->targets.at, cfg->late.at,  cfg->functions.at, cfg->blocks.at,
        cfg->edges.at,   cfg->loops.at,   cfg->members.at, cfg->order.at, cfg->ready.at,     cfg->behind.at,
        cfg->fixed.at,   cfg->written.at, cfg->taken.at};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    ct_addr_map_free(&cfg->table_at);
    ct_symbols_free(cfg->symbols);
    ct_memory_free(cfg->memory);
    ct_mapped_file_close(cfg->file);
    ct_arena_free(&cfg->arena);
    free(cfg);
}

/* ---- members and flags ---- */

static void describe(struct ct_cfg *cfg, uint32_t number, struct ct_cfg_function *function)
{
    const struct ct_cfg_func *func = &cfg->funcs.at[number];
    uint32_t block = ct_cfg_here(cfg, func->entry)->block - 1;
    *function = (struct ct_cfg_function){
        .name = func->name,
        .label = func->label,
        .entry = func->entry,
        .block = block != CT_CFG_NONE && cfg->blocks.at[block].function == number ? block : CT_CFG_NONE,
        .part_of = func->part_of,
        .isa = func->isa,
        .found = func->found,
        .no_return = !func->returns};
}

/* Returns true for an indirect jump with unknown targets. Targets from the user are complete; a trace only
 * shows those that ran. */
static bool is_open(const struct ct_cfg *cfg, const struct ct_cfg_block *block)
{
    bool unknown = false;
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out) {
        unknown |= cfg->edges.at[e].kind == CT_CFG_UNKNOWN;
        if (cfg->edges.at[e].origin == CT_CFG_USER)
            return false;
    }
    return unknown && block->sub != CT_INSN_SUB_LINK;
}

static int fill_members(struct ct_cfg *cfg)
{
    uint32_t first = 0;
    if (!CT_MAKE_ROOM(cfg->members.at, cfg->members.room, cfg->blocks.count))
        return ct_fail_nomem(cfg->ctx, cfg->name);
    for (size_t i = 0; i < cfg->blocks.count; i++)
        if (cfg->blocks.at[i].function != CT_CFG_NONE)
            cfg->functions.at[cfg->blocks.at[i].function].count++;
    for (size_t i = 0; i < cfg->functions.count; i++) {
        cfg->functions.at[i].first = first;
        first += cfg->functions.at[i].count;
        cfg->functions.at[i].count = 0;
    }
    for (size_t i = 0; i < cfg->order.count; i++) {
        const struct ct_cfg_block *block = &cfg->blocks.at[cfg->order.at[i]];
        if (block->function == CT_CFG_NONE)
            continue;
        struct ct_cfg_function *function = &cfg->functions.at[block->function];
        cfg->members.at[function->first + function->count++] = cfg->order.at[i];
        function->incomplete |= is_open(cfg, block);
    }
    cfg->members.count = first;
    return CT_OK;
}

int ct_cfg_update(struct ct_cfg *cfg)
{
    CT_REQUIRE(NULL, cfg);
    int rc = CT_OK;
    cfg->functions.count = 0;
    for (size_t i = 0; !rc && i < cfg->funcs.count; i++) {
        rc = CT_CFG_ROOM(cfg, &cfg->functions);
        if (!rc)
            describe(cfg, (uint32_t)i, &cfg->functions.at[cfg->functions.count++]);
    }
    if (!rc)
        rc = fill_members(cfg);
    if (!rc)
        rc = ct_cfg_dominators_find(cfg);
    if (!rc)
        rc = ct_cfg_loops_find(cfg);
    return rc ? rc : ct_cfg_taken_find(cfg);
}

/* ---- queries ---- */

const struct ct_cfg_function *ct_cfg_functions(const struct ct_cfg *cfg, size_t *count)
{
    return CT_ARRAY_OF(cfg, functions.at, functions.count, count);
}

const struct ct_cfg_block *ct_cfg_blocks(const struct ct_cfg *cfg, size_t *count)
{
    return CT_ARRAY_OF(cfg, blocks.at, blocks.count, count);
}

const struct ct_cfg_edge *ct_cfg_edges(const struct ct_cfg *cfg, size_t *count)
{
    return CT_ARRAY_OF(cfg, edges.at, edges.count, count);
}

const struct ct_cfg_loop *ct_cfg_loops(const struct ct_cfg *cfg, size_t *count)
{
    return CT_ARRAY_OF(cfg, loops.at, loops.count, count);
}

const uint32_t *ct_cfg_members(const struct ct_cfg *cfg, size_t *count)
{
    return CT_ARRAY_OF(cfg, members.at, members.count, count);
}

const struct ct_symbols *ct_cfg_symbols(const struct ct_cfg *cfg)
{
    if (!cfg)
        return NULL;
    return cfg->symbols;
}

uint32_t ct_cfg_function_at(const struct ct_cfg *cfg, uint64_t entry)
{
    const struct ct_cfg_here *here = cfg ? ct_cfg_here(cfg, entry) : NULL;
    return here ? here->function - 1 : CT_CFG_NONE;
}

/* Returns whether a function with code is a copy of the function `of`, or is `of` without its parameters. */
static bool is_for(const struct ct_cfg_function *f, const char *of)
{
    return f->block != CT_CFG_NONE && (ct_name_enters(f->name, of) || ct_name_enters(f->label, of));
}

uint32_t ct_cfg_function_named(const struct ct_cfg *cfg, const char *name)
{
    uint32_t found = CT_CFG_NONE;
    uint32_t other = CT_CFG_NONE;
    uint32_t others = 0;
    size_t count;
    const struct ct_cfg_function *all = name ? ct_cfg_functions(cfg, &count) : NULL;
    for (uint32_t i = 0; all && i < count; i++) {
        const bool is_named = strcmp(all[i].name, name) == 0 || strcmp(all[i].label, name) == 0;
        if (is_named && all[i].block != CT_CFG_NONE)
            return i;
        if (is_named && found == CT_CFG_NONE)
            found = i;
        if (is_for(&all[i], name)) {
            other = i;
            others++;
        }
    }
    return found == CT_CFG_NONE && others == 1 ? other : found;
}

uint32_t ct_cfg_block_at(const struct ct_cfg *cfg, uint64_t addr)
{
    if (!cfg)
        return CT_CFG_NONE;
    size_t low = CT_COUNT_WHILE(cfg->order.count, i, cfg->blocks.at[cfg->order.at[i]].start <= addr);
    if (low == 0)
        return CT_CFG_NONE;
    uint32_t block = cfg->order.at[low - 1];
    return addr < cfg->blocks.at[block].end ? block : CT_CFG_NONE;
}

uint32_t ct_cfg_edge_between(const struct ct_cfg *cfg, uint64_t last, uint64_t next)
{
    if (!cfg)
        return CT_CFG_NONE;
    uint32_t from = ct_cfg_block_at(cfg, last);
    uint32_t vague = CT_CFG_NONE;
    if (from == CT_CFG_NONE || cfg->blocks.at[from].last != last)
        return CT_CFG_NONE;
    for (uint32_t e = cfg->blocks.at[from].first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out) {
        const struct ct_cfg_edge *edge = &cfg->edges.at[e];
        if (edge->kind == CT_CFG_RETURN || edge->kind == CT_CFG_UNKNOWN)
            vague = e;
        else if (edge->kind != CT_CFG_CALLED && edge->target == next)
            return e;
    }
    return vague;
}

const char *ct_cfg_kind_name(enum ct_cfg_kind kind)
{
    static const char *const names[] = {"next", "branch", "call", "called", "tail", "return", "unknown"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

const char *ct_cfg_origin_name(enum ct_cfg_origin origin)
{
    static const char *const names[] = {"code", "table", "user", "learnt"};
    return (unsigned)origin < sizeof names / sizeof *names ? names[origin] : "?";
}
