/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles of stacks: folded lines, and slices of time for the viewers of Chrome and Perfetto. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/pair_map.h"
#include "base/path.h"
#include "base/require.h"
#include "base/room.h"
#include "coretap/format.h"
#include "format/slice_clocks.h"
#include "format/source_buffer.h"
#include "format/stack_cut.h"
#include "format/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The last folded line. The next one mostly begins with the same functions, whose names are then reused. */
struct folded {
    FILE *out;
    const struct ct_stack_found *found;
    struct ct_stack_cut cut;
    const struct ct_stack_sums *modules; /* programs to write before functions; NULL: none */
    uint32_t *path;                      /* places, the innermost first; CT_STACK_NONE: some are omitted */
    uint32_t *last;                      /* places of the last line, the outermost first */
    size_t *ends;                        /* where the name of each of these places ends in the text */
    size_t depth;                        /* functions in the line */
    char *text;
    size_t room;
};

/* Makes room for `size` bytes of text. CT_ERR_NOMEM. */
static int make_room(struct folded *f, size_t size)
{
    return CT_MAKE_ROOM(f->text, f->room, size) ? CT_OK : CT_ERR_NOMEM;
}

/* Writes a name, and replaces the characters with a meaning in a folded line. Returns its end. */
static size_t put_name(struct folded *f, size_t at, const char *name)
{
    for (; *name; name++)
        f->text[at++] = *name == ';' || (unsigned char)*name <= ' ' ? '_' : *name;
    return at;
}

/* Appends a function and a semicolon. CT_ERR_NOMEM. */
static int append_function(struct folded *f, const struct ct_stack_function *function)
{
    const struct ct_program_identity program = ct_stack_sums_program(f->modules, function->program);
    const char *module = program.name ? ct_base_name(program.name) : CT_SYMBOL_UNKNOWN;
    size_t end = f->depth ? f->ends[f->depth - 1] : 0;
    if (make_room(f, end + strlen(module) + strlen(function->label) + 2) != CT_OK)
        return CT_ERR_NOMEM;
    if (f->modules) {
        end = put_name(f, end, module);
        f->text[end++] = '`';
    }
    end = put_name(f, end, function->label);
    f->text[end++] = ';';
    f->ends[f->depth++] = end;
    return CT_OK;
}

/* Finds the places of a line. Returns their number. */
static size_t find_path(const struct folded *f, uint32_t place)
{
    size_t depth = 0;
    uint32_t at = place;
    if (ct_stack_is_cut(&f->cut, f->found, place)) {
        f->path[depth++] = place;
        f->path[depth++] = CT_STACK_NONE;
        at = f->cut.outer[place];
    }
    for (; at != CT_STACK_NONE; at = f->found->places[at].parent)
        f->path[depth++] = at;
    return depth;
}

static int put_folded_line(struct folded *f, uint32_t place, uint64_t weight)
{
    static const struct ct_stack_function left_out = {.label = CT_STACK_LEFT_OUT, .program = CT_STACK_NONE};
    const struct ct_stack_found *found = f->found;
    const size_t depth = find_path(f, place);
    size_t same = 0;
    while (same < f->depth && same < depth && f->last[same] == f->path[depth - 1 - same])
        same++;
    for (f->depth = same; f->depth < depth;) {
        const uint32_t at = f->path[depth - 1 - f->depth];
        f->last[f->depth] = at;
        const bool some = at == CT_STACK_NONE;
        if (append_function(f, some ? &left_out : &found->functions[found->places[at].function]) != CT_OK)
            return CT_ERR_NOMEM;
    }
    fwrite(f->text, 1, f->ends[depth - 1] - 1, f->out);
    fprintf(f->out, " %" PRIu64 "\n", weight);
    return CT_OK;
}

