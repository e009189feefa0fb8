/* SPDX-License-Identifier: Apache-2.0 */
#include "input/perf_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/room.h"

#define IDS_MAX      2u /* one for each attribute: their numbers */
#define TRACE_EVENT  1u
#define SAMPLE_EVENT 1u /* used without trace */
#define DUMMY_EVENT  2u
#define HARDWARE     0u /* PERF_TYPE_HARDWARE */
#define INSTRUCTIONS 1u /* PERF_COUNT_HW_INSTRUCTIONS */
#define SOFTWARE     1u /* PERF_TYPE_SOFTWARE */
#define DUMMY_CONFIG 9u /* PERF_COUNT_SW_DUMMY */

#define SAMPLE_TYPE                                                                                          \
    (CT_PERF_SAMPLE_IP | CT_PERF_SAMPLE_TID | CT_PERF_SAMPLE_TIME | CT_PERF_SAMPLE_CPU |                     \
     CT_PERF_SAMPLE_IDENTIFIER)

#define ARCH_SIZE 20u /* of the feature with the machine name */

/* Flags of the attribute for mappings: mmap, comm, task, mmap2, comm_exec. */
#define FOLLOWS                                                                                              \
    (UINT64_C(1) << 8 | UINT64_C(1) << 9 | UINT64_C(1) << 13 | UINT64_C(1) << 23 | UINT64_C(1) << 24)

