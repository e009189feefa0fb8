/* SPDX-License-Identifier: Apache-2.0 */
/* Compares SALT's operators with brute force: here each is evaluated by its meaning on infinite words, with
 * quantifiers over steps and without rewriting. Verdicts are compared for all words of up to three letters,
 * each with every continuation that is a short word and a short loop. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "support/rng.h"
#include "support/unit.h"

/* Formulas in prefix form. An operator is followed, after dots, by its kind of end (x excl, i incl; r req, w
 * weak, o opt) or its range of steps (2-3; 2- for at least 2). */
static const char *const FORMULAS[] = {
    "until a b",
    "until.xr a b",
    "until.ir a b",
    "until.xw a b",
    "until.iw a b",
    "until.xo a b",
    "until.io a b",
    "not until.io a b",
    "next until.iw a not b",
    "always implies a next until.io not a b",
    "releases a b",
    "releases.iw a b",
    "releases.io a b",
    "releases.xo a b",
    "before.xw a b",
    "next.0-2 a",
    "next.1-3 a",
    "next.2- a",
    "not next.1-2 a",
    "always implies a next.1-2 b",
    "within.0-2 a",
    "holding.2-2 a",
    "holding.1-2 a",
    "holding.2- a",
    "holding.0-1 and a next b",
    "occurring.1-1 a",
    "occurring.2-2 a",
    "occurring.0-1 a",
    "occurring.2- a",
    "occurring.2-2 and a next b",
    "if a next b not next b",
    "if a next b true",
    "equals a next a",
    "upto.xw always a b",
    "upto.iw always a b",
    "upto.xr always a b",
    "upto.xo always a b",
    "upto.ir eventually a b",
    "upto.xr eventually a b",
    "upto.xw eventually a b",
    "upto.xo next a b",
    "upto.iw next a b",
    "upto.xw not next a b",
    "upto.xr next true b",
    "upto.ir next true b",
    "upto.xw a b",
    "upto.ir until.xw a b b",
    "upto.xr holding.1-2 a b",
    "upto.iw holding.2- a b",
    "upto.iw occurring.1-1 a b",
    "upto.xw releases a not a b",
    "upto.xw next.1-2 a b",
    "upto.xw until a not a b",
    "not upto.xr always a b",
    "always implies a next upto.xr always not a b",
    "always upto.xw always a b",
    "always upto.io next a b",
    "upto.xw upto.ir eventually a b not a",
    "upto.xw upto.xo eventually a b a",
    "from.xr always a b",
    "from.ir always a b",
    "from.iw always a b",
    "from.xw next a b",
    "from.io eventually a b",
    "upto.xw from.xr a b a",
    "upto.xw from.iw next a b not a",
    "between.ir.xr always a b not a",
    "between.xr.ir eventually a b a",
    "between.iw.xo always a b not b",
    "between.xw.iw next a b not b",
    "accepton always a b",
    "accepton eventually a b",
    "accepton next a b",
    "accepton until a next a b",
    "accepton not next a b",
    "rejecton always a b",
    "rejecton eventually a b",
    "rejecton next not a b",
    "rejecton until.xw a next a b",
    "accepton rejecton always a b a",
    "upto.xw accepton next a a b",
    "upto.ir rejecton eventually next a not a b",
    "always implies a accepton next a b",
    "-always a",
    "-eventually a",
    "-never a",
    "-next a",
    "always implies b -eventually a",
    "always implies b -always a",
    "always implies b -next a",
    "always implies b -until a b",
    "always implies a -until.xr not a b",
    "always implies a -until.ir not a b",
    "always implies a -until.xw not a b",
    "always implies a -until.iw a b",
    "always implies a -until.xo not a b",
    "always implies a -releases b a",
    "always implies a -releases.iw b a",
    "eventually and a -next.2-2 b",
    "eventually and a -next.1-2 b",
    "eventually and a not -eventually a",
    "always implies b -holding.2-2 a",
    "always implies b -holding.0-1 a",
    "always implies b -occurring.2- a",
    "always implies b -occurring.1-1 a",
    "until not a -next -next b",
    "eventually and -always a not a",
    "upto.iw eventually -next a b",
    "upto.xw always -eventually a -next b",
    "accepton next a -next b",
    "and eventually a always -eventually a",
    "-next -until a b",
    "-eventually and a -next -always not b",
};

