/* SPDX-License-Identifier: Apache-2.0 */
/* The interface has one logger for the process, without a handle: this is the one place of the project that
 * cannot do without globals. */
#include "opencsd/log.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/error_text.h"

enum {
    TEXT_SIZE = 512, /* longest message */
};

static struct {
    ocsd_err_severity_t verbosity;
    bool has_output; /* ocsd_def_errlog_init made an output */
    int flags;       /* C_API_MSGLOGOUT_FLG_… */
    char *path;      /* of the file that text goes to, or NULL */
    FILE *file;      /* it, once there was text */
    FnDefLoggerPrintStrCB print;
    const void *print_context;
    ocsd_err_t last;
    ocsd_trc_index_t last_index;
    uint8_t last_id;
    char last_text[TEXT_SIZE];
} logger = {.verbosity = OCSD_ERR_SEV_ERROR, .last_index = OCSD_BAD_TRC_INDEX, .last_id = OCSD_BAD_CS_SRC_ID};

void ct_ocsd_print_bytes(const char *text, size_t size)
{
    if (!logger.has_output)
        return;
    if (logger.flags & C_API_MSGLOGOUT_FLG_STDOUT)
        fwrite(text, 1, size, stdout);
    if (logger.flags & C_API_MSGLOGOUT_FLG_STDERR)
        fwrite(text, 1, size, stderr);
    if (logger.path && !logger.file)
        logger.file = fopen(logger.path, "a");
    if (logger.file) {
        fwrite(text, 1, size, logger.file);
        fflush(logger.file);
    }
    if (logger.print)
        logger.print(logger.print_context, text, (int)size);
}

void ct_ocsd_print(const char *text)
{
    ct_ocsd_print_bytes(text, strlen(text));
}

void ct_ocsd_log_text(ocsd_err_severity_t severity, const char *text)
{
    if (logger.verbosity >= severity)
        ct_ocsd_print(text);
}

/* Writes the text of an error, without the component that it is of. */
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
    ct_ocsd_print(text);
}

/* Makes an output anew, which forgets the file and the callback of the one before. */
static ocsd_err_t set_output(int flags, const char *path)
{
    if (logger.file)
        fclose(logger.file);
    free(logger.path);
    logger.file = NULL;
    logger.path = NULL;
    logger.print = NULL;
    logger.has_output = true;
    logger.flags = flags;
    if (!(flags & C_API_MSGLOGOUT_FLG_FILE) || !path || !*path)
        return OCSD_OK;
    logger.path = strdup(path);
    return logger.path ? OCSD_OK : OCSD_ERR_MEM;
}

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity, const int create_output_logger)
{
    logger.verbosity = verbosity;
    return create_output_logger ? set_output(C_API_MSGLOGOUT_FLG_STDERR, NULL) : OCSD_OK;
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char *log_file_name)
{
    if (!logger.has_output)
        return OCSD_ERR_NOT_INIT;
    return set_output(output_flags & C_API_MSGLOGOUT_MASK, log_file_name);
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void *p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb)
{
    if (!handle || !logger.has_output)
        return OCSD_ERR_NOT_INIT;
    logger.print = p_str_print_cb;
    logger.print_context = p_context;
    return OCSD_OK;
}

void ocsd_def_errlog_msgout(const char *msg)
{
    if (msg)
        ct_ocsd_print(msg);
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
