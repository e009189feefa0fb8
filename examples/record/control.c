/* A controller to record: each round samples the level of a tank, filters out spikes and noise, sets a
 * valve and sends a frame about it. How long can a round take? Its loops have bounds, so 'coretap wcet
 * --entry control_round' knows.
 *
 *   control [ROUNDS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW 9
#define TAPS   8
#define FRAME  12

struct tank {
    int level; /* mm */
    int valve; /* per mille open */
    int inflow;
};

struct controller {
    int target;
    int history[TAPS];
    int integral;
    int alarms;
};

static uint32_t noise_state = 1;

static int noise(int range)
{
    noise_state = noise_state * 1664525 + 1013904223;
    return (int)(noise_state >> 16) % (2 * range + 1) - range;
}

/* Reads the level from a sensor that sometimes returns nonsense. */
static int sample(const struct tank *tank)
{
    const int spike = noise(100);
    if (spike > 92)
        return 4000;
    if (spike < -96)
        return 0;
    return tank->level + noise(6);
}

static void sort(int *values, int count)
{
    for (int i = 1; i < count; i++) { /* loop bound: 8 */
        const int value = values[i];
        int at = i;
        while (at > 0 && values[at - 1] > value) { /* loop bound: 8 */
            values[at] = values[at - 1];
            at--;
        }
        values[at] = value;
    }
}

static int median(const struct tank *tank)
{
    int values[WINDOW];
    for (int i = 0; i < WINDOW; i++) /* loop bound: 9 */
        values[i] = sample(tank);
    sort(values, WINDOW);
    return values[WINDOW / 2];
}

static int smooth(struct controller *c, int level)
{
    static const int weights[TAPS] = {29, 24, 19, 15, 12, 10, 8, 6};
    int sum = 0;
    for (int i = TAPS - 1; i > 0; i--) /* loop bound: 7 */
        c->history[i] = c->history[i - 1];
    c->history[0] = level;
    for (int i = 0; i < TAPS; i++) /* loop bound: 8 */
        sum += weights[i] * c->history[i];
    return sum / 123;
}

static int limit(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

/* The tank is about to overflow: forgets the integral and the history. */
static void raise_alarm(struct controller *c)
{
    c->alarms++;
    c->integral = -4000;
    for (int i = 0; i < TAPS; i++) /* loop bound: 8 */
        c->history[i] = c->target;
}

static int regulate(struct controller *c, int level)
{
    const int error = c->target - level;
    c->integral = limit(c->integral + error, -4000, 4000);
    if (level > 3000)
        raise_alarm(c);
    return limit(500 + 3 * error + c->integral / 8, 0, 1000);
}

static uint8_t crc8(const uint8_t *bytes, int count)
{
    uint8_t crc = 0xff;
    for (int i = 0; i < count; i++) { /* loop bound: 11 */
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) /* loop bound: 8 */
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x31 : crc << 1);
    }
    return crc;
}

static int send_frame(uint8_t *frame, int level, int valve)
{
    int size = 0;
    frame[size++] = 0x7e;
    frame[size++] = (uint8_t)(level >> 8);
    frame[size++] = (uint8_t)level;
    frame[size++] = (uint8_t)(valve >> 8);
    frame[size++] = (uint8_t)valve;
    while (size < FRAME - 1) /* loop bound: 6 */
        frame[size++] = 0x55;
    frame[size] = crc8(frame, size);
    return frame[size];
}

static int control_round(struct controller *c, struct tank *tank)
{
    uint8_t frame[FRAME];
    const int level = smooth(c, median(tank));
    tank->valve = regulate(c, level);
    return send_frame(frame, level, tank->valve);
}

static void flow(struct tank *tank)
{
    tank->inflow = limit(tank->inflow + noise(3), 0, 60);
    tank->level = limit(tank->level + tank->inflow - (1000 - tank->valve) * 60 / 1000, 0, 4000);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    struct tank tank = {.level = 600, .valve = 500, .inflow = 30};
    struct controller controller = {.target = 1000};
    int check = 0;
    for (int round = 0; round < rounds; round++) {
        check = check * 31 + control_round(&controller, &tank);
        flow(&tank);
    }
    printf("%d rounds: level %d mm, valve %d per mille, %d alarms, check %08x\n", rounds, tank.level,
           tank.valve, controller.alarms, (unsigned)check);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