static void put(struct ct_perf_body *b, const void *bytes, size_t size)
{
    if (size > sizeof b->bytes - b->size) {
        b->full = true;
        return;
    }
    if (size)
        memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

void ct_perf_put32(struct ct_perf_body *b, uint32_t x)
{
    const uint8_t bytes[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    put(b, bytes, sizeof bytes);
}

void ct_perf_put64(struct ct_perf_body *b, uint64_t x)
{
    ct_perf_put32(b, (uint32_t)x);
    ct_perf_put32(b, (uint32_t)(x >> 32));
}

void ct_perf_put_text(struct ct_perf_body *b, const char *text)
{
    static const uint8_t zeros[8];
    size_t size = strlen(text) + 1;
    put(b, text, size);
    put(b, zeros, (8 - size % 8) % 8);
}

int ct_perf_write_bytes(struct ct_perf_writer *w, const void *bytes, size_t size)
{
    w->at += size;
    return size == 0 ? CT_OK : w->write(w->user, bytes, size);
}

static int write_body(struct ct_perf_writer *w, const struct ct_perf_body *b)
{
    return b->full ? CT_ERR_LIMIT : ct_perf_write_bytes(w, b->bytes, b->size);
}

/* Writes the header of a record whose body has `size` bytes. */
static void put_head(uint8_t head[8], uint32_t type, unsigned misc, size_t size)
{
    for (unsigned i = 0; i < 4; i++)
        head[i] = (uint8_t)(type >> 8 * i);
    for (unsigned i = 0; i < 2; i++) {
        head[4 + i] = (uint8_t)(misc >> 8 * i);
        head[6 + i] = (uint8_t)((size + 8) >> 8 * i);
    }
}

static int write_record(struct ct_perf_writer *w, uint32_t type, unsigned misc, const struct ct_perf_body *b)
{
    uint8_t head[8];
    if (b->full || b->size + 8 > CT_PERF_RECORD_MAX)
        return CT_ERR_LIMIT;
    put_head(head, type, misc, b->size);
    return ct_perf_write_bytes(w, head, sizeof head) ?: write_body(w, b);
}

int ct_perf_write_user(struct ct_perf_writer *w, uint32_t type, unsigned misc,
                       const struct ct_perf_body *body)
{
    return write_record(w, type, misc, body);
}

int ct_perf_write_kernel(struct ct_perf_writer *w, uint32_t type, unsigned misc,
                         const struct ct_perf_body *body, const struct ct_perf_stamp *stamp)
{
    struct ct_perf_body b = *body;
    bool of_first = w->options.samples || type == CT_PERF_AUX || type == CT_PERF_ITRACE_START ||
                    type == CT_PERF_AUX_HW_ID;
    ct_perf_put32(&b, stamp->pid);
    ct_perf_put32(&b, stamp->tid);
    if (!w->options.timeless)
        ct_perf_put64(&b, stamp->time);
    ct_perf_put32(&b, stamp->cpu);
    ct_perf_put32(&b, 0);
    ct_perf_put64(&b, of_first ? TRACE_EVENT : DUMMY_EVENT);
    return write_record(w, type, misc, &b);
}

/* Appends a struct perf_event_attr. `branches` is its branch_sample_type. */
static void put_attr(struct ct_perf_body *b, uint32_t type, uint64_t config, uint64_t sample_type,
                     uint64_t flags, uint64_t branches)
{
    size_t begin = b->size;
    ct_perf_put32(b, type);
    ct_perf_put32(b, CT_PERF_ATTR_SIZE);
    ct_perf_put64(b, config);
    ct_perf_put64(b, 1); /* sample_period */
    ct_perf_put64(b, sample_type);
    ct_perf_put64(b, 4); /* read_format: ID */
    ct_perf_put64(b, flags | CT_PERF_ATTR_SAMPLE_ID_ALL);
    for (unsigned i = 0; i < 3; i++) /* wakeup, bp_type, config1, config2 */
        ct_perf_put64(b, 0);
    ct_perf_put64(b, branches);
    while (b->size < begin + CT_PERF_ATTR_SIZE && !b->full)
        ct_perf_put64(b, 0);
}

static unsigned id_count(const struct ct_perf_writer *w)
{
    return w->options.samples ? 1 : IDS_MAX;
}

/* Appends attribute number `i`. */
static void put_attrs(const struct ct_perf_writer *w, struct ct_perf_body *b, unsigned i)
{
    const struct ct_perf_write_options *o = &w->options;
    const uint64_t sample_type = o->timeless ? SAMPLE_TYPE & ~CT_PERF_SAMPLE_TIME : SAMPLE_TYPE;
    const uint64_t exclude = o->exclude_kernel ? CT_PERF_ATTR_EXCLUDE_KERNEL : 0;
    if (o->samples)
        put_attr(b, HARDWARE, INSTRUCTIONS, sample_type | CT_PERF_SAMPLE_PERIOD | CT_PERF_SAMPLE_BRANCH_STACK,
                 exclude | FOLLOWS,
                 CT_PERF_BRANCH_USER | (o->exclude_kernel ? 0 : CT_PERF_BRANCH_KERNEL) | CT_PERF_BRANCH_ANY);
    else if (i == 0)
        put_attr(b, CT_PERF_WRITE_PMU, o->config, sample_type, exclude, 0);
    else
        put_attr(b, SOFTWARE, DUMMY_CONFIG, sample_type, FOLLOWS, 0);
}

static int begin_pipe(struct ct_perf_writer *w)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    put(b, CT_PERF_MAGIC, 8);
    ct_perf_put64(b, CT_PERF_PIPE_SIZE);
    int rc = write_body(w, b);
    for (unsigned i = 0; !rc && i < id_count(w); i++) {
        b->size = 0;
        put_attrs(w, b, i);
        ct_perf_put64(b, i ? DUMMY_EVENT : TRACE_EVENT);
        rc = ct_perf_write_user(w, CT_PERF_ATTR, 0, b);
    }
    return rc;
}

/* Writes the header of a file. `data_size` and `features` are known at the end of the file. */
static int write_head(struct ct_perf_writer *w, uint64_t data_size, uint64_t features)
{
    uint64_t ids = CT_PERF_HEADER_SIZE;
    uint64_t attrs = ids + 8 * id_count(w);
    uint64_t attr_size = CT_PERF_ATTR_SIZE + 16;
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    put(b, CT_PERF_MAGIC, 8);
    ct_perf_put64(b, CT_PERF_HEADER_SIZE);
    ct_perf_put64(b, attr_size);
    ct_perf_put64(b, attrs);
    ct_perf_put64(b, id_count(w) * attr_size);
    ct_perf_put64(b, attrs + id_count(w) * attr_size);
    ct_perf_put64(b, data_size);
    ct_perf_put64(b, 0);
    ct_perf_put64(b, 0);
    ct_perf_put64(b, features);
    for (unsigned i = 0; i < 3; i++)
        ct_perf_put64(b, 0);
    for (unsigned i = 0; i < id_count(w); i++)
        ct_perf_put64(b, i ? DUMMY_EVENT : TRACE_EVENT);
    for (unsigned i = 0; i < id_count(w); i++) {
        put_attrs(w, b, i);
        ct_perf_put64(b, ids + 8 * i);
        ct_perf_put64(b, 8);
    }
    return write_body(w, b);
}

int ct_perf_write_begin(struct ct_perf_writer *w, ct_write_fn *write, void *user,
                        const struct ct_perf_write_options *options)
{
    *w = (struct ct_perf_writer){.write = write, .user = user, .options = *options};
    int rc = options->pipe ? begin_pipe(w) : write_head(w, 0, 0);
    w->data = w->at;
    return rc;
}

static bool is_v7(const struct ct_source *s)
{
    return s->protocol == CT_PROTOCOL_ETM3 || s->protocol == CT_PROTOCOL_PTM;
}

static void put_source(struct ct_perf_body *b, const struct ct_source *s, uint32_t cpu, unsigned version)
{
    const struct ct_source_regs *r = &s->regs;
    bool ete = s->protocol == CT_PROTOCOL_ETE;
    ct_perf_put64(b, is_v7(s) ? CT_PERF_MAGIC_ETM3 : ete ? CT_PERF_MAGIC_ETE : CT_PERF_MAGIC_ETM4);
    ct_perf_put64(b, cpu);
    if (version)
        ct_perf_put64(b, is_v7(s) ? 4 : ete ? 8 : 7);
    if (is_v7(s)) {
        ct_perf_put64(b, r->etmcr);
        ct_perf_put64(b, r->etmtraceidr);
        ct_perf_put64(b, r->etmccer);
        ct_perf_put64(b, r->etmidr);
        return;
    }
    ct_perf_put64(b, r->configr);
    ct_perf_put64(b, r->traceidr);
    ct_perf_put64(b, r->idr0);
    ct_perf_put64(b, r->idr1);
    ct_perf_put64(b, r->idr2);
    ct_perf_put64(b, r->idr8);
    ct_perf_put64(b, 0); /* TRCAUTHSTATUS */
    if (ete)
        ct_perf_put64(b, r->devarch);
}

int ct_perf_write_info(struct ct_perf_writer *w, const struct ct_source *sources, size_t count,
                       unsigned version)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put32(b, CT_PERF_AUXTRACE_CS_ETM);
    ct_perf_put32(b, 0);
    ct_perf_put64(b, version);
    ct_perf_put64(b, (uint64_t)CT_PERF_WRITE_PMU << 32 | count);
    ct_perf_put64(b, 0); /* no snapshot */
    for (size_t i = 0; i < count; i++)
        put_source(b, &sources[i], (uint32_t)i, version);
    return ct_perf_write_user(w, CT_PERF_AUXTRACE_INFO, 0, b);
}

