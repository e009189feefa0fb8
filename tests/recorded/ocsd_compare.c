/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that OpenCSD decodes a recorded capture to the same elements as coretap.
 *
 * usage: ocsd_compare DIR     a snapshot directory. Prints how many lines of elements are equal, or the
 *                             first two that are not, and exits with 1 */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/frame.h"
#include "coretap/input.h"
#include "oracle/elem_line.h"
#include "oracle/v7/v7_ocsd.h"

#define REGIONS 512

/* Reads a whole file. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *size = 0;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    rewind(file);
    bytes = end >= 0 ? malloc((size_t)end + 1) : NULL;
    if (bytes)
        *size = fread(bytes, 1, (size_t)end, file);
    fclose(file);
    return bytes;
}

/* Trace of one ID, without frames. */
struct stream {
    uint8_t *bytes;
    size_t size;
};

static int add(struct stream *stream, const uint8_t *bytes, size_t size)
{
    uint8_t *more = realloc(stream->bytes, stream->size + size + 1);
    if (!more)
        return 1;
    memcpy(more + stream->size, bytes, size);
    stream->bytes = more;
    stream->size += size;
    return 0;
}

/* Unpacks 16-byte frames (ARM IHI 0029E, D4.2), independently of the library. */
static int unframe(struct stream *out, unsigned id, const uint8_t *bytes, size_t size)
{
    unsigned now = 0;
    for (size_t at = 0; at + 16 <= size; at += 16) {
        const uint8_t *f = bytes + at;
        for (unsigned i = 0; i < 15; i++) {
            const unsigned flag = f[15] >> i / 2 & 1;
            unsigned later = 0, byte = f[i];
            if (i % 2 == 0 && byte & 1) {
                if (!flag) {
                    now = byte >> 1;
                    continue;
                }
                later = byte >> 1;
                i++;
                byte = i < 15 ? f[i] : 0;
                if (i < 15 && now == id && add(out, &(uint8_t){(uint8_t)byte}, 1))
                    return 1;
                now = later;
                continue;
            }
            if (i % 2 == 0)
                byte |= flag;
            if (now == id && add(out, &(uint8_t){(uint8_t)byte}, 1))
                return 1;
        }
    }
    return 0;
}

/* Returns whether two lines are equal. docs/listing.md calls every instruction of an IT block conditional,
 * OpenCSD 1.3.3 only branches that are conditional by themselves. OpenCSD lists the return address of a
 * tail-chained exception, which says just that. */
static int same(const char *ours, size_t size, const char *theirs, size_t their_size)
{
    static const char is_t32[] = " isa=t32 ", conditional[] = " cond=1", chained[] = " ret=fffffffe";
    const size_t field = strlen(conditional), more = strlen(chained);
    if (their_size == size + more && !memcmp(theirs + size, chained, more))
        return !memcmp(ours, theirs, size);
    if (size != their_size || size < field)
        return size == their_size && !memcmp(ours, theirs, size);
    return !memcmp(ours, theirs, size - 1) &&
           (ours[size - 1] == theirs[size - 1] ||
            (memmem(ours, size, is_t32, strlen(is_t32)) && !memcmp(ours + size - field, conditional, field)));
}

/* Returns whether a line repeats the one before. When memory is missing, an exception after atoms that could
 * not be followed makes OpenCSD 1.3.3 read at the same address and report the failure again. */
static int says_again(const char *line, size_t size, const char *before, size_t before_size)
{
    static const char field[] = " addr_nacc addr=";
    const char *at = memmem(line, size, field, strlen(field)),
               *was = before ? memmem(before, before_size, field, strlen(field)) : NULL;
    return at && was && size - (size_t)(at - line) == before_size - (size_t)(was - before) &&
           !memcmp(at, was, size - (size_t)(at - line));
}

static int has(const char *line, size_t size, const char *what)
{
    return memmem(line, size, what, strlen(what)) != NULL;
}

/* Returns whether a line contradicts the program: an unconditional branch was not taken, because after
 * missing memory both decoders continued in the wrong place. */
static int contradicts(const char *line, size_t size)
{
    return has(line, size, " exec=N ") && has(line, size, " cond=0");
}

/* Returns the next line at which trace begins, or the end of the text. Adds the lines before it to
 * *skipped. */
static const char *next_beginning(const char *text, unsigned *skipped)
{
    for (const char *end; *text; text = end) {
        const size_t size = strcspn(text, "\n");
        end = text + size + (text[size] != 0);
        if (has(text, size, " trace_on "))
            break;
        ++*skipped;
    }
    return text;
}

/* Compares two listings and adds the number of equal lines to *total, since a core that traced nothing has
 * few. After a contradiction nothing is compared up to the next beginning of trace: both decode data, or code
 * of the other instruction set. There OpenCSD 1.3.3 takes an LDRSB into the PC for a branch, and follows the
 * instruction set of a BLX that was not taken. */
static int report(const char *name, const char *ours, const char *theirs, unsigned *total)
{
    unsigned lines = 0, again = 0, skipped = 0;
    const char *unread = NULL; /* last line of theirs that reports missing memory */
    size_t unread_size = 0;
    while (*ours || *theirs) {
        const size_t size = strcspn(ours, "\n"), their_size = strcspn(theirs, "\n");
        if (!same(ours, size, theirs, their_size)) {
            if (says_again(theirs, their_size, unread, unread_size)) {
                theirs += their_size + (theirs[their_size] != 0);
                again++;
                continue;
            }
            printf("%s, line %u:\n  coretap %.*s\n  OpenCSD %.*s\n", name, lines + 1, (int)size, ours,
                   (int)their_size, theirs);
            return 1;
        }
        if (has(theirs, their_size, " addr_nacc ")) {
            unread = theirs;
            unread_size = their_size;
        }
        const int wrong = unread && contradicts(ours, size);
        ours += size + (ours[size] != 0);
        theirs += their_size + (theirs[their_size] != 0);
        lines++;
        if (wrong) {
            ours = next_beginning(ours, &skipped);
            theirs = next_beginning(theirs, &(unsigned){0});
        }
    }
    printf("%s: %u lines are equal", name, lines);
    if (again)
        printf("; %u times OpenCSD says of an address again that it cannot be read", again);
    if (skipped)
        printf("; %u behind contradictions are not compared", skipped);
    printf("\n");
    *total += lines;
    return 0;
}

