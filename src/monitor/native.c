/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code: loads libgccjit, compiles the programs, and keeps the result. */
#include "monitor/native.h"

#include <stdlib.h>

#ifndef CT_HAVE_GCCJIT

struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena,
                                        const bool *stop)
{
    (void)p;
    (void)arena;
    (void)stop;
    return NULL;
}

void ct_mon_native_free(struct ct_mon_native *native)
{
    (void)native;
}

const struct ct_mon_native_code *ct_mon_native_code(const struct ct_mon_native *native)
{
    (void)native;
    return NULL;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "monitor/native_batch.h"
#include "monitor/native_child.h"
#include "monitor/native_emit.h"
#include "monitor/native_kinds.h"

enum {
    /* most instructions compiled, over all programs; the rest stays bytecode. Compiling so many takes a
     * second at most. */
    INSNS_MOST = 2000,
    /* most instructions for full optimisation, which takes twice as long as moderate optimisation */
    INSNS_BEST = 600,
    BEST = 2,
    MODERATE = 1,
};

/* environment variable: a library to load instead of libgccjit.so.0, such as another build or, in tests,
 * nothing */
static const char variable[] = "CORETAP_GCCJIT";

struct ct_mon_native {
    void *object; /* handle from dlopen */
    struct ct_mon_native_code code;
    uint8_t *kinds;
    bool *written;
};

static const char batch_name[] = "batch";

static struct ct_mon_jit_api api;
static bool api_found;
static pthread_once_t api_once = PTHREAD_ONCE_INIT;

/* Loads libgccjit on first use. */
static void find_api(void)
{
    static const char *const names[] = {
#define JIT_NAME(name) "gcc_jit_" #name,
        JIT_ENTRIES(JIT_NAME)
#undef JIT_NAME
    };
    const char *named = getenv(variable);
    void *entries[sizeof names / sizeof *names];
    _Static_assert(sizeof entries == sizeof api, "an entry is a pointer");
    api_found =
        ct_library_find(named ? named : "libgccjit.so.0", names, sizeof names / sizeof *names, entries);
    if (api_found)
        memcpy(&api, entries, sizeof api);
}

static size_t length(const struct ct_mon_program *p, uint32_t code)
{
    size_t n = 0;
    while (p->code[code + n].op != I_END)
        n++;
    return n + 1;
}

/* Returns the first instruction of the i-th program. Inputs come first because they run most often. Leaves
 * out the program of instant 0, which runs once, as bytecode. */
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

static size_t count_entries(const struct ct_mon_program *p)
{
    return p->ninputs + p->ntimers + 1;
}

static size_t total_length(const struct ct_mon_program *p)
{
    size_t n = 0;
    for (size_t i = 0; i < count_entries(p); i++)
        n += entry(p, i) == NO_CODE ? 0 : length(p, entry(p, i));
    return n;
}

/* Emits as many programs as there is room for. Returns false when out of memory, or when no program has
 * room. */
static bool emit_entries(const struct ct_mon_program *p, gcc_jit_context *ctx)
{
    bool some = false;
    size_t room = INSNS_MOST;
    char name[32];
    for (size_t i = 0; i < count_entries(p); i++) {
        const uint32_t code = entry(p, i);
        if (code == NO_CODE)
            continue;
        name_of(i, name);
        const enum ct_mon_emitted one = ct_mon_native_emit(&api, ctx, p, code, length(p, code), &room, name);
        if (one == EMIT_FAILED)
            return false;
        some |= one == EMIT_SOME;
    }
    return some;
}

/* Compiles the programs into a shared object. */
static bool compile(void *user, const char *path)
{
    const struct ct_mon_program *p = user;
    gcc_jit_context *ctx = api.context_acquire();
    if (!ctx)
        return false;
    api.context_set_int_option(ctx, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL,
                               total_length(p) <= INSNS_BEST ? BEST : MODERATE);
    api.context_set_bool_allow_unreachable_blocks(ctx, 1);
    if (!emit_entries(p, ctx) || !ct_mon_native_batch(&api, ctx, p, batch_name))
        return false;
    api.context_compile_to_file(ctx, GCC_JIT_OUTPUT_KIND_DYNAMIC_LIBRARY, path);
    return api.context_get_first_error(ctx) == NULL;
}

/* Fills the table with the compiled programs. */
static void fill(const struct ct_mon_program *p, struct ct_mon_native *native)
{
    char name[32];
    for (size_t i = 0; i < count_entries(p); i++) {
        if (entry(p, i) == NO_CODE)
            continue;
        name_of(i, name);
        void *code = dlsym(native->object, name);
        memcpy(&native->code.table[entry(p, i)], &code, sizeof code);
    }
    void *batch = dlsym(native->object, batch_name);
    if (!batch || !ct_mon_native_kinds(p, native->kinds, native->written))
        return;
    memcpy(&native->code.batch, &batch, sizeof batch);
    native->code.kinds = native->kinds;
    for (size_t i = 0; i < p->ninputs; i++)
        if (p->inputs[i].code != NO_CODE && p->costs[p->inputs[i].code] > native->code.batch_cost)
            native->code.batch_cost = p->costs[p->inputs[i].code];
}

/* Allocates the tables. They are empty for a specification without outputs, which has no code. NULL: out of
 * memory. */
static struct ct_mon_native *make_native(const struct ct_mon_program *p)
{
    struct ct_mon_native *native = calloc(1, sizeof *native);
    if (!native)
        return NULL;
    native->code.table = calloc(p->ncode + 1, sizeof *native->code.table);
    native->kinds = calloc(p->ncells + 1, sizeof *native->kinds);
    native->written = calloc(p->ncells + 1, sizeof *native->written);
    if (native->code.table && native->kinds && native->written)
        return native;
    ct_mon_native_free(native);
    return NULL;
}

struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena,
                                        const bool *stop)
{
    pthread_once(&api_once, find_api);
    if (!api_found)
        return NULL;
    struct ct_mon_native *native = make_native(p);
    if (!native)
        ct_mon_arena_leave(arena, ARENA_NO_MEMORY);
    if (total_length(p) == 0) /* only instant 0 has code */
        return native;
    native->object = ct_mon_child_load(compile, (void *)p, stop);
    if (native->object) {
        fill(p, native);
        return native;
    }
    ct_mon_native_free(native);
    return NULL;
}

void ct_mon_native_free(struct ct_mon_native *native)
{
    if (!native)
        return;
    if (native->object)
        dlclose(native->object);
    free(native->code.table);
    free(native->kinds);
    free(native->written);
    free(native);
}

const struct ct_mon_native_code *ct_mon_native_code(const struct ct_mon_native *native)
{
    return native ? &native->code : NULL;
}

#endif
