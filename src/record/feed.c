/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU with the trace plugin, connected through shared memory. */
#define _GNU_SOURCE /* memfd_create */
#include "record/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "recorder/plugin_note.h"

int ct_record_feed_start(struct ct_ctx *ctx, struct ct_record_feed *feed, const struct ct_qemu *qemu,
                         const struct ct_record_feed_options *options, char *const *argv)
{
    *feed = (struct ct_record_feed){
        .child = -1, .blocks_chunk = TRACE_NO_CHUNK, .signal.number = options->signal};
    const int fd = memfd_create("coretap-record", 0);
    feed->area = fd < 0 || ftruncate(fd, sizeof *feed->area)
                     ? MAP_FAILED
                     : mmap(NULL, sizeof *feed->area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (feed->area == MAP_FAILED) {
        feed->area = NULL;
        const int rc =
            ct_fail(ctx, CT_ERR_IO, "no memory to share with %s: %s", qemu->command, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    snprintf(feed->area->inbox, sizeof feed->area->inbox, "%s", options->inbox);
    char option[120 + CT_RECORD_FEED_WATCH];
    snprintf(option, sizeof option, "layout=%x,fd=%d,seed=%" PRIu64 ",latency=%" PRIu32 "%s%s",
             PLUGIN_TRACE_LAYOUT, fd, options->seed, options->latency, options->each ? ",each=1" : "",
             options->watch);
    const int rc = ct_qemu_start(ctx, qemu, option, argv, &feed->child);
    close(fd);
    return rc;
}

/* Returns whether the child has ended; if `block`, it waits for that. */
static bool reap(struct ct_record_feed *feed, bool block)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    while (feed->child > 0) {
        ct_signal_pass(&feed->signal, feed->child);
        const int got = waitpid(feed->child, &feed->status, WNOHANG);
        if (got == feed->child || (got < 0 && errno != EINTR))
            feed->child = -1;
        else if (got == 0 && !block)
            return false;
        else if (got == 0)
            nanosleep(&pause, NULL);
    }
    return true;
}

struct trace_chunk *ct_record_feed_chunk(struct ct_record_feed *feed)
{
    struct trace_area *area = feed->area;
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (;;) {
        ct_signal_pass(&feed->signal, feed->child);
        const uint32_t handed = atomic_load(&area->handed);
        if (handed != feed->done)
            return &area->chunks[area->order[feed->done++ % TRACE_CHUNKS] % TRACE_CHUNKS];
        if (feed->over)
            return NULL;
        /* once it has ended, all that it handed over is in the area */
        feed->over = reap(feed, false);
        if (!feed->over)
            syscall(SYS_futex, &area->handed, FUTEX_WAIT, handed, &pause, NULL, 0);
    }
}

void ct_record_feed_give_back(struct ct_record_feed *feed, struct trace_chunk *chunk)
{
    struct trace_area *area = feed->area;
    atomic_store(&chunk->kind, TRACE_CHUNK_FREE);
    atomic_fetch_add(&area->freed, 1);
    if (atomic_exchange(&area->waiting, 0))
        syscall(SYS_futex, &area->freed, FUTEX_WAKE, TRACE_THREADS, NULL, NULL, 0);
}

void ct_record_feed_end(struct ct_record_feed *feed)
{
    if (feed->child > 0)
        kill(feed->child, SIGTERM);
}

void ct_record_feed_stop(struct ct_record_feed *feed)
{
    atomic_store(&feed->area->stop, 1);
    atomic_fetch_add(&feed->area->freed, 1);
    syscall(SYS_futex, &feed->area->freed, FUTEX_WAKE, TRACE_THREADS, NULL, NULL, 0);
}

const struct trace_block *ct_record_feed_block(struct ct_record_feed *feed)
{
    struct trace_area *area = feed->area;
    if (area->magic != TRACE_MAGIC)
        return NULL;
    if (feed->blocks_chunk == TRACE_NO_CHUNK)
        feed->blocks_chunk = atomic_load(&area->first_blocks) % TRACE_CHUNKS;
    struct trace_chunk *chunk = &area->chunks[feed->blocks_chunk];
    const uint32_t next = atomic_load(&chunk->next); /* before `used`, which is then final */
    const uint32_t end = atomic_load(&chunk->used);
    const uint32_t head = sizeof(struct trace_block) / sizeof(uint32_t);
    if (feed->blocks_at + head <= end) {
        const struct trace_block *block = (const void *)(chunk->words + feed->blocks_at);
        feed->blocks_at += head + (block->size + 3u) / 4;
        if (feed->blocks_at <= end)
            return block;
    }
    if (next == TRACE_NO_CHUNK)
        return NULL;
    feed->blocks_chunk = next % TRACE_CHUNKS;
    feed->blocks_at = 0;
    ct_record_feed_give_back(feed, chunk);
    return ct_record_feed_block(feed);
}

int ct_record_feed_finish(struct ct_record_feed *feed)
{
    if (!feed->area)
        return CT_QEMU_CANNOT_RUN;
    ct_record_feed_stop(feed);
    reap(feed, true);
    snprintf(feed->jitdump, sizeof feed->jitdump, "%.*s", (int)sizeof feed->area->jitdump - 1,
             feed->area->jitdump);
    munmap(feed->area, sizeof *feed->area);
    feed->area = NULL;
    return WIFEXITED(feed->status) ? WEXITSTATUS(feed->status) : 128 + WTERMSIG(feed->status);
}
