/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/shared_program.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/room.h"
#include "base/table_memory.h"

/* Number of blocks in a piece, and of pieces. Pieces never move, so blocks are read without a lock. */
#define PIECE_SHIFT 11
#define PIECE       (1u << PIECE_SHIFT)
#define PIECES      (CT_BLOCKS_MAX >> PIECE_SHIFT)

/* Initial number of slots of the index, at most half of which are used. */
#define FIRST_SLOTS 2048u

struct domain {
    uint32_t memory;
    bool has_context;
    struct ct_edge_context context;
};

struct ct_shared_program {
    struct ct_ctx *ctx;
    uint32_t users;
    uint64_t rest;              /* read and written without a lock (ct_shared_program_rest) */
    pthread_mutex_t graph_lock; /* guards `graph` */
    struct ct_graph *graph;     /* all nodes and edges, in arbitrary order */
    pthread_mutex_t block_lock; /* guards all fields that follow, but not published blocks */
    uint32_t most, count;       /* maximal number, and number, of blocks; block 0 is none */
    struct ct_shared_block *pieces[PIECES];
    uint32_t *heads; /* the index, by address */
    uint32_t slots;  /* a power of two */
    struct domain *domains;
    uint32_t domain_count;
    size_t domain_cap;
};

/* Makes a lock that is held for less time than going to sleep takes. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

int ct_shared_program_new(struct ct_ctx *ctx, uint32_t most, struct ct_shared_program **out)
{
    struct ct_shared_program *p = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(ctx, "program blocks");
    *p = (struct ct_shared_program){.ctx = ctx, .users = 1, .most = most, .count = 1, .slots = FIRST_SLOTS};
    init_lock(&p->graph_lock);
    init_lock(&p->block_lock);
    p->heads = calloc(FIRST_SLOTS, sizeof *p->heads);
    int rc = p->heads ? CT_OK : ct_fail_nomem(ctx, "program blocks");
    if (!rc)
        rc = ct_graph_new(ctx, &p->graph);
    if (rc) {
        ct_shared_program_release(p);
        return rc;
    }
    *out = p;
    return CT_OK;
}

struct ct_shared_program *ct_shared_program_hold(struct ct_shared_program *p)
{
    if (p)
        __atomic_fetch_add(&p->users, 1, __ATOMIC_RELAXED);
    return p;
}

void ct_shared_program_release(struct ct_shared_program *p)
{
    if (!p || __atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t i = 0; i < PIECES && p->pieces[i]; i++)
        free(p->pieces[i]);
    pthread_mutex_destroy(&p->graph_lock);
    pthread_mutex_destroy(&p->block_lock);
    ct_graph_free(p->graph);
    free(p->heads);
    free(p->domains);
    free(p);
}

uint64_t *ct_shared_program_rest(struct ct_shared_program *p)
{
    return &p->rest;
}

/* ---- the graph ---- */

int ct_shared_program_node(struct ct_shared_program *p, const struct ct_node *node, uint32_t *id)
{
    pthread_mutex_lock(&p->graph_lock);
    const int rc = ct_graph_node(p->graph, node, id);
    pthread_mutex_unlock(&p->graph_lock);
    return rc;
}

int ct_shared_program_edge(struct ct_shared_program *p, const struct ct_edge *edge, uint32_t *id)
{
    pthread_mutex_lock(&p->graph_lock);
    const int rc = ct_graph_edge(p->graph, edge, id);
    pthread_mutex_unlock(&p->graph_lock);
    return rc;
}

struct ct_node ct_shared_program_node_at(struct ct_shared_program *p, uint32_t id)
{
    uint32_t count;
    pthread_mutex_lock(&p->graph_lock);
    const struct ct_node node = ct_graph_nodes(p->graph, &count)[id];
    pthread_mutex_unlock(&p->graph_lock);
    return node;
}

struct ct_edge ct_shared_program_edge_at(struct ct_shared_program *p, uint32_t id)
{
    uint32_t count;
    pthread_mutex_lock(&p->graph_lock);
    const struct ct_edge edge = ct_graph_edges(p->graph, &count)[id];
    pthread_mutex_unlock(&p->graph_lock);
    return edge;
}

/* ---- blocks ---- */

uint32_t ct_shared_program_most(const struct ct_shared_program *p)
{
    return p->most;
}