int ct_perf_write_comm(struct ct_perf_writer *w, const struct ct_perf_stamp *stamp, const char *name,
                       bool exec)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put32(b, stamp->pid);
    ct_perf_put32(b, stamp->tid);
    ct_perf_put_text(b, name);
    return ct_perf_write_kernel(w, CT_PERF_COMM, exec ? CT_PERF_MISC_COMM_EXEC : 0, b, stamp);
}

int ct_perf_write_fork(struct ct_perf_writer *w, const struct ct_perf_stamp *stamp, uint32_t parent)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put32(b, stamp->pid);
    ct_perf_put32(b, parent);
    ct_perf_put32(b, stamp->tid);
    ct_perf_put32(b, parent);
    ct_perf_put64(b, stamp->time);
    return ct_perf_write_kernel(w, CT_PERF_FORK, 0, b, stamp);
}

/* Appends the bytes of a build id, or zeros for none. */
static void put_id(struct ct_perf_body *b, const struct ct_build_id *id)
{
    static const uint8_t zeros[CT_BUILD_ID_MAX];
    put(b, id->bytes, id->size);
    put(b, zeros, CT_BUILD_ID_MAX - (size_t)id->size);
}

/* Lists the build id of a file once. Without the list perf only names files that contain a sample, and
 * perf2bolt refuses programs that are not named. */
