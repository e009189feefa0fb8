/* SPDX-License-Identifier: Apache-2.0 */
/* A device that reports over an ITM how it starts, a letter at a time, like the printf of a firmware
 * (boot.tessla). Built with -DBUG it reports that it is ready although its self-test failed. Recorded with
 * `record --itm itm_ports`. */
#include <stdint.h>

volatile uint32_t itm_ports[32];

static void say(const char *text)
{
    for (; *text; text++)
        *(volatile uint8_t *)&itm_ports[0] = (uint8_t)*text;
}

int main(void)
{
    say("boot\n");
#ifdef BUG
    say("self-test failed\n");
#else
    say("self-test passed\n");
#endif
    say("ready\n");
    return 0;
}
