/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program under QEMU, word by word, on the simulated clusters. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "coretap/access.h"
#include "fractal_run/simulation.h"

#define WORDS_PER_TICK 512        /* words between two checks of timers and ring */
#define STACK_BELOW    (8u << 20) /* bytes of stack below the first store */
#define STACK_ABOVE    (1u << 20) /* bytes of stack above the first store */

/* ---- words ---- */

static int take_word(struct ct_fractal_process *p, uint64_t word);

/* Executes a command of a client. */
static int steer(void *user, const char *command, char *answer, size_t size)
{
    struct ct_fractal_simulation *s = user;
    return ct_fractal_simulation_steer(s, command, answer, size);
}

/* Waits for the next word of a feed, or its end. Serves clients meanwhile. */
static int wait_for_word(struct ct_fractal_simulation *s, struct ct_fractal_feed *feed)
{
    const struct ct_fractal_control *c = &s->control;
    int rc;
    do {
        const int wakes[] = {c->path ? c->listener : -1, c->path ? c->client : -1};
        rc = ct_fractal_feeds_wait(s->ctx, &s->feeds, feed, wakes);
        ct_fractal_control_serve(&s->control, steer, s);
    } while (!rc && !ct_fractal_feed_ready(feed));
    return rc;
}

/* Reads the next word of a process. */
static bool next_of(struct ct_fractal_simulation *s, unsigned from, uint64_t *word)
{
    struct ct_fractal_feed *feed = &s->feed[from];
    if (feed->at == feed->count) {
        const int rc = wait_for_word(s, feed);
        if (rc) {
            s->result = rc;
            return false;
        }
    }
    return ct_fractal_feed_next(feed, word);
}

/* Does periodic work: timers, clients, and moving events from the ring to the log. */
static int pace(struct ct_fractal_simulation *s)
{
    if (s->words++ % WORDS_PER_TICK)
        return CT_OK;
    ct_fractal_simulation_tick(s);
    ct_fractal_control_serve(&s->control, steer, s);
    return s->options.ring ? CT_OK : ct_fractal_simulation_drain(s);
}

/* ---- forked children ---- */

/* Begins to follow a child. */
static int take_fork(struct ct_fractal_process *p, uint64_t number)
{
    struct ct_fractal_simulation *s = p->simulation;
    struct ct_fractal_process *child;
    if (s->feeds.forks < 0)
        return CT_OK;
    const int rc = ct_fractal_process_fork(p, number, &child);
    if (rc)
        return rc;
    child->feed = s->feeds.count++;
    s->of_feed[child->feed] = child;
    return ct_fractal_feeds_child(s->ctx, &s->feeds, number, &s->feed[child->feed]);
}

/* Notes in the log that a process ended by executing a program that is not followed. */
static int tell_left(struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    if (!p->leaving)
        return CT_OK;
    s->left++;
    return ct_fractal_simulation_text(s, "left=%u %.800s\n", p->number, p->leaving);
}

/* Processes a word of a child. Clears *more at its end, and when another program replaces it. */
static int step_child(struct ct_fractal_process *p, bool *more)
{
    struct ct_fractal_simulation *s = p->simulation;
    uint64_t word;
    *more = next_of(s, p->feed, &word);
    if (!*more) {
        ct_fractal_feed_stop(&s->feed[p->feed]);
        const int rc = s->result ? s->result : tell_left(p);
        return rc ? rc : ct_fractal_process_end(p);
    }
    const int rc = take_word(p, word);
    *more = p->pid != 0;
    return rc ? rc : pace(s);
}

/* Runs a child to its end, because its parent has waited for it. A program that replaced the child is a later
 * process. */
static int take_end(struct ct_fractal_simulation *s, uint64_t number)
{
    int rc = CT_OK;
    for (struct ct_fractal_process *p = s->process; p < s->process + s->processes && !rc; p++) {
        bool more = p->parent && p->child == number && p->pid;
        while (more && !rc)
            rc = step_child(p, &more);
    }
    return rc;
}

/* Advances children to the time of the program. Those on the first core alternate with it. */
static int catch_up_children(struct ct_fractal_simulation *s)
{
    const struct ct_soc *soc = s->bench[0].soc;
    int rc = CT_OK;
    for (struct ct_fractal_process *p = s->process; p < s->process + s->processes && !rc; p++) {
        bool more = p->parent && p->pid;
        if (more && !p->core)
            rc = step_child(p, &more);
        while (more && !rc && p->core && ct_soc_cycles(soc, p->core) < s->cycles)
            rc = step_child(p, &more);
    }
    return rc;
}

