/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the temporal operators (docs/tessla-language.md B.5). A word is an operator only if an operand
 * follows, so that streams can have the same names. */
#include <string.h>

#include "monitor/watch_parse.h"

enum {
    STEPS_MOST = 16,
    EACH_MOST = 64, /* most elements per operator */
};

/* words that stand between operands, and the one that begins a statement */
static const char *const INFIX[] = {"and",      "or",       "implies", "iff",         "equals",
                                    "until",    "unless",   "weak",    "releases",    "before",
                                    "upto",     "from",     "between", "untilinpast", "releasesinpast",
                                    "accepton", "rejecton", "define"};

static bool is_infix(const char *word)
{
    for (size_t i = 0; i < sizeof INFIX / sizeof *INFIX; i++)
        if (!strcmp(INFIX[i], word))
            return true;
    return false;
}

bool ct_mon_watch_at_operand(const struct ct_mon_wp *w)
{
    return !ct_mon_parse_begins_line(&w->p.lx) &&
           (watch_at(w, T_INT) || watch_at(w, T_STRING) || (watch_at(w, T_ID) && !is_infix(w->p.lx.name)));
}

/* Returns the token after the current one. *name is its word, if it is one. */
static enum ct_mon_token behind(const struct ct_mon_wp *w, const char **name)
{
    struct ct_mon_lexer lx = w->p.lx;
    lx.quiet = true;
    do
        ct_mon_lex_next(&lx);
    while (lx.token == T_NEWLINE);
    *name = lx.name;
    return lx.token;
}

static bool operand_follows(const struct ct_mon_wp *w)
{
    const char *name;
    switch (behind(w, &name)) {
    case T_ID:
        return !is_infix(name);
    case T_INT:
    case T_FLOAT:
    case T_STRING:
    case T_TRUE:
    case T_FALSE:
    case T_LPAREN:
        return true;
    default:
        return false;
    }
}

static bool bracket_follows(const struct ct_mon_wp *w)
{
    const char *name;
    return behind(w, &name) == T_LBRACKET;
}

/* Reads an end of a range: a number, or the name of a constant. */
static struct ct_mon_wx *number(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_INT);
    const char *name;
    const enum ct_mon_token next = watch_at(w, T_ID) ? behind(w, &name) : T_END;
    if (next == T_RBRACKET || next == T_DOTDOT) {
        x->kind = WX_NAME;
        x->name = w->p.lx.name;
        watch_next(w);
        return x;
    }
    if (watch_at(w, T_INT) && (w->p.lx.integer_big || w->p.lx.integer > STEPS_MOST))
        ct_mon_diag_error(w->p.diags, lex_span(&w->p.lx), "At most %d steps", STEPS_MOST);
    else
        x->integer = (int64_t)w->p.lx.integer;
    watch_expect(w, T_INT, "a number of steps");
    return x;
}

void ct_mon_watch_range(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    watch_expect(w, T_LBRACKET, "'['");
    x->op = T_ASSIGN;
    if (watch_at(w, T_LT) || watch_at(w, T_LE) || watch_at(w, T_GT) || watch_at(w, T_GE) ||
        watch_at(w, T_ASSIGN)) {
        x->op = w->p.lx.token;
        watch_next(w);
    }
    x->low = number(w);
    if (x->op == T_ASSIGN && watch_accept(w, T_DOTDOT))
        x->high = number(w);
    watch_expect(w, T_RBRACKET, "']'");
}

/* Reads timed[<time] and its variants, if present. */
static void timed(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    if (!watch_is_word(w, "timed") || !bracket_follows(w))
        return;
    watch_next(w);
    watch_next(w);
    x->time_op = w->p.lx.token;
    if (!watch_at(w, T_LT) && !watch_at(w, T_LE) && !watch_at(w, T_ASSIGN) && !watch_at(w, T_GT) &&
        !watch_at(w, T_GE)) {
        ct_mon_parse_error(&w->p, "'<', '<=', '=', '>=' or '>' and a time");
        return;
    }
    watch_next(w);
    x->time = ct_mon_watch_comparison(w);
    watch_expect(w, T_RBRACKET, "']'");
}