static int put_folded(FILE *out, const struct ct_stack_found *found, const struct ct_stack_sums *modules,
                      bool cycles)
{
    const size_t most = found->place_count + 2;
    struct folded f = {.out = out, .found = found, .modules = modules};
    f.path = malloc(most * sizeof *f.path);
    f.last = malloc(most * sizeof *f.last);
    f.ends = malloc(most * sizeof *f.ends);
    int rc = f.path && f.last && f.ends ? ct_stack_cut_find(found, &f.cut) : CT_ERR_NOMEM;
    for (size_t i = 0; i < found->place_count && !rc; i++) {
        const uint64_t weight = cycles ? found->places[i].cycles : found->places[i].insns;
        if (weight)
            rc = put_folded_line(&f, (uint32_t)i, weight);
    }
    free(f.path);
    free(f.last);
    free(f.ends);
    free(f.text);
    ct_stack_cut_free(&f.cut);
    return rc;
}

int ct_stack_sums_write(struct ct_stack_sums *sums, const struct ct_stack_write_options *options,
                        ct_write_fn *write, void *user)
{
    const struct ct_analysis *analysis = ct_stack_sums_analysis(sums);
    struct ct_ctx *ctx = analysis ? analysis->ctx : NULL;
    struct ct_stack_write_options mine;
    struct ct_stack_found found;
    struct ct_out out;
    CT_REQUIRE(ctx, analysis, write);
    int rc = ct_options_read(ctx, __func__, options, &mine, sizeof mine)
             ?: ct_stack_sums_find(sums, &found)
             ?: ct_out_open(&out, ctx, write, user);
    return rc ? rc
              : ct_out_close(&out, put_folded(out.file, &found, mine.modules ? sums : NULL, mine.cycles));
}

/* ---- slices ---- */

/* longest name whose text is cached; each of its bytes becomes at most six */
#define KEPT_NAME 200u

/* The cached beginning of a function's slices, up to their time. The name is compared, because function
 * numbers depend on the stacks that the slices come from. */
struct beginning {
    char *text; /* the name, a NUL, and the text; NULL: empty */
    uint32_t size;
    uint32_t name_size; /* including its NUL */
    uint64_t checked;   /* the call in which the name was last compared */
};

/* A stream, by its number. */
struct slice_lane {
    const struct ct_buffer *buffer; /* NULL: the stream is not described */
    const struct ct_source *source;
    uint8_t id;
};

struct ct_slice_writer {
    struct ct_ctx *ctx;
    struct ct_out out;
    struct ct_slice_write_options options;
    uint64_t count;                       /* slices written */
    bool begun, ended;                    /* something was written; the end was written */
    const struct ct_slice_clocks *clocks; /* of the streams; NULL: each has its own time */
    struct ct_clock clock;
    uint64_t frequency;
    char *run;                    /* name of the capture with the slices; NULL: the only one */
    uint32_t run_count;           /* captures begun */
    struct ct_pair_map processes; /* maps (stream, number of its capture) to a process */
    struct ct_pair_map threads;   /* maps (context, process) to 1 when its name was looked up */
    struct slice_lane *lanes;
    size_t lane_count;
    struct beginning *beginnings; /* by function */
    size_t beginning_count;
    uint64_t added;           /* calls that added slices */
    bool has_lane;            /* a slice of the capture was written */
    uint32_t lane;            /* stream of the last slice */
    uint32_t process, thread; /* numbers of the last slice */
    struct ct_word owner;     /* the owner of the last slice, as text; size 0: none yet */
    struct ct_text text;      /* to be written; empty between calls */
};

static void begin(const struct ct_slice_writer *writer)
{
    fprintf(writer->out.file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"%s\"},\"traceEvents\":[",
            writer->clocks           ? "microseconds"
            : writer->options.cycles ? "cycles"
                                     : "instructions");
}

/* Begins the next event of the trace. */
static void next_event(struct ct_slice_writer *writer)
{
    if (!writer->begun)
        begin(writer);
    ct_text_room(&writer->text);
    if (writer->begun)
        ct_text_char(&writer->text, ',');
    writer->begun = true;
}

static const struct slice_lane *find_lane(const struct ct_slice_writer *writer, uint32_t lane)
{
    static const struct slice_lane none = {0};
    return lane < writer->lane_count ? &writer->lanes[lane] : &none;
}

/* Begins an event with the name of a process or thread. */
static void begin_name(struct ct_slice_writer *writer, const char *what)
{
    next_event(writer);
    ct_text_lit(&writer->text, "\n{\"ph\":\"M\",\"name\":\"");
    ct_text_string(&writer->text, what);
    ct_text_lit(&writer->text, "\",\"args\":{\"name\":\"");
}