/* Runs the remaining children to their ends. */
static int end_children(struct ct_fractal_simulation *s)
{
    int rc = CT_OK;
    for (unsigned i = 0; i < s->processes && !rc; i++)
        if (s->process[i].parent && s->process[i].pid)
            rc = take_end(s, s->process[i].child);
    return rc;
}

/* ---- notes ---- */

/* Sets the end of the heap; the first call sets its begin. */
static int move_break(struct ct_fractal_simulation *s, uint64_t end)
{
    if (!s->heap)
        s->heap = end;
    return ct_fractal_simulation_region(s, s->heap, end, "[heap]");
}

/* Handles the part of a note that matters for the program's regions in the log. */
static int take_region(struct ct_fractal_simulation *s, const uint64_t w[CT_ACCESS_WORDS_NOTE])
{
    switch (w[0]) {
    case CT_NOTE_MAP:
        return w[3] ? CT_OK : ct_fractal_simulation_region(s, w[1], w[1] + w[2], "[mmap]");
    case CT_NOTE_BREAK:
        return move_break(s, w[1]);
    default:
        return CT_OK;
    }
}

/* Changes the address space of a process as a note says. */
static void change_space(struct ct_fractal_process *p, const uint64_t w[CT_ACCESS_WORDS_NOTE])
{
    switch (w[0]) {
    case CT_NOTE_MAP:
        if (w[3])
            ct_fractal_process_file(p, w[1], w[1] + w[2]);
        break;
    case CT_NOTE_UNMAP:
        ct_fractal_process_unmap(p, w[1], w[2]);
        break;
    case CT_NOTE_SHARED:
        ct_fractal_process_shared(p, w[1], w[2], w[3]);
        break;
    case CT_NOTE_MOVE:
        ct_fractal_process_move(p, w[1], w[2], w[3]);
        break;
    case CT_NOTE_REMAP:
        ct_fractal_process_remap(p, w[1], w[2], w[3]);
        break;
    case CT_NOTE_HUGE:
        ct_fractal_process_huge(p, w[1], w[2]);
        break;
    default:
        break;
    }
}

/* ---- programs that replace others ---- */

/* Reads the path of `size` bytes after a note. */
static bool read_path(struct ct_fractal_process *p, uint64_t size, char path[PATH_MAX + 8])
{
    uint64_t word;
    if (size >= PATH_MAX)
        return false;
    for (uint64_t at = 0; at < size; at += sizeof word) {
        if (!next_of(p->simulation, p->feed, &word))
            return false;
        memcpy(path + at, &word, sizeof word);
    }
    path[size] = 0;
    return true;
}

/* Continues a process with another program. */
static int take_exec(struct ct_fractal_process *p, uint64_t size)
{
    struct ct_fractal_simulation *s = p->simulation;
    char path[PATH_MAX + 8];
    struct ct_fractal_process *image;
    if (!read_path(p, size, path))
        return CT_OK;
    const int rc = ct_fractal_process_exec(p, path, &image);
    if (!rc)
        s->of_feed[p->feed] = image;
    return rc;
}

/* Notes that a process may be about to execute a program that is not followed. */
static int take_leave(struct ct_fractal_process *p, uint64_t size)
{
    char path[PATH_MAX + 8];
    if (!read_path(p, size, path))
        return CT_OK;
    p->leaving = strdup(path);
    return p->leaving ? CT_OK : ct_fail_nomem(p->simulation->ctx, "a program");
}

/* Adds a region named after a mapped file. Overlapping parts of a file become one region. */
static int take_file(struct ct_fractal_process *p, const uint64_t w[CT_ACCESS_WORDS_NOTE])
{
    struct ct_fractal_simulation *s = p->simulation;
    char path[PATH_MAX + 8];
    if (!read_path(p, w[1], path) || p->number || !p->names)
        return CT_OK;
    for (char *c = path; *c; c++)
        if (iscntrl((unsigned char)*c)) /* the log's text consists of lines */
            *c = '?';
    const char *name = *path ? path : "[file]";
    const struct ct_fractal_name *at = ct_fractal_names_at(p->names, w[2]);
    const uint64_t lo = strcmp(at->text, name) == 0 ? at->lo : w[2];
    return ct_fractal_simulation_region(s, lo, w[2] + w[3], name);
}

