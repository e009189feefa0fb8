/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inputs.h"
#include "coretap/input.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OUTPUTS 16

struct file {
    dev_t device;
    ino_t number;
    const char *path; /* of outputs */
};

static struct {
    const struct cli_args *args; /* NULL between commands */
    struct file outputs[MOST_OUTPUTS];
    size_t output_count;
    struct file *files; /* of open captures */
    size_t count, room;
} inputs;

void cli_inputs_begin(const struct cli_args *args)
{
    inputs.args = args;
}

void cli_inputs_end(void)
{
    free(inputs.files);
    memset(&inputs, 0, sizeof inputs);
}

static bool is_same(const struct file *file, const struct stat *about)
{
    return file->device == about->st_dev && file->number == about->st_ino;
}

/* Says that an output would replace a file with another use, `use`. Returns false. */
static bool refuse(const char *path, const char *use)
{
    cli_say("%s: the output would replace this file, which %s; name another file as the output", path, use);
    return false;
}

static void remember(const struct stat *about)
{
    if (inputs.count == inputs.room) {
        const size_t room = inputs.room ? 2 * inputs.room : 64;
        struct file *files = realloc(inputs.files, room * sizeof *files);
        if (!files) {
            cli_no_memory();
            return;
        }
        inputs.files = files;
        inputs.room = room;
    }
    inputs.files[inputs.count++] = (struct file){about->st_dev, about->st_ino, NULL};
}

static bool add(const char *path)
{
    struct stat about;
    if (!path || stat(path, &about) || !S_ISREG(about.st_mode))
        return true;
    for (size_t i = 0; i < inputs.output_count; i++)
        if (is_same(&inputs.outputs[i], &about))
            return refuse(inputs.outputs[i].path, "belongs to the capture");
    remember(&about);
    return true;
}

bool cli_inputs_add(const struct ct_capture *capture)
{
    bool fine = inputs.args != NULL;
    if (!fine)
        return true;
    for (size_t i = 0; fine && i < capture->buffer_count; i++) {
        const struct ct_buffer *buffer = &capture->buffers[i];
        fine = add(buffer->path);
        for (size_t k = 0; fine && k < buffer->image_count; k++)
            fine = add(buffer->images[k].path);
    }
    for (size_t i = 0; fine && i < capture->program_count; i++)
        fine = add(capture->programs[i].path);
    return fine;
}

/* Returns whether two paths of files that do not exist yet have the same name in the same folder. */
static bool is_same_place(const char *a, const char *b)
{
    const char *const paths[] = {a, b};
    const char *file[2];
    struct stat folder[2];
    for (size_t i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        file[i] = slash ? slash + 1 : paths[i];
        char *path = slash ? strndup(paths[i], (size_t)(slash + 1 - paths[i])) : strdup(".");
        const bool known = path && stat(path, &folder[i]) == 0;
        free(path);
        if (!known)
            return false;
    }
    return strcmp(file[0], file[1]) == 0 && folder[0].st_dev == folder[1].st_dev &&
           folder[0].st_ino == folder[1].st_ino;
}

/* Returns whether the argument of an option names the file, which does not exist when `about` is NULL. An
 * address may follow the name, as in --elf. */
static bool names(const char *text, const char *output, const struct stat *about)
{
    struct stat other;
    if (!text || text == output)
        return false;
    if (!about)
        return is_same_place(text, output);
    if (stat(text, &other) == 0)
        return other.st_dev == about->st_dev && other.st_ino == about->st_ino;
    const char *at = strrchr(text, '@');
    char *name = at ? strndup(text, (size_t)(at - text)) : NULL;
    const bool same =
        name && stat(name, &other) == 0 && other.st_dev == about->st_dev && other.st_ino == about->st_ino;
    free(name);
    return same;
}

/* Returns whether the argument of an option is a file that no output may replace. Bounds and targets are
 * written in the form in which they are read, so that an output can be their next version. */
static bool is_file_option(const struct cli_args *args, size_t option)
{
    const struct cli_option *about = &args->command->options[option];
    return about->arg && strncmp(about->arg, "FILE", 4) == 0 && strcmp(about->name, "bounds") != 0 &&
           strcmp(about->name, "targets") != 0;
}

/* Returns whether operands may be replaced: a sum of saved results may take the place of one of them. Those
 * that are captures are found when they are opened. */
static bool adds_up(const struct cli_args *args)
{
    const struct cli_value *format = cli_value_of(args, "format");
    return strcmp(args->command->name, "merge") == 0 ||
           (format && format->text && strcmp(format->text, "data") == 0);
}

static bool is_named(const struct cli_args *args, const char *path, const struct stat *about)
{
    bool named = false;
    for (size_t i = 0; !named && i < args->command->option_count; i++)
        named = is_file_option(args, i) && names(args->values[i].text, path, about);
    for (size_t i = 0; !named && i < args->list_count; i++)
        named = is_file_option(args, args->list[i].option) && names(args->list[i].text, path, about);
    if (args->command->operand && !adds_up(args))
        for (int i = 0; !named && i < args->rest_count; i++)
            named = names(args->rest[i], path, about);
    return named;
}

bool cli_inputs_allow(const char *path, const struct stat *about)
{
    if (!inputs.args)
        return true;
    if (is_named(inputs.args, path, about))
        return refuse(path, "another argument names");
    if (!about)
        return true;
    for (size_t i = 0; i < inputs.count; i++)
        if (is_same(&inputs.files[i], about))
            return refuse(path, "belongs to the capture");
    if (inputs.output_count < MOST_OUTPUTS)
        inputs.outputs[inputs.output_count++] = (struct file){about->st_dev, about->st_ino, path};
    return true;
}
