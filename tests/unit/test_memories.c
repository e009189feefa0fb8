/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which memory a chain reads: by thread, by time, and across pieces of a buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chain/memories.h"
#include "coretap/decode.h"
#include "support/unit.h"

#define IMAGES 3

static char paths[IMAGES][32];
static struct ct_image images[IMAGES];

/* Makes three files of four bytes, each with its own number, all for one address. */
static int make_images(void **state)
{
    (void)state;
    for (unsigned i = 0; i < IMAGES; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/coretap-memoriesXXXXXX");
        int fd = mkstemp(paths[i]);
        const uint8_t bytes[8] = {(uint8_t)i, 0, 0, 0, 0, 0, 0, 0};
        if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes || close(fd) != 0)
            return -1;
        images[i] = (struct ct_image){.path = paths[i], .addr = 0x1000, .size = 8, .space = CT_SPACE_ANY};
    }
    return 0;
}

static int remove_images(void **state)
{
    (void)state;
    for (unsigned i = 0; i < IMAGES; i++)
        unlink(paths[i]);
    return 0;
}

GROUP_FIXTURE(make_images, remove_images)

static const struct ct_generation of_first[] = {
    {.from = 0, .name = "a", .image_count = 1, .images = &images[0]},
    {.from = 100, .name = "b", .image_count = 1, .images = &images[1]},
};
static const struct ct_generation of_second[] = {
    {.from = 0, .name = "c", .image_count = 1, .images = &images[2]}};
static const struct ct_process processes[] = {
    {.pid = 10, .generation_count = 2, .generations = of_first},
    {.pid = 20, .generation_count = 1, .generations = of_second},
};
static const struct ct_thread threads[] = {
    {.tid = 11, .pid = 10, .from = 50},
    {.tid = 11, .pid = 20, .from = 200},
};
static const struct ct_maps maps = {.process_count = 2,
                                    .processes = processes,
                                    .thread_count = 2,
                                    .threads = threads,
                                    .clock = {.zero = 1000, .mult = 3, .shift = 1, .known = 1}};

static const struct ct_source with_id = {
    .name = "s", .protocol = CT_PROTOCOL_ETM4, .regs = {.configr = 1 << 6}};
static const struct ct_source with_vmid = {
    .name = "s", .protocol = CT_PROTOCOL_ETM4, .regs = {.configr = 1 << 7 | 1 << 15}};
static const struct ct_source without = {.name = "s", .protocol = CT_PROTOCOL_ETM4};

/* Returns the number in the memory of a thread at a time, or -1. */
static int number_at(struct ct_memories *m, uint32_t tid, uint64_t time)
{
    const struct ct_place place = {.tid = tid, .time = time};
    const struct ct_memory *memory;
    uint32_t number;
    size_t size;
    assert_int_equal(ct_memories_at(m, &place, &memory, &number), CT_OK);
    const uint8_t *bytes = ct_memory_at(memory, 0x1000, CT_SPACE_EL1N, &size);
    return bytes ? *bytes : -1;
}

static struct ct_memories *memories_of(const struct ct_maps *of, const struct ct_source *source)
{
    static struct ct_buffer buffer;
    const struct ct_memory *common;
    struct ct_memories *m;
    buffer = (struct ct_buffer){.name = "b", .maps = of, .sources = source, .source_count = 1};
    assert_int_equal(ct_memories_new(NULL, &buffer, &m, &common), CT_OK);
    return m;
}

TEST(by_thread_and_time)
{
    struct ct_memories *m = memories_of(&maps, &with_id);
    assert_true(ct_memories_change(m));
    assert_int_equal(number_at(m, 10, 0), 0);
    assert_int_equal(number_at(m, 10, 99), 0);
    assert_int_equal(number_at(m, 10, 100), 1);
    assert_int_equal(number_at(m, 10, CT_NO_TIME), 1);
    assert_int_equal(number_at(m, 20, 5), 2);
    /* A thread changes its process; before its first record it belongs to the first process. */
    assert_int_equal(number_at(m, 11, 60), 0);
    assert_int_equal(number_at(m, 11, 150), 1);
    assert_int_equal(number_at(m, 11, 200), 2);
    assert_int_equal(number_at(m, 11, 10), 0);
    assert_int_equal(number_at(m, 30, 0), -1);
    assert_int_equal(number_at(m, CT_NO_THREAD, 0), -1);
    ct_memories_free(m);
}

