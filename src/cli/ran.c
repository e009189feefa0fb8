/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* basename */
#include "cli/ran.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

#include "coretap/graph.h"

/* ---- the programs of nodes ---- */

/* Returns the file with the memory at an address outside of all programs. In a recording such a file is a
 * copy of programs. */
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
    const char *name = basename(path);
    const size_t size = sizeof ran->names[0];
    for (size_t i = 0; i < ran->count && i < CLI_RAN_NAMES; i++)
        if (strncmp(ran->names[i], name, size - 1) == 0)
            return;
    if (ran->count < CLI_RAN_NAMES)
        snprintf(ran->names[ran->count], size, "%s", name);
    ran->count++;
}

/* Adds the programs with nodes. Tries first the program of the node before, because consecutive nodes are
 * mostly in the same one. */
static bool add_nodes(struct cli_ran *ran, const struct ct_buffer *buffer, const struct ct_graph *graph,
                      const struct ct_programs *programs)
{
    uint32_t node_count;
    const struct ct_node *nodes = ct_graph_nodes(graph, &node_count);
    const size_t count = ct_programs_count(programs);
    size_t last = count;
    bool *seen = calloc(count + 1, sizeof *seen);
    if (!seen)
        return false;
    for (uint32_t i = 0; i < node_count; i++) {
        const struct ct_node *node = &nodes[i];
        if (last < count && ct_program_has(ct_programs_at(programs, last), node->start, node->memory))
            continue;
        for (last = 0; last < count; last++)
            if (ct_program_has(ct_programs_at(programs, last), node->start, node->memory))
                break;
        const char *image = last < count ? NULL : image_at(buffer, node->start);
        if (last < count && !seen[last])
            add_name(ran, ct_programs_at(programs, last)->path);
        else if (image)
            add_name(ran, image);
        seen[last] = true;
    }
    free(seen);
    return true;
}

bool cli_ran_add(struct cli_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                 const struct ct_chain *chain, const struct ct_programs *programs)
{
    size_t stream_count;
    const struct ct_stream *streams = ct_chain_streams(chain, &stream_count);
    for (size_t i = 0; i < stream_count; i++) {
        ran->instructions += streams[i].stats.instructions;
        if (streams[i].graph && !ran->is_answered &&
            !add_nodes(ran, capture->program_count ? NULL : buffer, streams[i].graph, programs))
            return false;
    }
    return true;
}

/* ---- the message ---- */

#define SHOWN 6

/* Writes "a, b and c", or "a, b and 17 others". */
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

void cli_ran_tell_empty(const struct cli_ran *ran, const struct cli_args *args, const char *result,
                        const char *why, const char *remedy)
{
    char modules[1024];
    cli_say("%s: %s empty although %llu instructions ran%s: %s; %s", args->operand, result,
            (unsigned long long)ran->instructions, modules_text(ran, modules, sizeof modules), why, remedy);
}

int cli_ran_but_empty(const struct cli_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy)
{
    if (!ran->instructions || code == CLI_FAILED)
        return code;
    cli_ran_tell_empty(ran, args, result, why, remedy);
    cli_output_set_empty();
    return CLI_DAMAGED;
}
