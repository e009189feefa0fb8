/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a perf.data file, its attributes, and the features after its data. */
#include "input/perf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

int ct_perf_push(struct ct_perf *p, void *array, size_t *count, size_t size, void **room)
{
    if (*count == CT_PERF_EVENTS_MAX)
        return ct_fail(
            p->opening->ctx, CT_ERR_LIMIT,
            "%s: the file has more than %zu records of one kind, which is the limit; the file is not read; "
            "check that it is not damaged",
            p->file.path, CT_PERF_EVENTS_MAX);
    char *grown = ct_arena_push(&p->arena, array, count, size);
    if (!grown)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    *room = grown;
    return CT_OK;
}

int ct_perf_damage(struct ct_perf *p, const char *fmt, ...)
{
    struct ct_capture *capture = p->opening->capture;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = ct_arena_printf(p->opening->arena, "%s: %s", p->file.path, text);
    const char **damage =
        ct_arena_push(p->opening->arena, capture->damage, &capture->damage_count, sizeof *damage);
    if (!copy || !damage)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    damage[capture->damage_count - 1] = copy;
    capture->damage = damage;
    return CT_OK;
}

int ct_perf_add_attr(struct ct_perf *p, const uint8_t *bytes, size_t size, struct ct_perf_attr **out)
{
    *out = NULL;
    if (size < 48)
        return ct_perf_damage(p,
                              "an event attribute has %zu bytes, but at least 48 are needed; it is "
                              "ignored",
                              size);
    void *room = NULL;
    int rc = ct_perf_push(p, p->attrs, &p->attr_count, sizeof *p->attrs, &room);
    if (!room)
        return rc;
    p->attrs = room;
    *out = &p->attrs[p->attr_count - 1];
    **out = (struct ct_perf_attr){
        .type = ct_load32(bytes), .sample_type = ct_load64(bytes + 24), .flags = ct_load64(bytes + 40)};
    p->attrs_differ |= ((*out)->sample_type ^ p->attrs[0].sample_type) & CT_PERF_IN_SAMPLE_ID;
    p->attrs_lack_identifier |= !((*out)->sample_type & CT_PERF_SAMPLE_IDENTIFIER);
    return CT_OK;
}

int ct_perf_add_attr_id(struct ct_perf *p, uint64_t id)
{
    if (ct_pair_map_get(&p->attr_ids, id, 0) != CT_PAIR_NONE ||
        ct_pair_map_put(&p->attr_ids, id, 0, (uint32_t)p->attr_count - 1) == CT_OK)
        return CT_OK;
    return ct_fail_nomem(p->opening->ctx, p->file.path);
}

struct section {
    uint64_t offset, size;
};

static struct section load_section(const uint8_t *bytes)
{
    return (struct section){ct_load64(bytes), ct_load64(bytes + 8)};
}

static int read_ids(struct ct_perf *p, struct section ids)
{
    size_t count = ids.size / 8 < 8192 ? (size_t)(ids.size / 8) : 8192;
    const uint8_t *bytes = ct_perf_file_bytes(&p->file, ids.offset, count * 8);
    if (!bytes)
        return ct_perf_damage(p,
                              "the IDs of an event attribute are missing: offset 0x%llx is beyond the end "
                              "of the file",
                              (unsigned long long)ids.offset);
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = ct_perf_add_attr_id(p, ct_load64(bytes + 8 * i));
    return rc;
}

static int read_attrs(struct ct_perf *p, struct section attrs, uint64_t entry)
{
    if (entry < 64 || entry > 4096)
        return ct_fail(p->opening->ctx, CT_ERR_FORMAT,
                       "%s: the header is damaged: it gives event attributes %llu bytes, but 64 to 4096 are "
                       "possible; the file cannot be read",
                       p->file.path, (unsigned long long)entry);
    int rc = CT_OK;
    for (uint64_t done = 0; !rc && attrs.size - done >= entry && p->attr_count < CT_ITEMS_MAX;
         done += entry) {
        const uint8_t *bytes = ct_perf_file_bytes(&p->file, attrs.offset + done, (size_t)entry);
        if (!bytes)
            return ct_perf_damage(p,
                                  "event attribute %zu is missing: offset 0x%llx is beyond the end of the "
                                  "file",
                                  p->attr_count, (unsigned long long)attrs.offset + done);
        struct section ids = load_section(bytes + entry - 16);
        struct ct_perf_attr *attr;
        rc = ct_perf_add_attr(p, bytes, (size_t)entry - 16, &attr);
        if (!rc && attr)
            rc = read_ids(p, ids);
    }
    return rc;
}

