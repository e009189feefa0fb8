/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles for pprof: the published message Profile, compressed with gzip. Each function is one
 * location, at its first instruction. */
#include <stdbool.h>
#include <string.h>

#include "base/elf_look.h"
#include "base/protobuf.h"
#include "format/deflate.h"
#include "format/profile.h"
#include "format/stack_cut.h"

/* bytes of the message that are collected before compression */
#define PIECE 65536u

/* Numbers of the fields, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING_TABLE,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE,
    MAPPING_ID = 1,
    MAPPING_MEMORY_START,
    MAPPING_MEMORY_LIMIT,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILENAMES,
    MAPPING_HAS_LINE_NUMBERS,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID,
    LOCATION_ADDRESS,
    LOCATION_LINE,
    LINE_FUNCTION_ID = 1,
    LINE_LINE,
    FUNCTION_ID = 1,
    FUNCTION_NAME,
    FUNCTION_SYSTEM_NAME,
    FUNCTION_FILENAME,
    FUNCTION_START_LINE,
};

struct pprof {
    FILE *out;
    struct ct_deflate *deflate;
    struct ct_grown message; /* to be compressed */
    struct ct_grown packed;  /* to be written */
    struct ct_grown strings; /* string table, which is written last */
    uint64_t string_count;
    const struct ct_stack_found *stacks;
    struct ct_stack_cut cut; /* omitted functions are represented by one, with a number behind all others */
    const struct ct_stack_sums *sums;
    const struct ct_profile_view *views;
    size_t view_count;
    bool has_cycles;
    const struct ct_profile_view *last_view; /* view of the source file that was named last */
    uint32_t last_file;
    uint64_t last_name; /* number of that file in the string table */
};

/* Adds a text to the string table, and returns its number. */
static uint64_t add_string(struct pprof *p, const char *text)
{
    ct_protobuf_text(&p->strings, PROFILE_STRING_TABLE, text);
    return p->string_count++;
}

/* Compresses and writes what was collected. */
static void flush(struct pprof *p, bool last)
{
    if (!last && p->message.size < PIECE)
        return;
    ct_deflate_run(p->deflate, p->message.bytes, p->message.size, last, &p->packed);
    if (!p->packed.failed)
        fwrite(p->packed.bytes, 1, p->packed.size, p->out);
    p->message.size = 0;
    p->packed.size = 0;
}

/* Adds a type of values. Returns the number of its name in the string table. */
static uint64_t put_type(struct pprof *p, unsigned field, const char *name)
{
    const uint64_t type = add_string(p, name);
    const size_t begin = ct_protobuf_begin(&p->message, field);
    ct_protobuf_number(&p->message, VALUE_TYPE_TYPE, type);
    ct_protobuf_number(&p->message, VALUE_TYPE_UNIT, add_string(p, "count"));
    ct_protobuf_end(&p->message, begin);
    return type;
}

static void put_types(struct pprof *p, bool cycles)
{
    const uint64_t instructions = put_type(p, PROFILE_SAMPLE_TYPE, "instructions");
    const uint64_t other = p->has_cycles ? put_type(p, PROFILE_SAMPLE_TYPE, "cycles") : instructions;
    put_type(p, PROFILE_PERIOD_TYPE, "instructions");
    ct_protobuf_number(&p->message, PROFILE_PERIOD, 1); /* nothing is sampled */
    ct_protobuf_number(&p->message, PROFILE_DEFAULT_SAMPLE_TYPE, cycles ? other : instructions);
}

/* Adds a count. Counts are signed in this format. */
static void put_value(struct ct_grown *to, uint64_t value)
{
    ct_grown_put_varint(to, value < INT64_MAX ? value : INT64_MAX);
}