/* Regular expressions: sequence, sequence that shares a step, alternatives, repetitions. */
static const char *const REGULAR[] = {
    "regex a",
    "regex seq a b",
    "regex seq a seq rep.0- b a",
    "regex seq a rep.0- b",
    "regex rep.0- a",
    "regex seq rep.0- a b",
    "regex seq rep.1- a not b",
    "regex seq rep.0-1 a b",
    "regex seq rep.2-3 a b",
    "regex seq rep.2- a b",
    "regex seq rep.2-2 a b",
    "regex seq a seq rep.0-2 b rep.1-2 a",
    "regex alt a seq b a",
    "regex alt seq a a seq b b",
    "regex seq alt a seq a b b",
    "regex seq a alt rep.0- b a",
    "regex seq alt rep.0- a seq b b seq a b",
    "regex fuse a b",
    "regex fuse seq a b a",
    "regex fuse rep.0- a b",
    "regex fuse rep.1-2 a seq b a",
    "regex fuse rep.2- a b",
    "regex fuse a rep.0- b",
    "regex fuse rep.0-2 a rep.0-2 b",
    "regex seq fuse a b a",
    "regex fuse seq a rep.0-1 b seq a b",
    "regex fuse seq rep.0- a rep.0- b seq b a",
    "regex fuse alt a seq b b rep.1- a",
    "regex fuse fuse rep.0- a b rep.1- a",
    "regex fuse a seq rep.0- a rep.0-1 b",
    "regex fuse a seq rep.0-1 b rep.0- a",
    "regex seq a always b",
    "regex seq rep.0- a and b next not a",
    "regex seq -next a b",
    "not regex seq a rep.2- b",
    "always implies a regex seq a b",
    "always implies a next regex seq rep.0- not a b",
    "until a regex seq b b",
    "eventually regex seq a seq rep.0- b not a",
    "upto.xw regex seq a b b",
    "upto.ir regex seq a rep.0- a b",
    "upto.xw regex seq rep.0- a a b",
    "accepton regex seq a seq a a b",
    "rejecton regex seq a rep.1- a b",
};

