/* SPDX-License-Identifier: Apache-2.0 */
/* The interface has one logger per process, without a handle; so this file is the only place in the project
 * with global state. */
#include "opencsd/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/error_text.h"
#include "opencsd/tree.h"

enum {
    TEXT_SIZE = 512, /* longest message */
};

/* Destinations of text. */
struct ct_ocsd_outlet {
    unsigned users; /* the logger, and trees that print here */
    int flags;      /* C_API_MSGLOGOUT_FLG_… */
    char *path;     /* path of the output file, or NULL */
    FILE *file;     /* that file, opened at the first text */
    FnDefLoggerPrintStrCB print;
    const void *print_context;
};

static struct {
    ocsd_err_severity_t verbosity;
    struct ct_ocsd_outlet *outlet;  /* outlet made last by ocsd_def_errlog_init, or NULL */
    struct ct_ocsd_outlet *printer; /* outlet of the tree being processed, or NULL for the logger's */
    ocsd_err_t last;
    ocsd_trc_index_t last_index;
    uint8_t last_id;
    char last_text[TEXT_SIZE];
} logger = {.verbosity = OCSD_ERR_SEV_ERROR, .last_index = OCSD_BAD_TRC_INDEX, .last_id = OCSD_BAD_CS_SRC_ID};

/* ---- outlets ---- */

/* Resets an outlet to new flags and path. Closes its file and drops its callback. */
static ocsd_err_t set_outlet(struct ct_ocsd_outlet *outlet, int flags, const char *path)
{
    if (outlet->file)
        fclose(outlet->file);
    free(outlet->path);
    *outlet = (struct ct_ocsd_outlet){.users = outlet->users, .flags = flags};
    if (!path || !*path)
        return OCSD_OK;
    outlet->path = strdup(path);
    return outlet->path ? OCSD_OK : OCSD_ERR_MEM;
}

void ct_ocsd_outlet_release(struct ct_ocsd_outlet *outlet)
{
    if (!outlet || --outlet->users)
        return;
    set_outlet(outlet, C_API_MSGLOGOUT_FLG_NONE, NULL);
    free(outlet);
}

struct ct_ocsd_outlet *ct_ocsd_outlet_select(struct ct_ocsd_outlet *outlet)
{
    struct ct_ocsd_outlet *before = logger.printer;
    logger.printer = outlet;
    return before;
}

/* Writes text to an outlet; NULL is allowed. text[size] must be 0. */
static void put(struct ct_ocsd_outlet *outlet, const char *text, size_t size)
{
    if (!outlet)
        return;
    if (outlet->flags & C_API_MSGLOGOUT_FLG_STDOUT)
        fwrite(text, 1, size, stdout);
    if (outlet->flags & C_API_MSGLOGOUT_FLG_STDERR)
        fwrite(text, 1, size, stderr);
    if (outlet->path && !outlet->file)
        outlet->file = fopen(outlet->path, "a");
    if (outlet->file) {
        fwrite(text, 1, size, outlet->file);
        fflush(outlet->file);
    }
    if (outlet->print)
        outlet->print(outlet->print_context, text, (int)size);
}

void ct_ocsd_print_bytes(const char *text, size_t size)
{
    put(logger.printer ? logger.printer : logger.outlet, text, size);
}

void ct_ocsd_print(const char *text)
{
    ct_ocsd_print_bytes(text, strlen(text));
}

/* ---- messages ---- */

void ct_ocsd_log_text(ocsd_err_severity_t severity, const char *text)
{
    if (logger.verbosity >= severity)
        put(logger.outlet, text, strlen(text));
}

/* Writes the text of an error, without its component. */
static void describe(ocsd_err_t code, ocsd_trc_index_t index, uint8_t id, const char *message, char *text,
                     size_t size)
{
    char place[64] = "";
    char code_text[192];
    int used = 0;
    if (index != OCSD_BAD_TRC_INDEX)
        used = snprintf(place, sizeof place, "TrcIdx=%" OCSD_TRC_IDX_STR "; ", index);
    if (id != OCSD_BAD_CS_SRC_ID)
        snprintf(place + used, sizeof place - (size_t)used, "CS ID=%02x; ", id);
    ct_ocsd_error_text(code, code_text, sizeof code_text);
    snprintf(text, size, "%s%s%s", code_text, place, message);
}

void ct_ocsd_log(const char *name, ocsd_err_severity_t severity, ocsd_err_t code, ocsd_trc_index_t index,
                 uint8_t id, const char *message)
{
    char text[TEXT_SIZE + 64];
    if (logger.verbosity < severity)
        return;
    describe(code, index, id, message, logger.last_text, sizeof logger.last_text);
    logger.last = code;
    logger.last_index = index;
    logger.last_id = id;
    snprintf(text, sizeof text, "%s : %s", name, logger.last_text);
    put(logger.outlet, text, strlen(text));
}

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity, const int create_output_logger)
{
    logger.verbosity = verbosity;
    if (!create_output_logger)
        return OCSD_OK;
    struct ct_ocsd_outlet *outlet = calloc(1, sizeof *outlet);
    if (!outlet)
        return OCSD_ERR_MEM;
    *outlet = (struct ct_ocsd_outlet){.users = 1, .flags = C_API_MSGLOGOUT_FLG_STDERR};
    ct_ocsd_outlet_release(logger.outlet);
    logger.outlet = outlet;
    return OCSD_OK;
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char *log_file_name)
{
    if (!logger.outlet)
        return OCSD_ERR_NOT_INIT;
    return set_outlet(logger.outlet, output_flags & C_API_MSGLOGOUT_MASK, log_file_name);
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void *p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree || !logger.outlet)
        return OCSD_ERR_NOT_INIT;
    logger.outlet->print = p_str_print_cb;
    logger.outlet->print_context = p_context;
    logger.outlet->users++;
    ct_ocsd_outlet_release(tree->outlet);
    tree->outlet = logger.outlet;
    return OCSD_OK;
}

void ocsd_def_errlog_msgout(const char *msg)
{
    if (msg)
        put(logger.outlet, msg, strlen(msg));
}

ocsd_err_t ocsd_get_last_err(ocsd_trc_index_t *index, uint8_t *chan_id, char *message, const int message_len)
{
    if (index)
        *index = logger.last_index;
    if (chan_id)
        *chan_id = logger.last_id;
    if (message && message_len > 0)
        snprintf(message, (size_t)message_len, "%s", logger.last_text);
    return logger.last;
}
