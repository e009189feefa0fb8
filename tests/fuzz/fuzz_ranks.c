/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks of a job say to each other: a byte for what it is, then two of them. What must hold: a rank does
 * not differ from itself, and two differ whichever of both is rank 0; words fit and end; of a list of
 * captures each has a path and lies within the list. */
#include <string.h>

#include "fuzz.h"
#include "mpi/capture_list.h"
#include "mpi/hello.h"
#include "mpi/inputs.h"

#define MOST_BYTES 8192

static void check_words(const char *words, size_t room)
{
    require(memchr(words, 0, room) && *words);
}

static void compare_hellos(const uint8_t *data, size_t size)
{
    struct ct_hello a = {0}, b = {0};
    char why[CT_HELLO_WHY];
    const size_t half = size / 2;
    memcpy(&a, data, half < sizeof a ? half : sizeof a);
    memcpy(&b, data + half, half < sizeof b ? half : sizeof b);
    require(!ct_hello_differs(&a, &a, 1, why));
    const bool differs = ct_hello_differs(&a, &b, 1, why);
    if (differs)
        check_words(why, sizeof why);
    require(differs == ct_hello_differs(&b, &a, 1, why));
}

static void count_words(void *user, const char *words)
{
    check_words(words, CT_INPUTS_WHY);
    ++*(unsigned *)user;
}

/* Compares lists of files as two ranks. Returns how many differences were told. */
static unsigned compare_inputs(const struct ct_inputs *first, const struct ct_inputs *other)
{
    unsigned told = 0;
    ct_inputs_compare(first, (struct ct_inputs_rank){0, "here"}, other, (struct ct_inputs_rank){1, "there"},
                      count_words, &told);
    require(told <= CT_INPUTS_MOST + 1);
    return told;
}

/* Returns a list in memory of just its size. */
static struct ct_inputs list_of(const uint8_t *data, size_t size)
{
    struct ct_inputs inputs = {.data = malloc(size ? size : 1), .size = size, .room = size};
    require(inputs.data != NULL);
    memcpy(inputs.data, data, size);
    return inputs;
}

static void compare_lists(const uint8_t *data, size_t size)
{
    const size_t half = size / 2;
    const struct ct_inputs a = list_of(data, half), b = list_of(data + half, size - half);
    const unsigned told = compare_inputs(&a, &b);
    require(!told || ct_inputs_sum(&a) != ct_inputs_sum(&b));
    free(a.data);
    free(b.data);
}

static void read_captures(const uint8_t *data, size_t size)
{
    const struct ct_inputs list = list_of(data, size);
    const char *at = list.data, *end = list.data + size, *before = at;
    struct ct_fleet_capture capture;
    for (; at < end && ct_capture_list_next(&at, end, &capture); before = at)
        require(*capture.path && capture.path + strlen(capture.path) + 1 == at && at > before);
    require(at == before && at <= end);
    free(list.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > MOST_BYTES)
        return 0;
    if (data[0] % 3 == 0)
        compare_hellos(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        compare_lists(data + 1, size - 1);
    else
        read_captures(data + 1, size - 1);
    return 0;
}