/* Writes the name of a stream's process: its core, or its number. */
static void name_process(struct ct_slice_writer *writer, uint32_t lane, uint32_t process)
{
    const struct slice_lane *of = find_lane(writer, lane);
    struct ct_text *text = &writer->text;
    if (!writer->run && !of->buffer)
        return;
    begin_name(writer, "process_name");
    if (writer->run) {
        ct_text_json(text, writer->run);
        ct_text_lit(text, ": ");
    }
    if (of->buffer) {
        ct_text_json(text, ct_source_core(of->source));
        ct_text_lit(text, " (");
        ct_text_json(text, of->buffer->name);
        ct_text_char(text, ' ');
        ct_text_hex_digits(text, of->id, 2);
        ct_text_char(text, ')');
    } else {
        ct_text_lit(text, "stream ");
        ct_text_dec(text, lane);
    }
    ct_text_lit(text, "\"},\"pid\":");
    ct_text_dec(text, process);
    ct_text_char(text, '}');
}

/* Finds the process of a stream in the file, and writes its name before its first slice. With several
 * captures, each stream is a separate process. CT_ERR_NOMEM. */
static int find_process(struct ct_slice_writer *writer, uint32_t lane, uint32_t *process)
{
    if (writer->has_lane && writer->lane == lane) {
        *process = writer->process;
        return CT_OK;
    }
    writer->has_lane = true;
    writer->lane = lane;
    *process = ct_pair_map_get(&writer->processes, lane, writer->run_count);
    if (*process != CT_PAIR_NONE)
        return CT_OK;
    *process = writer->run ? (uint32_t)writer->processes.count : lane;
    if (ct_pair_map_put(&writer->processes, lane, writer->run_count, *process))
        return ct_fail_nomem(writer->ctx, "slices");
    name_process(writer, lane, *process);
    return CT_OK;
}

/* Writes the name of a thread before its first slice, if known. CT_ERR_NOMEM. */
static int name_thread(struct ct_slice_writer *writer, uint32_t lane, uint32_t process, uint32_t context)
{
    const struct ct_buffer *buffer = find_lane(writer, lane)->buffer;
    struct ct_text *text = &writer->text;
    if ((writer->owner.size && writer->process == process && writer->thread == context) ||
        ct_pair_map_get(&writer->threads, context, process) != CT_PAIR_NONE)
        return CT_OK;
    const struct ct_context_name *name = buffer ? ct_context_name_find(buffer, context, CT_NO_TIME) : NULL;
    if (name) {
        begin_name(writer, "thread_name");
        ct_text_json(text, name->name);
        ct_text_lit(text, "\"},\"pid\":");
        ct_text_dec(text, process);
        ct_text_lit(text, ",\"tid\":");
        ct_text_dec(text, context);
        ct_text_char(text, '}');
    }
    return ct_pair_map_put(&writer->threads, context, process, 1) ? ct_fail_nomem(writer->ctx, "slices")
                                                                  : CT_OK;
}

/* Makes room in the cache for functions up to this one. CT_ERR_NOMEM. */
static int make_beginnings(struct ct_slice_writer *writer, uint32_t function)
{
    return CT_MAKE_ZEROED_ROOM(writer->beginnings, writer->beginning_count, (size_t)function + 1)
               ? CT_OK
               : ct_fail_nomem(writer->ctx, "slices");
}

/* Caches the text of a function written since the buffer had `from` bytes. CT_ERR_NOMEM. */
static int keep(struct ct_slice_writer *writer, struct beginning *kept, const char *name, size_t from)
{
    const size_t name_size = strlen(name) + 1;
    const size_t size = writer->text.used - from;
    if (writer->text.used < from || name_size > KEPT_NAME)
        return CT_OK; /* the buffer was flushed meanwhile */
    char *text = malloc(name_size + size);
    if (!text)
        return ct_fail_nomem(writer->ctx, "slices");
    memcpy(text, name, name_size);
    memcpy(text + name_size, writer->text.data + from, size);
    free(kept->text);
    *kept = (struct beginning){
        .text = text, .size = (uint32_t)size, .name_size = (uint32_t)name_size, .checked = writer->added};
    return CT_OK;
}

