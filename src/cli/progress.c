/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S   UINT64_C(1000000000)
#define FIRST_LINE NS_PER_S        /* shorter jobs have no meter */
#define INTERVAL   (NS_PER_S / 10) /* between two updates */

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

static bool on_screen; /* a progress line is shown; a message must clear it first */

/* Shows a line in place of the last one, truncated to the width of the terminal: a wrapped line could not be
 * cleared. */
static void show(const char *text)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    const size_t length = strlen(text);
    const size_t shown = known && length >= size.ws_col ? size.ws_col - 1u : length;
    flockfile(stderr);
    fprintf(stderr, "\r%.*s\033[K", (int)shown, text);
    fflush(stderr);
    on_screen = true;
    funlockfile(stderr);
}

void cli_progress_clear(void)
{
    flockfile(stderr);
    if (on_screen)
        fputs("\r\033[K", stderr);
    on_screen = false;
    funlockfile(stderr);
}

static void print_line(struct cli_progress *progress, uint64_t done, double seconds)
{
    char line[128];
    const double mb = (double)done / 1e6;
    const double rate = seconds > 0 ? mb / seconds : 0;
    char left[48] = "";
    if (progress->total > done && rate > 0) {
        const unsigned s = (unsigned)((double)(progress->total - done) / 1e6 / rate + 0.5);
        snprintf(left, sizeof left, ", %u:%02u left", s / 60, s % 60);
    }
    if (progress->total)
        snprintf(line, sizeof line, "%.1f of %.1f MB (%.0f %%), %.1f MB/s%s", mb,
                 (double)progress->total / 1e6, 100.0 * (double)done / (double)progress->total, rate, left);
    else
        snprintf(line, sizeof line, "%.1f MB, %.1f MB/s", mb, rate);
    show(line);
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

/* Prints the line once a second until the work ends. */
static void *show_wait(void *user)
{
    struct cli_wait *wait = user;
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&wait->lock);
    for (unsigned s = 1; !wait->over; s++) {
        next.tv_sec++;
        while (!wait->over && pthread_cond_timedwait(&wait->ended, &wait->lock, &next) == 0)
            ;
        if (wait->over)
            break;
        char line[128], limit[48] = "";
        if (wait->most)
            snprintf(limit, sizeof limit, "; at most %u:%02u of processor time", wait->most / 60,
                     wait->most % 60);
        snprintf(line, sizeof line, "%s, %u:%02u%s", wait->what, s / 60, s % 60, limit);
        show(line);
    }
    pthread_mutex_unlock(&wait->lock);
    return NULL;
}

void cli_wait_begin(struct cli_wait *wait, const char *what, unsigned most, bool quiet)
{
    *wait = (struct cli_wait){
        .what = what, .most = most, .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    if (!quiet && isatty(STDERR_FILENO))
        wait->runs = pthread_create(&wait->thread, NULL, show_wait, wait) == 0;
}

void cli_wait_end(struct cli_wait *wait)
{
    if (!wait->runs)
        return;
    pthread_mutex_lock(&wait->lock);
    wait->over = true;
    pthread_cond_signal(&wait->ended);
    pthread_mutex_unlock(&wait->lock);
    pthread_join(wait->thread, NULL);
    wait->runs = false;
    cli_progress_clear();
}