/* Formulas with times: t0-3 is a distance below 3, t2- one of at least 2. */
static const char *const TIMED[] = {
    "eventually.t0-3 b",
    "always.t0-3 a",
    "never.t0-4 b",
    "eventually.t2- b",
    "always.t2- a",
    "eventually.t3-4 b",
    "never.t3-4 b",
    "until.xr.t0-3 a b",
    "until.ir.t0-3 a b",
    "until.xw.t0-3 a b",
    "until.xo.t0-4 a b",
    "until.xr.t2- a b",
    "releases.xr.t0-3 a b",
    "before.xr.t0-3 b a",
    "next.t0-2 a",
    "next.t2- true",
    "eventually.t0-3 next a",
    "until.xr.t0-4 next a always b",
    "next eventually.t0-3 b",
    "not eventually.t0-3 b",
    "implies a eventually.t0-3 b",
    "if a eventually.t0-3 b always.t0-3 not b",
    "and eventually.t0-3 b not eventually.t0-4 a",
    "always implies a eventually.t0-3 b",
    "always implies a eventually.t0-1 b",
    "always implies a next eventually.t0-2 b",
    "always implies a always.t0-3 b",
    "always implies a never.t2- b",
    "always implies a until.xr.t0-3 not b b",
    "always implies a until.ir.t0-3 not a b",
    "always implies a not until.xr.t0-3 a b",
    "always implies a not until.xr.t2- a b",
    "always implies a not until.xr.t0-3 not b b",
    "always implies a not until.xr.t2- not b b",
    "always implies a next until.xr.t0-3 not a b",
    "always implies a implies -next a eventually.t0-2 b",
    "eventually and a eventually.t2- b",
    "eventually and a eventually.t0-3 b",
    "eventually and a always.t0-3 b",
    "not eventually and a next until.xr.t0-3 b not b",
    "always always implies a eventually.t0-3 b",
    "always implies a until.xw implies not b eventually.t0-3 b b",
    "accepton eventually.t0-3 a b",
    "upto.iw eventually.t0-3 a b",
    "upto.xw always.t0-3 a b",
    "always implies a upto.iw eventually.t0-3 not a b",
    "always implies b -eventually.t0-3 a",
    "always implies b -eventually.t2- a",
    "always implies b -always.t0-3 a",
    "always implies b -never.t2- a",
    "always implies a -until.xr.t0-3 not a b",
    "always implies a -until.xr.t2- a b",
    "always implies a -until.ir.t2- not a b",
    "always implies a -releases.xr.t0-3 b a",
    "always implies b -next.t0-2 a",
    "always implies b -next.t2- a",
    "always implies -eventually.t0-3 a eventually.t0-3 b",
    "holding.2-2.t0-3 a",
    "holding.1-2.t0-4 a",
    "holding.0-1.t0-3 a",
    "holding.2-.t2- a",
    "holding.0-0.t3-4 a",
    "holding.2-.t0-4 next a",
    "not holding.2-.t0-4 a",
    "implies a next holding.2-.t0-3 b",
    "and holding.2-.t0-4 a holding.0-1.t0-4 b",
    "occurring.1-1.t0-3 a",
    "occurring.2-.t0-4 a",
    "occurring.0-1.t0-4 a",
    "upto.iw holding.2-.t0-4 a b",
    "upto.xw holding.2-.t0-3 a b",
    "upto.xw occurring.2-.t0-4 a b",
    "upto.ir holding.0-1.t0-3 a b",
    "always implies a holding.0-0.t0-3 b",
    "always implies a next holding.1-.t0-3 b",
    "always implies b -holding.2-.t2- a",
    "always implies b -holding.0-1.t2- a",
    "always implies b -holding.1-.t0-3 a",
    "always implies b -occurring.0-0.t0-3 a",
};

enum {
    NODES = 32,
    WORD = 3,
    STEM = 2,
    LOOP = 2,
    FOREVER = 1 << 20,
};

struct node {
    char op[16];
    bool past;
    bool inclusive[2];
    char need[2]; /* r, w or o */
    int low, high;
    int from, to; /* as times */
    int args[3];
};

struct formula {
    struct node nodes[NODES];
    int count;
};

static int arity(const char *op)
{
    static const char *const one[] = {"not",    "always",  "eventually", "never", "next",
                                      "within", "holding", "occurring",  "regex", "rep"};
    if (!strcmp(op, "a") || !strcmp(op, "b") || !strcmp(op, "true"))
        return 0;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (!strcmp(op, one[i]))
            return 1;
    return !strcmp(op, "if") || !strcmp(op, "between") ? 3 : 2;
}

static int parse(struct formula *f, const char **p)
{
    struct node n = {.need = "rr", .low = 1, .high = 1, .to = FOREVER, .args = {-1, -1, -1}};
    char word[40];
    int used, k = 0;
    assert_int_equal(sscanf(*p, " %39s%n", word, &used), 1);
    *p += used;
    char *part = strtok(word[0] == '-' ? word + 1 : word, ".");
    n.past = word[0] == '-';
    strcpy(n.op, part);
    while ((part = strtok(NULL, "."))) {
        if (part[0] == 't') {
            n.from = atoi(part + 1);
            n.to = strchr(part, '-')[1] ? atoi(strchr(part, '-') + 1) : FOREVER;
        } else if (part[0] < 'a') {
            n.low = atoi(part);
            n.high = strchr(part, '-')[1] ? atoi(strchr(part, '-') + 1) : FOREVER;
        } else {
            n.inclusive[k] = part[0] == 'i';
            n.need[k++] = part[1];
        }
    }
    for (int i = 0; i < arity(n.op); i++)
        n.args[i] = parse(f, p);
    assert_true(f->count < NODES);
    f->nodes[f->count] = n;
    return f->count++;
}