static struct ct_mon_wx *prefix(struct ct_mon_wp *w);

/* Reads `if c then f else g` after the `if`. The branches extend as far as possible. */
static struct ct_mon_wx *conditional(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_IF);
    watch_next(w);
    ct_mon_watch_add(w, x, ct_mon_watch_expr(w), NULL);
    watch_expect(w, T_THEN, "'then'");
    if (!w->p.failed)
        ct_mon_watch_add(w, x, ct_mon_watch_expr(w), NULL);
    if (!w->p.failed && watch_accept(w, T_ELSE))
        ct_mon_watch_add(w, x, ct_mon_watch_expr(w), NULL);
    return x;
}

/* Adds the numbers of `enumerate [first..last]` as elements. */
static void enumerate(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    watch_next(w);
    watch_expect(w, T_LBRACKET, "'['");
    const struct ct_mon_span at = lex_span(&w->p.lx);
    const uint64_t first = w->p.lx.integer;
    bool over = w->p.lx.integer_big;
    watch_expect(w, T_INT, "a number");
    watch_expect(w, T_DOTDOT, "'..'");
    const uint64_t last = w->p.lx.integer;
    over |= w->p.lx.integer_big;
    watch_expect(w, T_INT, "a number");
    watch_expect(w, T_RBRACKET, "']'");
    if (w->p.failed)
        return;
    if (over || last < first || last - first >= EACH_MOST) {
        ct_mon_diag_error(w->p.diags, at, "Expected [first..last] with at most %d numbers", EACH_MOST);
        return;
    }
    for (uint64_t i = first; i <= last; i++) {
        struct ct_mon_wx *element = ct_mon_watch_make(w, WX_INT);
        element->span = at;
        element->integer = (int64_t)i;
        ct_mon_watch_add(w, x, element, NULL);
    }
}

static void elements(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    const bool braces = watch_at(w, T_LBRACE);
    const struct ct_mon_span at = lex_span(&w->p.lx);
    watch_next(w);
    do
        ct_mon_watch_add(w, x, ct_mon_watch_implication(w), NULL);
    while (!w->p.failed && watch_accept(w, T_COMMA));
    if (braces)
        watch_expect(w, T_RBRACE, "',' or '}'");
    if (x->nargs > EACH_MOST)
        ct_mon_diag_error(w->p.diags, at, "The list has more than %d formulas", EACH_MOST);
}

/* Reads the collection, `as`, the variable, `in`, and the body. */
static void each(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    if (watch_is_word(w, "enumerate"))
        enumerate(w, x);
    else
        elements(w, x);
    watch_expect(w, T_AS, "'as'");
    x->name = w->p.lx.name;
    watch_expect(w, T_ID, "the name of a variable");
    watch_expect(w, T_IN, "'in'");
    if (w->p.failed)
        return;
    struct ct_mon_wx *body = ct_mon_watch_expr(w);
    ct_mon_watch_add(w, x, body, NULL);
    memmove(&x->args[1], &x->args[0], (x->nargs - 1) * sizeof *x->args);
    x->args[0] = body;
}

static bool each_word(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    static const char *const words[] = {
        [EACH_ALL] = "allof", [EACH_SOME] = "someof", [EACH_NONE] = "noneof", [EACH_ONE] = "exactlyoneof"};
    const char *name = "";
    const enum ct_mon_token next = watch_at(w, T_ID) ? behind(w, &name) : T_END;
    if (next != T_LBRACE && !(next == T_ID && (!strcmp(name, "list") || !strcmp(name, "enumerate"))))
        return false;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!watch_is_word(w, words[i]))
            continue;
        x->kind = WX_EACH;
        x->each = (enum ct_mon_each)i;
        watch_next(w);
        return true;
    }
    return false;
}

