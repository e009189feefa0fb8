/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* basename */
#include "coretap/ran.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
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

static void add_name(struct ct_ran *ran, const char *path)
{
    const char *name = basename(path);
    const size_t size = sizeof ran->names[0];
    for (size_t i = 0; i < ran->count && i < CT_RAN_NAMES; i++)
        if (strncmp(ran->names[i], name, size - 1) == 0)
            return;
    if (ran->count < CT_RAN_NAMES)
        snprintf(ran->names[ran->count], size, "%s", name);
    ran->count++;
}

/* Adds the programs with nodes. Tries first the program of the node before, because consecutive nodes are
 * mostly in the same one. */
static bool add_nodes(struct ct_ran *ran, const struct ct_buffer *buffer, const struct ct_graph *graph,
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

int ct_ran_add(struct ct_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
               const struct ct_chain *chain, const struct ct_programs *programs)
{
    CT_REQUIRE(NULL, ran, capture, buffer, chain);
    size_t stream_count;
    const struct ct_stream *streams = ct_chain_streams(chain, &stream_count);
    for (size_t i = 0; i < stream_count; i++) {
        ran->instructions += streams[i].stats.instructions;
        if (streams[i].graph && !ran->unnamed &&
            !add_nodes(ran, capture->program_count ? NULL : buffer, streams[i].graph, programs))
            return CT_ERR_NOMEM;
    }
    return CT_OK;
}

/* ---- words ---- */

#define SHOWN 6

const char *ct_ran_words(char text[CT_RAN_WORDS], const struct ct_ran *ran)
{
    if (!text || !ran)
        return NULL;
    const size_t shown = ran->count <= SHOWN ? (size_t)ran->count : SHOWN - 1;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < shown; i++) {
        const char *between = i == 0 ? "" : i + 1 == ran->count ? " and " : ", ";
        used += (size_t)snprintf(text + used, CT_RAN_WORDS - used, "%s%.63s", between, ran->names[i]);
    }
    if (shown < ran->count)
        snprintf(text + used, CT_RAN_WORDS - used, " and %" PRIu64 " others", ran->count - shown);
    return text;
}
