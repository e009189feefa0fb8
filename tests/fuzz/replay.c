/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on files, without a fuzzer: each argument is a file or a folder of files. So findings
 * and the corpus are tests wherever the code is built. Prints TAP. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int count;

/* Reads a file into memory of just its size, so that ASan detects every read beyond it. Returns NULL when it
 * is unreadable. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    uint8_t *data = length < 0 ? NULL : malloc(length ? (size_t)length : 1);
    if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
        free(data);
        data = NULL;
    }
    *size = (size_t)length;
    fclose(file);
    return data;
}

static int run_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    if (!data) {
        printf("Bail out! %s cannot be read\n", path);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    const char *slash = strrchr(path, '/');
    printf("ok %d - %s, %zu bytes\n", ++count, slash ? slash + 1 : path, size);
    fflush(stdout);
    return 0;
}

static int run_folder(const char *path)
{
    struct dirent **entries;
    const int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        printf("Bail out! %s cannot be listed\n", path);
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && !failed)
            failed = run_file(name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    static const uint8_t nothing[1];
    LLVMFuzzerTestOneInput(nothing, 0);
    printf("ok %d - no bytes at all\n", ++count);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        const int is_folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        if (is_folder ? run_folder(argv[i]) : run_file(argv[i]))
            return 1;
    }
    printf("1..%d\n", count);
    return 0;
}