/* ---- as text of the dialect ---- */

static void ending(const struct node *n, int k, char *out)
{
    sprintf(out, "%s %s", n->inclusive[k] ? "incl" : "exclusive",
            n->need[k] == 'w'   ? "weak"
            : n->need[k] == 'o' ? "optional"
                                : "req");
}

static void range(const struct node *n, char *out)
{
    if (n->high == FOREVER)
        sprintf(out, "[>=%d]", n->low);
    else if (n->low == n->high)
        sprintf(out, "[=%d]", n->low);
    else if (n->low == 0)
        sprintf(out, "[<=%d]", n->high);
    else
        sprintf(out, "[%d..%d]", n->low, n->high);
}

static void timed(const struct node *n, char *out)
{
    if (n->from == 0 && n->to == FOREVER)
        *out = 0;
    else if (n->to == FOREVER)
        sprintf(out, " timed[>=%d]", n->from);
    else if (n->from)
        sprintf(out, " timed[=%d]", n->from);
    else
        sprintf(out, " timed[<%d]", n->to);
}

/* Writes a repetition in the fewest words. */
static void repetition(const struct node *n, const char *steps, const char *a, char *out)
{
    if (n->high == FOREVER && n->low < 2)
        sprintf(out, "%s%s", a, n->low ? "+" : "*");
    else if (n->low == 0 && n->high == 1)
        sprintf(out, "%s?", a);
    else
        sprintf(out, "%s*%s", a, steps);
}

static void words(const struct formula *f, int i, char *out)
{
    const struct node *n = &f->nodes[i];
    char a[3][600] = {"", "", ""}, how[2][40], steps[20], time[40], op[60];
    for (int k = 0; k < 3; k++)
        if (n->args[k] >= 0)
            words(f, n->args[k], a[k]);
    ending(n, 0, how[0]);
    ending(n, 1, how[1]);
    range(n, steps);
    timed(n, time);
    sprintf(op, "%s%s", n->op, n->past ? "inpast" : "");
    const bool ranged = !strcmp(n->op, "within") || !strcmp(n->op, "holding") || !strcmp(n->op, "occurring");
    if (arity(n->op) == 0)
        strcpy(out, n->op);
    else if (!strcmp(n->op, "if"))
        sprintf(out, strcmp(a[2], "true") ? "(if %s then %s else %s)" : "(if %s then %s)", a[0], a[1], a[2]);
    else if (!strcmp(n->op, "between"))
        sprintf(out, "(%s between %s %s, %s %s)", a[0], how[0], a[1], how[1], a[2]);
    else if (!strcmp(n->op, "regex"))
        sprintf(out, "(/%s/)", a[0]);
    else if (!strcmp(n->op, "rep"))
        repetition(n, steps, a[0], out);
    else if (!strcmp(n->op, "seq") || !strcmp(n->op, "fuse") || !strcmp(n->op, "alt"))
        sprintf(out, "(%s %s %s)", a[0], n->op[0] == 's' ? ";" : n->op[0] == 'f' ? ":" : "|", a[1]);
    else if (arity(n->op) == 1)
        sprintf(out, "(%s%s%s %s)", op,
                ranged || (!strcmp(n->op, "next") && strcmp(steps, "[=1]")) ? steps : "", time, a[0]);
    else if (!strcmp(n->op, "until") || !strcmp(n->op, "releases") || !strcmp(n->op, "before") ||
             !strcmp(n->op, "upto") || !strcmp(n->op, "from"))
        sprintf(out, "(%s %s %s%s %s)", a[0], op, how[0], time, a[1]);
    else
        sprintf(out, "(%s %s %s)", a[0], op, a[1]);
}

