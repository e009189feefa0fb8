/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time. Mapping records, sorted by time, are replayed. A process keeps one generation as long as
 * mappings are only added (an address is not executed before it is mapped, so it does no harm to have it
 * early). It gets a new one when a mapping is replaced, or when it runs another program. */
#include "base/archive.h"
#include "base/search.h"
#include "input/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Linux allows 65530 mappings in a process. */
#define MAPPINGS_MAX 65536u

/* Images of all generations together. Beyond it mappings replace each other without a new generation. */
#define IMAGES_MAX ((size_t)1 << 20)

/* Limit for mappings that processes may copy on a fork, with more of them for each record. Short fork records
 * could stand for any number of copies. */
#define COPIES_MAX        ((size_t)1 << 20)
#define COPIES_PER_RECORD 16u

struct mapping {
    uint64_t addr, last; /* of the last byte */
    uint64_t offset;     /* in the file */
    const struct ct_perf_object *object;
};

/* The mappings of processes. Processes share a table from a fork until one of them changes it. */
struct table {
    struct mapping *mappings; /* by address */
    size_t count, cap;
    size_t owners;
    struct ct_image started;            /* the ELF file it was started with; path NULL: unknown */
    const struct ct_generation *frozen; /* the last generation with these mappings; NULL: none yet */
};

struct process {
    uint32_t pid;
    bool container;
    const char *name;
    uint64_t from; /* start of the current generation */
    struct table *table;
    struct ct_generation *generations;
    size_t generation_count;
};

struct player {
    struct ct_perf *perf;
    struct ct_perf_objects *objects;
    struct process *processes;
    size_t count;
    uint32_t *slots; /* hash table of pids: index + 1 of the process */
    size_t slot_count;
    struct ct_thread *threads;
    size_t thread_count;
    size_t images;
    size_t copies_left; /* mappings that may still be copied */
    bool told_full, told_copies;
};

static int no_memory(const struct player *pl)
{
    return ct_fail_nomem(pl->perf->opening->ctx, pl->perf->file.path);
}

/* ---- processes by number ---- */

static size_t slot_of(const struct player *pl, uint32_t pid)
{
    size_t i = pid * UINT32_C(2654435761) % pl->slot_count;
    while (pl->slots[i] && pl->processes[pl->slots[i] - 1].pid != pid)
        i = (i + 1) % pl->slot_count;
    return i;
}

static int grow_slots(struct player *pl)
{
    pl->slot_count = pl->slot_count ? 2 * pl->slot_count : 256;
    pl->slots = ct_arena_alloc(&pl->perf->arena, pl->slot_count * sizeof *pl->slots);
    if (!pl->slots)
        return no_memory(pl);
    for (size_t i = 0; i < pl->count; i++)
        pl->slots[slot_of(pl, pl->processes[i].pid)] = (uint32_t)i + 1;
    return CT_OK;
}

/* Gives a process an empty table. */
static int new_table(struct player *pl, struct process *process)
{
    process->table = ct_arena_alloc(&pl->perf->arena, sizeof *process->table);
    if (!process->table)
        return no_memory(pl);
    process->table->owners = 1;
    return CT_OK;
}

static int find_process(struct player *pl, uint32_t pid, struct process **out)
{
    int rc = 2 * pl->count >= pl->slot_count ? grow_slots(pl) : CT_OK;
    if (rc)
        return rc;
    size_t slot = slot_of(pl, pid);
    if (!pl->slots[slot]) {
        void *room = NULL;
        rc = ct_perf_push(pl->perf, pl->processes, &pl->count, sizeof *pl->processes, &room);
        if (rc)
            return rc;
        pl->processes = room;
        pl->processes[pl->count - 1] = (struct process){.pid = pid, .name = ""};
        pl->slots[slot] = (uint32_t)pl->count;
        rc = new_table(pl, &pl->processes[pl->count - 1]);
    }
    *out = &pl->processes[pl->slots[slot] - 1];
    return rc;
}

