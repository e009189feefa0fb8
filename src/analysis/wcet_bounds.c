/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the user's statements: bounds of loops and recursions, and paths that cannot be taken. There is one
 * statement a line; # begins a comment:
 *   loop PLACE N              the head of the loop runs at most N times for each time it is entered, which is
 *                             no less than observed
 *   recursion FUNCTION N      the function runs at most N times for each call from outside of its recursion
 *   measured FUNCTION         the function's longest measured run replaces each call of it
 *   never PLACE               the place is not executed
 *   2 PLACE + PLACE <= PLACE + 3     executions in one run of the entry; also >= and ==
 * A place is an address, a function (its entry; after "loop" its only loop, or FUNCTION#K its loop number
 * K), a function with an offset, FILE:LINE, or edge:NUMBER. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/number.h"
#include "analysis/wcet.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define LONGEST    4096
#define MOST_LINES 64 /* most places on one line of the source */

struct line {
    struct ct_wcet *w;
    const char *file;
    unsigned number;
};

static int mistake(const struct line *line, const char *what, const char *word)
{
    return ct_fail(line->w->ctx, CT_ERR_FORMAT, "%s:%u: %s: '%s'; correct the line (docs/analysis.md)",
                   line->file, line->number, what, word);
}

/* ---- places ---- */

static uint32_t function_named(const struct ct_wcet *w, const char *name, size_t length)
{
    char text[LONGEST];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    return ct_cfg_function_named(w->cfg, text);
}

/* Returns whether a word is FILE:LINE, and takes it apart. */
static bool is_line(const struct ct_wcet *w, const char *word, char name[LONGEST], uint32_t *number)
{
    const char *colon = strrchr(word, ':');
    uint64_t value;
    if (!colon || !w->lines || !ct_number_read(colon + 1, &value) || value > UINT32_MAX)
        return false;
    snprintf(name, LONGEST, "%.*s", (int)(colon - word), word);
    *number = (uint32_t)value;
    return true;
}

/* Finds the addresses that a word stands for. Returns their number. */
static size_t addresses(const struct ct_wcet *w, const char *word, uint64_t *addrs)
{
    size_t count;
    uint32_t number;
    char name[LONGEST];
    uint64_t offset = 0;
    const struct ct_cfg_function *functions = ct_cfg_functions(w->cfg, &count);
    if (ct_number_read(word, &addrs[0]))
        return 1;
    if (is_line(w, word, name, &number)) {
        if (ct_lines_find(w->lines, name, number, addrs, MOST_LINES, &count, NULL) != CT_OK)
            return 0;
        return count < MOST_LINES ? count : MOST_LINES;
    }
    const char *plus = strrchr(word, '+');
    if (plus && !ct_number_read(plus + 1, &offset))
        return 0;
    const size_t length = plus ? (size_t)(plus - word) : strlen(word);
    const struct ct_symbols *symbols = ct_cfg_symbols(w->cfg);
    const char *module = ct_symbols_module(symbols);
    uint32_t function = function_named(w, word, length);
    if (function == CT_CFG_NONE && (!plus || strncmp(module, word, length) != 0 || module[length]))
        return 0;
    addrs[0] = offset + (function == CT_CFG_NONE ? ct_symbols_bias(symbols) : functions[function].entry);
    return 1;
}

/* ---- loops ---- */

/* Refuses a bound that the trace contradicts. */
static int bound_loop(const struct line *line, uint32_t loop, const char *word, uint64_t bound)
{
    struct ct_wcet_loop *l = &line->w->loops[loop];
    if (ct_wcet_exceeds(line->w, loop, bound))
        return ct_fail(line->w->ctx, CT_ERR_FORMAT,
                       "%s:%u: loop %s %" PRIu64 ": the head of this loop ran %" PRIu64
                       " times for one entry in the trace, so the result would be below observed times; give "
                       "at least that number",
                       line->file, line->number, word, bound, l->observed);
    l->bound = bound;
    l->origin = CT_WCET_USER;
    return CT_OK;
}