/* ---- by meaning ---- */

/* An infinite word: a stem and a loop. */
struct word {
    unsigned letters[WORD + STEM + LOOP];
    int gaps[WORD + STEM + LOOP]; /* time since the previous step */
    int stem, length;
};

/* What a formula is evaluated on: the steps before `end`; letters from `cut` on make every atom there true
 * (`accept`) or false. Below a negation it is the other way round. */
struct view {
    int end, cut;
    bool accept;
};

static const struct view WHOLE = {FOREVER, FOREVER, true};

static bool holds(const struct formula *f, int i, const struct word *w, int at, struct view v);

/* Returns the step up to which steps are tried: later ones repeat. */
static int horizon(const struct word *w, int at, struct view v)
{
    const int loop = w->length - w->stem;
    const int far = (at > w->stem ? at : w->stem) + 5 * loop;
    return v.end < far ? v.end : far;
}

static int time_of(const struct word *w, int at)
{
    const int loop = w->length - w->stem;
    int time = 0;
    if (at >= w->length) {
        const int rounds = (at - w->stem) / loop;
        time = rounds * (time_of(w, w->length - 1) - time_of(w, w->stem - 1));
        at -= rounds * loop;
    }
    for (int k = 0; k <= at; k++)
        time += w->gaps[k];
    return time;
}

/* Returns whether the distance of two steps is within the time of an operator. */
static bool in_time(const struct node *n, const struct word *w, int from, int to)
{
    if (!n->from && n->to == FOREVER)
        return true;
    const int distance = abs(time_of(w, to) - time_of(w, from));
    return distance >= n->from && distance < n->to;
}

static bool past_until(const struct formula *f, const struct node *n, int a, int b, bool negate,
                       const struct word *w, int at)
{
    bool b_came = false, ever = true;
    for (int j = at; j >= 0; j--) {
        const bool is_a = holds(f, a, w, j, WHOLE) != negate;
        const bool is_b = holds(f, b, w, j, WHOLE) != negate && in_time(n, w, j, at);
        b_came |= is_b;
        if (is_b && ever && (!n->inclusive[0] || is_a))
            return true;
        ever = ever && is_a;
    }
    return n->need[0] == 'w' ? ever : n->need[0] == 'o' ? !b_came : false;
}

static int begins(bool is, bool *was)
{
    const bool begin = is && !*was;
    *was = is;
    return begin;
}

static bool past(const struct formula *f, const struct node *n, const struct word *w, int at)
{
    const int a = n->args[0];
    int count = 0, first = 0, any = 0, steps = 0;
    bool was = false;
    for (int j = at; j >= 0; j--) {
        const bool is = holds(f, a, w, j, WHOLE) && in_time(n, w, j, at);
        steps += in_time(n, w, j, at);
        count += is;
        first += begins(is, &was);
        any |= is && at - j >= n->low && at - j <= n->high;
    }
    switch (n->op[0]) {
    case 'a':
        return count == steps;
    case 'e':
        return count > 0;
    case 'n':
        return n->op[2] == 'v' ? count == 0 : any;
    case 'h':
        return count >= n->low && count <= n->high;
    case 'o':
        return first >= n->low && first <= n->high;
    case 'u':
        return past_until(f, n, a, n->args[1], false, w, at);
    default:
        return !past_until(f, n, a, n->args[1], true, w, at);
    }
}

static bool until(const struct formula *f, const struct node *n, int a, int b, bool not_a, bool not_b,
                  const struct word *w, int at, struct view v)
{
    const struct view va = {v.end, v.cut, v.accept != not_a}, vb = {v.end, v.cut, v.accept != not_b};
    bool b_comes = false, ever = true;
    const int end = horizon(w, at, v);
    for (int j = at; j < end; j++) {
        const bool is_a = holds(f, a, w, j, va) != not_a,
                   is_b = holds(f, b, w, j, vb) != not_b && in_time(n, w, at, j);
        b_comes |= is_b;
        if (is_b && ever && (!n->inclusive[0] || is_a))
            return true;
        ever = ever && is_a;
    }
    return n->need[0] == 'w' ? ever : n->need[0] == 'o' ? !b_comes : false;
}