int ct_perf_read_header(struct ct_perf *p)
{
    const uint8_t *h = ct_perf_file_bytes(&p->file, 0, CT_PERF_PIPE_SIZE);
    if (!h)
        return ct_fail(
            p->opening->ctx, CT_ERR_FORMAT,
            "%s: the file is truncated within its header, so nothing can be read; get a complete copy",
            p->file.path);
    if (memcmp(h, CT_PERF_MAGIC, 8) != 0)
        return ct_fail(
            p->opening->ctx, CT_ERR_UNSUPPORTED,
            "%s: this is a perf.data file of a big-endian machine, which coretap cannot read; record with a "
            "little-endian kernel, or describe its trace alone by an .ini file (docs/formats.md)",
            p->file.path);
    p->pipe = ct_load64(h + 8) == CT_PERF_PIPE_SIZE;
    p->data = CT_PERF_PIPE_SIZE;
    p->data_end = p->file.size;
    if (p->pipe)
        return CT_OK;
    h = ct_perf_file_bytes(&p->file, 0, CT_PERF_HEADER_SIZE);
    if (!h)
        return ct_fail(
            p->opening->ctx, CT_ERR_FORMAT,
            "%s: the file is truncated within its header, so nothing can be read; get a complete copy",
            p->file.path);
    uint64_t entry = ct_load64(h + 16);
    struct section attrs = load_section(h + 24);
    struct section data = load_section(h + 40);
    p->data = data.offset;
    if (data.size == 0)
        p->unclosed = true;
    else if (data.offset > UINT64_MAX - data.size)
        return ct_fail(p->opening->ctx, CT_ERR_FORMAT,
                       "%s: the header is damaged: its data at offset 0x%llx with 0x%llx bytes exceeds 64 "
                       "bits; the file cannot be read",
                       p->file.path, (unsigned long long)data.offset, (unsigned long long)data.size);
    else
        p->data_end = data.offset + data.size;
    return read_attrs(p, attrs, entry);
}

int ct_perf_add_build_id(struct ct_perf *p, const uint8_t *body, size_t size, unsigned misc)
{
    if (size < 29)
        return CT_OK;
    unsigned id_size = misc & CT_PERF_MISC_BUILD_ID_SIZE ? body[24] : CT_BUILD_ID_MAX;
    size_t room_for_name = size - 28;
    void *room = NULL;
    int rc = ct_perf_push(p, p->build_ids, &p->build_id_count, sizeof *p->build_ids, &room);
    if (!room)
        return rc;
    p->build_ids = room;
    struct ct_perf_listed *listed = &p->build_ids[p->build_id_count - 1];
    struct ct_build_id *id = &listed->id;
    *id = (struct ct_build_id){.size = (uint8_t)(id_size < CT_BUILD_ID_MAX ? id_size : CT_BUILD_ID_MAX)};
    memcpy(id->bytes, body + 4, id->size);
    /* ids of 16 bytes (MD5) are padded to 20 */
    if (!(misc & CT_PERF_MISC_BUILD_ID_SIZE) && ct_load32(id->bytes + 16) == 0)
        id->size = 16;
    listed->name =
        ct_arena_strndup(&p->arena, (const char *)body + 28, strnlen((const char *)body + 28, room_for_name));
    return listed->name ? CT_OK : ct_fail_nomem(p->opening->ctx, p->file.path);
}

static int read_build_ids(struct ct_perf *p, struct section s)
{
    int rc = CT_OK;
    for (uint64_t at = s.offset, end = s.offset + s.size; !rc && at < end;) {
        const uint8_t *head = ct_perf_file_bytes(&p->file, at, 8);
        size_t size = head ? ct_load16(head + 6) : 0;
        const uint8_t *record = size >= 8 ? ct_perf_file_bytes(&p->file, at, size) : NULL;
        if (!record)
            return ct_perf_damage(p, "the list of build ids is truncated at offset 0x%llx",
                                  (unsigned long long)at);
        rc = ct_perf_add_build_id(p, record + 8, size - 8, ct_load16(record + 4));
        at += size;
    }
    return rc;
}