/* Bounds the loop named by FUNCTION or FUNCTION#K. */
static int loop_of_function(const struct line *line, const char *word, uint64_t bound, bool *found)
{
    size_t count;
    uint64_t k = 0;
    const char *hash = strrchr(word, '#');
    if (hash && (!ct_number_read(hash + 1, &k) || !k))
        return mistake(line, "the number of the loop after # must be 1 or more", word);
    uint32_t function = function_named(line->w, word, hash ? (size_t)(hash - word) : strlen(word));
    const struct ct_cfg_loop *loops = ct_cfg_loops(line->w->cfg, &count);
    uint64_t seen = 0;
    uint32_t last = CT_CFG_NONE;
    for (uint32_t l = 0; function != CT_CFG_NONE && l < count; l++)
        if (loops[l].function == function && (++seen == k || !k))
            last = l;
    if (function == CT_CFG_NONE || last == CT_CFG_NONE)
        return CT_OK;
    if (!k && seen > 1)
        return mistake(
            line, "the function has more than one loop; select one with FUNCTION#K, a line or an address",
            word);
    *found = true;
    return bound_loop(line, last, word, bound);
}

/* Bounds the loops named by FILE:LINE. */
static int loops_of_line(const struct line *line, const char *word, uint64_t bound, bool *found)
{
    const struct ct_wcet *w = line->w;
    uint32_t number;
    char name[LONGEST];
    int rc = CT_OK;
    for (uint32_t l = 0; !rc && is_line(w, word, name, &number) && l < w->loop_count; l++) {
        if (w->loops[l].line != number || !ct_lines_file_is(w->lines, w->loops[l].file, name))
            continue;
        *found = true;
        rc = bound_loop(line, l, word, bound);
    }
    return rc;
}

/* Bounds the innermost loop around an address, or a place that has one. */
static int loop_of_place(const struct line *line, const char *word, uint64_t bound, bool *found)
{
    const struct ct_wcet *w = line->w;
    size_t count;
    uint64_t addrs[MOST_LINES];
    uint32_t number;
    char name[LONGEST];
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const bool known = !is_line(w, word, name, &number) && addresses(w, word, addrs);
    const uint32_t block = known ? ct_cfg_block_at(w->cfg, addrs[0]) : CT_CFG_NONE;
    if (block == CT_CFG_NONE || blocks[block].loop == CT_CFG_NONE)
        return CT_OK;
    *found = true;
    return bound_loop(line, blocks[block].loop, word, bound);
}

/* Says that there is no loop, and where the nearest ones of the file are. */
static int no_loop(const struct line *line, const char *word)
{
    const struct ct_wcet *w = line->w;
    uint32_t number, before = 0, after = UINT32_MAX;
    char name[LONGEST], says[128];
    for (uint32_t l = 0; is_line(w, word, name, &number) && l < w->loop_count; l++) {
        const uint32_t at = w->loops[l].line;
        if (!at || !ct_lines_file_is(w->lines, w->loops[l].file, name))
            continue;
        before = at < number && at > before ? at : before;
        after = at > number && at < after ? at : after;
    }
    snprintf(says, sizeof says, "there is no loop at this place");
    if (before && after != UINT32_MAX)
        snprintf(says, sizeof says,
                 "there is no loop at this line; the nearest ones are at lines %" PRIu32 " and %" PRIu32,
                 before, after);
    else if (before || after != UINT32_MAX)
        snprintf(says, sizeof says, "there is no loop at this line; the nearest one is at line %" PRIu32,
                 before ? before : after);
    return mistake(line, says, word);
}

static int loop(const struct line *line, const char *word, uint64_t bound)
{
    bool found = false;
    int rc = loop_of_function(line, word, bound, &found);
    if (!rc && !found)
        rc = loops_of_line(line, word, bound, &found);
    if (!rc && !found)
        rc = loop_of_place(line, word, bound, &found);
    return rc || found ? rc : no_loop(line, word);
}

