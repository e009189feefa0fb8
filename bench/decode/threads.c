/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads on one large stream: the input so often that it is long, in a file,
 * which is how a capture is decoded. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* Seconds that one thread should take, so that beginning and end count little; and bytes at most. */
#define ONE_TAKES  0.7
#define BYTES_MOST ((size_t)400 << 20)

/* A file in memory. */
struct long_file {
    int fd;
    char path[64];
};

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void fill(struct long_file *file, const struct bench_input *input, double rate)
{
    const double wanted = rate * ONE_TAKES;
    const size_t bytes = wanted < (double)BYTES_MOST ? (size_t)wanted : BYTES_MOST;
    bool written = true;
    file->fd = memfd_create("bench", 0);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    for (size_t done = 0; written && done <= bytes; done += input->size)
        written = write_all(file->fd, input->bytes, input->size);
    if (file->fd < 0 || !written) {
        perror("bench: a file in memory");
        exit(2);
    }
}

struct run {
    const struct bench_input *input;
    struct ct_buffer buffer;
    enum bench_level level;
    unsigned threads;
    double wall;
};

static void *decode(void *user)
{
    struct run *r = user;
    const double begin = bench_clock();
    bench_run(r->input, &r->buffer, r->level, r->threads);
    r->wall = bench_clock() - begin;
    return NULL;
}

/* Seconds of two that decode all of it, each by itself and with one thread. */
static double side_by_side(const struct run *one)
{
    struct run here = *one, there = *one;
    pthread_t id;
    if (pthread_create(&id, NULL, decode, &there)) {
        perror("bench: a thread");
        exit(2);
    }
    decode(&here);
    pthread_join(id, NULL);
    return here.wall > there.wall ? here.wall : there.wall;
}

void bench_threads(const struct bench_input *input, enum bench_level level, double rate,
                   struct bench_threads *result)
{
    struct long_file file;
    fill(&file, input, rate);
    struct run one = {.input = input, .buffer = *input->buffer, .level = level, .threads = 1};
    one.buffer.path = file.path;
    struct run two = one;
    two.threads = 2;
    const double begin = bench_now();
    decode(&one);
    const double middle = bench_now();
    const double before = bench_thread_now();
    decode(&two);
    const double all = bench_now() - middle;
    const double here = bench_thread_now() - before;
    const double there = all - here;
    const double alone = middle - begin;
    *result = (struct bench_threads){.faster = one.wall / two.wall,
                                     .most = 2 * one.wall / side_by_side(&one),
                                     .work = all / alone,
                                     .longest = (here > there ? here : there) / alone};
    close(file.fd);
}