static void put_sample(struct pprof *p, uint32_t place)
{
    const struct ct_stack_place *places = p->stacks->places;
    struct ct_grown *to = &p->message;
    const size_t sample = ct_protobuf_begin(to, PROFILE_SAMPLE);
    const size_t locations = ct_protobuf_begin(to, SAMPLE_LOCATION_ID);
    uint32_t at = place;
    if (ct_stack_is_cut(&p->cut, p->stacks, place)) {
        ct_grown_put_varint(to, UINT64_C(1) + places[place].function);
        ct_grown_put_varint(to, UINT64_C(1) + p->stacks->function_count);
        at = p->cut.outer[place];
    }
    for (; at != CT_STACK_NONE; at = places[at].parent)
        ct_grown_put_varint(to, UINT64_C(1) + places[at].function);
    ct_protobuf_end(to, locations);
    const size_t values = ct_protobuf_begin(to, SAMPLE_VALUE);
    put_value(to, places[place].insns);
    if (p->has_cycles)
        put_value(to, places[place].cycles);
    ct_protobuf_end(to, values);
    ct_protobuf_end(to, sample);
}

static uint64_t put_samples(struct pprof *p)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->stacks->place_count; i++) {
        if (!p->stacks->places[i].insns && !p->stacks->places[i].cycles)
            continue;
        put_sample(p, i);
        count++;
        flush(p, false);
    }
    return count;
}

/* Returns the view of a program by its number in the sums, or NULL when its file is not available. */
static const struct ct_profile_view *view_of(const struct pprof *p, uint32_t program)
{
    for (size_t i = 0; i < p->view_count && program != CT_STACK_NONE; i++)
        if (p->views[i].number == program)
            return &p->views[i];
    return NULL;
}

static uint64_t add_build_id(struct pprof *p, const struct ct_program_identity *program)
{
    struct ct_build_id id = {
        .size = program->build_id_size < sizeof id.bytes ? (uint8_t)program->build_id_size : sizeof id.bytes};
    char text[2 * CT_BUILD_ID_MAX + 1];
    memcpy(id.bytes, program->build_id, id.size);
    ct_build_id_text(&id, text);
    return add_string(p, text);
}

static void put_mapping(struct pprof *p, uint32_t number)
{
    const struct ct_program_identity program = ct_stack_sums_program(p->sums, number);
    const struct ct_profile_view *view = view_of(p, number);
    const bool has_lines = view && ct_lines_file_count(view->source.lines);
    struct ct_grown *to = &p->message;
    const size_t begin = ct_protobuf_begin(to, PROFILE_MAPPING);
    ct_protobuf_number(to, MAPPING_ID, UINT64_C(1) + number);
    ct_protobuf_number(to, MAPPING_MEMORY_START, program.low);
    ct_protobuf_number(to, MAPPING_MEMORY_LIMIT, program.high);
    ct_protobuf_number(to, MAPPING_FILENAME, add_string(p, program.name));
    if (program.build_id_size)
        ct_protobuf_number(to, MAPPING_BUILD_ID, add_build_id(p, &program));
    ct_protobuf_number(to, MAPPING_HAS_FUNCTIONS, 1);
    ct_protobuf_number(to, MAPPING_HAS_FILENAMES, has_lines);
    ct_protobuf_number(to, MAPPING_HAS_LINE_NUMBERS, has_lines);
    ct_protobuf_end(to, begin);
}

/* Adds the programs, started ones first, because the first one counts as the main program. */
static void put_mappings(struct pprof *p)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->stacks->program_count; i++)
            if ((ct_stack_sums_program(p->sums, i).started != 0) == (pass == 0))
                put_mapping(p, i);
}

/* Returns the number of a source file's path. Remembers the last one, because functions of a file mostly
 * stand together. */
static uint64_t add_file(struct pprof *p, const struct ct_profile_view *view, uint32_t file)
{
    const char *path = ct_lines_file(view->source.lines, file);
    if (view != p->last_view || file != p->last_file)
        p->last_name = path ? add_string(p, path) : 0;
    p->last_view = view;
    p->last_file = file;
    return p->last_name;
}