TEST(elements_change_the_place)
{
    struct ct_memories *m = memories_of(&maps, &with_id);
    struct ct_place place = {.tid = CT_NO_THREAD, .time = CT_NO_TIME};
    struct ct_elem context = {.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = UINT64_C(20) << 32 | 10};
    assert_true(ct_memories_follow(m, &with_id, &context, &place));
    assert_int_equal(place.tid, 10);
    assert_false(ct_memories_follow(m, &with_id, &context, &place));
    /* The context ID of EL2 is traced as the VMID. */
    assert_false(ct_memories_follow(m, &with_vmid, &context, &place));
    context.aux |= CT_CONTEXT_VMID;
    assert_true(ct_memories_follow(m, &with_vmid, &context, &place));
    assert_int_equal(place.tid, 20);
    const struct ct_elem timestamp = {.kind = CT_ELEM_TIMESTAMP, .v = 7};
    assert_true(ct_memories_follow(m, &with_id, &timestamp, &place));
    assert_int_equal(place.time, 1010);
    const struct ct_elem other = {.kind = CT_ELEM_ADDRESS};
    assert_false(ct_memories_follow(m, &with_id, &other, &place));
    ct_memories_free(m);
}

/* Returns where the memory of process 10 has the byte at 0x1000 at a time. */
static const uint8_t *bytes_at(struct ct_memories *m, uint64_t time)
{
    const struct ct_place place = {.tid = 10, .time = time};
    const struct ct_memory *memory;
    uint32_t number;
    size_t size;
    assert_int_equal(ct_memories_at(m, &place, &memory, &number), CT_OK);
    return ct_memory_at(memory, 0x1000, CT_SPACE_EL1N, &size);
}

/* A file that has the code of many states, as of a program that changes its code, is in memory once. */
TEST(states_share_a_file)
{
    struct ct_image parts[2] = {images[0], images[0]};
    parts[0].size = parts[1].size = parts[1].offset = 4;
    const struct ct_generation states[] = {{.from = 0, .name = "a", .image_count = 1, .images = &parts[0]},
                                           {.from = 100, .name = "b", .image_count = 1, .images = &parts[1]}};
    const struct ct_process changing = {.pid = 10, .generation_count = 2, .generations = states};
    const struct ct_maps of = {.process_count = 1, .processes = &changing};
    struct ct_memories *m = memories_of(&of, &with_id);
    const uint8_t *first = bytes_at(m, 0);
    assert_non_null(first);
    assert_ptr_equal(bytes_at(m, 100), first + 4);
    ct_memories_free(m);
}

/* Generations with equal images, as of parent and child, share one memory: that of the first one
 * requested. */
TEST(equal_generations)
{
    const struct ct_process forked[] = {processes[0], processes[0], processes[1]};
    struct ct_process family[3];
    for (uint32_t i = 0; i < 3; i++) {
        family[i] = forked[i];
        family[i].pid = 10 * (i + 1);
    }
    const struct ct_maps of = {.process_count = 3, .processes = family};
    struct ct_memories *m = memories_of(&of, &with_id);
    static const struct {
        uint32_t tid, time, number;
    } cases[] = {{20, 100, 4}, {10, 100, 4}, {10, 0, 1}, {20, 0, 1}, {30, 0, 5}, {40, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ct_place place = {.tid = cases[i].tid, .time = cases[i].time};
        const struct ct_memory *memory;
        uint32_t number;
        assert_int_equal(ct_memories_at(m, &place, &memory, &number), CT_OK);
        assert_int_equal(number, cases[i].number);
    }
    assert_ptr_equal(ct_maps_generation(&of, 1), &family[0].generations[0]);
    assert_ptr_equal(ct_maps_generation(&of, 4), &family[1].generations[1]);
    assert_ptr_equal(ct_maps_generation(&of, 5), &family[2].generations[0]);
    assert_null(ct_maps_generation(&of, 0));
    assert_null(ct_maps_generation(&of, 6));
    ct_memories_free(m);
}

/* A single process that never changed has one memory, unless the trace may report another thread. */
TEST(one_memory)
{
    const struct ct_maps one = {.process_count = 1, .processes = &processes[1]};
    struct ct_memories *m = memories_of(&one, &without);
    assert_false(ct_memories_change(m));
    ct_memories_free(m);
    m = memories_of(&one, &with_id);
    assert_true(ct_memories_change(m));
    ct_memories_free(m);
    m = memories_of(NULL, &with_id);
    assert_false(ct_memories_change(m));
    ct_memories_free(m);
}