static bool unary(const struct formula *f, const struct node *n, const struct word *w, int at, struct view v)
{
    const int end = horizon(w, at, v);
    int count = 0, first = 0, any = 0, steps = 0;
    bool was = false;
    for (int j = at; j < end; j++) {
        const bool is = holds(f, n->args[0], w, j, v) && in_time(n, w, at, j);
        steps += in_time(n, w, at, j);
        count += is;
        first += begins(is, &was);
        any |= is && j - at >= n->low && j - at <= n->high;
    }
    switch (n->op[0]) {
    case 'a':
        return count == steps;
    case 'e':
        return count > 0;
    case 'h':
        return count >= n->low && count <= n->high;
    case 'o':
        return first >= n->low && first <= n->high;
    case 'n':
        return n->op[2] == 'v' ? count == 0 : any;
    default: /* "within" */
        return any;
    }
}

static int first_of(const struct formula *f, int b, const struct word *w, int at, struct view v)
{
    const int end = horizon(w, at, v);
    for (int j = at; j < end; j++)
        if (holds(f, b, w, j, WHOLE))
            return j;
    return FOREVER;
}

static bool upto(const struct formula *f, const struct node *n, int k, int b, const struct word *w, int at,
                 struct view v)
{
    const int j = first_of(f, b, w, at, v);
    struct view scope = v;
    if (j == FOREVER && n->need[k] != 'w')
        return n->need[k] == 'o';
    if (j != FOREVER)
        scope.end = n->inclusive[k] ? j + 1 : j;
    return holds(f, n->args[0], w, at, scope);
}

static bool from(const struct formula *f, const struct node *n, const struct word *w, int at, struct view v)
{
    const int j = first_of(f, n->args[1], w, at, v);
    if (j == FOREVER)
        return n->need[0] != 'r';
    const int start = n->inclusive[0] ? j : j + 1;
    if (start >= v.end)
        return false;
    return !strcmp(n->op, "between") ? upto(f, n, 1, n->args[2], w, start, v)
                                     : holds(f, n->args[0], w, start, v);
}

static bool exception(const struct formula *f, const struct node *n, const struct word *w, int at,
                      struct view v)
{
    /* the present step counts even in a scope without steps */
    const struct view present = {v.end > at ? v.end : at + 1, v.cut, v.accept};
    const int j = first_of(f, n->args[1], w, at, present);
    const bool accept = n->op[0] == 'a';
    struct view inner = v;
    if (j < v.cut) { /* below a negation the decision is reversed */
        inner.cut = j;
        inner.accept = accept;
    }
    return holds(f, n->args[0], w, at, inner);
}

/* Returns whether a regular expression matches the steps from `at` to before `to`. The first step of a
 * formula counts even in a scope without steps. */
static bool matches(const struct formula *f, int i, const struct word *w, int at, int to, struct view v)
{
    const struct node *n = &f->nodes[i];
    if (!strcmp(n->op, "alt"))
        return matches(f, n->args[0], w, at, to, v) || matches(f, n->args[1], w, at, to, v);
    if (!strcmp(n->op, "rep")) {
        for (int j = at; j < to; j++)
            if (!holds(f, n->args[0], w, j, v))
                return false;
        return to - at >= n->low && to - at <= n->high;
    }
    const int overlap = !strcmp(n->op, "fuse");
    if (overlap || !strcmp(n->op, "seq")) {
        for (int j = at + overlap; j <= to; j++)
            if (matches(f, n->args[0], w, at, j, v) && matches(f, n->args[1], w, j - overlap, to, v) &&
                (!overlap || j - overlap < to))
                return true;
        return false;
    }
    return to == at + 1 && holds(f, i, w, at, v);
}