/* Adds a function by its number, with its first line if known. */
static void put_function(struct pprof *p, uint64_t number, const struct ct_stack_function *function,
                         const struct ct_line *line)
{
    struct ct_grown *to = &p->message;
    const size_t begin = ct_protobuf_begin(to, PROFILE_FUNCTION);
    ct_protobuf_number(to, FUNCTION_ID, UINT64_C(1) + number);
    ct_protobuf_number(to, FUNCTION_NAME, add_string(p, function->label));
    ct_protobuf_number(to, FUNCTION_SYSTEM_NAME, add_string(p, function->name));
    if (line) {
        ct_protobuf_number(to, FUNCTION_FILENAME, add_file(p, view_of(p, function->program), line->file));
        ct_protobuf_number(to, FUNCTION_START_LINE, line->line);
    }
    ct_protobuf_end(to, begin);
}

static void put_location(struct pprof *p, uint64_t number, const struct ct_stack_function *function,
                         const struct ct_line *line)
{
    struct ct_grown *to = &p->message;
    const size_t begin = ct_protobuf_begin(to, PROFILE_LOCATION);
    ct_protobuf_number(to, LOCATION_ID, UINT64_C(1) + number);
    if (function->program != CT_STACK_NONE)
        ct_protobuf_number(to, LOCATION_MAPPING_ID, UINT64_C(1) + function->program);
    if (function->addr != UINT64_MAX)
        ct_protobuf_number(to, LOCATION_ADDRESS, function->addr);
    const size_t place = ct_protobuf_begin(to, LOCATION_LINE);
    ct_protobuf_number(to, LINE_FUNCTION_ID, UINT64_C(1) + number);
    if (line)
        ct_protobuf_number(to, LINE_LINE, line->line);
    ct_protobuf_end(to, place);
    ct_protobuf_end(to, begin);
}

static void put_functions(struct pprof *p)
{
    for (uint32_t i = 0; i < p->stacks->function_count; i++) {
        const struct ct_stack_function *function = &p->stacks->functions[i];
        const struct ct_profile_view *view = view_of(p, function->program);
        const struct ct_line *line = view ? ct_lines_at(view->source.lines, function->addr) : NULL;
        put_function(p, i, function, line);
        put_location(p, i, function, line);
        flush(p, false);
    }
    static const struct ct_stack_function left_out = {
        .name = CT_STACK_LEFT_OUT, .label = CT_STACK_LEFT_OUT, .addr = UINT64_MAX, .program = CT_STACK_NONE};
    if (p->cut.depth.cut) {
        put_function(p, p->stacks->function_count, &left_out, NULL);
        put_location(p, p->stacks->function_count, &left_out, NULL);
    }
}

static bool has_cycles(const struct ct_stack_found *stacks)
{
    size_t i = 0;
    while (i < stacks->place_count && !stacks->places[i].cycles)
        i++;
    return i < stacks->place_count;
}

int ct_profile_pprof(struct ct_ctx *ctx, FILE *out, const struct ct_profile_stacks *stacks,
                     const struct ct_profile_view *views, size_t count, uint64_t *entries)
{
    struct pprof p = {
        .out = out, .stacks = &stacks->found, .sums = stacks->sums, .views = views, .view_count = count};
    int rc = ct_stack_cut_find(p.stacks, &p.cut) ?: ct_deflate_new(ctx, CT_DEFLATE_GZIP, &p.deflate);
    if (rc) {
        ct_stack_cut_free(&p.cut);
        return rc;
    }
    p.has_cycles = has_cycles(p.stacks);
    add_string(&p, ""); /* number 0 means no text */
    put_types(&p, stacks->cycles);
    *entries += put_samples(&p);
    put_mappings(&p);
    put_functions(&p);
    ct_grown_put(&p.message, p.strings.bytes, p.strings.size);
    flush(&p, true);
    rc = p.message.failed || p.packed.failed || p.strings.failed ? CT_ERR_NOMEM : CT_OK;
    ct_stack_cut_free(&p.cut);
    ct_deflate_free(p.deflate);
    ct_grown_free(&p.message);
    ct_grown_free(&p.packed);
    ct_grown_free(&p.strings);
    return rc;
}