static int list_identity(struct ct_perf_writer *w, const struct ct_perf_map *map)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put32(b, UINT32_MAX); /* this machine */
    put_id(b, &map->id);
    ct_perf_put32(b, map->id.size);
    ct_perf_put_text(b, map->path);
    const size_t size = b->size + 8;
    if (b->full || size > CT_PERF_RECORD_MAX)
        return CT_ERR_LIMIT;
    for (size_t at = 0; at < w->ids_size; at += ct_load16(w->ids + at + 6))
        if (ct_load16(w->ids + at + 6) == size && !memcmp(w->ids + at + 8, b->bytes, b->size))
            return CT_OK;
    if (!CT_MAKE_ROOM(w->ids, w->ids_room, w->ids_size + size))
        return CT_ERR_NOMEM;
    put_head(w->ids + w->ids_size, CT_PERF_BUILD_ID, CT_PERF_MISC_USER | CT_PERF_MISC_BUILD_ID_SIZE, b->size);
    memcpy(w->ids + w->ids_size + 8, b->bytes, b->size);
    w->ids_size += size;
    return CT_OK;
}

int ct_perf_write_map(struct ct_perf_writer *w, const struct ct_perf_stamp *stamp,
                      const struct ct_perf_map *map)
{
    struct ct_perf_body *b = &w->body;
    const bool lists = w->options.samples && !w->options.pipe && !map->kernel && map->id.size;
    const int rc = lists ? list_identity(w, map) : CT_OK;
    if (rc)
        return rc;
    b->size = 0;
    ct_perf_put32(b, map->kernel ? UINT32_MAX : stamp->pid);
    ct_perf_put32(b, map->kernel ? 0 : stamp->tid);
    ct_perf_put64(b, map->addr);
    ct_perf_put64(b, map->size);
    ct_perf_put64(b, map->offset);
    ct_perf_put32(b, map->id.size); /* the size and the id replace device, inode and generation */
    put_id(b, &map->id);
    ct_perf_put32(b, CT_PERF_PROT_EXEC | 1);
    ct_perf_put32(b, 2); /* MAP_PRIVATE */
    ct_perf_put_text(b, map->path);
    unsigned misc = map->kernel ? CT_PERF_MISC_KERNEL : CT_PERF_MISC_USER;
    return ct_perf_write_kernel(w, CT_PERF_MMAP2, map->id.size ? misc | CT_PERF_MISC_MMAP_BUILD_ID : misc, b,
                                stamp);
}

int ct_perf_write_aux(struct ct_perf_writer *w, const struct ct_perf_stamp *stamp, uint64_t offset,
                      uint64_t size, uint64_t flags)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put64(b, offset);
    ct_perf_put64(b, size);
    ct_perf_put64(b, flags);
    return ct_perf_write_kernel(w, CT_PERF_AUX, 0, b, stamp);
}

int ct_perf_write_sample(struct ct_perf_writer *w, const struct ct_perf_stamp *stamp,
                         const struct ct_perf_written_sample *sample)
{
    struct ct_perf_body *b = &w->body;
    b->size = 0;
    ct_perf_put64(b, SAMPLE_EVENT);
    ct_perf_put64(b, sample->ip);
    ct_perf_put32(b, stamp->pid);
    ct_perf_put32(b, stamp->tid);
    if (!w->options.timeless)
        ct_perf_put64(b, stamp->time);
    ct_perf_put32(b, stamp->cpu);
    ct_perf_put32(b, 0);
    ct_perf_put64(b, sample->period);
    ct_perf_put64(b, sample->count);
    for (size_t i = sample->count; i > 0; i--) {
        ct_perf_put64(b, sample->branches[i - 1].from);
        ct_perf_put64(b, sample->branches[i - 1].to);
        ct_perf_put64(b, 0); /* nothing is known of its prediction */
    }
    return write_record(w, CT_PERF_SAMPLE, sample->kernel ? CT_PERF_MISC_KERNEL : CT_PERF_MISC_USER, b);
}