static int add_thread(struct player *pl, uint32_t tid, uint32_t pid, uint64_t from)
{
    struct ct_arena *arena = pl->perf->opening->arena;
    struct ct_thread *threads = ct_arena_push(arena, pl->threads, &pl->thread_count, sizeof *threads);
    if (!threads)
        return no_memory(pl);
    threads[pl->thread_count - 1] = (struct ct_thread){.tid = tid, .pid = pid, .from = from};
    pl->threads = threads;
    return CT_OK;
}

/* ---- generations ---- */

/* Makes an image of the part of a mapping that is in its file. */
static struct ct_image to_image(const struct mapping *m)
{
    uint64_t size = m->last - m->addr + 1;
    uint64_t in_file = m->object->size > m->offset ? m->object->size - m->offset : 0;
    return (struct ct_image){.path = m->object->path,
                             .addr = m->addr,
                             .offset = m->offset,
                             .size = size && size < in_file ? size : in_file,
                             .space = CT_SPACE_ANY};
}

/* Finds the load bias of a mapping's ELF file. Returns false when it is not a readable ELF file. */
static bool to_program(const struct mapping *m, struct ct_image *program)
{
    *program = (struct ct_image){.path = m->object->path, .space = CT_SPACE_ANY, .is_elf = 1};
    return m->object->path && ct_elf_code_bias(m->object->code, m->object->code_count, m->addr, m->offset,
                                               m->last - m->addr + 1, &program->addr);
}

/* Lists the ELF files of a generation without duplicates, the one that was started first. */
static int find_programs(struct player *pl, const struct table *table, struct ct_generation *generation)
{
    size_t cap = table->count < CT_PERF_PROGRAMS_MAX ? table->count + 1 : CT_PERF_PROGRAMS_MAX;
    struct ct_image *programs = ct_arena_alloc(pl->perf->opening->arena, (cap + 1) * sizeof *programs);
    size_t count = 0;
    if (!programs)
        return no_memory(pl);
    if (table->started.path)
        programs[count++] = table->started;
    for (size_t i = 0; i < table->count && count < cap; i++) {
        size_t k = 0;
        if (!to_program(&table->mappings[i], &programs[count]))
            continue;
        while (k < count && !ct_image_same(&programs[k], &programs[count]))
            k++;
        count += k == count;
    }
    generation->programs = programs;
    generation->program_count = count;
    generation->has_main = table->started.path != NULL;
    return CT_OK;
}

int ct_perf_add_gone(struct ct_perf *p, const struct ct_perf_object *object, uint64_t addr, uint64_t size)
{
    const struct ct_image gone = {.path = object->name, .addr = addr, .size = size};
    char id[2 * CT_BUILD_ID_MAX + 1] = "";
    if (object->id)
        ct_build_id_text(object->id, id);
    return ct_add_gone(p->opening, &gone, *id ? id : NULL);
}

/* Lists the images of a table. */
static int find_images(struct player *pl, const struct table *table, struct ct_generation *generation)
{
    struct ct_image *images = ct_arena_alloc(pl->perf->opening->arena, (table->count + 1) * sizeof *images);
    size_t count = 0;
    if (!images)
        return no_memory(pl);
    for (size_t i = 0; i < table->count; i++) {
        const struct mapping *m = &table->mappings[i];
        if (!m->object->path) {
            const int rc = ct_perf_add_gone(pl->perf, m->object, m->addr, m->last - m->addr + 1);
            if (rc)
                return rc;
            continue;
        }
        images[count] = to_image(m);
        count += images[count].size > 0;
    }
    generation->images = images;
    generation->image_count = count;
    pl->images += count;
    return find_programs(pl, table, generation);
}

/* Makes a generation from the current mappings of a process. It shares the lists of an earlier one with the
 * same mappings. */
static int freeze(struct player *pl, struct process *process)
{
    struct ct_arena *arena = pl->perf->opening->arena;
    struct ct_generation *generations =
        ct_arena_push(arena, process->generations, &process->generation_count, sizeof *generations);
    const char *name = ct_arena_strdup(arena, process->name);
    if (!generations || !name)
        return no_memory(pl);
    struct table *table = process->table;
    struct ct_generation *generation = &generations[process->generation_count - 1];
    *generation = table->frozen ? *table->frozen : (struct ct_generation){0};
    generation->from = process->from;
    generation->name = name;
    process->generations = generations;
    pl->images++;
    const int rc = table->frozen ? CT_OK : find_images(pl, table, generation);
    table->frozen = generation;
    return rc;
}

