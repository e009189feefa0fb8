/* SPDX-License-Identifier: Apache-2.0 */
/* Checks operations of the engine: the library declares each with its one signature, and no other is
 * accepted. */
#include <stdio.h>
#include <string.h>

#include "monitor/elab.h"
#include "monitor/library.h"
#include "support/unit.h"

extern const char ct_mon_stdlib_tessla[];
extern const size_t ct_mon_stdlib_tessla_size;

enum {
    MEMORY = 16 << 20
};

/* Returns the first error in a library with this text, or NULL. It is valid until `arena` is freed. */
static const char *library_error(struct ct_mon_arena *arena, const char *text, size_t size)
{
    struct ct_mon_diags diags;
    struct ct_mon_elab *e;
    ct_mon_arena_init(arena, MEMORY);
    ct_mon_diags_init(&diags, arena);
    if (setjmp(arena->out_of_memory))
        fail_msg("no memory");
    struct ct_mon_source *source = ARENA_NEW(arena, struct ct_mon_source);
    *source = (struct ct_mon_source){.name = "library", .text = text, .size = size};
    e = ARENA_NEW(arena, struct ct_mon_elab);
    ct_mon_elab_init(e, arena, &diags, NULL);
    ct_mon_library_open(e, source);
    ct_mon_library_declare_all(e->library->lazy);
    ct_mon_heap_free(&e->constants);
    return diags.first ? diags.first->text : NULL;
}

/* Writes a declaration of operation `name` with these types, and returns its length. */
static size_t declare(char *text, size_t cap, const char *name, const char *signature)
{
    size_t n = (size_t)snprintf(text, cap, "def f[A, B, C, D, E, F]");
    const char *p = signature;
    unsigned depth = 0, params = 0;
    if (*p == '(') {
        for (bool begins = true; *p; p++) {
            depth += (unsigned)(*p == '(') + (*p == '[');
            depth -= (unsigned)(*p == ')') + (*p == ']');
            text[n++] = *p;
            if (!depth)
                break;
            if (begins || (depth == 1 && *p == ','))
                n += (size_t)snprintf(text + n, cap - n, " p%u: ", params++);
            begins = false;
        }
        p = strstr(p, "=>") + 2;
    }
    return n + (size_t)snprintf(text + n, cap - n, ": %s = __builtin__(%s)\n", p, name);
}

TEST(test_own_signature)
{
    const struct ct_mon_elab_signature *s;
    for (size_t i = 0; (s = ct_mon_elab_signature(i)); i++) {
        struct ct_mon_arena arena;
        char text[1000];
        const size_t size = declare(text, sizeof text, s->name, s->signature);
        const char *error = library_error(&arena, text, size);
        if (error)
            fail_msg("%s: %s", text, error);
        ct_mon_arena_free(&arena);
    }
}

/* Declares each operation with the signature of every other one: 94 * 93 declarations, of which only equal
 * signatures pass. */
TEST(test_other_signatures)
{
    const struct ct_mon_elab_signature *s, *other;
    size_t refused = 0;
    for (size_t i = 0; (s = ct_mon_elab_signature(i)); i++) {
        for (size_t k = 0; (other = ct_mon_elab_signature(k)); k++) {
            struct ct_mon_arena arena;
            char text[1000];
            const size_t size = declare(text, sizeof text, s->name, other->signature);
            const char *error = library_error(&arena, text, size);
            const bool same = !strcmp(s->signature, other->signature);
            if (same != !error || (error && !strstr(error, s->signature)))
                fail_msg("%s: %s", text, error ? error : "accepted");
            refused += !same;
            ct_mon_arena_free(&arena);
        }
    }
    assert_true(refused > 5000);
}

TEST(test_unknown)
{
    static const char *const texts[] = {"def f(a: Int): Int = __builtin__(field)\n",
                                        "def f(a: Int): Int = __builtin__(nothing)\n",
                                        "def f[Int](a: Int, b: Int): Int = __builtin__(add)\n",
                                        "def f(a, b): Int = __builtin__(add)\n",
                                        "def f(a: Int, b: Int) = __builtin__(add)\n",
                                        "def f[A, B](a: B, b: B): Bool = __builtin__(eq)\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ct_mon_arena arena;
        assert_non_null(library_error(&arena, texts[i], strlen(texts[i])));
        ct_mon_arena_free(&arena);
    }
}

TEST(test_library)
{
    struct ct_mon_arena arena;
    const struct ct_mon_elab_signature *s;
    assert_null(library_error(&arena, ct_mon_stdlib_tessla, ct_mon_stdlib_tessla_size));
    ct_mon_arena_free(&arena);
    for (size_t i = 0; (s = ct_mon_elab_signature(i)); i++) {
        char use[64];
        snprintf(use, sizeof use, "__builtin__(%s)", s->name);
        if (!strstr(ct_mon_stdlib_tessla, use))
            fail_msg("nothing in the library is %s", use);
    }
}
