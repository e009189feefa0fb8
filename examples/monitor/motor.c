/* SPDX-License-Identifier: Apache-2.0 */
/* A control loop that reports over an ITM: the speed of a motor has to follow a set point. With BUG the
 * integral keeps growing while the output is at its limit, so that the speed overshoots far. Recorded with
 * `record --itm itm_ports`. */
#include <stdint.h>

volatile uint32_t itm_ports[32];
#define CORETAP_PORTS itm_ports
#include <coretap/itm.h>

enum {
    TURNS = 300,
    LIMIT = 40,
};

static double speed;

static double limited(double x)
{
    return x > LIMIT ? LIMIT : x < -LIMIT ? -LIMIT : x;
}

__attribute__((noinline)) void control(int set_point)
{
    static double integral;
    CORETAP_BEGIN(2, "control");
    const double error = set_point - speed;
    const double wanted = 0.9 * error + integral;
#ifndef BUG
    if (wanted > -LIMIT && wanted < LIMIT)
#endif
        integral += 0.08 * error;
    const double output = limited(wanted);
    speed += 0.05 * (output - 0.2 * speed);
    CORETAP_VALUE(1, "set point", set_point);
    CORETAP_VALUE(1, "speed", speed);
    CORETAP_VALUE(1, "output", output);
    CORETAP_END(2, "control");
}

int main(void)
{
    for (int turn = 0; turn < TURNS; turn++)
        control(turn < TURNS / 2 ? 100 : 50);
    return 0;
}