static int compare_etm4(const struct ct_source *source, const struct ocsd_region *regions, unsigned count,
                        const struct stream *stream, unsigned *total)
{
    struct lines ours = {0}, theirs = {0};
    struct ocsd ocsd = {0};
    uint32_t *origin = calloc(stream->size + 1, sizeof *origin);
    if (!origin)
        return 1;
    for (size_t i = 0; i <= stream->size; i++)
        origin[i] = (uint32_t)i;
    int bad = ocsd_run_elems(&ocsd, source, regions, count, stream->bytes, stream->size) ||
              lines_of_coretap(&ours, source, regions, count, stream->bytes, stream->size);
    lines_of_ocsd(&theirs, &ocsd, origin);
    bad = bad ? 1 : report(source->name, ours.text, theirs.text, total);
    ocsd_free(&ocsd);
    lines_free(&ours);
    lines_free(&theirs);
    free(origin);
    return bad;
}

static int compare_ptm(const struct ct_source *source, const struct ocsd_region *regions, unsigned count,
                       const struct stream *stream, unsigned *total)
{
    struct v7_lines ours = {0}, theirs = {0};
    struct v7_region v7[REGIONS];
    for (unsigned i = 0; i < count; i++)
        v7[i] = (struct v7_region){(uint32_t)regions[i].addr, regions[i].size, regions[i].bytes};
    int bad = v7_ocsd_elems(&theirs, source, v7, count, stream->bytes, stream->size) ||
              v7_coretap_elems(&ours, source, v7, count, stream->bytes, stream->size);
    bad = bad ? 1 : report(source->name, ours.text, theirs.text, total);
    v7_lines_free(&ours);
    v7_lines_free(&theirs);
    return bad;
}

/* Memory to read instructions from. */
struct memory {
    struct ocsd_region regions[REGIONS];
    unsigned count;
};

static int add_images(struct memory *memory, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t have;
        uint8_t *bytes = memory->count < REGIONS ? read_file(images[i].path, &have) : NULL;
        if (!bytes || images[i].offset + images[i].size > have) {
            printf("%s: is no image, or one too many\n", images[i].path);
            free(bytes);
            return 1;
        }
        memmove(bytes, bytes + images[i].offset, images[i].size);
        memory->regions[memory->count++] = (struct ocsd_region){
            .addr = images[i].addr, .bytes = bytes, .size = (uint32_t)images[i].size, .space = CT_SPACE_ANY};
    }
    return 0;
}

static void drop_images(struct memory *memory)
{
    for (unsigned i = 0; i < memory->count; i++)
        free((void *)(uintptr_t)memory->regions[i].bytes);
    memory->count = 0;
}

/* Compares trace from its own beginning on, with the images of the buffer and those of a state (or NULL). */
static int compare_bytes(const struct ct_buffer *buffer, const struct ct_generation *state,
                         const uint8_t *trace, size_t size, unsigned *total)
{
    static struct memory memory;
    int bad = add_images(&memory, buffer->images, buffer->image_count) ||
              (state && add_images(&memory, state->images, state->image_count));
    for (size_t i = 0; i < buffer->source_count && !bad; i++) {
        const struct ct_source *source = &buffer->sources[i];
        struct stream stream = {0};
        bad = buffer->framing == CT_FRAMING_NONE ? add(&stream, trace, size)
                                                 : unframe(&stream, source->trace_id, trace, size);
        if (!bad && stream.size && source->protocol == CT_PROTOCOL_PTM)
            bad = compare_ptm(source, memory.regions, memory.count, &stream, total);
        else if (!bad && stream.size)
            bad = compare_etm4(source, memory.regions, memory.count, &stream, total);
        free(stream.bytes);
    }
    drop_images(&memory);
    return bad;
}

/* Compares a whole buffer with the memory that OpenCSD reads from a capture; where memory changes, also each
 * piece with its own memory. */
static int compare_buffer(const struct ct_buffer *buffer, unsigned *total)
{
    size_t size;
    uint8_t *trace = read_file(buffer->path, &size);
    int bad = !trace || compare_bytes(buffer, NULL, trace, size, total);
    for (size_t i = 0; i < buffer->piece_count && !bad; i++) {
        const struct ct_piece *piece = &buffer->pieces[i];
        bad = compare_bytes(buffer, &buffer->maps->processes[0].generations[piece->time],
                            trace + piece->offset, piece->size, total);
    }
    free(trace);
    return bad;
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    int bad = 0;
    unsigned total = 0;
    if (argc != 2 || !ctx || ct_capture_open(ctx, argv[1], &capture)) {
        printf("%s\n", ctx ? ct_ctx_error(ctx) : "no memory");
        return 1;
    }
    for (size_t i = 0; i < capture->buffer_count; i++)
        bad |= compare_buffer(&capture->buffers[i], &total);
    if (!bad && total < 10) {
        printf("%u lines in all: that is no comparison\n", total);
        bad = 1;
    }
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return bad;
}
