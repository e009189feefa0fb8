/* SPDX-License-Identifier: Apache-2.0 */
/* The properties by hand: a loop over lines. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

int main(void)
{
    char line[128];
    bool open = false, called = false;
    uint64_t begun = 0, twice = 0, slow = 0, worst = 0;
    bool any = false;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t time = 0;
        const char *p = line;
        for (; *p >= '0' && *p <= '9'; p++)
            time = time * 10 + (uint64_t)(*p - '0');
        p += 2;
        if (*p == 'c') {
            if (open && ++twice % 10000 == 0)
                printf("%" PRIu64 ": twice = %" PRIu64 "\n", time, twice);
            open = called = true;
            begun = time;
        } else if (*p == 'r') {
            open = false;
            const uint64_t cost = time - begun;
            if (called && cost > 40 && ++slow % 10000 == 0)
                printf("%" PRIu64 ": slow = %" PRIu64 "\n", time, slow);
            if (called && (!any || cost > worst)) {
                worst = cost;
                any = true;
                printf("%" PRIu64 ": worst = %" PRIu64 "\n", time, worst);
            }
        }
    }
    return 0;
}
