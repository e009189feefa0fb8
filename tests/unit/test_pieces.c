/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a capture written while it is read, or between its parts, is not counted as a whole one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coretap/fleet.h"
#include "support/unit.h"

#define ROOM 128 /* bytes for a path */

struct rig {
    struct ct_ctx *ctx;
    struct ct_manifest *manifest;
    struct ct_fleet_job *job;
    char folder[32], capture[ROOM], state[ROOM];
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Start of a shell script: the capture is its last word. */
#define CAPTURE "for capture; do :; done; "

/* Makes a capture, and a job whose command is a shell script. */
static void begin(struct rig *rig, const char *name, const char *script, uint8_t trust)
{
    const char *const words[] = {"/bin/sh", "-c", script, NULL};
    struct ct_fleet_capture capture = {.path = rig->capture};
    *rig = (struct rig){.folder = "/tmp/pieces-XXXXXX", .ctx = ct_ctx_new()};
    assert_non_null(mkdtemp(rig->folder));
    snprintf(rig->capture, ROOM, "%s/%s", rig->folder, name);
    snprintf(rig->state, ROOM, "%s/state", rig->folder);
    assert_int_equal(mkdir(rig->state, 0777), 0);
    write_file(rig->capture, "before");
    const struct ct_fleet_job_options options = {
        .size = sizeof options, .words = words, .state = rig->state, .trust = trust};
    assert_int_equal(ct_fleet_digest(rig->ctx, rig->capture, capture.digest, &capture.size), CT_OK);
    assert_int_equal(ct_manifest_new(rig->ctx, &rig->manifest), CT_OK);
    assert_int_equal(ct_manifest_add(rig->manifest, &capture), CT_OK);
    assert_int_equal(ct_fleet_job_new(rig->ctx, &options, rig->manifest, &rig->job), CT_OK);
}

static void end(struct rig *rig)
{
    ct_fleet_job_remove(rig->job);
    ct_fleet_job_free(rig->job);
    ct_manifest_free(rig->manifest);
    ct_ctx_free(rig->ctx);
    unlink(rig->capture);
    assert_int_equal(rmdir(rig->state), 0);
    assert_int_equal(rmdir(rig->folder), 0);
}

/* Checks the result of a piece: its text, or the words of its failure. */
static void expect(struct ct_fleet_piece *piece, const char *text, const char *failure)
{
    const void *data;
    size_t size;
    while (!ct_fleet_piece_wait(piece, 1000))
        ;
    assert_int_equal(ct_fleet_piece_result(piece, &data, &size), text ? CT_OK : CT_ERR_NOT_FOUND);
    if (text) {
        assert_int_equal(size, strlen(text));
        assert_memory_equal(data, text, size);
    } else {
        assert_non_null(strstr(ct_fleet_piece_failure(piece), failure));
    }
    ct_fleet_piece_free(piece);
}

static const char written[] = "one of its files changed while it was read";

TEST(written_while_read)
{
    for (uint8_t trust = 0; trust < 2; trust++) {
        struct rig rig;
        struct ct_fleet_piece *piece;
        begin(&rig, "capture", CAPTURE "cat \"$capture\"; printf after! >\"$capture\"",
              trust); /* of the same size as before */
        assert_int_equal(ct_fleet_piece_begin(rig.job, 0, &piece), CT_OK);
        expect(piece, NULL, written);
        assert_false(ct_fleet_job_has(rig.job, 0));
        write_file(rig.capture, "before");
        assert_int_equal(ct_fleet_shard_begin(rig.job, 0, 1, 2, &piece), CT_OK);
        expect(piece, NULL, written);
        end(&rig);
    }
}

TEST(left_as_it_was)
{
    struct rig rig;
    struct ct_fleet_piece *piece;
    begin(&rig, "capture", CAPTURE "cat \"$capture\"", 0);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(ct_fleet_piece_begin(rig.job, 0, &piece), CT_OK);
        assert_int_equal(ct_fleet_piece_was_kept(piece), turn);
        expect(piece, "before", NULL);
    }
    end(&rig);
}