/* Handles a note of a process. */
static int take_note(struct ct_fractal_process *p, const uint64_t w[CT_ACCESS_WORDS_NOTE])
{
    struct ct_fractal_simulation *s = p->simulation;
    switch (w[0]) {
    case CT_NOTE_PROGRAM:
        return p->number ? ct_fractal_process_begin(p, w[1]) : ct_fractal_simulation_begin(s, w[1]);
    case CT_NOTE_FORK:
        return take_fork(p, w[1]);
    case CT_NOTE_END:
        return take_end(s, w[1]);
    case CT_NOTE_EXEC:
        return take_exec(p, w[1]);
    case CT_NOTE_LEAVE:
        return take_leave(p, w[1]);
    case CT_NOTE_FILE:
        return take_file(p, w);
    case CT_NOTE_UNSEEN:
        s->unseen = true;
        return CT_OK;
    default:
        change_space(p, w);
        return p->number ? CT_OK : take_region(s, w);
    }
}

/* Reads a note. */
static int read_note(struct ct_fractal_process *p)
{
    uint64_t w[CT_ACCESS_WORDS_NOTE];
    for (unsigned i = 0; i < CT_ACCESS_WORDS_NOTE; i++)
        if (!next_of(p->simulation, p->feed, &w[i]))
            return CT_OK;
    return take_note(p, w);
}

/* Processes a word of a process. */
static int take_word(struct ct_fractal_process *p, uint64_t word)
{
    struct ct_fractal_simulation *s = p->simulation;
    const enum ct_access_kind kind = ct_access_kind_of(word);
    const uint64_t va = ct_access_va(word);
    if (p->leaving) { /* the process did not execute the other program after all */
        free(p->leaving);
        p->leaving = NULL;
    }
    if (kind == CT_ACCESS_NOTE)
        return read_note(p);
    if (!p->number && !s->stack_known && kind == CT_ACCESS_STORE) {
        s->stack_known = true;
        const int rc = ct_fractal_simulation_region(s, va - STACK_BELOW, va + STACK_ABOVE, "[stack]");
        if (rc)
            return rc;
    }
    ct_fractal_process_access(p, word);
    return s->result;
}

/* Advances the programs beside the traced one to its time. */
static int catch_up(struct ct_fractal_simulation *s)
{
    const struct ct_soc *soc = s->bench[0].soc;
    uint64_t word;
    int rc = CT_OK;
    for (unsigned b = 1; b <= s->beside && !rc; b++)
        while (!rc && ct_soc_cycles(soc, s->config.cores - b) < s->cycles && next_of(s, b, &word))
            rc = take_word(s->of_feed[b], word);
    return rc;
}

/* Executes the script's steps that are due. A step that fails ends the run. */
static int follow_script(struct ct_fractal_simulation *s)
{
    struct ct_fractal_script *script = &s->script;
    char answer[1024];
    while (script->next < script->count && s->cycles >= script->steps[script->next].cycles) {
        const struct ct_fractal_script_step *step = &script->steps[script->next++];
        const int rc = ct_fractal_simulation_steer(s, step->command, answer, sizeof answer);
        if (rc)
            return ct_fail(s->ctx, rc, "%s:%u: %s", script->path, step->line, answer);
    }
    return CT_OK;
}

/* Processes all words of the traced program. */
static int take_stream(struct ct_fractal_simulation *s)
{
    uint64_t word;
    int rc = CT_OK;
    while (!rc && next_of(s, 0, &word)) {
        rc = take_word(s->of_feed[0], word);
        if (!rc && s->script.next < s->script.count)
            rc = follow_script(s);
        if (!rc)
            rc = catch_up(s);
        if (!rc && s->feeds.forks >= 0)
            rc = catch_up_children(s);
        if (!rc)
            rc = pace(s);
    }
    if (!rc)
        rc = tell_left(s->of_feed[0]);
    if (!rc)
        rc = end_children(s);
    if (!rc)
        rc = ct_fractal_simulation_drain(s);
    return rc ? rc : s->result;
}

/* ---- programs ---- */

/* Starts the programs that run beside the traced one. */
static int start_beside(struct ct_fractal_simulation *s)
{
    for (size_t i = 0; i < s->options.beside_count; i++) {
        if (s->beside == CT_FRACTAL_BESIDE || s->beside + 1 == s->config.cores)
            return ct_fail(
                s->ctx, CT_ERR_LIMIT,
                "--with %s: one core runs the program, and %u more can each run another one (%d at most); "
                "nothing was run; name fewer programs, or give the cluster more cores (--config)",
                s->options.beside[i], s->config.cores - 1, CT_FRACTAL_BESIDE);
        char *argv[] = {(char *)(uintptr_t)s->options.beside[i], NULL};
        const uint32_t pid = ct_soc_process(s->bench[0].soc);
        if (!pid)
            return ct_fail_nomem(s->ctx, "a process of the simulated cluster");
        struct ct_fractal_process *p;
        int rc = ct_fractal_simulation_add_process(s, pid, argv[0], &p);
        if (rc)
            return rc;
        p->core = s->config.cores - 1 - s->beside;
        p->feed = 1 + s->beside;
        s->of_feed[p->feed] = p;
        rc = ct_fractal_feed_start(s->ctx, &s->feed[++s->beside], argv, -1);
        s->feeds.count = 1 + s->beside;
        if (rc)
            return rc;
    }
    return CT_OK;
}