enum ranged {
    RANGE_NONE,
    RANGE_MAY,
    RANGE_MUST
};

static const struct {
    const char *word;
    enum ct_mon_wx_kind kind;
    enum ranged ranged;
    bool past;
} PREFIXES[] = {
    {"always", WX_ALWAYS, RANGE_NONE, false},
    {"eventually", WX_EVENTUALLY, RANGE_NONE, false},
    {"never", WX_NEVER, RANGE_NONE, false},
    {"next", WX_NEXT, RANGE_MAY, false},
    {"nextn", WX_NEXT, RANGE_MUST, false},
    {"holding", WX_HOLDING, RANGE_MUST, false},
    {"occurring", WX_OCCURRING, RANGE_MUST, false},
    {"within", WX_WITHIN, RANGE_MUST, false},
    {"alwaysinpast", WX_ALWAYS, RANGE_NONE, true},
    {"eventuallyinpast", WX_EVENTUALLY, RANGE_NONE, true},
    {"neverinpast", WX_NEVER, RANGE_NONE, true},
    {"nextinpast", WX_NEXT, RANGE_MAY, true},
    {"nextinpastn", WX_NEXT, RANGE_MUST, true},
    {"holdinginpast", WX_HOLDING, RANGE_MUST, true},
    {"occurringinpast", WX_OCCURRING, RANGE_MUST, true},
};

void ct_mon_watch_words(struct ct_mon_arena *arena, struct ct_mon_names *names)
{
    ct_mon_watch_source_words(arena, names);
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        ct_mon_names_add(arena, names, PREFIXES[i].word);
    for (size_t i = 0; i < sizeof INFIX / sizeof *INFIX; i++)
        ct_mon_names_add(arena, names, INFIX[i]);
    ct_mon_names_add(arena, names, "monitor");
    ct_mon_names_add(arena, names, "not");
    ct_mon_names_add(arena, names, "on");
}

/* Reads a temporal prefix operator with its range. */
static bool prefix_word(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    for (size_t i = 0; watch_at(w, T_ID) && i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        if (!watch_is_word(w, PREFIXES[i].word))
            continue;
        const bool bracket = PREFIXES[i].ranged != RANGE_NONE && bracket_follows(w);
        const bool old = w->temporal && PREFIXES[i].kind <= WX_NEXT && !PREFIXES[i].past;
        if (!bracket && (PREFIXES[i].ranged == RANGE_MUST || !(old || operand_follows(w))))
            return false;
        x->kind = PREFIXES[i].kind;
        x->past = PREFIXES[i].past;
        watch_next(w);
        if (bracket)
            ct_mon_watch_range(w, x);
        if (!bracket || x->kind == WX_HOLDING || x->kind == WX_OCCURRING)
            timed(w, x);
        return true;
    }
    return false;
}

static struct ct_mon_wx *prefix(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_ERROR);
    if (!ct_mon_parse_enter(&w->p))
        return x;
    if (watch_at(w, T_IF)) {
        x = conditional(w);
    } else if (w->temporal && watch_at(w, T_SLASH)) {
        x = ct_mon_watch_regular(w);
    } else if (each_word(w, x)) {
        each(w, x);
    } else if (watch_accept_word(w, "not")) {
        x->kind = WX_NOT;
        ct_mon_watch_add(w, x, prefix(w), NULL);
    } else if (prefix_word(w, x)) {
        ct_mon_watch_add(w, x, prefix(w), NULL);
    } else {
        x = ct_mon_watch_comparison(w);
    }
    w->p.depth--;
    return x;
}

/* Returns whether the current word is a modifier of an ending, rather than its operand. */
static bool ending_goes_on(const struct ct_mon_wp *w)
{
    const char *name;
    return operand_follows(w) || (behind(w, &name) == T_ID && !strcmp(name, "weak"));
}

