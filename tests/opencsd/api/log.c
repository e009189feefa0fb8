/* SPDX-License-Identifier: Apache-2.0 */
/* The logger: its outputs, its severity, the last error, and texts of error codes. */
#include "opencsd/api/api.h"

#include <string.h>

/* Causes an error that is logged. */
static void fail(void)
{
    ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, 0);
}

/* Prints the content of a file. */
static void print_file(const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    printf("%s:%s\n", path, file ? "" : " none");
    while (file && fgets(line, sizeof line, file))
        printf("  %s|\n", line);
    if (file)
        fclose(file);
}

static void init(void)
{
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    fail();
    print_last_error();
    SHOW(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0));
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDOUT, NULL));
    SHOW(ocsd_def_errlog_set_strprint_cb(tree, NULL, print_text));
    fail();
    ocsd_def_errlog_msgout("to nobody\n");
    SHOW(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1));
    ocsd_def_errlog_msgout("to standard error\n");
    SHOW(ocsd_def_errlog_set_strprint_cb(tree, NULL, print_text));
    ocsd_def_errlog_msgout("to both\n");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL));
    SHOW(ocsd_def_errlog_set_strprint_cb(tree, NULL, print_text));
    for (int severity = OCSD_ERR_SEV_NONE; severity < 5; severity++) {
        SHOW(ocsd_def_errlog_init((ocsd_err_severity_t)severity, 0));
        fail();
        ocsd_def_errlog_msgout("severity\n");
        ocsd_tl_log_mapped_mem_ranges(tree);
    }
    SHOW(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1));
    ocsd_def_errlog_msgout("anew\n");
}

static void severity_none(void)
{
    SHOW(ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1));
    fail();
    print_last_error();
}

static void config(void)
{
    static const int flags[] = {C_API_MSGLOGOUT_FLG_STDOUT,
                                C_API_MSGLOGOUT_FLG_STDERR,
                                C_API_MSGLOGOUT_FLG_STDOUT | C_API_MSGLOGOUT_FLG_STDERR,
                                8,
                                ~3,
                                C_API_MSGLOGOUT_FLG_NONE};
    single_tree();
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        SHOW(ocsd_def_errlog_config_output(flags[i], NULL));
        printf("flags %d\n", flags[i]);
        fflush(stdout);
        ocsd_def_errlog_msgout("a message\n");
        fail();
        printf("\n");
    }
}

static void config_file(void)
{
    single_tree();
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, "one.log"));
    print_file("one.log");
    ocsd_def_errlog_msgout("first\n");
    print_file("one.log");
    fail();
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, "one.log"));
    ocsd_def_errlog_msgout("nowhere\n");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, "one.log"));
    ocsd_def_errlog_msgout("second\n");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE | C_API_MSGLOGOUT_FLG_STDOUT, "two.log"));
    fflush(stdout);
    ocsd_def_errlog_msgout("third\n");
    print_file("one.log");
    print_file("two.log");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, "no-such-folder/three.log"));
    ocsd_def_errlog_msgout("fourth\n");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, ""));
    ocsd_def_errlog_msgout("fifth\n");
    SHOW(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, NULL));
    ocsd_def_errlog_msgout("sixth\n");
}

static void callbacks(void)
{
    dcd_tree_handle_t tree = single_tree();
    dcd_tree_handle_t other = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    SHOW(ocsd_def_errlog_set_strprint_cb(NULL, NULL, print_text));
    SHOW(ocsd_def_errlog_set_strprint_cb(NULL, NULL, NULL));
    ocsd_def_errlog_msgout("first\n");
    SHOW(ocsd_def_errlog_set_strprint_cb(other, (void *)"another", print_text));
    ocsd_def_errlog_msgout("second\n");
    SHOW(ocsd_def_errlog_set_strprint_cb(tree, (void *)"one", print_text));
    ocsd_def_errlog_msgout("third\n");
    SHOW(ocsd_def_errlog_set_strprint_cb(other, (void *)"none", NULL));
    ocsd_def_errlog_msgout("fourth\n");
    SHOW(ocsd_def_errlog_set_strprint_cb(other, (void *)"again", print_text));
    ocsd_destroy_dcd_tree(tree);
    ocsd_def_errlog_msgout("fifth\n");
}

static void msgout(void)
{
    ocsd_def_errlog_msgout("before any output\n");
    single_tree();
    ocsd_def_errlog_msgout("a line\n");
    ocsd_def_errlog_msgout("no end of the line");
    ocsd_def_errlog_msgout("");
}

static void err_str(void)
{
    char text[256];
    for (int err = 0; err < 60; err++) {
        ocsd_err_str((ocsd_err_t)err, text, sizeof text);
        printf("%d: %s|\n", err, text);
    }
    for (int size = 1; size < 60; size += 7) {
        memset(text, 'x', sizeof text);
        ocsd_err_str(OCSD_ERR_MEM_NACC, text, size);
        printf("%d: %.60s|\n", size, text);
    }
}

static void last_err(void)
{
    ocsd_trc_index_t index = 1;
    uint8_t id = 1;
    char text[256];
    print_last_error();
    single_tree();
    fail();
    print_last_error();
    print_last_error();
    for (int size = 1; size < 60; size += 7) {
        memset(text, 'x', sizeof text);
        SHOW(ocsd_get_last_err(&index, &id, text, size));
        printf("%d: %.60s|\n", size, text);
    }
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    print_last_error();
}

const struct program log_programs[] = {
    {"ocsd_def_errlog_init", init},
    {"ocsd_def_errlog_init, none", severity_none},
    {"ocsd_def_errlog_config_output", config},
    {"ocsd_def_errlog_config_output, files", config_file},
    {"ocsd_def_errlog_set_strprint_cb", callbacks},
    {"ocsd_def_errlog_msgout", msgout},
    {"ocsd_err_str", err_str},
    {"ocsd_get_last_err", last_err},
    {NULL, NULL},
};