static bool regular(const struct formula *f, const struct node *n, const struct word *w, int at,
                    struct view v)
{
    const int end = horizon(w, at, v);
    for (int to = at; to <= (end > at ? end : at + 1); to++)
        if (matches(f, n->args[0], w, at, to, v))
            return true;
    return false;
}

static bool holds(const struct formula *f, int i, const struct word *w, int at, struct view v)
{
    const struct node *n = &f->nodes[i];
    const int loop = w->length - w->stem, k = at < w->length ? at : w->stem + (at - w->stem) % loop;
    const struct view other = {v.end, v.cut, !v.accept};
    if (at >= v.cut)
        return v.accept;
    if (arity(n->op) == 0 || n->past) {
        return n->past                  ? past(f, n, w, at)
               : !strcmp(n->op, "true") ? true
                                        : w->letters[k] >> (n->op[0] - 'a') & 1;
    }
    if (!strcmp(n->op, "not"))
        return !holds(f, n->args[0], w, at, other);
    if (!strcmp(n->op, "and"))
        return holds(f, n->args[0], w, at, v) && holds(f, n->args[1], w, at, v);
    if (!strcmp(n->op, "implies"))
        return !holds(f, n->args[0], w, at, other) || holds(f, n->args[1], w, at, v);
    if (!strcmp(n->op, "equals"))
        return holds(f, n->args[0], w, at, v) == holds(f, n->args[1], w, at, v);
    if (!strcmp(n->op, "if"))
        return holds(f, n->args[holds(f, n->args[0], w, at, v) ? 1 : 2], w, at, v);
    if (!strcmp(n->op, "until"))
        return until(f, n, n->args[0], n->args[1], false, false, w, at, v);
    if (!strcmp(n->op, "releases"))
        return !until(f, n, n->args[0], n->args[1], true, true, w, at, other);
    if (!strcmp(n->op, "before"))
        return until(f, n, n->args[1], n->args[0], true, false, w, at, v);
    if (!strcmp(n->op, "upto"))
        return upto(f, n, 0, n->args[1], w, at, v);
    if (!strcmp(n->op, "from") || !strcmp(n->op, "between"))
        return from(f, n, w, at, v);
    if (!strcmp(n->op, "accepton") || !strcmp(n->op, "rejecton"))
        return exception(f, n, w, at, v);
    if (!strcmp(n->op, "regex"))
        return regular(f, n, w, at, v);
    return unary(f, n, w, at, v);
}

/* A letter is two bits; with times, one of three durations since the previous step is added. */
static void put(struct word *w, int k, unsigned symbol)
{
    w->letters[k] = symbol & 3;
    w->gaps[k] = 1 + (int)(symbol >> 2 & 1);
}

static int brute_force(const struct formula *f, const unsigned *prefix, int n, int bits)
{
    bool seen[2] = {false, false};
    for (int stem = 0; stem <= (bits == 2 ? STEM : 1); stem++)
        for (int loop = 1; loop <= LOOP; loop++)
            for (unsigned x = 0; x < 1u << bits * (stem + loop) && !(seen[0] && seen[1]); x++) {
                struct word w = {.stem = n + stem, .length = n + stem + loop};
                for (int k = 0; k < w.length; k++)
                    put(&w, k, k < n ? prefix[k] : x >> bits * (k - n) & ((1u << bits) - 1));
                seen[holds(f, f->count - 1, &w, 0, WHOLE)] = true;
            }
    return seen[0] && seen[1] ? CT_MONITOR_UNKNOWN : seen[1] ? CT_MONITOR_TRUE : CT_MONITOR_FALSE;
}

/* ---- by the monitor ---- */

struct answers {
    int verdict[WORD];
    int n;
};

static void collect(void *user, const struct ct_monitor_result *r, size_t count)
{
    struct answers *a = user;
    for (size_t i = 0; i < count; i++)
        a->verdict[a->n++] = (int)r[i].v.i;
}