static int recursion(const struct line *line, const char *word, uint64_t runs)
{
    struct ct_wcet *w = line->w;
    uint32_t function = function_named(w, word, strlen(word));
    if (function == CT_CFG_NONE)
        return mistake(line, "there is no such function", word);
    if (!CT_PUSH_ROOM(w->depths, w->depth_count))
        return ct_fail_nomem(w->ctx, "wcet");
    w->depths[w->depth_count++] = (struct ct_wcet_depth){.function = function, .runs = runs};
    return CT_OK;
}

/* Takes a function whose calls are measured rather than modelled. */
static int measured(const struct line *line, const char *word)
{
    struct ct_wcet *w = line->w;
    size_t count;
    const struct ct_cfg_function *all = ct_cfg_functions(w->cfg, &count);
    const uint32_t function = function_named(w, word, strlen(word));
    if (function == CT_CFG_NONE)
        return mistake(line, "there is no such function", word);
    const struct ct_wcet_runs *runs = ct_wcet_runs_of(w, all[function].entry);
    if (!runs || !runs->all.runs)
        return mistake(line, "no complete run of the function was measured", word);
    if (!w->measured)
        w->measured = calloc(count + 1, sizeof *w->measured);
    if (!w->measured)
        return ct_fail_nomem(w->ctx, "wcet");
    w->measured[function] = 1;
    return CT_OK;
}

/* ---- constraints ---- */

static int add_term(struct ct_wcet *w, struct ct_wcet_term term)
{
    if (!CT_PUSH_ROOM(w->terms, w->term_count))
        return ct_fail_nomem(w->ctx, "wcet");
    w->terms[w->term_count++] = term;
    return CT_OK;
}

static int place(const struct line *line, const char *word, int64_t factor)
{
    uint64_t addrs[MOST_LINES];
    uint64_t value;
    size_t edges;
    struct ct_wcet *w = line->w;
    ct_cfg_edges(w->cfg, &edges);
    if (strncmp(word, "edge:", 5) == 0 && ct_number_read(word + 5, &value) && value < edges)
        return add_term(w, (struct ct_wcet_term){factor, CT_CFG_NONE, (uint32_t)value});
    size_t n = addresses(w, word, addrs);
    int rc = CT_OK;
    bool found = false;
    for (size_t i = 0; !rc && i < n; i++) {
        uint32_t block = ct_cfg_block_at(w->cfg, addrs[i]);
        if (block == CT_CFG_NONE)
            continue;
        found = true;
        rc = add_term(w, (struct ct_wcet_term){factor, block, 0});
    }
    return rc || found ? rc : mistake(line, "there is no code at this place", word);
}

static int begin_rule(struct ct_wcet *w)
{
    if (!CT_PUSH_ROOM(w->rules, w->rule_count))
        return ct_fail_nomem(w->ctx, "wcet");
    w->rules[w->rule_count++] = (struct ct_wcet_rule){.first = (uint32_t)w->term_count};
    return CT_OK;
}

static bool sense_of(const char *word, uint8_t *sense)
{
    static const char *const words[] = {"<=", "==", ">="};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *sense = (uint8_t)i;
            return true;
        }
    return false;
}

static bool is_address(const char *word)
{
    return word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
}

/* Reads the words of a sum with its comparison. A decimal number before a place is its factor; one alone is a
 * constant. */