/* Ends the generation of a process, so that later changes begin a new one. */
static int begin_generation(struct player *pl, struct process *process, uint64_t time)
{
    int rc = CT_OK;
    if (process->table->count && time > process->from && pl->images < IMAGES_MAX) {
        rc = freeze(pl, process);
        process->from = time;
    }
    return rc;
}

/* ---- mappings ---- */

/* Makes room for more mappings in a table that the process does not share. The table stays shared when too
 * many mappings were copied. */
static int reserve(struct player *pl, struct process *process, size_t more)
{
    struct table *old = process->table;
    const bool shared = old->owners > 1;
    const size_t wanted = old->count + more;
    if ((!shared && wanted <= old->cap) || (shared && old->count > pl->copies_left))
        return CT_OK;
    const size_t cap = shared ? wanted : 2 * wanted;
    struct mapping *mappings = ct_arena_alloc(&pl->perf->arena, cap * sizeof *mappings);
    if (!mappings)
        return no_memory(pl);
    if (old->count)
        memcpy(mappings, old->mappings, old->count * sizeof *mappings);
    if (shared) {
        const int rc = new_table(pl, process);
        if (rc)
            return rc;
        old->owners--;
        pl->copies_left -= old->count;
        process->table->count = old->count;
        process->table->started = old->started;
    }
    process->table->mappings = mappings;
    process->table->cap = cap;
    return CT_OK;
}

/* Finds the first mapping that ends at or after an address. */
static size_t first_behind(const struct table *table, uint64_t addr)
{
    return CT_COUNT_BELOW(table->mappings, table->count, last, addr);
}

static bool continues(const struct mapping *a, const struct mapping *b)
{
    return a->object == b->object && a->addr - a->offset == b->addr - b->offset;
}

/* Replaces the mappings from `low` up to `high` by the `n` mappings in `with`. There must be room. */
static void replace(struct table *table, size_t low, size_t high, const struct mapping *with, size_t n)
{
    struct mapping *m = table->mappings;
    memmove(m + low + n, m + high, (table->count - high) * sizeof *m);
    memcpy(m + low, with, n * sizeof *m);
    table->count = table->count - (high - low) + n;
}

/* Writes a new mapping, and the rests of the first and the last mapping that it overlaps, to `out`. Returns
 * their number. */
static size_t cut_out(const struct table *table, size_t low, size_t high, const struct mapping *new,
                      struct mapping out[3])
{
    const struct mapping *m = table->mappings;
    size_t n = 0;
    if (m[low].addr < new->addr) {
        out[n] = m[low];
        out[n++].last = new->addr - 1;
    }
    out[n++] = *new;
    if (m[high - 1].last > new->last) {
        out[n] = m[high - 1];
        out[n].offset += new->last + 1 - out[n].addr;
        out[n++].addr = new->last + 1;
    }
    return n;
}

static int tell_copies(struct player *pl, const struct process *process)
{
    if (pl->told_copies)
        return CT_OK;
    pl->told_copies = true;
    return ct_perf_damage(pl->perf,
                          "forked processes changed more mappings than coretap can hold; further changes, at "
                          "first those of process %u, are ignored, so code in them cannot be decoded; record "
                          "fewer processes at a time",
                          process->pid);
}

/* Returns whether a table has the mapping, alone or as a part of a larger one. */
static bool has_mapping(const struct table *table, const struct mapping *m)
{
    const size_t i = first_behind(table, m->addr);
    return i < table->count && continues(&table->mappings[i], m) && table->mappings[i].addr <= m->addr &&
           table->mappings[i].last >= m->last;
}

