/* SPDX-License-Identifier: Apache-2.0 */
/* A proportional-integral controller drives a motor to its set point and reports over an ITM
 * (control.tessla): the set point to port 1, the measured speed to port 2, its output to port 3. Built with
 * -DBUG it keeps adding up the error while the output is at its limit, and winds up: after a set point that
 * is out of reach it needs far too long to reach the next one. */
#include <stdint.h>
#include <stdio.h>

#define ROUNDS 120
#define BOUND  1000

volatile uint32_t itm_ports[32]; /* stand for the stimulus ports: record --itm itm_ports */
volatile int32_t integral;       /* watched by the DWT: record --watch-data integral */

static int32_t bounded(int32_t value)
{
    return value > BOUND ? BOUND : value < -BOUND ? -BOUND : value;
}

__attribute__((noinline)) static int32_t control(int32_t set_point, int32_t measured)
{
    const int32_t error = set_point - measured;
    const int32_t wanted = error / 2 + integral / 4;
    const int32_t output = bounded(wanted);
#ifdef BUG
    integral += error;
#else
    if (output == wanted)
        integral += error;
#endif
    itm_ports[1] = (uint32_t)set_point;
    itm_ports[2] = (uint32_t)measured;
    itm_ports[3] = (uint32_t)output;
    return output;
}

int main(void)
{
    int32_t speed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int32_t set_point = round < 40 ? 300 : round < 80 ? 5000 : -200;
        speed += (control(set_point, speed) - speed) / 2; /* the motor follows the controller's output */
    }
    printf("%d\n", speed);
    return 0;
}
