/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/random_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/code_gen.h"
#include "support/damage.h"
#include "support/etm4_gen.h"
#include "support/v7_gen.h"

enum {
    CODE_SIZE = 4096,
    V7_PACKETS = 200, /* greatest number between two alignments; each has up to 24 bytes */
    CODE_BASE = 0x400000
};

/* Makes the packets that a trace unit repeats so that a decoder can begin there. Returns how many. */
static unsigned repeat(struct gen *gen, struct ct_etm4_packet *out)
{
    unsigned n = gen_prologue(gen, out);
    if (n == 4 && rng_chance(gen->rng, 200)) { /* without a trace on */
        out[2] = out[3];
        n = 3;
    }
    return n;
}

static size_t trace_etm4(struct rng *rng, const struct ct_source *source, size_t want, uint8_t *bytes)
{
    const struct gen_region region = {.addr = CODE_BASE, .size = CODE_SIZE, .sf = 1};
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet packets[4];
    struct gen gen;
    size_t size = 0, len;
    const unsigned often = (unsigned)rng_wide(rng, 6);
    if (ct_etm4_encoder_new(NULL, source, &encoder))
        return 0;
    gen_init(&gen, rng, source);
    gen.regions = &region;
    gen.region_count = 1;
    for (unsigned tries = 0; size < want && tries < 200000; tries++) {
        const unsigned n =
            !size || rng_chance(rng, often) ? repeat(&gen, packets) : gen_sensible(&gen, packets);
        for (unsigned i = 0; i < n; i++)
            if (!ct_etm4_encode_packet(encoder, &packets[i], bytes + size, RANDOM_TRACE_ROOM - size, &len))
                size += len;
    }
    ct_etm4_encoder_free(encoder);
    return size;
}

/* Makes PTM or ETMv3 trace with alignment packets at random distances. */
static size_t trace_v7(struct rng *rng, const struct ct_source *source, int thumb, size_t want,
                       uint8_t *bytes)
{
    const struct v7_place place = {.addr = CODE_BASE, .size = CODE_SIZE, .thumb = thumb};
    const unsigned most = 1 + rng_below(rng, V7_PACKETS);
    size_t size = 0;
    while (size < want)
        size += v7_gen(rng, source, &place, 1 + rng_below(rng, most), bytes + size);
    return size;
}

/* Frames two streams, which alternate in random pieces. */
static size_t frame(struct rng *rng, uint8_t framing, uint8_t bytes[2][RANDOM_TRACE_ROOM],
                    const size_t size[2], uint8_t *out)
{
    const uint32_t period = rng_chance(rng, 20) ? 0 : 1 + rng_below(rng, 20);
    struct ct_framer_options options = {.size = sizeof options,
                                        .framing = framing,
                                        .fsync_period = framing == CT_FRAMING_FRAMES ? 0 : period,
                                        .hsync_period = framing == CT_FRAMING_TPIU ? rng_below(rng, 20) : 0};
    struct ct_framer *framer;
    size_t at[2] = {0}, total = 0, used, len;
    if (ct_framer_new(NULL, &options, &framer))
        return 0;
    while (at[0] < size[0] || at[1] < size[1]) {
        const unsigned i = rng_below(rng, 2);
        size_t give = rng_wide(rng, 9);
        give = give < size[i] - at[i] ? give : size[i] - at[i];
        if (ct_framer_push(framer, (uint8_t)(0x10 + i), bytes[i] + at[i], give, &used, out + total,
                           RANDOM_TRACE_FRAMED - total, &len))
            break;
        at[i] += used;
        total += len;
    }
    ct_framer_finish(framer, out + total, RANDOM_TRACE_FRAMED - total, &len);
    ct_framer_free(framer);
    return total + len;
}

