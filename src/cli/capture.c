/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/branch_lists.h"
#include "cli/capture.h"
#include "cli/inputs.h"

#include "coretap/program.h"
#include "coretap/ran.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ran.h"
#include "cli/perf_options.h"
#include "cli/raw_bytes.h"
#include "coretap/format.h"

const char *const cli_framings[] = {"auto", "none", "frames", "tpiu", "dstream", NULL};

/* Reads `size` bytes, or fewer at the end of the input. Returns their number, or -1. */
static ssize_t read_first(char *bytes, size_t size)
{
    size_t have = 0;
    ssize_t got = 1;
    while (have < size && got > 0) {
        got = read(STDIN_FILENO, bytes + have, size - have);
        have += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? -1 : (ssize_t)have;
}

/* Copies the `size` bytes already read and the rest of standard input into a file without a name, which can
 * be read again from its start. Returns its descriptor, or -1. */
static int spool_stdin(const char *first, ssize_t size)
{
    FILE *file = tmpfile();
    int fd = file ? dup(fileno(file)) : -1;
    if (file)
        fclose(file);
    static char data[1 << 16];
    ssize_t got = size;
    if (fd >= 0 && got > 0 && write(fd, first, (size_t)got) != got)
        got = -1;
    got = got < 0 ? -1 : 1;
    while (fd >= 0 && got > 0) {
        got = read(STDIN_FILENO, data, sizeof data);
        if (got > 0 && write(fd, data, (size_t)got) != got)
            got = -1;
    }
    if (fd < 0 || got < 0) {
        cli_say("standard input: it cannot be copied to a temporary file: %s; save it to a file and name "
                "that file",
                strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

bool cli_is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

bool cli_capture_spool(struct cli_capture *c)
{
    bool one_pass = c->args->values[CLI_CAPTURE_ID].given || c->buffers[0].source_count < 2;
    return (one_pass && c->count == 1) || cli_capture_spool_always(c);
}

bool cli_capture_spool_always(struct cli_capture *c)
{
    static char path[32];
    for (size_t i = 0; i < c->count; i++) {
        if (!cli_is_standard(c->buffers[i].path))
            continue;
        if (c->spool < 0)
            c->spool = spool_stdin(NULL, 0);
        if (c->spool < 0)
            return false;
        snprintf(path, sizeof path, "/proc/self/fd/%d", c->spool);
        c->buffers[i].path = path;
    }
    return true;
}

/* Lists the buffers that the options select. Returns false after a message. */
static bool choose_buffers(struct cli_capture *c)
{
    const struct cli_value *name = &c->args->values[CLI_CAPTURE_BUFFER];
    c->buffers = calloc(c->capture->buffer_count + 1, sizeof *c->buffers);
    if (!c->buffers) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < c->capture->buffer_count; i++)
        if (!name->given || strcmp(name->text, c->capture->buffers[i].name) == 0)
            c->buffers[c->count++] = c->capture->buffers[i];
    if (c->count || !name->given)
        return true;
    cli_say("%s: the capture has no buffer '%s'; 'coretap info' lists its buffers", c->path, name->text);
    return false;
}

static bool has_id(const struct ct_buffer *buffer, uint64_t id)
{
    if (buffer->framing == CT_FRAMING_NONE)
        return id == 0;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (buffer->sources[i].trace_id == id)
            return true;
    return false;
}

/* Returns the source whose data trace has this ID, or NULL. */
static const struct ct_source *data_traced_by(const struct cli_capture *c, uint64_t id)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; id && k < c->buffers[i].source_count; k++)
            if (ct_source_data_id(&c->buffers[i].sources[k]) == id)
                return &c->buffers[i].sources[k];
    return NULL;
}

static bool check_id(const struct cli_capture *c)
{
    const struct cli_value *id = &c->args->values[CLI_CAPTURE_ID];
    for (size_t i = 0; i < c->count; i++)
        if (id->given && has_id(&c->buffers[i], id->number))
            return true;
    if (!id->given)
        return true;
    const struct ct_source *source = data_traced_by(c, id->number);
    if (source)
        cli_say("%s: trace ID %02x is the data trace of %s, which coretap does not decode; use ID %02x, its "
                "instruction trace",
                c->path, (unsigned)id->number, source->name, source->trace_id);
    else
        cli_say("%s: the capture has no trace source with ID %02x; 'coretap info' lists its sources", c->path,
                (unsigned)id->number);
    return false;
}

static uint64_t total_bytes(const struct cli_capture *c)
{
    uint64_t total = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct stat st;
        const char *path = c->buffers[i].path;
        for (size_t k = 0; k < c->buffers[i].piece_count; k++)
            total += c->buffers[i].pieces[k].size;
        if (!c->buffers[i].pieces && path && !cli_is_standard(path) && stat(path, &st) == 0)
            total += (uint64_t)st.st_size;
    }
    return total;
}

