/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code: finds libgccjit, has the programs compiled, and keeps what came out. */
#include "monitor/native.h"

#include <stdlib.h>

#ifndef CT_HAVE_GCCJIT

struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena)
{
    (void)p;
    (void)arena;
    return NULL;
}

void ct_mon_native_free(struct ct_mon_native *native)
{
    (void)native;
}

native_fn *const *ct_mon_native_table(const struct ct_mon_native *native)
{
    (void)native;
    return NULL;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "monitor/native_emit.h"

enum {
    /* Instructions that are compiled, of all programs together; the rest stays bytecode. Compiling so many
     * takes a second at most. */
    INSNS_MOST = 2000,
    /* Up to so many the compiler optimises as well as it can, which takes twice as long as a moderate
     * effort. */
    INSNS_BEST = 600,
    BEST = 2,
    MODERATE = 1,
};

/* The library to load in place of libgccjit.so.0: another build of it or, in tests, nothing. */
static const char variable[] = "CORETAP_GCCJIT";

struct ct_mon_native {
    gcc_jit_result *result;
    native_fn **table;
};

/* Signals of faults of the compiler itself. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

static struct ct_mon_jit_api api;
static bool api_found;
static pthread_once_t api_once = PTHREAD_ONCE_INIT;

/* Loads libgccjit when it is first wanted: it is large, and loading it with the program would slow down every
 * command. */
static void find_api(void)
{
    static const char *const names[] = {
#define JIT_NAME(name) "gcc_jit_" #name,
        JIT_ENTRIES(JIT_NAME)
#undef JIT_NAME
    };
    const char *named = getenv(variable);
    void *lib = dlopen(named ? named : "libgccjit.so.0", RTLD_NOW | RTLD_LOCAL);
    void *entries[sizeof names / sizeof *names];
    bool all = lib != NULL;
    for (size_t i = 0; all && i < sizeof names / sizeof *names; i++)
        all = (entries[i] = dlsym(lib, names[i])) != NULL;
    _Static_assert(sizeof entries == sizeof api, "an entry is a pointer");
    if (all)
        memcpy(&api, entries, sizeof api);
    api_found = all;
}

static size_t length(const struct ct_mon_program *p, uint32_t code)
{
    size_t n = 0;
    while (p->code[code + n].op != I_END)
        n++;
    return n + 1;
}

/* Gives the first instruction of the i-th program. Inputs come first because they run most often. The program
 * of the instant 0 is none of them: it runs once, as bytecode. */
static uint32_t entry(const struct ct_mon_program *p, size_t i)
{
    if (i < p->ninputs)
        return p->inputs[i].code;
    i -= p->ninputs;
    if (i < p->ntimers)
        return p->timers[i].code;
    return p->code_all;
}

static void name_of(size_t i, char name[32])
{
    snprintf(name, 32, "program_%zu", i);
}

static size_t total_length(const struct ct_mon_program *p, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += entry(p, i) == NO_CODE ? 0 : length(p, entry(p, i));
    return n;
}

/* Emits as many programs as there is room for. EMIT_NOTHING: there is no program but that of the instant 0.
 * EMIT_FAILED: memory ran out, or no program has room. */
static enum ct_mon_emitted emit_entries(const struct ct_mon_program *p, gcc_jit_context *ctx, bool *chosen,
                                        size_t count)
{
    enum ct_mon_emitted result = EMIT_NOTHING;
    size_t room = INSNS_MOST;
    char name[32];
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = entry(p, i);
        if (code == NO_CODE)
            continue;
        name_of(i, name);
        const enum ct_mon_emitted one = ct_mon_native_emit(&api, ctx, p, code, length(p, code), &room, name);
        if (one == EMIT_FAILED)
            return one;
        chosen[i] = one == EMIT_SOME;
        if (result != EMIT_SOME)
            result = chosen[i] ? EMIT_SOME : EMIT_FAILED;
    }
    return result;
}

static bool fill(const struct ct_mon_program *p, struct ct_mon_native *native, const bool *chosen,
                 size_t count)
{
    char name[32];
    for (size_t i = 0; i < count; i++) {
        if (!chosen[i])
            continue;
        name_of(i, name);
        void *code = api.result_get_code(native->result, name);
        if (!code)
            return false;
        memcpy(&native->table[entry(p, i)], &code, sizeof code);
    }
    return true;
}

/* Allocates the table; a specification without outputs has no code at all, and
 * an empty table. NULL: no memory. */
static struct ct_mon_native *make_native(const struct ct_mon_program *p)
{
    struct ct_mon_native *native = calloc(1, sizeof *native);
    if (native)
        native->table = calloc(p->ncode + 1, sizeof *native->table);
    if (native && native->table)
        return native;
    free(native);
    return NULL;
}

/* Compiles with signals held back, but for those of faults: libgccjit waits for an assembler and a linker,
 * and a signal in between would end the process. */
static gcc_jit_result *compile_context(gcc_jit_context *ctx)
{
    sigset_t most, before;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_BLOCK, &most, &before);
    gcc_jit_result *result = api.context_compile(ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

/* Compiles the programs. False: no machine code came out. */
static bool compile(const struct ct_mon_program *p, gcc_jit_context *ctx, struct ct_mon_native *native,
                    bool *chosen, size_t count)
{
    api.context_set_int_option(ctx, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL,
                               total_length(p, count) <= INSNS_BEST ? BEST : MODERATE);
    api.context_set_bool_allow_unreachable_blocks(ctx, 1);
    const enum ct_mon_emitted emitted = emit_entries(p, ctx, chosen, count);
    if (emitted == EMIT_SOME)
        native->result = compile_context(ctx);
    return emitted == EMIT_NOTHING ||
           (emitted == EMIT_SOME && native->result && fill(p, native, chosen, count));
}

struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena)
{
    pthread_once(&api_once, find_api);
    if (!api_found)
        return NULL;
    const size_t count = p->ninputs + p->ntimers + 1;
    gcc_jit_context *ctx = api.context_acquire();
    struct ct_mon_native *native = make_native(p);
    bool *chosen = calloc(count, sizeof *chosen);
    const bool memory = ctx && native && chosen;
    const bool fine = memory && compile(p, ctx, native, chosen, count);
    if (ctx)
        api.context_release(ctx);
    free(chosen);
    if (!fine)
        ct_mon_native_free(native);
    if (!memory)
        ct_mon_arena_leave(arena, ARENA_NO_MEMORY);
    return fine ? native : NULL;
}

void ct_mon_native_free(struct ct_mon_native *native)
{
    if (!native)
        return;
    if (native->result)
        api.result_release(native->result);
    free(native->table);
    free(native);
}

native_fn *const *ct_mon_native_table(const struct ct_mon_native *native)
{
    return native ? native->table : NULL;
}

#endif