struct ct_shared_block *ct_shared_program_block(const struct ct_shared_program *p, uint32_t number)
{
    return &p->pieces[number >> PIECE_SHIFT][number & (PIECE - 1)];
}

static uint32_t *head_of(const struct ct_shared_program *p, uint64_t addr)
{
    return &p->heads[(addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (p->slots - 1)];
}

static uint32_t find(const struct ct_shared_program *p, const struct ct_block *at)
{
    uint32_t i = *head_of(p, at->addr);
    while (i) {
        const struct ct_shared_block *s = ct_shared_program_block(p, i);
        const struct ct_block *k = &s->block;
        if (k->addr == at->addr && k->isa == at->isa && k->space == at->space && k->domain == at->domain)
            break;
        i = s->next_same;
    }
    return i;
}

uint32_t ct_shared_program_find(struct ct_shared_program *p, const struct ct_block *at)
{
    pthread_mutex_lock(&p->block_lock);
    const uint32_t number = find(p, at);
    pthread_mutex_unlock(&p->block_lock);
    return number;
}

static void index_block(struct ct_shared_program *p, uint32_t number)
{
    struct ct_shared_block *s = ct_shared_program_block(p, number);
    uint32_t *head = head_of(p, s->block.addr);
    s->next_same = *head;
    *head = number;
}

static bool grow_index(struct ct_shared_program *p)
{
    uint32_t *heads = ct_table_memory((size_t)p->slots * 2, sizeof *heads);
    if (!heads)
        return false;
    free(p->heads);
    p->heads = heads;
    p->slots *= 2;
    for (uint32_t i = 1; i < p->count; i++)
        index_block(p, i);
    return true;
}

/* Makes room for one more block. Returns false when out of memory. */
static bool have_room(struct ct_shared_program *p)
{
    struct ct_shared_block **piece = &p->pieces[p->count >> PIECE_SHIFT];
    if (p->count * 2 >= p->slots && !grow_index(p))
        return false;
    if (!*piece)
        *piece = ct_table_memory(PIECE, sizeof **piece);
    return *piece;
}

/* Adds a block that is not there yet. The lock must be held. */
static int add(struct ct_shared_program *p, const struct ct_block *block, const struct ct_block_info *info,
               uint32_t *number)
{
    *number = 0;
    if (p->count == p->most)
        return CT_OK;
    if (!have_room(p))
        return ct_fail_nomem(p->ctx, "program blocks");
    *ct_shared_program_block(p, p->count) = (struct ct_shared_block){
        .block = *block, .info = *info, .node = CT_NO_NUMBER, .edge = {CT_NO_NUMBER, CT_NO_NUMBER}};
    *number = p->count++;
    index_block(p, *number);
    return CT_OK;
}

int ct_shared_program_add(struct ct_shared_program *p, const struct ct_block *block,
                          const struct ct_block_info *info, uint32_t *number)
{
    pthread_mutex_lock(&p->block_lock);
    *number = find(p, block);
    const int rc = *number ? CT_OK : add(p, block, info, number);
    pthread_mutex_unlock(&p->block_lock);
    return rc;
}

static bool is_domain(const struct domain *d, uint32_t memory, const struct ct_edge_context *context)
{
    return d->memory == memory && d->has_context == (context != NULL) &&
           (!context || ct_edge_context_order(&d->context, context) == 0);
}

static int add_domain(struct ct_shared_program *p, uint32_t memory, const struct ct_edge_context *context)
{
    if (!CT_MAKE_ROOM(p->domains, p->domain_cap, p->domain_count + 1))
        return ct_fail_nomem(p->ctx, "program blocks");
    p->domains[p->domain_count++] =
        (struct domain){memory, context != NULL, context ? *context : (struct ct_edge_context){0}};
    return CT_OK;
}

int ct_shared_program_domain(struct ct_shared_program *p, uint32_t memory,
                             const struct ct_edge_context *context, uint32_t *domain)
{
    int rc = CT_OK;
    uint32_t i = 0;
    pthread_mutex_lock(&p->block_lock);
    while (i < p->domain_count && !is_domain(&p->domains[i], memory, context))
        i++;
    if (i == p->domain_count && i < CT_SHARED_DOMAINS)
        rc = add_domain(p, memory, context);
    pthread_mutex_unlock(&p->block_lock);
    *domain = i;
    return rc;
}