/* Finds the file with a build id among those of --elf and in the folders of --symdir. */
static const char *find_file(void *user, const uint8_t *build_id, size_t size)
{
    const char *path = NULL;
    (void)ct_debug_files_program(user, build_id, size, &path);
    return path;
}

/* Opens the capture at `path` with the options. Returns false after a message. */
static bool open_file(const struct cli_args *args, const char *path, struct ct_capture **capture)
{
    const struct cli_value *values = args->values;
    const struct ct_capture_options options = {.size = sizeof(struct ct_capture_options),
                                               .symfs = values[CLI_CAPTURE_SYMFS].text,
                                               .vmlinux = values[CLI_CAPTURE_VMLINUX].text,
                                               .kcore = values[CLI_CAPTURE_KCORE].text,
                                               .buildid_dir = values[CLI_CAPTURE_BUILDID_DIR].text,
                                               .find_file = args->debug_files ? find_file : NULL,
                                               .user = args->debug_files};
    const int rc = ct_capture_open_with(args->ctx, path, &options, capture);
    if (rc && (rc != CT_ERR_FORMAT || !cli_raw_bytes_tell(path)))
        cli_library_error(args->ctx);
    return rc == CT_OK && cli_inputs_add(*capture);
}

bool cli_capture_describe(const struct cli_args *args, struct ct_capture **capture)
{
    const struct cli_value *config = &args->values[CLI_CAPTURE_CONFIG];
    const char *path = config->given ? config->text : args->operand;
    *capture = NULL;
    if (!cli_perf_options_check(args, args->operand))
        return false;
    return cli_is_standard(path) || open_file(args, path, capture);
}

/* Opens the capture at `path`. Copies perf.data from standard input into a file first, because its beginning
 * cannot be understood without its end. Returns false after a message. */
static bool open_path(struct cli_capture *c, const char *path)
{
    char spooled[32];
    if (cli_is_standard(path)) {
        char first[8];
        ssize_t size = read_first(first, sizeof first);
        if (size < (ssize_t)sizeof first || memcmp(first, "PERFILE2", sizeof first) != 0) {
            cli_usage_error(c->args->command, "CAPTURE '-': standard input is not a perf.data file; a raw "
                                              "trace stream needs a description; add --config FILE.ini");
            return false;
        }
        c->spool = spool_stdin(first, size);
        if (c->spool < 0)
            return false;
        snprintf(spooled, sizeof spooled, "/proc/self/fd/%d", c->spool);
        path = spooled;
    }
    return open_file(c->args, path, &c->capture);
}

static bool open_capture(struct cli_capture *c)
{
    const struct cli_value *config = &c->args->values[CLI_CAPTURE_CONFIG];
    bool from_stdin = cli_is_standard(c->path) && config->given;
    if (!cli_is_standard(c->path) && config->given) {
        cli_usage_error(
            c->args->command,
            "--config describes a stream on standard input; name '-' as CAPTURE, or leave --config out");
        return false;
    }
    if (!open_path(c, from_stdin ? config->text : c->path) || !choose_buffers(c))
        return false;
    if (from_stdin && c->count > 1) {
        cli_say(
            "%s: it describes %zu buffers, but standard input has only one; choose the buffer with --buffer",
            config->text, c->count);
        return false;
    }
    if (from_stdin)
        c->buffers[0].path = "-";
    uint64_t framing = c->args->values[CLI_CAPTURE_FRAMING].number;
    for (size_t i = 0; framing && i < c->count; i++)
        c->buffers[i].framing = (uint8_t)framing;
    return true;
}

