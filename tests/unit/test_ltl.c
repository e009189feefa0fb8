/* SPDX-License-Identifier: Apache-2.0 */
/* Compares three-valued verdicts with brute force: every word of up to six letters, every continuation that
 * matters. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "support/ctx_fixture.h"

/* A formula in prefix form: a b atoms, 0 1 constants, ! & | > (implies) = (iff), X U W R G F; B is "before".
 * It is evaluated here by the definitions, and given to the monitor in the dialect's words. */
static const char *const FORMULAS[] = {
    "a",       "!a",          "0",     "1",        "&ab",      "|ab",     ">ab",    "=ab",         "Xa",
    "XXa",     "X!XXa",       "Ga",    "Fa",       "G!a",      "Uab",     "Wab",    "Rab",         "GFa",
    "FGa",     "G>aXb",       "G>aFb", "G>aXU!ab", "G>aXW!ab", "U!ab",    "W!ab",   "Bab",         "GB!ab",
    "|GaFb",   "&GaFb",       "|GaGb", "&FaFb",    "UaUba",    "UUaba",   "RRaba",  "G|!aXXb",     "F&aX&aXa",
    "U&a!bXb", "XU!aXb",      "WXab",  "RXab",     "=GaXb",    ">GFaGFb", ">FGaGb", "&G>aXbG>bXa", "|XaX!a",
    "&UabG!b", "|UabG!b",     "FGXa",  "GXFa",     "!UaXb",    "!Wab",    "U1&aXb", "G=aXa",       "G=aX!a",
    "&aXG!a",  "F|&abX&!a!b", "UFab",  "UGab",     "WGab",     "RFab",
};

enum {
    NODES = 64,
    WORD = 6,
    LETTERS = 4,
    STEM = 3,
    LOOP = 4
};

struct formula {
    struct {
        char op;
        int a, b;
    } nodes[NODES];
    int count;
};

static int parse(struct formula *f, const char **p)
{
    char op = *(*p)++;
    int a = -1, b = -1;
    if (strchr("!XGF", op))
        a = parse(f, p);
    if (strchr("&|>=UWRB", op)) {
        a = parse(f, p);
        b = parse(f, p);
    }
    f->nodes[f->count].op = op;
    f->nodes[f->count].a = a;
    f->nodes[f->count].b = b;
    return f->count++;
}

static void words(const struct formula *f, int i, char *out)
{
    char a[2000] = "", b[2000] = "";
    if (f->nodes[i].a >= 0)
        words(f, f->nodes[i].a, a);
    if (f->nodes[i].b >= 0)
        words(f, f->nodes[i].b, b);
    switch (f->nodes[i].op) {
    case 'a':
    case 'b':
        sprintf(out, "%c", f->nodes[i].op);
        break;
    case '0':
    case '1':
        strcpy(out, f->nodes[i].op == '1' ? "true" : "false");
        break;
    case '!':
        sprintf(out, "(not %s)", a);
        break;
    case 'X':
        sprintf(out, "(next %s)", a);
        break;
    case 'G':
        sprintf(out, "(always %s)", a);
        break;
    case 'F':
        sprintf(out, "(eventually %s)", a);
        break;
    default: {
        const char *word = strchr("&|>=UWRB", f->nodes[i].op);
        static const char *const names[] = {"and",   "or",         "implies",  "iff",
                                            "until", "until weak", "releases", "before"};
        sprintf(out, "(%s %s %s)", a, names[word - "&|>=UWRB"], b);
        break;
    }
    }
}

static bool now(const struct formula *f, const bool *v, int i)
{
    return v[f->nodes[i].a];
}

/* Computes the truth of all subformulas at a step from its letter and their truth at the next step. */
static void back(const struct formula *f, unsigned letter, const bool *next, bool *v)
{
    for (int i = 0; i < f->count; i++) {
        bool a = f->nodes[i].a >= 0 && now(f, v, i), b = f->nodes[i].b >= 0 && v[f->nodes[i].b];
        switch (f->nodes[i].op) {
        case 'a':
            v[i] = letter & 1;
            break;
        case 'b':
            v[i] = letter >> 1 & 1;
            break;
        case '0':
            v[i] = false;
            break;
        case '1':
            v[i] = true;
            break;
        case '!':
            v[i] = !a;
            break;
        case '&':
            v[i] = a && b;
            break;
        case '|':
            v[i] = a || b;
            break;
        case '>':
            v[i] = !a || b;
            break;
        case '=':
            v[i] = a == b;
            break;
        case 'X':
            v[i] = next[f->nodes[i].a];
            break;
        case 'G':
            v[i] = a && next[i];
            break;
        case 'F':
            v[i] = a || next[i];
            break;
        case 'U':
        case 'W':
            v[i] = b || (a && next[i]);
            break;
        case 'R':
            v[i] = b && (a || next[i]);
            break;
        case 'B': /* not b until a */
            v[i] = a || (!b && next[i]);
            break;
        }
    }
}