/* Ends the programs that run beside the traced one. Error: CT_ERR_IO when one of them could not be executed,
 * which it reported itself. */
static int stop_beside(struct ct_fractal_simulation *s)
{
    int rc = CT_OK;
    for (; s->beside; s->beside--)
        if (!ct_fractal_feed_stop(&s->feed[s->beside]))
            rc = ct_fail(s->ctx, CT_ERR_IO,
                         "--with %s: the program could not be run, so this run is not what was asked for",
                         s->options.beside[s->beside - 1]);
    return rc;
}

/* Starts the program; announces its children if they are to be followed. */
static int start_program(struct ct_fractal_simulation *s)
{
    int of_program = -1;
    int rc = s->options.forks ? ct_fractal_feeds_follow(s->ctx, &s->feeds, &of_program) : CT_OK;
    if (!rc)
        rc = ct_fractal_feed_start(s->ctx, &s->feed[0], s->options.argv, of_program);
    if (of_program >= 0)
        close(of_program);
    return rc;
}

int ct_fractal_simulation_run(struct ct_fractal_simulation *s, struct ct_fractal_ended *ended)
{
    ended->exit_code = -1;
    int rc = s->options.script ? ct_fractal_script_load(s->ctx, s->options.script, &s->script) : CT_OK;
    if (!rc && s->options.control)
        rc = ct_fractal_control_open(s->ctx, s->options.control, &s->control);
    if (!rc)
        rc = start_beside(s);
    if (!rc)
        rc = start_program(s);
    if (rc)
        return rc;
    rc = take_stream(s);
    const int closed = ct_fractal_simulation_end_log(s);
    ct_fractal_feeds_finish(&s->feeds, ended);
    ended->ran = s->ran;
    if (!rc)
        rc = closed;
    return rc ? rc : stop_beside(s);
}

/* ---- the object ---- */

/* Reads the configuration of the cluster. Zeros mean the defaults of ct_soc_new. */
static int read_cluster(struct ct_fractal_simulation *s)
{
    struct ct_soc_config defaults;
    ct_soc_defaults(&defaults);
    s->config = defaults;
    const int rc = s->options.cluster ? ct_options_read(s->ctx, "ct_fractal_simulate", s->options.cluster,
                                                        &s->config, sizeof s->config)
                                      : CT_OK;
    s->config.cores = s->config.cores ? s->config.cores : defaults.cores;
    s->config.l2_bytes = s->config.l2_bytes ? s->config.l2_bytes : defaults.l2_bytes;
    s->config.l2_ways = s->config.l2_ways ? s->config.l2_ways : defaults.l2_ways;
    s->config.granule = s->config.granule ? s->config.granule : defaults.granule;
    s->config.va_bits = s->config.va_bits ? s->config.va_bits : defaults.va_bits;
    s->config.port_bytes = s->config.port_bytes ? s->config.port_bytes : defaults.port_bytes;
    return rc;
}

int ct_fractal_simulation_new(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                              struct ct_fractal_simulation **out)
{
    *out = NULL;
    struct ct_fractal_simulation *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "a simulated cluster");
    s->ctx = ctx;
    s->options = *options;
    s->feeds =
        (struct ct_fractal_feeds){.feed = s->feed, .count = 1, .forks = -1, .signal.number = options->signal};
    for (unsigned i = 0; i < FEEDS_MAX; i++)
        s->feed[i].pipe.fd = s->feed[i].child = -1;
    int rc = read_cluster(s);
    if (!rc && s->options.messages)
        rc = s->options.messages(s->options.messages_user, CT_FRACTAL_MESSAGES_HEADER "\n",
                                 sizeof CT_FRACTAL_MESSAGES_HEADER);
    if (!rc)
        rc = ct_fractal_simulation_add_traced(s);
    s->of_feed[0] = &s->process[0];
    if (!rc)
        *out = s;
    else
        ct_fractal_simulation_free(s);
    return rc;
}