/* Writes the beginning of a function's slice, and caches it. CT_ERR_NOMEM. */
static int put_new_beginning(struct ct_slice_writer *writer, uint32_t function, const char *name)
{
    struct ct_text *text = &writer->text;
    const size_t from = text->used;
    const int rc = make_beginnings(writer, function);
    if (rc)
        return rc;
    ct_text_lit(text, "\n{\"ph\":\"X\",\"name\":\"");
    ct_text_json(text, name);
    ct_text_lit(text, "\",\"ts\":");
    return keep(writer, &writer->beginnings[function], name, from);
}

/* Writes the beginning of a function's slice, up to its time. CT_ERR_NOMEM. */
static int put_beginning(struct ct_slice_writer *writer, const struct ct_stacks *stacks, uint32_t function)
{
    struct beginning *kept = function < writer->beginning_count ? &writer->beginnings[function] : NULL;
    if (!kept || !kept->text || kept->checked != writer->added) {
        const char *name = ct_stacks_name(stacks, function);
        if (!kept || !kept->text || strcmp(kept->text, name) != 0)
            return put_new_beginning(writer, function, name);
        kept->checked = writer->added;
    }
    ct_text_bytes(&writer->text, kept->text + kept->name_size, kept->size);
    return CT_OK;
}

/* Writes the owner of a slice, which ends it. Reuses the text of the last slice's owner if it is the same. */
static void put_owner(struct ct_slice_writer *writer, uint32_t process, uint32_t thread)
{
    struct ct_text *text = &writer->text;
    if (writer->owner.size && writer->process == process && writer->thread == thread) {
        ct_text_word(text, &writer->owner);
        return;
    }
    const size_t from = text->used;
    ct_text_lit(text, ",\"pid\":");
    ct_text_dec(text, process);
    ct_text_lit(text, ",\"tid\":");
    ct_text_dec(text, thread);
    ct_text_char(text, '}');
    const size_t size = text->used - from;
    writer->process = process;
    writer->thread = thread;
    writer->owner.size = size <= sizeof writer->owner.text ? (uint8_t)size : 0;
    memcpy(writer->owner.text, text->data + from, writer->owner.size);
}

/* Writes a time. With clocks it is in nanoseconds, written as microseconds with three decimals. */
static void put_time(struct ct_slice_writer *writer, uint64_t time)
{
    struct ct_text *text = &writer->text;
    if (!writer->clocks) {
        ct_text_dec(text, time);
        return;
    }
    ct_text_dec(text, time / 1000);
    ct_text_char(text, '.');
    ct_text_char(text, (char)('0' + time / 100 % 10));
    ct_text_char(text, (char)('0' + time / 10 % 10));
    ct_text_char(text, (char)('0' + time % 10));
}

/* Returns the nanoseconds for a value of a stream's clock. */
static uint64_t nanoseconds(const struct ct_slice_writer *writer, uint32_t lane, uint64_t at, bool ends)
{
    return ct_clock_nanoseconds_at(&writer->clock, writer->frequency,
                                   ct_slice_clocks_time(writer->clocks, lane, at, ends));
}

static int put_slice(struct ct_slice_writer *writer, const struct ct_stacks *stacks,
                     const struct ct_stack_slice *slice)
{
    const struct ct_slice_write_options *o = &writer->options;
    struct ct_text *text = &writer->text;
    uint64_t from = o->cycles ? slice->cycles_from : slice->insns_from;
    uint64_t to = o->cycles ? slice->cycles_to : slice->insns_to;
    uint32_t process;
    from = from < o->from ? o->from : from;
    to = to > o->to ? o->to : to;
    if (from >= to)
        return CT_OK;
    if (writer->clocks) {
        from = nanoseconds(writer, slice->lane, from, false);
        to = nanoseconds(writer, slice->lane, to, true);
        to = to < from ? from : to;
    }
    int rc = find_process(writer, slice->lane, &process);
    if (!rc)
        rc = name_thread(writer, slice->lane, process, slice->ctxt);
    if (rc)
        return rc;
    next_event(writer);
    rc = put_beginning(writer, stacks, slice->function);
    if (rc)
        return rc;
    put_time(writer, from);
    ct_text_lit(text, ",\"dur\":");
    put_time(writer, to - from);
    put_owner(writer, process, slice->ctxt);
    writer->count++;
    return CT_OK;
}

