/* SPDX-License-Identifier: Apache-2.0 */
/* Makes functions, names them in /tmp/perf-PID.map, and runs function i CALLS * (i + 1) times. With an
 * argument the map is not written; instead, if that is the name of a folder, jit-PID.dump there. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS 3
#define CALLS     100
#define DISTANCE  64 /* bytes from one function to the next */

typedef int function(int);

struct record {
    uint32_t id, size;
    uint64_t time;
};

/* Begins jit-PID.dump in the folder, and tells perf of it by mapping it. Returns its descriptor, or -1. */
static int begin_dump(const char *folder)
{
    const uint32_t head[10] = {0x4a695444, 1, sizeof head, 183 /* EM_AARCH64 */, 0, (uint32_t)getpid()};
    char path[4096];
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    const int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (file < 0 || write(file, head, sizeof head) != sizeof head)
        return -1;
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    return file;
}

/* Writes a LOAD record: code of `size` bytes at `at`. */
static void dump_code(int file, const void *at, size_t size, unsigned i)
{
    struct {
        struct record head;
        uint32_t process, thread;
        uint64_t virtual, address, size, index;
        char name[64];
    } load = {.process = (uint32_t)getpid(),
              .thread = (uint32_t)getpid(),
              .virtual = (uintptr_t)at,
              .address = (uintptr_t)at,
              .size = size,
              .index = i};
    const size_t name =
        (size_t)snprintf(load.name, sizeof load.name, "made %u of script.js:%u", i, 10 + i) + 1;
    const size_t whole = sizeof load - sizeof load.name + name;
    load.head.size = (uint32_t)(whole + size);
    if (write(file, &load, whole) < 0 || write(file, at, size) < 0)
        perror("jitdump");
}

int main(int argc, char **argv)
{
    const int dump = argc > 1 ? begin_dump(argv[1]) : -1;
    char path[64];
    int sum = 0;
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = argc > 1 ? NULL : fopen(path, "w");
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const unsigned code[] = {0x11000400u /* ADD W0, W0, #1 */, 0xd65f03c0u /* RET */};
        unsigned char *at = page + DISTANCE * i;
        memcpy(at, code, sizeof code);
        __builtin___clear_cache((char *)at, (char *)at + sizeof code);
        if (map)
            fprintf(map, "%" PRIxPTR " %zx made %u of script.js:%u\n", (uintptr_t)at, sizeof code, i, 10 + i);
        if (dump >= 0)
            dump_code(dump, at, sizeof code, i);
        function *made;
        memcpy(&made, &(void *){at}, sizeof made);
        for (unsigned k = 0; k < CALLS * (i + 1); k++)
            sum = made(sum);
    }
    if (map)
        fclose(map);
    printf("%d\n", sum);
    return 0;
}