static int constraint(const struct line *line, char *text)
{
    struct ct_wcet *w = line->w;
    struct ct_wcet_rule *rule;
    char *save;
    int64_t side = 1;
    int64_t sign = 1;
    uint64_t held = 0;
    bool holds = false;
    bool compared = false;
    int rc = begin_rule(w);
    for (char *word = strtok_r(text, " \t", &save); !rc; word = strtok_r(NULL, " \t", &save)) {
        uint8_t sense;
        rule = &w->rules[w->rule_count - 1];
        bool is_sign = word && (strcmp(word, "+") == 0 || strcmp(word, "-") == 0);
        bool is_sense = word && sense_of(word, &sense);
        if (holds && (!word || is_sign || is_sense)) {
            rule->right -= side * sign * (int64_t)held;
            holds = false;
        }
        if (!word)
            break;
        if (is_sign) {
            sign = *word == '+' ? 1 : -1;
        } else if (is_sense) {
            if (compared)
                return mistake(line, "the line has more than one comparison", word);
            compared = true;
            rule->sense = sense;
            side = -1;
            sign = 1;
        } else if (!holds && !is_address(word) && ct_number_read(word, &held) && held <= INT32_MAX) {
            holds = true;
        } else {
            rc = place(line, word, side * sign * (holds ? (int64_t)held : 1));
            holds = false;
            sign = 1;
        }
    }
    if (!rc && !compared)
        return mistake(line, "the line is neither a statement nor a comparison", "…");
    rule = &w->rules[w->rule_count - 1];
    rule->count = (uint32_t)w->term_count - rule->first;
    return rc;
}

/* Takes "never". Refuses places that were observed: a path without them would not bound real runs. */
static int never(const struct line *line, const char *word)
{
    struct ct_wcet *w = line->w;
    uint64_t ran = 0;
    int rc = begin_rule(w);
    if (!rc)
        rc = place(line, word, 1);
    if (rc)
        return rc;
    struct ct_wcet_rule *rule = &w->rules[w->rule_count - 1];
    rule->count = (uint32_t)w->term_count - rule->first;
    for (uint32_t i = 0; i < rule->count; i++)
        ran += ct_wcet_times_run(w, &w->terms[rule->first + i]);
    if (!ran)
        return CT_OK;
    w->term_count = rule->first;
    w->rule_count--;
    return ct_fail(w->ctx, CT_ERR_FORMAT,
                   "%s:%u: never %s: this code ran %" PRIu64
                   " times in the trace, so the result would be below observed times; remove the line, or "
                   "write '%s == 0' if such runs do not count",
                   line->file, line->number, word, ran, word);
}

/* ---- statements ---- */

static int read_line(const struct line *line, char *text)
{
    char words[LONGEST];
    char *save;
    uint64_t value;
    memcpy(words, text, strlen(text) + 1);
    const char *verb = strtok_r(words, " \t", &save);
    const char *word = verb ? strtok_r(NULL, " \t", &save) : NULL;
    const char *count = word ? strtok_r(NULL, " \t", &save) : NULL;
    if (!verb)
        return CT_OK;
    if (word && !count && strcmp(verb, "never") == 0)
        return never(line, word);
    if (word && !count && strcmp(verb, "measured") == 0)
        return measured(line, word);
    if (count && (strcmp(verb, "loop") == 0 || strcmp(verb, "recursion") == 0)) {
        if (!ct_number_read(count, &value) || value > INT32_MAX)
            return mistake(line, "the count is not a number up to 2^31-1", count);
        return *verb == 'l' ? loop(line, word, value) : recursion(line, word, value);
    }
    return constraint(line, text);
}

int ct_wcet_bounds(struct ct_wcet *w, const char *name, const char *text)
{
    CT_REQUIRE_OF(w, name, text);
    struct line line = {.w = w, .file = name};
    int rc = ct_wcet_make_loops(w);
    while (!rc && *text) {
        char copy[LONGEST];
        size_t length = strcspn(text, "\n");
        size_t used = strcspn(text, "\n\r");
        line.number++;
        if (used >= sizeof copy)
            return mistake(&line, "the line is longer than 4095 characters", "…");
        memcpy(copy, text, used);
        copy[used] = '\0';
        char *comment = copy; /* "main#2" is a loop, "# text" a comment */
        while ((comment = strchr(comment, '#')) && comment != copy && !isspace((unsigned char)comment[-1]))
            comment++;
        if (comment)
            *comment = '\0';
        rc = read_line(&line, copy);
        text += length + (text[length] == '\n');
    }
    return rc;
}