static void ask(const struct ct_monitor_spec *spec, const unsigned *word, int n, struct answers *a)
{
    struct ct_monitor_event events[3 * WORD];
    struct ct_monitor *m;
    uint64_t time = 0;
    size_t k = 0;
    a->n = 0;
    for (int i = 0; i < n; i++) {
        time += 1 + (word[i] >> 2 & 1);
        for (uint32_t input = 0; input < 3; input++)
            if (input == 2 || (word[i] >> input & 1))
                events[k++] = (struct ct_monitor_event){.time = time, .input = input};
    }
    assert_int_equal(ct_monitor_new(NULL, spec, NULL, collect, a, &m), CT_OK);
    assert_int_equal(ct_monitor_feed(m, events, k), CT_OK);
    assert_int_equal(ct_monitor_finish(m), CT_OK);
    ct_monitor_free(m);
    assert_int_equal(a->n, n);
}

/* Counts the words on which monitor and meaning differ, and prints the first one. With times the monitor may
 * decide later, because it does not ask how many steps fit before a deadline; its verdicts must still be
 * true. */
static int differences(const char *text, int bits, int *decided, int *due)
{
    struct formula f = {0};
    const char *p = text;
    char formula[2000], spec_text[3000];
    int differ = 0;
    parse(&f, &p);
    assert_int_equal(*p, 0);
    words(&f, f.count - 1, formula);
    sprintf(spec_text,
            "in a: Events[Unit]\nin b: Events[Unit]\nin c: Events[Unit]\n"
            "define m := monitor(%s, clock := c)\nout m\n",
            formula);
    struct ct_monitor_spec *spec;
    struct ct_ctx *ctx = ct_ctx_new();
    if (ct_monitor_compile(ctx, text, spec_text, strlen(spec_text), NULL, &spec))
        fail_msg("%s: %s", formula, ct_ctx_error(ctx));
    /* Odd, so that words at this distance begin with all prefixes. */
    const bool is_whole = test_number("CT_WHOLE", 0);
    const unsigned stride = getenv("CT_LONG") ? 1 : bits == 2 ? (is_whole ? 1 : 3) : (is_whole ? 13 : 21);
    for (unsigned x = 0; x < 1u << bits * WORD; x += stride) {
        unsigned word[WORD];
        struct answers a;
        for (int k = 0; k < WORD; k++)
            word[k] = x >> bits * k & ((1u << bits) - 1);
        ask(spec, word, WORD, &a);
        for (int n = 1; n <= WORD; n++) {
            if (n < WORD && x >> bits * n >= stride) /* each prefix once */
                continue;
            const int want = brute_force(&f, word, n, bits);
            *due += want != CT_MONITOR_UNKNOWN;
            *decided += a.verdict[n - 1] == want && want != CT_MONITOR_UNKNOWN;
            if (a.verdict[n - 1] != want && (bits == 2 || a.verdict[n - 1] != CT_MONITOR_UNKNOWN) &&
                !differ++)
                print_error("%s: letters %d %d %d, the first %d: verdict %d, by meaning %d\n", formula,
                            word[0], word[1], word[2], n, a.verdict[n - 1], want);
        }
    }
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
    return differ;
}

TEST(verdicts_are_those_of_the_meaning)
{
    int wrong = 0, decided = 0, due = 0;
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS; i++)
        wrong += differences(FORMULAS[i], 2, &decided, &due) != 0;
    assert_int_equal(wrong, 0);
}

TEST(regular_expressions_match)
{
    int wrong = 0, decided = 0, due = 0;
    for (size_t i = 0; i < sizeof REGULAR / sizeof *REGULAR; i++)
        wrong += differences(REGULAR[i], 2, &decided, &due) != 0;
    assert_int_equal(wrong, 0);
}

TEST(timed_verdicts_are_true)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof TIMED / sizeof *TIMED; i++) {
        int decided = 0, due = 0;
        wrong += differences(TIMED[i], 3, &decided, &due) != 0;
        if (!decided || 2 * decided < due)
            fail_msg("%s: decided on %d words of %d", TIMED[i], decided, due);
    }
    assert_int_equal(wrong, 0);
}