void ct_fractal_simulation_free(struct ct_fractal_simulation *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < FRACTAL_CLUSTERS_MAX; i++)
        ct_soc_free(s->bench[i].soc);
    ct_fractal_free(s->echo.tracer);
    for (unsigned i = 0; i < s->processes; i++) {
        free(s->process[i].own_program);
        free(s->process[i].leaving);
        ct_fractal_wire_free(s->process[i].wire);
        ct_fractal_free(s->process[i].tracer);
        ct_fractal_names_free(s->process[i].names);
        ct_fractal_selected_free(&s->process[i].ranges);
        ct_fractal_selected_free(&s->process[i].points);
        free(s->process[i].batch);
    }
    ct_fractal_script_free(&s->script);
    ct_fractal_control_close(&s->control);
    for (unsigned i = 0; i < FEEDS_MAX; i++)
        ct_fractal_feed_stop(&s->feed[i]);
    ct_fractal_feeds_close(&s->feeds);
    free(s);
}

/* ---- public functions ---- */

/* Checks the options of a simulation. */
static int check(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *o)
{
    if (!o->argv || !o->argv[0] || (!o->beside && o->beside_count))
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_fractal_simulate: the program is null, or a list is null but its number is not 0; "
                       "nothing was run");
    if (o->mode > CT_FRACTAL_ACTIVE)
        return ct_fail(ctx, CT_ERR_ARG, "ct_fractal_simulate: mode %u does not exist; nothing was run",
                       o->mode);
    if (o->protocol >= CT_FRACTAL_PROTOCOL_COUNT)
        return ct_fail(ctx, CT_ERR_ARG, "ct_fractal_simulate: protocol %u does not exist; nothing was run",
                       o->protocol);
    for (size_t i = 0; i < o->selection_count; i++) {
        if (!o->selections || !o->selections[i].text || o->selections[i].kind > CT_FRACTAL_SELECT_POINT)
            return ct_fail(
                ctx, CT_ERR_ARG,
                "ct_fractal_simulate: selection %zu has no text or an unknown kind; nothing was run", i);
        if (o->mode == CT_FRACTAL_PASSIVE && o->selections[i].kind == CT_FRACTAL_SELECT_POINT)
            return ct_fail(ctx, CT_ERR_CONFIG,
                           "--point %s: in passive mode its line stays in the caches, so most accesses would "
                           "be missed; nothing was run; choose --mode points",
                           o->selections[i].text);
    }
    return CT_OK;
}

/* Fills in the result of a simulation. */
static void fill_in(const struct ct_fractal_simulation *s, struct ct_fractal_simulate_result *result)
{
    const struct ct_fractal_bench *b = &s->bench[0];
    const struct ct_soc_counts *c = ct_soc_counts_of(b->soc);
    bool lost = s->lost;
    result->commands = s->commands;
    for (unsigned i = 0; i < s->processes; i++)
        ct_fractal_process_count(&s->process[i], &result->commands, &lost);
    result->lost = lost;
    result->unseen = s->unseen;
    const size_t unmet = ct_fractal_simulation_unmet(s);
    result->unmet = (uint8_t)(unmet < UINT8_MAX ? unmet : UINT8_MAX);
    result->left = (uint8_t)(s->left < UINT8_MAX ? s->left : UINT8_MAX);
    result->accesses = c->accesses;
    result->misses = c->l2_misses;
    result->targets = s->targets;
    result->events = s->events;
    result->dropped = s->dropped;
    result->cycles = s->cycles;
    result->late = (uint32_t)(s->script.count - s->script.next);
}

int ct_fractal_simulate(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                        struct ct_fractal_simulate_result *result)
{
    struct ct_fractal_simulate_options own;
    struct ct_fractal_simulation *s = NULL;
    CT_REQUIRE(ctx, options, result);
    *result = (struct ct_fractal_simulate_result){.ended = {.exit_code = -1}};
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own)
             ?: check(ctx, &own)
             ?: ct_fractal_simulation_new(ctx, &own, &s);
    if (!s)
        return rc;
    rc = ct_fractal_simulation_run(s, &result->ended);
    if (!rc && !result->ended.ran)
        rc = ct_fail(
            ctx, CT_ERR_NOT_FOUND,
            "%s: the program ran no instruction, so there is no log; if QEMU says that it cannot load "
            "the plugin, use QEMU 7.2 (Debian 12: qemu-user)",
            own.argv[0]);
    if (!rc)
        fill_in(s, result);
    ct_fractal_simulation_free(s);
    return rc;
}