/* Inserts frames of four synchronisation words between other frames, as drivers do where a session begins. */
static size_t put_resets(struct rng *rng, uint8_t *bytes, size_t size)
{
    static const uint8_t words[16] = {0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                      0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f};
    for (unsigned i = 1 + rng_below(rng, 8); i && size + sizeof words <= RANDOM_TRACE_FRAMED; i--) {
        const size_t at = rng_below(rng, (uint32_t)(size / sizeof words + 1)) * sizeof words;
        memmove(bytes + at + sizeof words, bytes + at, size - at);
        memcpy(bytes + at, words, sizeof words);
        size += sizeof words;
    }
    return size;
}

/* A file in memory, created at its first use. */
struct file {
    char path[32];
    int fd;
};

static const char *write_file(struct file *file, const void *bytes, size_t size)
{
    if (!file->path[0]) {
        file->fd = memfd_create("file", 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    if (file->fd < 0 || ftruncate(file->fd, 0) || pwrite(file->fd, bytes, size, 0) != (ssize_t)size)
        abort();
    return file->path;
}

static const char *image_path(struct rng *rng, enum ct_isa isa)
{
    static struct file file;
    uint8_t code[CODE_SIZE];
    code_fill(rng, isa, code, CODE_SIZE);
    return write_file(&file, code, CODE_SIZE);
}

void random_trace_fill(struct rng *rng, struct random_trace *s)
{
    static struct file file;
    static uint8_t bytes[2][RANDOM_TRACE_ROOM];
    static const uint8_t framings[] = {CT_FRAMING_NONE, CT_FRAMING_NONE, CT_FRAMING_FRAMES, CT_FRAMING_TPIU,
                                       CT_FRAMING_DSTREAM};
    const uint8_t framing = framings[rng_below(rng, 5)];
    static const enum ct_protocol protocols[] = {CT_PROTOCOL_ETM4, CT_PROTOCOL_ETM4, CT_PROTOCOL_PTM,
                                                 CT_PROTOCOL_ETM3};
    const enum ct_protocol protocol = protocols[rng_below(rng, 4)];
    const int thumb = (int)rng_below(rng, 2);
    size_t size[2];
    for (unsigned i = 0; i < 2; i++) {
        const size_t want = rng_wide(rng, 15);
        if (protocol == CT_PROTOCOL_ETM4)
            gen_source(rng, rng_chance(rng, 128) ? GEN_UNSPECULATED : GEN_DECODABLE, &s->sources[i]);
        else
            s->sources[i] = v7_gen_source(rng, protocol);
        s->sources[i].trace_id = (uint8_t)(0x10 + i);
        size[i] = protocol == CT_PROTOCOL_ETM4 ? trace_etm4(rng, &s->sources[i], want, bytes[i])
                                               : trace_v7(rng, &s->sources[i], thumb, want, bytes[i]);
        if (rng_chance(rng, 100))
            size[i] = damage(rng, bytes[i], size[i], RANDOM_TRACE_ROOM);
    }
    s->image = (struct ct_image){.path = image_path(rng, protocol == CT_PROTOCOL_ETM4 ? CT_ISA_A64
                                                         : thumb                      ? CT_ISA_T32
                                                                                      : CT_ISA_A32),
                                 .addr = CODE_BASE,
                                 .size = CODE_SIZE,
                                 .space = CT_SPACE_ANY};
    s->buffer = (struct ct_buffer){.name = "random",
                                   .framing = framing,
                                   .sources = s->sources,
                                   .source_count = 2,
                                   .images = &s->image,
                                   .image_count = 1};
    if (framing == CT_FRAMING_NONE) {
        s->size = size[0];
        memcpy(s->bytes, bytes[0], size[0]);
    } else {
        s->size = frame(rng, framing, bytes, size, s->bytes);
        if (framing == CT_FRAMING_FRAMES && rng_chance(rng, 60))
            s->size = put_resets(rng, s->bytes, s->size);
        if (rng_chance(rng, 60))
            s->size = damage(rng, s->bytes, s->size, RANDOM_TRACE_FRAMED);
    }
    s->buffer.path = write_file(&file, s->bytes, s->size);
}