int ct_slice_writer_new(struct ct_ctx *ctx, const struct ct_slice_write_options *options, ct_write_fn *write,
                        void *user, struct ct_slice_writer **out)
{
    struct ct_slice_write_options o;
    CT_REQUIRE_OUT(ctx, out, write);
    int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_slice_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return ct_fail_nomem(ctx, "slices");
    writer->ctx = ctx;
    writer->options = o;
    writer->options.to = o.to ? o.to : UINT64_MAX;
    rc = ct_out_open(&writer->out, ctx, write, user);
    if (rc)
        free(writer);
    else
        ct_text_init(&writer->text, writer->out.file);
    *out = rc ? NULL : writer;
    return rc;
}

void ct_slice_writer_free(struct ct_slice_writer *writer)
{
    if (!writer)
        return;
    ct_out_close(&writer->out, CT_OK);
    ct_pair_map_free(&writer->processes);
    ct_pair_map_free(&writer->threads);
    free(writer->lanes);
    for (size_t i = 0; i < writer->beginning_count; i++)
        free(writer->beginnings[i].text);
    free(writer->beginnings);
    free(writer->run);
    free(writer);
}

int ct_slice_writer_begin(struct ct_slice_writer *writer, const char *run)
{
    CT_REQUIRE_OF(writer, run);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    char *name = strdup(run);
    if (!name)
        return ct_fail_nomem(writer->ctx, "slices");
    free(writer->run);
    writer->run = name;
    writer->run_count++;
    writer->lane_count = 0; /* the next capture has other streams */
    writer->has_lane = false;
    return CT_OK;
}

int ct_slice_writer_stream(struct ct_slice_writer *writer, uint32_t lane, const struct ct_capture *capture,
                           const struct ct_stream *stream)
{
    CT_REQUIRE_OF(writer, capture, stream);
    if (lane >= CT_STACK_LANES)
        return ct_fail(writer->ctx, CT_ERR_LIMIT,
                       "%s: stream %" PRIu32 " is above the limit; nothing was written", __func__, lane);
    if (!CT_MAKE_ZEROED_ROOM(writer->lanes, writer->lane_count, (size_t)lane + 1))
        return ct_fail_nomem(writer->ctx, "slices");
    struct slice_lane *of = &writer->lanes[lane];
    if (of->source != stream->source)
        *of = (struct slice_lane){ct_source_buffer(capture, stream->source), stream->source, stream->id};
    return CT_OK;
}

int ct_slice_writer_align(struct ct_slice_writer *writer, const struct ct_slice_clocks *clocks,
                          const struct ct_clock *clock, uint64_t frequency)
{
    CT_REQUIRE_OF(writer, clocks);
    writer->clocks = clocks;
    writer->clock = clock ? *clock : (struct ct_clock){0};
    writer->frequency = frequency;
    return CT_OK;
}

int ct_slice_writer_add(struct ct_slice_writer *writer, const struct ct_stacks *stacks)
{
    size_t count;
    CT_REQUIRE_OF(writer, stacks);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    const struct ct_stack_slice *slices = ct_stacks_slices(stacks, &count);
    int rc = CT_OK;
    writer->added++;
    for (size_t i = 0; i < count && !rc; i++)
        rc = put_slice(writer, stacks, &slices[i]);
    ct_text_flush(&writer->text);
    return rc ? rc : writer->out.result;
}

int ct_slice_writer_end(struct ct_slice_writer *writer)
{
    CT_REQUIRE(NULL, writer);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    writer->ended = true;
    if (!writer->begun)
        begin(writer);
    fputs("\n]}\n", writer->out.file);
    fflush(writer->out.file);
    return writer->out.result;
}

uint64_t ct_slice_writer_count(const struct ct_slice_writer *writer)
{
    return writer ? writer->count : 0;
}