/* Computes the truth on a loop, a fixpoint: the least for what must come, the greatest for what may last.
 * Operands come before their operators, so a few rounds are enough. */
static void loop_truth(const struct formula *f, const unsigned *letters, int n, bool *first)
{
    bool v[LOOP][NODES] = {0};
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < n; k++)
            v[k][i] = strchr("GWR", f->nodes[i].op) != NULL;
    for (int i = 0; i < f->count; i++) {
        /* one subformula at a time, with its operands final on the whole loop */
        for (int round = 0; round <= n; round++) {
            for (int k = n; k-- > 0;) {
                bool all[NODES];
                memcpy(all, v[k], sizeof all);
                struct formula upto = *f;
                upto.count = i + 1;
                back(&upto, letters[k], v[(k + 1) % n], all);
                v[k][i] = all[i];
            }
        }
    }
    memcpy(first, v[0], sizeof v[0]);
}

struct futures {
    bool (*truth)[NODES];
    size_t n, cap;
};

static void add_future(struct futures *s, const struct formula *f, const bool *v)
{
    for (size_t i = 0; i < s->n; i++)
        if (!memcmp(s->truth[i], v, (size_t)f->count * sizeof *v))
            return;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->truth = realloc(s->truth, s->cap * sizeof *s->truth);
    }
    memcpy(s->truth[s->n++], v, NODES * sizeof *v);
}

/* Returns the truths that infinite words give: those of all short loops, and of all that lead to them. */
static struct futures all_futures(const struct formula *f)
{
    struct futures s = {0};
    for (int n = 1; n <= LOOP; n++) {
        unsigned count = 1u << 2 * n, letters[LOOP];
        for (unsigned w = 0; w < count; w++) {
            bool v[NODES];
            for (int k = 0; k < n; k++)
                letters[k] = w >> 2 * k & 3;
            loop_truth(f, letters, n, v);
            add_future(&s, f, v);
        }
    }
    for (size_t i = 0; i < s.n; i++)
        for (unsigned letter = 0; letter < LETTERS; letter++) {
            bool v[NODES] = {0}, next[NODES];
            memcpy(next, s.truth[i], sizeof next);
            back(f, letter, next, v);
            add_future(&s, f, v);
        }
    return s;
}

static int brute_force(const struct formula *f, const struct futures *s, const unsigned *word, int n)
{
    bool seen[2] = {false, false};
    for (size_t i = 0; i < s->n; i++) {
        bool v[NODES], next[NODES];
        memcpy(v, s->truth[i], sizeof v);
        for (int k = n; k-- > 0;) {
            memcpy(next, v, sizeof next);
            back(f, word[k], next, v);
        }
        seen[v[f->count - 1]] = true;
    }
    return seen[0] && seen[1] ? CT_MONITOR_UNKNOWN : seen[1] ? CT_MONITOR_TRUE : CT_MONITOR_FALSE;
}

struct answers {
    int verdict[WORD + 1];
    int n;
};

static void collect(void *user, const struct ct_monitor_result *r, size_t count)
{
    struct answers *a = user;
    for (size_t i = 0; i < count; i++)
        a->verdict[a->n++] = (int)r[i].v.i;
}

/* Runs the monitor on a word: at every step the clock ticks, and a and b occur or not. */
static void ask(const struct ct_monitor_spec *spec, const unsigned *word, int n, struct answers *a)
{
    struct ct_monitor_event events[3 * WORD];
    struct ct_monitor *m;
    size_t k = 0;
    a->n = 0;
    for (int i = 0; i < n; i++) {
        uint64_t time = (uint64_t)i + 1;
        if (word[i] & 1)
            events[k++] = (struct ct_monitor_event){.time = time, .input = 0};
        if (word[i] & 2)
            events[k++] = (struct ct_monitor_event){.time = time, .input = 1};
        events[k++] = (struct ct_monitor_event){.time = time, .input = 2};
    }
    assert_int_equal(ct_monitor_new(NULL, spec, NULL, collect, a, &m), CT_OK);
    assert_int_equal(ct_monitor_feed(m, events, k), CT_OK);
    assert_int_equal(ct_monitor_finish(m), CT_OK);
    ct_monitor_free(m);
}

