/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that change what is traced while the program runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/c_locale.h"
#include "base/path.h"
#include "fractal_run/simulation.h"

#define WORDS                                                                                                \
    "range|section|symbol|point add|remove PLACE, process add|remove N, page move ADDRESS, or status"

size_t ct_fractal_program_prefix(const char *text)
{
    const size_t size = strcspn(text, ":");
    if (!size || text[size] != ':' || text[size + 1] == ':' || strspn(text, "0123456789") == size)
        return 0;
    return size;
}

bool ct_fractal_process_is(const struct ct_fractal_process *p, const char *text, size_t size)
{
    const char *name = ct_base_name(p->program);
    return strncmp(name, text, size) == 0 && !name[size];
}

/* Finds the last running process whose program has a name. */
static int find_by_name(struct ct_fractal_simulation *s, const char **text, size_t size,
                        struct ct_fractal_process **out)
{
    unsigned i = s->processes;
    while (i && !(s->process[i - 1].begun && ct_fractal_process_is(&s->process[i - 1], *text, size)))
        i--;
    if (!i)
        return ct_fail(s->ctx, CT_ERR_NOT_FOUND,
                       "%s: no process currently runs a program with this name; nothing was changed", *text);
    *out = &s->process[i - 1];
    *text += size + 1;
    return CT_OK;
}

int ct_fractal_simulation_process(struct ct_fractal_simulation *s, const char **text,
                                  struct ct_fractal_process **out)
{
    char *end;
    const unsigned long number = strtoul(*text, &end, 10);
    *out = &s->process[0];
    const size_t name = ct_fractal_program_prefix(*text);
    if (name)
        return find_by_name(s, text, name, out);
    if (end == *text || *end != ':')
        return CT_OK;
    if (number >= s->processes)
        return ct_fail(s->ctx, CT_ERR_NOT_FOUND,
                       "%s: there is no process %lu; the program is 0, those of --with are 1 and up, then "
                       "follow forked children; there are %u now",
                       *text, number, s->processes);
    *out = &s->process[number];
    *text = end + 1;
    return CT_OK;
}

/* Writes one line about the current selections. */
static void say_status(const struct ct_fractal_simulation *s, char *answer, size_t size)
{
    CT_C_LOCALE;
    size_t used = (size_t)snprintf(answer, size, "%.4f ms, %llu events, %llu dropped",
                                   (double)s->cycles * 1e3 / (double)CT_SOC_CLOCK_HZ,
                                   (unsigned long long)s->events, (unsigned long long)s->dropped);
    for (unsigned i = 0; i < s->processes && used < size; i++) {
        const struct ct_fractal_process *p = &s->process[i];
        used += (size_t)snprintf(answer + used, size - used, "; process %u%s: %zu ranges, %zu points", i,
                                 p->tracing ? "" : " (not traced)", p->ranges.count, p->points.count);
    }
}

/* Starts or ends tracing a process. */
static int steer_process(struct ct_fractal_simulation *s, const char *text, bool add)
{
    struct ct_fractal_process *p;
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end || number >= s->processes)
        return ct_fail(s->ctx, CT_ERR_NOT_FOUND, "process %s: there is no such process; choose 0 to %u", text,
                       s->processes - 1);
    p = &s->process[number];
    if (p->tracing == add)
        return ct_fail(s->ctx, CT_ERR_CONFIG, "process %lu: the process is%s traced already", number,
                       add ? "" : " not");
    if (!p->begun)
        return ct_fail(s->ctx, CT_ERR_CONFIG,
                       "process %lu: the process has not begun or has ended, so it cannot be traced", number);
    if (add)
        return ct_fractal_process_start(p);
    p->tracing = false;
    return ct_fractal_process_register(p, CT_FRACTAL_REG_CTRL, 0);
}

/* Adds or removes a range or point of a traced process. */
static int steer_place(struct ct_fractal_simulation *s, unsigned kind, const char *text, bool add,
                       struct ct_fractal_process **out)
{
    struct ct_fractal_process *p;
    const int rc = ct_fractal_simulation_process(s, &text, &p);
    if (rc)
        return rc;
    if (!p->tracing)
        return ct_fail(s->ctx, CT_ERR_CONFIG,
                       "%s: process %u is not traced, so nothing was changed; use 'process add %u' first",
                       text, p->number, p->number);
    *out = p;
    return ct_fractal_process_select(p, kind, text, add);
}

/* Lets the operating system move a page to another frame, as in memory compaction. */
static int steer_page(struct ct_fractal_simulation *s, const char *text)
{
    struct ct_fractal_process *p;
    char *end = NULL;
    int rc = ct_fractal_simulation_process(s, &text, &p);
    const uint64_t va = rc ? 0 : strtoull(text, &end, 16);
    if (!rc && (*end || end == text))
        rc = ct_fail(s->ctx, CT_ERR_FORMAT, "page move: '%s' is not a hexadecimal address; nothing was moved",
                     text);
    return rc ? rc : ct_fractal_process_migrate(p, va);
}

/* Writes an executed command to the log, with a remark unless that is empty. */
static int log_command(struct ct_fractal_simulation *s, const char *command, const char *fact)
{
    return ct_fractal_simulation_text(s, "steer=%llu %.700s%s%s%s\n", (unsigned long long)s->cycles, command,
                                      *fact ? " (" : "", fact, *fact ? ")" : "");
}

/* Writes a command that removed a range to the log, and tells the client which points are outside all ranges
 * now. */
static int tell_removal(const struct ct_fractal_process *p, const char *command, char *answer, size_t size)
{
    char fact[192] = "";
    const char *first = "";
    const size_t count = ct_fractal_process_stranded(p, &first);
    if (count)
        snprintf(fact, sizeof fact, "%zu point%s, %.120s%s in no range now", count, count > 1 ? "s" : "",
                 first, count > 1 ? " and others, are" : ", is");
    const int rc = log_command(p->simulation, command, fact);
    if (!rc && count)
        snprintf(answer, size,
                 "%s, so no hit is logged; add a range that contains %s (range, section or symbol add), or "
                 "remove the points (point remove)",
                 fact, count > 1 ? "them" : "it");
    return rc;
}

int ct_fractal_simulation_steer(struct ct_fractal_simulation *s, const char *command, char *answer,
                                size_t size)
{
    static const char *const kinds[] = {"range", "section", "symbol", "point", "process"};
    char kind[16], action[16];
    int rc, at = 0;
    struct ct_fractal_process *p = NULL;
    unsigned k = 0;
    *answer = 0;
    if (strcmp(command, "status") == 0) {
        say_status(s, answer, size);
        return CT_OK;
    }
    const int words = sscanf(command, "%15s %15s %n", kind, action, &at);
    const bool add = words == 2 && strcmp(action, "add") == 0;
    while (words == 2 && k < 5 && strcmp(kind, kinds[k]) != 0)
        k++;
    if (strncmp(command, "page move ", 10) == 0) {
        rc = steer_page(s, command + 10);
    } else if (words != 2 || k == 5 || !at || !command[at] || (!add && strcmp(action, "remove") != 0)) {
        rc = ct_fail(s->ctx, CT_ERR_FORMAT, "'%.200s' is not %s", command, WORDS);
    } else {
        rc = k == 4 ? steer_process(s, command + at, add) : steer_place(s, k, command + at, add, &p);
    }
    if (!rc)
        rc = p && !add && k != CT_FRACTAL_SELECT_POINT ? tell_removal(p, command, answer, size)
                                                       : log_command(s, command, "");
    if (rc)
        snprintf(answer, size, "%s", s->ctx ? s->ctx->error : ct_error_name(rc));
    return rc;
}