static int add_to_index(struct ct_perf_writer *w)
{
    if (!CT_PUSH_ROOM(w->index, w->index_count))
        return CT_ERR_NOMEM;
    w->index[w->index_count++] = w->at;
    return CT_OK;
}

int ct_perf_write_trace(struct ct_perf_writer *w, uint32_t idx, uint32_t tid, uint32_t cpu,
                        uint64_t aux_offset, uint64_t size)
{
    struct ct_perf_body *b = &w->body;
    int rc = add_to_index(w);
    b->size = 0;
    ct_perf_put64(b, size);
    ct_perf_put64(b, aux_offset);
    ct_perf_put64(b, 0); /* reference */
    ct_perf_put32(b, idx);
    ct_perf_put32(b, tid);
    ct_perf_put32(b, cpu);
    ct_perf_put32(b, 0);
    return rc ? rc : ct_perf_write_user(w, CT_PERF_AUXTRACE, 0, b);
}

/* Appends the machine name, padded. */
static void put_arch(struct ct_perf_body *b)
{
    static const char arch[ARCH_SIZE - 4] = "aarch64";
    ct_perf_put32(b, sizeof arch);
    put(b, arch, sizeof arch);
}

/* Writes the features of a file of samples: a table of offsets, build ids, and the machine name. A section
 * without contents says that there are branch stacks. */
static int write_features_of_samples(struct ct_perf_writer *w)
{
    struct ct_perf_body *b = &w->body;
    const uint64_t at = w->at + 48;
    const uint64_t arch = at + w->ids_size;
    b->size = 0;
    ct_perf_put64(b, at);
    ct_perf_put64(b, w->ids_size);
    ct_perf_put64(b, arch);
    ct_perf_put64(b, ARCH_SIZE);
    ct_perf_put64(b, arch + ARCH_SIZE);
    ct_perf_put64(b, 0);
    int rc = write_body(w, b) ?: ct_perf_write_bytes(w, w->ids, w->ids_size);
    b->size = 0;
    put_arch(b);
    return rc ? rc : write_body(w, b);
}

/* Writes the features: a table of offsets, then the machine name, and the index of trace. */
static int write_features_of_trace(struct ct_perf_writer *w)
{
    struct ct_perf_body *b = &w->body;
    uint64_t at = w->at + 32;
    b->size = 0;
    ct_perf_put64(b, at);
    ct_perf_put64(b, ARCH_SIZE);
    ct_perf_put64(b, at + ARCH_SIZE);
    ct_perf_put64(b, 8 + 16 * (uint64_t)w->index_count);
    put_arch(b);
    ct_perf_put64(b, w->index_count);
    int rc = write_body(w, b);
    for (size_t i = 0; !rc && i < w->index_count; i++) {
        b->size = 0;
        ct_perf_put64(b, w->index[i]);
        ct_perf_put64(b, 48);
        rc = write_body(w, b);
    }
    return rc;
}

static int end_file(struct ct_perf_writer *w)
{
    const uint64_t size = w->at - w->data;
    const uint64_t others = w->options.samples
                                ? UINT64_C(1) << CT_PERF_FEATURE_BRANCH_STACK | 1u << CT_PERF_FEATURE_BUILD_ID
                                : UINT64_C(1) << CT_PERF_FEATURE_AUXTRACE;
    int rc = w->options.samples ? write_features_of_samples(w) : write_features_of_trace(w);
    const uint64_t end = w->at;
    if (!rc)
        rc = w->options.seek(w->user, 0);
    if (!rc)
        rc = write_head(w, size, UINT64_C(1) << CT_PERF_FEATURE_ARCH | others);
    return rc ? rc : w->options.seek(w->user, end);
}

int ct_perf_write_end(struct ct_perf_writer *w)
{
    int rc = w->options.pipe ? CT_OK : end_file(w);
    free(w->index);
    free(w->ids);
    w->index = NULL;
    w->ids = NULL;
    return rc;
}
