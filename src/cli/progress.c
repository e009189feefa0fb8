/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S   UINT64_C(1000000000)
#define FIRST_LINE NS_PER_S        /* a job shorter than this needs no meter */
#define INTERVAL   (NS_PER_S / 10) /* between two lines */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

double cli_seconds(void)
{
    return (double)now() * 1e-9;
}

void cli_progress_start(struct cli_progress *progress, uint64_t total, bool quiet)
{
    *progress = (struct cli_progress){.shown = !quiet && isatty(STDERR_FILENO), .total = total};
    if (progress->shown)
        progress->begin = now();
}

static void print_line(struct cli_progress *progress, uint64_t done, double seconds)
{
    const double mb = (double)done / 1e6;
    const double rate = seconds > 0 ? mb / seconds : 0;
    char left[48] = "";
    if (progress->total > done && rate > 0) {
        const unsigned s = (unsigned)((double)(progress->total - done) / 1e6 / rate + 0.5);
        snprintf(left, sizeof left, ", %u:%02u left", s / 60, s % 60);
    }
    if (progress->total)
        fprintf(stderr, "\r%.1f of %.1f MB (%.0f %%), %.1f MB/s%s\033[K", mb, (double)progress->total / 1e6,
                100.0 * (double)done / (double)progress->total, rate, left);
    else
        fprintf(stderr, "\r%.1f MB, %.1f MB/s\033[K", mb, rate);
    fflush(stderr);
    progress->printed = true;
}

void cli_progress_update(struct cli_progress *progress, uint64_t done)
{
    if (!progress->shown)
        return;
    const uint64_t t = now();
    if (t - progress->begin < FIRST_LINE || t - progress->latest < INTERVAL)
        return;
    progress->latest = t;
    print_line(progress, done, (double)(t - progress->begin) / (double)NS_PER_S);
}

void cli_progress_finish(struct cli_progress *progress)
{
    if (progress->printed)
        fputs("\r\033[K", stderr);
    progress->printed = false;
}