/* Reads the modifiers of an ending. If `time` is not NULL, a time may follow, which goes there. */
static struct ct_mon_ending ending(struct ct_mon_wp *w, struct ct_mon_wx *time)
{
    static const struct {
        const char *word;
        enum ct_mon_need need;
        bool is_need, inclusive;
    } words[] = {
        {"req", NEED_REQUIRED, true, false},        {"required", NEED_REQUIRED, true, false},
        {"opt", NEED_OPTIONAL, true, false},        {"optional", NEED_OPTIONAL, true, false},
        {"weak", NEED_WEAK, true, false},           {"excl", NEED_REQUIRED, false, false},
        {"exclusive", NEED_REQUIRED, false, false}, {"incl", NEED_REQUIRED, false, true},
        {"inclusive", NEED_REQUIRED, false, true},
    };
    struct ct_mon_ending e = {NEED_REQUIRED, false};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!watch_is_word(w, words[i].word) || !ending_goes_on(w))
            continue;
        if (words[i].is_need)
            e.need = words[i].need;
        else
            e.inclusive = words[i].inclusive;
        watch_next(w);
        i = (size_t)-1; /* starts over with all words */
    }
    if (time)
        timed(w, time);
    return e;
}

static struct ct_mon_wx *until(struct ct_mon_wp *w)
{
    static const struct {
        const char *word;
        enum ct_mon_wx_kind kind;
        bool past;
    } words[] = {
        {"until", WX_UNTIL, false},   {"unless", WX_UNTIL, false},     {"releases", WX_RELEASES, false},
        {"before", WX_BEFORE, false}, {"untilinpast", WX_UNTIL, true}, {"releasesinpast", WX_RELEASES, true},
    };
    struct ct_mon_wx *a = prefix(w);
    const bool weak = !w->p.failed && watch_accept_word(w, "weak"), unless = watch_is_word(w, "unless");
    if (weak && !watch_is_word(w, "until"))
        ct_mon_parse_error(&w->p, "'until' after 'weak'");
    for (size_t i = 0; i < sizeof words / sizeof *words && !w->p.failed; i++) {
        if (!watch_accept_word(w, words[i].word))
            continue;
        struct ct_mon_wx time = {0};
        struct ct_mon_ending how = ending(w, &time);
        if (!ct_mon_parse_enter(&w->p))
            return a;
        struct ct_mon_wx *x = ct_mon_watch_pair(w, words[i].kind, a, until(w));
        x->past = words[i].past;
        x->ending = how;
        x->time = time.time;
        x->time_op = time.time_op;
        if (weak || unless)
            x->ending.need = NEED_WEAK;
        w->p.depth--;
        return x;
    }
    return a;
}

struct ct_mon_wx *ct_mon_watch_scope(struct ct_mon_wp *w)
{
    static const struct {
        const char *word;
        enum ct_mon_wx_kind kind;
    } words[] = {{"upto", WX_UPTO},
                 {"from", WX_FROM},
                 {"between", WX_BETWEEN},
                 {"accepton", WX_ACCEPTON},
                 {"rejecton", WX_REJECTON}};
    struct ct_mon_wx *a = until(w);
    unsigned length = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && !w->p.failed; i++) {
        if (!watch_accept_word(w, words[i].word))
            continue;
        if (++length > PARSE_DEPTH) {
            ct_mon_parse_error(&w->p, "fewer operators in a row");
            break;
        }
        const enum ct_mon_wx_kind kind = words[i].kind;
        const struct ct_mon_ending first = kind < WX_ACCEPTON ? ending(w, NULL) : (struct ct_mon_ending){0};
        a = ct_mon_watch_pair(w, kind, a, prefix(w));
        if (kind == WX_UPTO)
            a->ending = first;
        else
            a->start = first;
        if (kind == WX_BETWEEN && watch_expect(w, T_COMMA, "',' and the end of the scope")) {
            a->ending = ending(w, NULL);
            ct_mon_watch_add(w, a, prefix(w), NULL);
        }
        i = (size_t)-1; /* starts over with all operators */
    }
    return a;
}