int ct_perf_feature(struct ct_perf *p, uint64_t feature, const uint8_t *bytes, size_t size)
{
    if (feature != CT_PERF_FEATURE_OSRELEASE || size < 5)
        return CT_OK;
    p->release =
        ct_arena_strndup(&p->arena, (const char *)bytes + 4, strnlen((const char *)bytes + 4, size - 4));
    return p->release ? CT_OK : ct_fail_nomem(p->opening->ctx, p->file.path);
}

bool ct_perf_section(struct ct_perf *p, enum ct_perf_feature feature, uint64_t *offset, uint64_t *size)
{
    uint8_t flags[CT_PERF_HEADER_SIZE - CT_PERF_HEADER_FLAGS];
    const uint8_t *bytes =
        p->pipe || p->unclosed ? NULL : ct_perf_file_bytes(&p->file, 0, CT_PERF_HEADER_SIZE);
    if (!bytes)
        return false;
    memcpy(flags, bytes + CT_PERF_HEADER_FLAGS, sizeof flags);
    uint64_t at = p->data_end;
    for (unsigned i = 0; i < feature; i++)
        at += 16u * (flags[i / 8] >> i % 8 & 1u);
    bytes = flags[feature / 8] >> feature % 8 & 1 ? ct_perf_file_bytes(&p->file, at, 16) : NULL;
    if (!bytes) /* ct_perf_read_features reports a truncated table */
        return false;
    const struct section section = load_section(bytes);
    *offset = section.offset;
    *size = section.size;
    return section.offset <= UINT64_MAX - section.size;
}

/* Reports a recording that was appended to this one, as 'cat' does. */
static int tell_appended(struct ct_perf *p)
{
    uint64_t end = p->data_end;
    for (unsigned i = 0; i < 8 * (CT_PERF_HEADER_SIZE - CT_PERF_HEADER_FLAGS); i++) {
        struct section s;
        if (ct_perf_section(p, (enum ct_perf_feature)i, &s.offset, &s.size) && s.offset + s.size > end)
            end = s.offset + s.size;
    }
    const uint8_t *next = ct_perf_file_bytes(&p->file, end, sizeof CT_PERF_MAGIC - 1);
    if (!next || memcmp(next, CT_PERF_MAGIC, sizeof CT_PERF_MAGIC - 1) != 0)
        return CT_OK;
    return ct_perf_damage(p,
                          "another recording follows at offset 0x%llx, because two files were joined; it is "
                          "not read; name each file by itself",
                          (unsigned long long)end);
}

/* Returns whether the file ends before the last byte of a feature, or of the table of features. The list of
 * build ids reports that itself, with the first id that is missing. */
static bool features_are_cut(struct ct_perf *p)
{
    const uint8_t *head =
        p->pipe || p->unclosed ? NULL : ct_perf_file_bytes(&p->file, 0, CT_PERF_HEADER_SIZE);
    uint8_t flags[CT_PERF_HEADER_SIZE - CT_PERF_HEADER_FLAGS];
    if (!head ||
        !ct_perf_file_bytes(&p->file, p->data_end - 1, 1)) /* it ends in its data, and that is known */
        return false;
    memcpy(flags, head + CT_PERF_HEADER_FLAGS, sizeof flags);
    for (unsigned i = 0; i < 8 * sizeof flags; i++) {
        struct section s;
        if (!(flags[i / 8] >> i % 8 & 1))
            continue;
        if (!ct_perf_section(p, (enum ct_perf_feature)i, &s.offset, &s.size))
            return true;
        if (i != CT_PERF_FEATURE_BUILD_ID && s.size &&
            !ct_perf_file_bytes(&p->file, s.offset + s.size - 1, 1))
            return true;
    }
    return false;
}

int ct_perf_read_features(struct ct_perf *p)
{
    struct section s;
    int rc = tell_appended(p);
    if (!rc && features_are_cut(p))
        rc = ct_perf_damage(p, "the file is truncated after its trace; build ids and names that perf writes "
                               "there may be missing; get a complete copy");
    if (!rc && ct_perf_section(p, CT_PERF_FEATURE_BUILD_ID, &s.offset, &s.size))
        rc = read_build_ids(p, s);
    if (rc || !ct_perf_section(p, CT_PERF_FEATURE_OSRELEASE, &s.offset, &s.size))
        return rc;
    const size_t size = s.size < 4096 ? (size_t)s.size : 4096;
    const uint8_t *bytes = ct_perf_file_bytes(&p->file, s.offset, size);
    return bytes ? ct_perf_feature(p, CT_PERF_FEATURE_OSRELEASE, bytes, size) : CT_OK;
}