/* Parts, and the report that contents were compared, belong to one state of the files. */
TEST(written_between_parts)
{
    struct rig rig;
    struct ct_fleet_piece *piece;
    begin(&rig, "capture", CAPTURE "cat \"$capture\"", 0);
    for (int turn = 0; turn < 2; turn++) { /* the second time both are in the cache */
        assert_int_equal(ct_fleet_check_begin(rig.job, 0, &piece), CT_OK);
        assert_int_equal(ct_fleet_piece_was_kept(piece), turn);
        expect(piece, "checked\n", NULL);
        assert_int_equal(ct_fleet_shard_begin(rig.job, 0, 1, 2, &piece), CT_OK);
        assert_int_equal(ct_fleet_piece_was_kept(piece), turn);
        expect(piece, "before", NULL);
    }
    write_file(rig.capture, "after!");
    assert_int_equal(ct_fleet_check_begin(rig.job, 0, &piece), CT_OK);
    assert_false(ct_fleet_piece_was_kept(piece));
    expect(piece, NULL, "(sha256)");
    assert_int_equal(ct_fleet_shard_begin(rig.job, 0, 1, 2, &piece), CT_OK);
    assert_false(ct_fleet_piece_was_kept(piece));
    expect(piece, "after!", NULL);
    end(&rig);
}

/* A process prints the escaped name of its capture; the failure has the name once, unescaped. */
TEST(named_once)
{
    struct rig rig;
    struct ct_fleet_piece *piece;
    char failure[2 * ROOM];
    begin(&rig, "new\nline", "echo 'coretap: '$(dirname \"$1\")'/new\\x0aline: is odd' >&2; exit 2", 0);
    snprintf(failure, sizeof failure, "%s: is odd", rig.capture);
    assert_int_equal(ct_fleet_piece_begin(rig.job, 0, &piece), CT_OK);
    while (!ct_fleet_piece_wait(piece, 1000))
        ;
    assert_string_equal(ct_fleet_piece_failure(piece), failure);
    ct_fleet_piece_free(piece);
    end(&rig);
}

