/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* vasprintf */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool lacked_memory;

static bool note_no_memory(void)
{
    return __atomic_test_and_set(&lacked_memory, __ATOMIC_RELAXED);
}

/* Ends the first line of a message, and returns the rest, or NULL. Only a line break before an indentation
 * counts, so that one in a name does not. */
static char *next_line(char *text)
{
    char *line = strstr(text, "\n  ");
    if (line)
        *line++ = '\0';
    return line;
}

/* Prints a message. Escapes control characters, because names from files might contain some for a
 * terminal. */
static void print_safely(const char *fmt, va_list ap)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0) {
        fputs("out of memory", stderr);
        (void)note_no_memory();
        return;
    }
    for (char *line = text, *next; line; line = next) {
        next = next_line(line);
        cli_put_printable(stderr, line);
        if (next)
            fputc('\n', stderr);
    }
    free(text);
}

void cli_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    flockfile(stderr); /* keeps lines of several threads whole */
    cli_progress_clear();
    fputs("coretap: ", stderr);
    print_safely(fmt, ap);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(ap);
}

int cli_usage_error(const struct cli_command *command, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "coretap%c%s: ", cli_joint(command), command->name);
    print_safely(fmt, ap);
    fprintf(stderr, "\nTry 'coretap%c%s --help'.\n", cli_joint(command), command->name);
    va_end(ap);
    return CLI_FAILED;
}

static bool is_told(const char *text);

int cli_library_error(const struct ct_ctx *ctx)
{
    if (is_told(ct_ctx_error(ctx)))
        return CLI_FAILED; /* the log printed it when it happened */
    if (*ct_ctx_error(ctx))
        cli_say("%s", ct_ctx_error(ctx));
    else
        cli_no_memory(); /* the only error that callbacks return without a text */
    return CLI_FAILED;
}

int cli_fail(struct ct_ctx *ctx, int code, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ct_ctx_fail(ctx, code, text);
}

int cli_fail_nomem(struct ct_ctx *ctx, const char *what)
{
    return cli_fail(ctx, CT_ERR_NOMEM, "%s: out of memory", what);
}

void cli_no_memory(void)
{
    if (!note_no_memory())
        cli_say("out of memory");
}

bool cli_lacked_memory(const struct ct_ctx *ctx)
{
    return __atomic_load_n(&lacked_memory, __ATOMIC_RELAXED) || ct_ctx_lacked_memory(ctx);
}

#define TOLD_MAX 4096

static char *told[TOLD_MAX];
static size_t told_count;
static pthread_mutex_t told_lock =
    PTHREAD_MUTEX_INITIALIZER; /* threads have contexts of their own, which all log here */

static size_t place_of(const char *text)
{
    size_t i = 0;
    while (i < told_count && strcmp(told[i], text) != 0)
        i++;
    return i;
}

static bool is_told(const char *text)
{
    pthread_mutex_lock(&told_lock);
    const bool known = place_of(text) < told_count;
    pthread_mutex_unlock(&told_lock);
    return known;
}

/* Returns whether the text was printed before, and remembers it. A capture may be opened more than once. */
static bool was_told(const char *text)
{
    pthread_mutex_lock(&told_lock);
    const bool known = place_of(text) < told_count;
    char *copy = !known && told_count < TOLD_MAX ? strdup(text) : NULL;
    if (!copy && !known && told_count < TOLD_MAX)
        (void)note_no_memory();
    if (copy)
        told[told_count++] = copy;
    pthread_mutex_unlock(&told_lock);
    return known;
}

void cli_forget_messages(void)
{
    while (told_count)
        free(told[--told_count]);
    __atomic_clear(&lacked_memory, __ATOMIC_RELAXED);
}

static void print_log(void *user, enum ct_log_level level, const char *text)
{
    static const char *const words[] = {"error", "warning", "note", "debug"};
    (void)user;
    if (!was_told(text))
        cli_say("%s: %s", words[level], text);
}

void cli_note(const char *text)
{
    print_log(NULL, CT_LOG_NOTE, text);
}

struct ct_ctx *cli_ctx_new(bool quiet)
{
    struct ct_ctx *ctx = ct_ctx_new();
    if (ctx) {
        ct_ctx_set_log(ctx, print_log, NULL, quiet ? CT_LOG_WARNING : CT_LOG_NOTE);
        ct_ctx_map_files(ctx, 1); /* cli_guard handles faults in mapped files */
    } else {
        cli_no_memory();
    }
    return ctx;
}
