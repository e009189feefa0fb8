/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cli/guard.h"
#include "cli/cli.h"
#include "cli/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
    /* Linux maps nothing below this address: an access there is through a null pointer. */
    LOWEST_MAPPED = 1 << 16,
};

static pid_t guarded;
static bool is_registered; /* on_exit_of_library is registered with atexit */

#define NOT_WHOLE "the output is incomplete, and output files are unchanged\n"
#define ENDED     "a library ended the command; " NOT_WHOLE
static const char out_of_memory[] = "coretap: out of memory: " ENDED;
static const char null_pointer[] =
    "coretap: a null pointer was used, probably because memory ran out: " ENDED;

/* Ends the process with a message. Uses only what is safe in a signal handler. */
static void end_at_once(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
    cli_output_remove(); /* only calls unlink: NOLINT(bugprone-signal-handler,cert-sig30-c) */
    _exit(CLI_FAILED);
}

/* Ends the process with a message when a library calls exit(). Does nothing in a child that starts another
 * program. */
static void on_exit_of_library(void)
{
    if (guarded == getpid())
        end_at_once(out_of_memory);
}

/* Ends the process with a message when memory ran out. Aborts for other reasons stay as they are. */
static void on_abort(int number)
{
    /* only reads the thread's errno: NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
    if (errno == ENOMEM && guarded == getpid())
        end_at_once(out_of_memory);
    cli_output_remove(); /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
    signal(number, SIG_DFL);
    raise(number);
}

/* Returns the address at which the file that contains an address is mapped, or NULL. */
static const void *file_of(uintptr_t address)
{
    Dl_info info;
    return dladdr((const void *)address, &info) ? info.dli_fbase
                                                : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

struct search {
    uintptr_t pc; /* program counter of the access */
    bool reached;
    const void *file; /* the first file from there on that is not the C library */
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame, void *user)
{
    struct search *search = user;
    search->reached = search->reached || _Unwind_GetIP(frame) == search->pc;
    if (!search->reached)
        return _URC_NO_REASON;
    search->file = file_of(_Unwind_GetIP(frame));
    const bool c_library = search->file == file_of((uintptr_t)gnu_get_libc_version);
    return c_library ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

/* Returns the path of the foreign library that made an access. NULL when the command or coretap's own library
 * made it, which may be separate files. */
static const char *library_of(uintptr_t pc)
{
    struct search search = {.pc = pc};
    Dl_info info;
    _Unwind_Backtrace(look_at_frame, &search);
    if (!search.file || search.file == file_of((uintptr_t)cli_guard) ||
        search.file == file_of((uintptr_t)ct_version))
        return NULL;
    return dladdr(search.file, &info) ? info.dli_fname : NULL;
}

/* Returns whether a library is known to use memory that malloc() did not give. It may do so some calls later,
 * when errno is from another call. */
static bool is_careless(const char *path)
{
    static const char *const names[] = {"/libgccjit.", "/libCbc",       "/libCgl",
                                        "/libClp",     "/libCoinUtils", "/libOsi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(path, names[i]))
            return true;
    return false;
}

static uintptr_t place_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Handles a fault. That of a library without memory ends with a message; one of the command itself stays
 * visible. The process ends in either case, so functions called here need not be safe in all handlers. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    /* NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c) */
    const bool lacked_memory = errno == ENOMEM;
    const bool null =
        guarded == getpid() && info->si_code == SEGV_MAPERR && (uintptr_t)info->si_addr < LOWEST_MAPPED;
    const char *library = null ? library_of(place_of(context)) : NULL;
    if (library && (lacked_memory || is_careless(library)))
        end_at_once(lacked_memory ? out_of_memory : null_pointer);
    cli_output_remove();
    signal(number, SIG_DFL); /* then the access is repeated */
    /* NOLINTEND(bugprone-signal-handler,cert-sig30-c) */
}

/* Writes the name of the file mapped at an address. Returns the offset in the file of the byte at that
 * address. */
static uint64_t find_mapped_file(uintptr_t address, char *name, size_t size)
{
    uint64_t offset = 0;
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "r");
    snprintf(name, size, "a file");
    while (maps && fgets(line, sizeof line, maps)) {
        char *rest;
        const uintptr_t begin = strtoul(line, &rest, 16);
        const uintptr_t end = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;
        const char *path = strchr(rest, '/');
        if (!path || address < begin || address >= end)
            continue;
        snprintf(name, size, "%.*s", (int)strcspn(path, "\n"), path);
        /* the permissions, "r--p", stand between addresses and offset */
        offset = strtoull(rest + strcspn(rest, "p") + 1, NULL, 16) + (address - begin);
    }
    if (maps)
        fclose(maps);
    return offset;
}

/* Handles a trace file that became shorter while it was mapped (ct_ctx_map_files). The access was the
 * decoder's and not the C library's, so functions of the C library may be called. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    char name[PATH_MAX];
    char text[PATH_MAX + 512];
    struct stat st;
    (void)context;
    /* NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c) */
    signal(number, SIG_DFL);
    if (info->si_code != BUS_ADRERR || guarded != getpid())
        return;
    const uint64_t needed = find_mapped_file((uintptr_t)info->si_addr, name, sizeof name);
    const uint64_t left = stat(name, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    snprintf(text, sizeof text,
             "coretap: %s: became shorter while it was read: only %llu bytes are left, and the "
             "trace behind them is lost (byte %llu was next); read a copy, or wait until no program writes "
             "to it; " NOT_WHOLE,
             name, (unsigned long long)left, (unsigned long long)needed);
    end_at_once(text);
    /* NOLINTEND(bugprone-signal-handler,cert-sig30-c) */
}

void cli_guard(void)
{
    guarded = getpid();
    is_registered = is_registered || atexit(on_exit_of_library) == 0;
    if (!is_registered)
        cli_no_memory();
    signal(SIGABRT, on_abort);
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    const struct sigaction cut = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &cut, NULL);
}

int cli_guard_end(int code)
{
    guarded = 0;
    return code;
}
