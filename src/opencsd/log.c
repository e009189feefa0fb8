/* SPDX-License-Identifier: Apache-2.0 */
/* The interface has one logger for the process, without a handle: this is the one place of the project that
 * cannot do without globals. */
#include "opencsd/log.h"

#include <stdio.h>
#include <string.h>

#include "opencsd/error_text.h"

enum {
    TEXT_SIZE = 512, /* longest message */
};

static struct {
    ocsd_err_severity_t verbosity;
    int has_output; /* ocsd_def_errlog_init made an output */
    int flags;      /* C_API_MSGLOGOUT_FLG_… */
    FILE *file;
    FnDefLoggerPrintStrCB print;
    const void *print_context;
    ocsd_err_t last;
    ocsd_trc_index_t last_index;
    uint8_t last_id;
    char last_text[TEXT_SIZE];
} logger = {.last_index = OCSD_BAD_TRC_INDEX, .last_id = OCSD_BAD_CS_SRC_ID};

int ct_ocsd_prints(void)
{
    return logger.has_output;
}

void ct_ocsd_print_bytes(const char *text, size_t size)
{
    if (!logger.has_output)
        return;
    if (logger.flags & C_API_MSGLOGOUT_FLG_STDOUT)
        fwrite(text, 1, size, stdout);
    if (logger.flags & C_API_MSGLOGOUT_FLG_STDERR)
        fwrite(text, 1, size, stderr);
    if (logger.file)
        fwrite(text, 1, size, logger.file);
    if (logger.print)
        logger.print(logger.print_context, text, (int)size);
}

void ct_ocsd_print(const char *text)
{
    ct_ocsd_print_bytes(text, strlen(text));
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

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity, const int create_output_logger)
{
    logger.verbosity = verbosity;
    logger.has_output |= create_output_logger;
    return OCSD_OK;
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char *log_file_name)
{
    if (!logger.has_output)
        return OCSD_ERR_NOT_INIT;
    logger.flags = output_flags & C_API_MSGLOGOUT_MASK;
    if (logger.file)
        fclose(logger.file);
    logger.file = NULL;
    if (!(logger.flags & C_API_MSGLOGOUT_FLG_FILE))
        return OCSD_OK;
    logger.file = fopen(log_file_name ? log_file_name : "ocsd_log.log", "w");
    return logger.file ? OCSD_OK : OCSD_ERR_FILE_ERROR;
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void *p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb)
{
    (void)handle;
    if (!logger.has_output)
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