/* A process that ends well and prints nothing has failed; its message is the reason. */
TEST(no_result)
{
    static const char *const ends[][2] = {
        {"echo 'coretap: has no program' >&2; exit 1", ": has no program"},
        {"exit 0", "without a result and without a message"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct rig rig;
        struct ct_fleet_piece *piece;
        begin(&rig, "capture", ends[i][0], 0);
        assert_int_equal(ct_fleet_piece_begin(rig.job, 0, &piece), CT_OK);
        expect(piece, NULL, ends[i][1]);
        end(&rig);
    }
}

/* Prints its last two words, and exits with the number of words. */
static int print_words(int argc, char **argv)
{
    printf("%s %s", argv[argc - 2], strrchr(argv[argc - 1], '/') + 1);
    return argc == 3 && !argv[argc] ? 1 : 2;
}

/* A function instead of a program: its output is the piece, without what the caller holds back. */
TEST(run_without_a_program)
{
    struct rig rig;
    struct ct_fleet_piece *piece;
    const char *const words[] = {"nothing", NULL};
    begin(&rig, "capture", "exit 3", 0);
    ct_fleet_job_free(rig.job);
    const struct ct_fleet_job_options options = {
        .size = sizeof options, .words = words, .state = rig.state, .run = print_words};
    assert_int_equal(ct_fleet_job_new(rig.ctx, &options, rig.manifest, &rig.job), CT_OK);
    fputs("# held back", stdout);
    assert_int_equal(ct_fleet_piece_begin(rig.job, 0, &piece), CT_OK);
    puts("");
    expect(piece, "-- capture", NULL);
    end(&rig);
}

/* Prints its process and the number of this call in the process. The name of a capture selects what else it
 * does. */
static int count_calls(int argc, char **argv)
{
    static int calls;
    const char *name = strrchr(argv[argc - 1], '/') + 1;
    printf("%ld %d", (long)getpid(), ++calls);
    if (!strcmp(name, "dies"))
        raise(SIGKILL);
    return strcmp(name, "fails") ? calls % 2 : 2;
}

static const char *const called[] = {"first", "second", "fails", "third", "dies", "fourth", "fifth"};

#define CALLED (sizeof called / sizeof *called)

/* Runs a capture. Returns its number among the calls in its process, or 0 when it failed. */
static int call_of(struct rig *rig, size_t number, pid_t *process)
{
    struct ct_fleet_piece *piece;
    const void *data;
    size_t size;
    char text[64] = "";
    long pid = 0;
    int call = 0;
    assert_int_equal(ct_fleet_piece_begin(rig->job, number, &piece), CT_OK);
    while (!ct_fleet_piece_wait(piece, 1000))
        ;
    if (!ct_fleet_piece_result(piece, &data, &size)) {
        assert_in_range(size, 1, sizeof text - 1);
        memcpy(text, data, size);
        assert_int_equal(sscanf(text, "%ld %d", &pid, &call), 2);
    } else {
        assert_non_null(strstr(ct_fleet_piece_failure(piece), called[number]));
    }
    *process = (pid_t)pid;
    ct_fleet_piece_free(piece);
    return call;
}

/* A process handles captures in turn until one fails or the process is ended; the failure is reported for
 * that capture. */
TEST(processes_go_on)
{
    static const int calls[CALLED] = {1, 2, 0, 1, 0, 1, 1};
    struct rig rig;
    siginfo_t info;
    pid_t pid;
    const char *const words[] = {"nothing", NULL};
    char path[ROOM];
    begin(&rig, "capture", "exit 3", 0);
    ct_fleet_job_free(rig.job);
    ct_manifest_free(rig.manifest);
    assert_int_equal(ct_manifest_new(rig.ctx, &rig.manifest), CT_OK);
    for (size_t i = 0; i < CALLED; i++) {
        struct ct_fleet_capture capture = {.path = path};
        snprintf(path, sizeof path, "%s/%s", rig.folder, called[i]);
        write_file(path, called[i]);
        assert_int_equal(ct_fleet_digest(rig.ctx, path, capture.digest, &capture.size), CT_OK);
        assert_int_equal(ct_manifest_add(rig.manifest, &capture), CT_OK);
    }
    const struct ct_fleet_job_options options = {
        .size = sizeof options, .words = words, .state = rig.state, .run = count_calls};
    assert_int_equal(ct_fleet_job_new(rig.ctx, &options, rig.manifest, &rig.job), CT_OK);
    for (size_t i = 0; i < CALLED; i++) {
        assert_int_equal(call_of(&rig, i, &pid), calls[i]);
        if (!strcmp(called[i], "fourth")) { /* as when memory is short and the process is idle */
            assert_int_equal(kill(pid, SIGKILL), 0);
            assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        }
    }
    for (size_t i = 0; i < CALLED; i++)
        unlink(ct_manifest_at(rig.manifest, i)->path);
    end(&rig);
}

#define BLOCK  ((size_t)64 << 10)
#define BLOCKS 2560 /* of a capture that needs much memory: 160 MB */

/* Needs much memory for the first capture, and prints the number of the process. The last block stays, so
 * that those before it are not given back when they are freed. */
static int use_memory(int argc, char **argv)
{
    static int calls;
    static char *blocks[BLOCKS];
    (void)argc, (void)argv;
    for (int i = 0; i < BLOCKS && !calls; i++)
        if ((blocks[i] = malloc(BLOCK)))
            memset(blocks[i], 1, BLOCK);
    for (int i = 0; i + 1 < BLOCKS && !calls; i++)
        free(blocks[i]);
    printf("%ld %d", (long)getpid(), ++calls);
    return 0;
}

/* What a process needed for a capture and has freed is no reason to end it. */
TEST(a_process_goes_on_after_a_large_capture)
{
    struct rig rig;
    pid_t first, second;
    const char *const words[] = {"nothing", NULL};
    begin(&rig, "capture", "exit 3", 0);
    ct_fleet_job_free(rig.job);
    const struct ct_fleet_job_options options = {
        .size = sizeof options, .words = words, .state = rig.state, .run = use_memory};
    assert_int_equal(ct_fleet_job_new(rig.ctx, &options, rig.manifest, &rig.job), CT_OK);
    assert_int_equal(call_of(&rig, 0, &first), 1);
    ct_fleet_job_drop(rig.job, 0);
    assert_int_equal(call_of(&rig, 0, &second), 2);
    assert_int_equal(first, second);
    end(&rig);
}
