#include "cli/ran.h"

#include <stdlib.h>
#include <string.h>

#include "cli/named_elf.h"
#include "coretap/graph.h"

struct cli_module *cli_modules_of_programs(const struct cli_programs *programs)
{
    struct cli_module *modules = calloc(programs->count + 1, sizeof *modules);
    for (size_t i = 0; modules && i < programs->count; i++) {
        const struct cli_program *p = &programs->programs[i];
        modules[i] = (struct cli_module){p->path, p->symbols, p->bias, cli_program_memories(p)};
    }
    return modules;
}

struct cli_module *cli_modules_of_elfs(const struct cli_elfs *programs)
{
    struct cli_module *modules = calloc(programs->count + 1, sizeof *modules);
    for (size_t i = 0; modules && i < programs->count; i++)
        modules[i] = (struct cli_module){.path = programs->all[i].path, .symbols = programs->all[i].symbols};
    return modules;
}

/* ---- where nodes lie ---- */

bool cli_module_has(const struct cli_module *module, const struct ct_node *node)
{
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(module->symbols, &count);
    return ct_code_has(code, count, node->start - module->bias) &&
           ct_memory_set_has(&module->memories, node->memory);
}

/* A file of memory that is no program has the name of the file. In a recording it is a copy of programs. */
static const char *image_at(const struct ct_buffer *buffer, uint64_t addr)
{
    for (size_t i = 0; buffer && i < buffer->image_count; i++) {
        const struct ct_image *image = &buffer->images[i];
        if (!image->is_elf && addr >= image->addr && addr - image->addr < image->size)
            return image->path;
    }
    return NULL;
}

static void add_name(struct cli_ran *ran, const char *path)
{
    const char *name = cli_base_name(path);
    const size_t size = sizeof ran->names[0];
    for (size_t i = 0; i < ran->count && i < CLI_RAN_NAMES; i++)
        if (strncmp(ran->names[i], name, size - 1) == 0)
            return;
    if (ran->count < CLI_RAN_NAMES)
        snprintf(ran->names[ran->count], size, "%s", name);
    ran->count++;
}

/* Nodes that follow each other are mostly of one module, which is looked at first. */
static bool add_nodes(struct cli_ran *ran, const struct ct_buffer *buffer, const struct ct_graph *graph,
                      const struct cli_module *modules, size_t count)
{
    uint32_t node_count;
    const struct ct_node *nodes = ct_graph_nodes(graph, &node_count);
    const struct cli_module *last = NULL;
    bool *seen = calloc(count + 1, sizeof *seen);
    if (!seen)
        return false;
    for (uint32_t i = 0; i < node_count; i++) {
        if (last && cli_module_has(last, &nodes[i]))
            continue;
        last = NULL;
        for (size_t k = 0; k < count && !last; k++)
            last = cli_module_has(&modules[k], &nodes[i]) ? &modules[k] : NULL;
        const char *image = last ? NULL : image_at(buffer, nodes[i].start);
        if (last && !seen[last - modules])
            add_name(ran, last->path);
        else if (image)
            add_name(ran, image);
        if (last)
            seen[last - modules] = true;
    }
    free(seen);
    return true;
}

bool cli_ran_add(struct cli_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                 const struct ct_chain *chain, const struct cli_module *modules, size_t count)
{
    size_t stream_count;
    const struct ct_stream *streams = ct_chain_streams(chain, &stream_count);
    for (size_t i = 0; i < stream_count; i++) {
        ran->instructions += streams[i].stats.instructions;
        if (streams[i].graph &&
            !add_nodes(ran, capture->program_count ? NULL : buffer, streams[i].graph, modules, count))
            return false;
    }
    return true;
}

/* ---- what is said of it ---- */

#define SHOWN 6

/* "a, b and c", or "a, b and 17 others". */
static const char *modules_text(const struct cli_ran *ran, char *text, size_t size)
{
    const size_t shown = ran->count <= SHOWN ? ran->count : SHOWN - 1;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < shown && used < size; i++) {
        const char *between = i == 0 ? ", in " : i + 1 == ran->count ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", between, ran->names[i]);
    }
    if (shown < ran->count && used < size)
        snprintf(text + used, size - used, " and %zu others", ran->count - shown);
    return text;
}

int cli_ran_but_empty(const struct cli_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy)
{
    char modules[1024];
    if (!ran->instructions || code == CLI_FAILED)
        return code;
    cli_say("%s: %s empty although %llu instructions ran%s: %s; %s", args->operand, result,
            (unsigned long long)ran->instructions, modules_text(ran, modules, sizeof modules), why, remedy);
    return CLI_DAMAGED;
}
