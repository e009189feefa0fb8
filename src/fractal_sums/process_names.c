/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_sums/process_names.h"

#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/printable.h"
#include "base/require.h"
#include "coretap/fractal_watch.h"

static void place(struct ct_fractal_process_names *n, unsigned number, uint64_t bias)
{
    n->bias[number] = bias;
    n->placed[number] = true;
}

/* Takes one line of a log's text: "program=PATH", "bias=HEX" or "process=N bias=HEX PATH". Error:
 * CT_ERR_NOMEM. */
static int take_line(struct ct_fractal_process_names *n, const char *line, size_t size)
{
    unsigned number = 0;
    unsigned long long bias = 0;
    int at = 0;
    char *text = ct_arena_strndup(&n->arena, line, size);
    if (!text)
        return CT_ERR_NOMEM;
    if (strncmp(text, "program=", 8) == 0)
        at = 8;
    else if (sscanf(text, "bias=%llx", &bias) == 1 ||
             (sscanf(text, "process=%u bias=%llx %n", &number, &bias, &at) == 2 && number <= 0xff))
        place(n, number, bias);
    if (!at || !text[at] || number > 0xff)
        return CT_OK;
    n->files[number] = ct_base_name(text + at);
    n->names[number] = ct_printable(&n->arena, n->files[number]);
    return n->names[number] ? CT_OK : CT_ERR_NOMEM;
}

int ct_fractal_process_names_take(struct ct_ctx *ctx, const char *text,
                                  struct ct_fractal_process_names *names)
{
    int rc = CT_OK;
    for (size_t size; text && text[names->seen] && !rc;
         names->seen += size + (text[names->seen + size] != 0)) {
        size = strcspn(text + names->seen, "\n");
        rc = take_line(names, text + names->seen, size);
    }
    return rc ? ct_fail_nomem(ctx, "event log") : CT_OK;
}

/* Takes all lines of a log: reads it to its end, then rewinds the reader. Error: CT_ERR_NOMEM. */
static int read_names(struct ct_ctx *ctx, struct ct_fractal_reader *reader,
                      struct ct_fractal_process_names *names)
{
    struct ct_fractal_event events[256];
    while (ct_fractal_reader_next(reader, events, sizeof events / sizeof *events))
        continue;
    const int rc = ct_fractal_process_names_take(ctx, ct_fractal_reader_info(reader)->text, names);
    ct_fractal_reader_rewind(reader);
    return rc;
}

void ct_fractal_process_names_free(struct ct_fractal_process_names *names)
{
    ct_arena_free(&names->arena);
}

int ct_fractal_process_text(const struct ct_fractal_process_names *names, const struct ct_watches *watches,
                            uint32_t process, struct ct_watch_event *event)
{
    char number[16];
    const char *name = names->names[process & 0xff];
    snprintf(number, sizeof number, "0x%x", (unsigned)process);
    name = name ? name : number;
    return ct_watches_set_text(watches, name, strlen(name), event);
}

int ct_fractal_watch_names(struct ct_ctx *ctx, const char *path, struct ct_programs *programs)
{
    CT_REQUIRE(ctx, path, programs);
    struct ct_fractal_process_names names = {0};
    struct ct_context_name list[256];
    struct ct_fractal_reader *reader;
    struct ct_buffer buffer = {.name = "log", .path = path, .names = list};
    const struct ct_capture capture = {
        .path = path, .kind = "event log", .buffer_count = 1, .buffers = &buffer};
    int rc = ct_fractal_reader_open(ctx, path, &reader);
    if (rc)
        return rc;
    rc = read_names(ctx, reader, &names);
    for (uint32_t i = 0; i < sizeof list / sizeof *list && !rc; i++)
        if (names.names[i])
            list[buffer.name_count++] =
                (struct ct_context_name){.name = names.names[i], .context = i, .process = i};
    if (!rc)
        rc = ct_programs_add_capture(programs, &capture);
    ct_fractal_process_names_free(&names);
    ct_fractal_reader_free(reader);
    return rc;
}
