/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data files (docs/formats.md): what 'perf record -e cs_etm//' and simpleperf write. */
#include "input/perf.h"

#include <stdio.h>
#include <string.h>

/* Returns the file of a recording that is a directory ('perf record --kcore'). */
static const char *in_folder(char *text, size_t size, const char *folder)
{
    snprintf(text, size, "%s/data", folder);
    return text;
}

static int perf_probe(const struct ct_files *files, const struct ct_path_to_open *target, char *why,
                      size_t cap)
{
    char path[4096];
    char head[8];
    uint64_t size;
    if (target->kind == CT_FILE_DIR && files->read_at) {
        in_folder(path, sizeof path, target->path);
        if (files->look(files->user, path, &size) == CT_FILE_REGULAR &&
            files->read_at(files->user, path, 0, head, sizeof head) == sizeof head &&
            memcmp(head, CT_PERF_MAGIC, sizeof head) == 0)
            return 1;
        snprintf(why, cap, "this is a directory without a file 'data' that begins with PERFILE2");
        return 0;
    }
    if (target->head_size >= 8 && files->read_at &&
        (memcmp(target->head, CT_PERF_MAGIC, 8) == 0 || memcmp(target->head, "2ELIFREP", 8) == 0))
        return 1;
    snprintf(why, cap, "%s",
             target->kind == CT_FILE_REGULAR ? "the file does not begin with PERFILE2"
                                             : "this is not a regular file");
    return 0;
}

static int make_memory(struct ct_perf *p)
{
    struct ct_capture *capture = p->opening->capture;
    struct ct_perf_objects *objects;
    struct ct_maps *maps;
    struct ct_image *images;
    const struct ct_context_name *names;
    size_t count, name_count;
    int rc = ct_perf_objects_new(p, &objects)
             ?: ct_perf_make_maps(p, objects, &maps)
             ?: ct_perf_name_threads(p, &names, &name_count)
             ?: ct_perf_kernel_images(p, objects, &images, &count);
    if (rc)
        return rc;
    struct ct_buffer *buffers =
        (struct ct_buffer *)(uintptr_t)capture->buffers; /* NOLINT(performance-no-int-to-ptr) */
    for (size_t i = 0; i < capture->buffer_count; i++) {
        buffers[i].maps = maps;
        buffers[i].images = images;
        buffers[i].image_count = count;
        buffers[i].names = names;
        buffers[i].name_count = name_count;
    }
    capture->maps = maps;
    return ct_perf_name_programs(p, maps);
}

/* Checks that there is trace, and reports what a recording without trace may be. */
static int check_trace(struct ct_perf *p)
{
    if (p->has_info && p->trace_count)
        return CT_OK;
    if (p->cut)
        return ct_perf_damage(p, "the file has no trace before that");
    return ct_fail(p->opening->ctx, p->has_info ? CT_ERR_FORMAT : CT_ERR_NOT_FOUND,
                   "%s: %s, so there is nothing to decode; record with 'perf record -e cs_etm//'",
                   p->file.path,
                   p->has_info ? "the recording has CoreSight trace units, but no trace"
                               : "the perf.data file has no hardware trace");
}

static void tell(const struct ct_perf *p)
{
    const struct ct_capture *capture = p->opening->capture;
    for (size_t i = 0; i < capture->damage_count; i++)
        ct_log(p->opening->ctx, CT_LOG_WARNING, "%s", capture->damage[i]);
}

static int read_all(struct ct_perf *p)
{
    int rc = ct_perf_read_header(p) ?: ct_perf_read_records(p) ?: ct_perf_read_features(p);
    if (!rc && p->lost)
        rc = ct_perf_damage(
            p,
            "%llu records were lost while recording; mappings of programs and names of threads may be "
            "missing",
            (unsigned long long)p->lost);
    if (!rc && p->lossy)
        rc = ct_perf_damage(
            p,
            "trace was lost while recording (AUX records that say so: %llu); what ran then is unknown; "
            "record with a larger AUX buffer",
            (unsigned long long)p->lossy);
    if (!rc && p->bad)
        rc = ct_perf_damage(p,
                            "%llu record%s too short or contradictory, the first at offset 0x%llx, and "
                            "ignored; trace, mappings "
                            "of programs and names of threads may be missing",
                            (unsigned long long)p->bad, p->bad == 1 ? " is" : "s are",
                            (unsigned long long)p->bad_at);
    if (!rc)
        rc = check_trace(p);
    if (!rc)
        rc = ct_perf_finish_sources(p);
    if (!rc)
        rc = ct_perf_make_buffers(p);
    if (!rc)
        rc = make_memory(p);
    return rc;
}

static int perf_open(struct ct_opening *opening, const struct ct_path_to_open *target)
{
    struct ct_perf p = {.opening = opening, .options = opening->options};
    const char *path = target->path;
    if (target->kind == CT_FILE_DIR) {
        p.folder = target->path;
        path = ct_path_join(opening->arena, target->path, "data");
    }
    int rc = path ? ct_perf_file_open(&p.file, opening->ctx, opening->files, path)
                  : ct_fail_nomem(opening->ctx, target->path);
    if (!rc)
        rc = read_all(&p);
    if (!rc)
        tell(&p);
    ct_perf_file_close(&p.file);
    ct_pair_map_free(&p.attr_ids);
    ct_arena_free(&p.arena);
    return rc;
}

const struct ct_reader ct_reader_perf = {.kind = "perf.data", .probe = perf_probe, .open = perf_open};