static int put_mapping(struct player *pl, struct process *process, const struct mapping *new, uint64_t time)
{
    const struct table *before = process->table;
    size_t low = first_behind(before, new->addr);
    size_t high = low;
    bool same = true;
    while (high < before->count && before->mappings[high].addr <= new->last)
        same &= continues(&before->mappings[high++], new);
    int rc = same ? CT_OK : begin_generation(pl, process, time);
    if (!rc)
        rc = reserve(pl, process, 3);
    if (rc)
        return rc;
    struct table *table = process->table;
    if (table->owners > 1)
        return tell_copies(pl, process);
    struct mapping parts[3] = {*new};
    size_t n = 1;
    if (high > low && same) {
        const struct mapping *first = &table->mappings[low];
        const struct mapping *last = &table->mappings[high - 1];
        if (first->addr < new->addr) {
            parts[0].addr = first->addr;
            parts[0].offset = first->offset;
        }
        parts[0].last = last->last > new->last ? last->last : new->last;
    } else if (high > low) {
        n = cut_out(table, low, high, new, parts);
    }
    replace(table, low, high, parts, n);
    table->frozen = NULL;
    return CT_OK;
}

/* ---- the records ---- */

static int tell_full(struct player *pl, const struct process *process)
{
    if (pl->told_full)
        return CT_OK;
    pl->told_full = true;
    return ct_perf_damage(
        pl->perf, "process %u has more than %u mappings, which Linux does not allow; the rest is ignored",
        process->pid, MAPPINGS_MAX);
}

/* Finds the file of a mapping. A program inside of an archive was mapped from the archive: it is a separate
 * object, with another offset. */
static int find_object(struct player *pl, const struct ct_perf_event *event, bool container,
                       struct mapping *mapping)
{
    int rc = ct_perf_objects_find(pl->objects, event->name, event->id, container, &mapping->object);
    const char *path = rc ? NULL : mapping->object->path;
    char entry[CT_ARCHIVE_NAME];
    struct ct_archived where;
    if (!path || mapping->object->code_count || pl->perf->opening->files != &ct_files_system)
        return rc;
    if (!ct_archive_find(path, mapping->offset, entry, &where))
        return errno == ENOMEM ? no_memory(pl) : CT_OK;
    const char *name = ct_arena_printf(pl->perf->opening->arena, "%s!/%s", event->name, entry);
    if (!name)
        return no_memory(pl);
    mapping->offset -= where.offset;
    return ct_perf_objects_find(pl->objects, name, NULL, container, &mapping->object);
}

static int on_map(struct player *pl, const struct ct_perf_event *event)
{
    struct process *process;
    int rc = find_process(pl, event->pid, &process);
    if (!rc && event->tid != event->pid)
        rc = add_thread(pl, event->tid, event->pid, event->time);
    if (rc || !event->size || event->addr > UINT64_MAX - (event->size - 1))
        return rc;
    if (process->table->count >= MAPPINGS_MAX)
        return tell_full(pl, process);
    struct mapping mapping = {
        .addr = event->addr, .last = event->addr + (event->size - 1), .offset = event->file_offset};
    rc = find_object(pl, event, process->container, &mapping);
    if (rc || has_mapping(process->table, &mapping))
        return rc;
    struct ct_image started;
    const bool is_first =
        !process->table->count; /* the kernel maps the program first, then its interpreter */
    rc = put_mapping(pl, process, &mapping, event->time);
    if (is_first)
        process->table->started = to_program(&mapping, &started) ? started : (struct ct_image){0};
    return rc;
}

/* Removes all mappings of a process. */
static int clear(struct player *pl, struct process *process)
{
    struct table *old = process->table;
    if (old->owners == 1) {
        old->count = 0;
        old->frozen = NULL;
        return CT_OK;
    }
    old->owners--;
    const int rc = new_table(pl, process);
    if (!rc)
        process->table->started = old->started;
    return rc;
}

static int on_comm(struct player *pl, const struct ct_perf_event *event)
{
    struct process *process;
    int rc = find_process(pl, event->pid, &process);
    if (!rc && event->tid != event->pid)
        rc = add_thread(pl, event->tid, event->pid, event->time);
    if (!rc && event->kind == CT_PERF_EVENT_EXEC) {
        rc = begin_generation(pl, process, event->time) ?: clear(pl, process);
    }
    if (!rc && event->tid == event->pid)
        process->name = event->name;
    return rc;
}