static void check_formula(const char *text)
{
    struct formula f = {0};
    const char *p = text;
    char formula[2000], spec_text[4000];
    parse(&f, &p);
    assert_true(*p == 0 && f.count <= NODES);
    words(&f, f.count - 1, formula);
    sprintf(spec_text,
            "in a: Events[Unit]\nin b: Events[Unit]\nin c: Events[Unit]\ndefine m := monitor(%s, clock := "
            "c)\nout m\n",
            formula);
    struct ct_monitor_spec *spec;
    struct ct_ctx *ctx = ct_ctx_new();
    if (ct_monitor_compile(ctx, text, spec_text, strlen(spec_text), NULL, &spec))
        fail_msg("%s: %s", formula, ct_ctx_error(ctx));
    struct futures s = all_futures(&f);
    for (int n = 1; n <= WORD; n++) {
        for (unsigned w = 0; w < 1u << 2 * n; w++) {
            unsigned word[WORD];
            struct answers a;
            for (int k = 0; k < n; k++)
                word[k] = w >> 2 * k & 3;
            ask(spec, word, n, &a);
            assert_int_equal(a.n, n);
            int want = brute_force(&f, &s, word, n);
            if (a.verdict[n - 1] != want)
                fail_msg("%s: word %x of %d letters: verdict %d, by brute force %d", formula, w, n,
                         a.verdict[n - 1], want);
        }
    }
    free(s.truth);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

TEST(verdicts_of_all_words)
{
    assert_true(sizeof FORMULAS / sizeof *FORMULAS >= 50);
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS; i++)
        check_formula(FORMULAS[i]);
}

static int compile_formula(struct ct_ctx *ctx, const char *formula)
{
    char text[8000];
    struct ct_monitor_spec *spec;
    char *p = text;
    for (char c = 'a'; c <= 'o'; c++)
        p += sprintf(p, "in %c: Events[Unit]\n", c);
    sprintf(p, "define z := monitor(%s)\nout z\n", formula);
    int r = ct_monitor_compile(ctx, "f", text, strlen(text), NULL, &spec);
    ct_monitor_spec_free(spec);
    return r;
}

/* A formula that is too large is an error with a reason, not a long wait. */
TEST_WITH(limits_are_errors, ctx)
{
    assert_int_equal(compile_formula(ctx, "a or b or c or d or e or f or g or h or i or j or k or l"), CT_OK);
    assert_int_equal(compile_formula(ctx, "a or b or c or d or e or f or g or h or i or j or k or l or m"),
                     CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "more than 12"));
    assert_int_equal(compile_formula(ctx, "next[17] a"), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "At most 16 steps"));
    assert_int_equal(compile_formula(ctx, "eventually (a and next[16] (b and next[16] c))"), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "cannot be monitored"));
}

/* More states than a table of bytes can number. */
TEST_WITH(wide_tables, ctx)
{
    static const char text[] = "in p: Events[Unit]\nin c: Events[Unit]\n"
                               "define m := monitor(eventually (p and next[8] p), clock := c)\nout m\n";
    struct ct_monitor_spec *spec;
    struct ct_monitor *m;
    struct answers a = {0};
    assert_int_equal(ct_monitor_compile(ctx, "wide", text, strlen(text), NULL, &spec), CT_OK);
    for (int gap = 7; gap <= 8; gap++) {
        int last = -1;
        assert_int_equal(ct_monitor_new(ctx, spec, NULL, collect, &a, &m), CT_OK);
        for (int i = 0; i <= gap; i++) {
            struct ct_monitor_event e[2] = {{.time = (uint64_t)i, .input = 1},
                                            {.time = (uint64_t)i, .input = 0}};
            a.n = 0;
            assert_int_equal(ct_monitor_feed(m, e, i == 0 || i == gap ? 2 : 1), CT_OK);
            last = a.n ? a.verdict[0] : last;
        }
        a.n = 0;
        assert_int_equal(ct_monitor_finish(m), CT_OK);
        last = a.verdict[0];
        assert_int_equal(last, gap == 8 ? CT_MONITOR_TRUE : CT_MONITOR_UNKNOWN);
        ct_monitor_free(m);
    }
    ct_monitor_spec_free(spec);
}
