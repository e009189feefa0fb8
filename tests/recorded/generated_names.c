/* SPDX-License-Identifier: Apache-2.0 */
/* Makes functions, names them in /tmp/perf-PID.map, and runs function i CALLS * (i + 1) times. With an
 * argument, the map is not written. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS 3
#define CALLS     100
#define DISTANCE  64 /* bytes from one function to the next */

typedef int function(int);

int main(int argc, char **argv)
{
    (void)argv;
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
