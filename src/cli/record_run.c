/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The signal that this process received for the program; 0: none. */
static volatile sig_atomic_t for_program;

/* Notes a signal for the program. The program itself receives signals from the terminal, which the kernel
 * sends. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0)
        for_program = number;
}

static void ignore(int number)
{
    (void)number;
}

const volatile int *cli_record_catch_signals(void)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    for_program = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &action, NULL);
    signal(SIGPIPE, ignore); /* a reader of the stream may disappear */
    return &for_program;
}

void cli_record_tell_nothing(const char *name, const char *what, bool system)
{
    if (system)
        cli_say("%s: %s, because the machine ran no code, or none that --range, --start and --stop select; "
                "correct these options, or what QEMU reported",
                name, what);
    else
        cli_say("%s: %s, because the program ran no code, or none that --range, --start and --stop select; "
                "correct these options, or what QEMU reported (QEMU_LD_PREFIX names the folder with the "
                "interpreter and libraries)",
                name, what);
}

static int parse_address(const char *text, uint64_t *addr, const char **end)
{
    char *stop;
    errno = 0;
    *addr = strtoull(text, &stop, 16);
    *end = stop;
    return stop == text || errno;
}

int cli_record_ranges(const struct cli_args *args, unsigned option, struct ct_record_range *ranges,
                      size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < args->list_count; i++) {
        if (args->list[i].option != option)
            continue;
        const char *text = args->list[i].text, *end;
        struct ct_record_range *range = &ranges[*count];
        if (*count == CT_RECORD_RANGES)
            return cli_usage_error(args->command, "--range: more than %d ranges are given; give fewer",
                                   CT_RECORD_RANGES);
        if (parse_address(text, &range->low, &end) || strncmp(end, "..", 2) != 0 ||
            parse_address(end + 2, &range->high, &end) || *end || range->low >= range->high)
            return cli_usage_error(args->command,
                                   "--range: '%s' does not have the form LO..HI in hexadecimal", text);
        ++*count;
    }
    return CLI_CLEAN;
}