static int on_fork(struct player *pl, const struct ct_perf_event *event)
{
    struct process *child;
    struct process *parent;
    int rc = add_thread(pl, event->tid, event->pid, event->time);
    if (rc || event->pid == event->parent)
        return rc;
    rc = find_process(pl, event->pid, &child);
    if (!rc) /* the number belonged to another process before */
        rc = begin_generation(pl, child, event->time);
    if (!rc)
        rc = find_process(pl, event->parent, &parent);
    if (!rc)
        rc = find_process(pl, event->pid, &child); /* it may have moved */
    if (rc)
        return rc;
    child->name = parent->name;
    child->container = parent->container;
    child->table->owners--;
    child->table = parent->table;
    child->table->owners++;
    return CT_OK;
}

static int play(struct player *pl, const struct ct_perf_event *event)
{
    struct process *process;
    int rc;
    switch (event->kind) {
    case CT_PERF_EVENT_MAP:
        return event->kernel ? CT_OK : on_map(pl, event);
    case CT_PERF_EVENT_FORK:
        return on_fork(pl, event);
    case CT_PERF_EVENT_CONTAINER:
        rc = find_process(pl, event->pid, &process);
        if (!rc)
            process->container = true;
        return rc;
    default:
        return on_comm(pl, event);
    }
}

static int event_order(const void *a, const void *b)
{
    const struct ct_perf_event *x = a, *y = b;
    return ct_order(x->time, y->time) ?: ct_order(x->order, y->order);
}

/* ---- the result ---- */

static int process_order(const void *a, const void *b)
{
    const struct ct_process *x = a, *y = b;
    return ct_order(x->pid, y->pid);
}

static int thread_order(const void *a, const void *b)
{
    const struct ct_thread *x = a, *y = b;
    return ct_order(x->tid, y->tid) ?: ct_order(x->from, y->from);
}

/* Removes entries that repeat the one before. Returns the number that remain. */
static size_t unique_threads(struct ct_thread *threads, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!n || threads[n - 1].tid != threads[i].tid || threads[n - 1].pid != threads[i].pid)
            threads[n++] = threads[i];
    return n;
}

static int finish(struct player *pl, struct ct_maps **out)
{
    struct ct_arena *arena = pl->perf->opening->arena;
    struct ct_maps *maps = ct_arena_alloc(arena, sizeof *maps);
    struct ct_process *processes = ct_arena_alloc(arena, (pl->count + 1) * sizeof *processes);
    if (!maps || !processes)
        return no_memory(pl);
    size_t count = 0;
    for (size_t i = 0; i < pl->count; i++) {
        struct process *process = &pl->processes[i];
        if (process->table->count || *process->name) {
            int rc = freeze(pl, process);
            if (rc)
                return rc;
        }
        if (process->generation_count)
            processes[count++] = (struct ct_process){.pid = process->pid,
                                                     .generations = process->generations,
                                                     .generation_count = process->generation_count};
    }
    if (count)
        qsort(processes, count, sizeof *processes, process_order);
    if (pl->thread_count)
        qsort(pl->threads, pl->thread_count, sizeof *pl->threads, thread_order);
    *maps = (struct ct_maps){.processes = processes,
                             .process_count = count,
                             .threads = pl->threads,
                             .thread_count = unique_threads(pl->threads, pl->thread_count),
                             .clock = pl->perf->clock};
    *out = maps;
    return CT_OK;
}

int ct_perf_make_maps(struct ct_perf *p, struct ct_perf_objects *objects, struct ct_maps **out)
{
    struct player pl = {
        .perf = p, .objects = objects, .copies_left = COPIES_MAX + COPIES_PER_RECORD * p->event_count};
    int rc = CT_OK;
    if (p->event_count)
        qsort(p->events, p->event_count, sizeof *p->events, event_order);
    for (size_t i = 0; !rc && i < p->event_count; i++)
        rc = play(&pl, &p->events[i]);
    return rc ? rc : finish(&pl, out);
}