bool cli_capture_open(struct cli_capture *c, const struct cli_args *args)
{
    return cli_capture_open_path(c, args, args->operand);
}

bool cli_capture_open_path(struct cli_capture *c, const struct cli_args *args, const char *path)
{
    *c = (struct cli_capture){.args = args, .path = path, .spool = -1};
    if (cli_branch_lists_refuse(args, path) || !cli_perf_options_check(args, path))
        return false;
    if (!open_capture(c) || !check_id(c)) {
        cli_capture_close(c);
        return false;
    }
    cli_progress_start(&c->progress, total_bytes(c), args->quiet);
    return true;
}

void cli_capture_close(struct cli_capture *c)
{
    cli_progress_clear();
    free(c->buffers);
    ct_capture_free(c->capture);
    if (c->spool >= 0)
        close(c->spool);
}

void cli_capture_tell_frames(struct cli_capture *c, const struct ct_chain *chain)
{
    struct ct_seen seen = {0};
    ct_seen_add(&seen, chain, CT_LEVEL_FRAME, 1);
    if (!seen.misframed || c->told_misframed)
        return;
    c->told_misframed = true;
    cli_say("%s: no CoreSight frame was found in %llu bytes with framing %s; nothing was decoded; try "
            "another --framing",
            c->path, (unsigned long long)ct_chain_frame_stats(chain)->input_bytes,
            ct_framing_name(ct_chain_framing(chain)));
}

void cli_capture_count(struct cli_capture *c, const struct ct_chain *chain, enum ct_level level, bool frames)
{
    if (frames)
        cli_capture_tell_frames(c, chain);
    ct_seen_add(&c->seen, chain, level, frames);
}

bool cli_capture_is_damaged(const struct cli_capture *c, bool strict)
{
    return ct_seen_is_damaged(&c->seen, c->capture, strict);
}

int cli_capture_code_untold(const struct cli_capture *c, int code)
{
    const bool damaged = cli_capture_is_damaged(c, c->args->values[CLI_CAPTURE_STRICT].given);
    return code == CLI_CLEAN && (damaged || !c->seen.has_trace) ? CLI_DAMAGED : code;
}

/* Counts the files named by the caller that stand for memory missing in the capture. Sets *first to the first
 * one. */
static size_t count_given(const struct cli_capture *c, const char **first)
{
    size_t most = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct ct_buffer *of = c->capture->buffers;
        while (of->name != c->buffers[i].name)
            of++;
        if (c->buffers[i].image_count <= of->image_count + most)
            continue;
        /* these stand behind the images of the capture */
        *first = c->buffers[i].images[of->image_count].path;
        most = c->buffers[i].image_count - of->image_count;
    }
    return most;
}

/* Fewer contradictions may be those of damaged trace. */
#define FEW_CONTRADICTIONS 4

/* Reports that the images which the description of the capture names may not be what ran. Damaged trace
 * contradicts the program, too, but has more invalid packets and other gaps. */
static void tell_described(const struct cli_capture *c)
{
    const struct ct_losses *losses = &c->seen.losses;
    const struct ct_buffer *first = c->buffers;
    if (losses->contradictions < FEW_CONTRADICTIONS || losses->contradictions <= losses->gaps / 2 ||
        losses->contradictions <= 2 * losses->bad_packets || !c->count || !first->image_count ||
        strcmp(c->capture->kind, "perf.data") == 0)
        return;
    cli_say("%s: %s%s may not be what ran, because the trace contradicts the code again and again; what ran "
            "after each contradiction is left out; name the build that ran in the description",
            c->path, first->images[0].path, first->image_count > 1 ? " (or another image)" : "");
}

/* Reports which file may not be what ran, when the trace contradicts its code. */
static void tell_contradicted(const struct cli_capture *c)
{
    const char *file = NULL;
    const size_t given = count_given(c, &file);
    if (!given)
        tell_described(c);
    if (given && c->seen.losses.contradictions)
        cli_say("%s: %s%s may not be the build that ran, because the trace contradicts its code; what ran "
                "after each contradiction is left out; name the build that ran with --elf",
                c->path, file, given > 1 ? " (or another file of --elf)" : "");
}

/* Reports why nothing was decoded. */
static void tell_empty(const struct cli_capture *c)
{
    static const char *const selecting[] = {"id", "core", "buffer"};
    char option[16] = "";
    for (size_t i = 0; i < sizeof selecting / sizeof *selecting && !*option; i++) {
        const struct cli_value *value = cli_value_of(c->args, selecting[i]);
        if (value && value->given)
            snprintf(option, sizeof option, "--%s", selecting[i]);
    }
    (void)cli_empty_tell(c->args, c->path,
                         &(struct ct_empty_options){.selected = *option ? option : NULL, .seen = &c->seen});
}

void cli_capture_tell_missing(const struct cli_capture *c)
{
    for (size_t i = 0; !c->args->quiet && i < c->capture->missing_count; i++)
        if (c->args->verbose || ct_holes_in_missing(&c->seen.holes, c->capture, i))
            cli_note(c->capture->missing[i]);
}

/* Reports where memory was missing and how often, by the file that was mapped there or by address. */
static void tell_holes(const char *operand, const struct ct_holes *holes, const struct ct_capture *capture)
{
    char text[CT_RAN_WORDS];
    cli_say("%s: the capture has no memory image of code that ran in %s; that code was not decoded; 'coretap "
            "info' lists the images and the missing files",
            operand, ct_holes_words(text, holes, capture, NULL, "time", "times"));
}

int cli_capture_code(const struct cli_capture *c, int code)
{
    char words[CT_LOSSES_WORDS];
    const int result = cli_capture_code_untold(c, code);
    if (result == CLI_FAILED)
        return result;
    if (ct_losses_any(&c->seen.losses) && (result == CLI_DAMAGED || !c->args->quiet))
        cli_say("%s: losses: %s", c->path, ct_losses_words(words, &c->seen.losses));
    if (c->seen.holes.count && (result == CLI_DAMAGED || !c->args->quiet))
        tell_holes(c->path, &c->seen.holes, c->capture);
    if (!c->seen.has_trace && !cli_capture_is_damaged(c, false))
        tell_empty(c);
    tell_contradicted(c);
    cli_capture_tell_missing(c);
    return result;
}

struct ct_chain_options cli_capture_chain_options(const struct cli_capture *c, enum ct_level level)
{
    const struct cli_value *id = &c->args->values[CLI_CAPTURE_ID];
    struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    if (id->given)
        options.ids[id->number / 64] = UINT64_C(1) << (id->number % 64);
    return options;
}

bool cli_capture_name_events(const struct cli_capture *capture, struct ct_watches *watches)
{
    int rc = CT_OK;
    for (size_t i = 0; i < capture->count && !rc; i++)
        rc = ct_watches_events(watches, &capture->buffers[i]);
    if (rc)
        cli_no_memory();
    return rc == CT_OK;
}

bool cli_capture_has_code(const struct cli_capture *capture, const char *option)
{
    for (size_t i = 0; i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count; k++)
            if (!option || !ct_protocol_is_software(capture->buffers[i].sources[k].protocol))
                return true;
    if (!option)
        return true;
    cli_usage_error(
        capture->args->command,
        "--%s needs an instruction trace, but no source of %s traces instructions; leave the option out",
        option, capture->path);
    return false;
}

uint16_t cli_threads(const struct cli_args *args)
{
    const struct cli_value *threads = cli_value_of(args, "threads");
    return threads && threads->given ? (uint16_t)threads->number : 1;
}

bool cli_without_threads(const struct cli_args *args, const char *how)
{
    const struct cli_value *threads = cli_value_of(args, "threads");
    if (!threads || !threads->given)
        return true;
    cli_usage_error(args->command, "--threads: %s with one thread", how);
    return false;
}
