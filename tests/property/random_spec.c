/* SPDX-License-Identifier: Apache-2.0 */
#include "property/random_spec.h"

#include <stdio.h>

uint32_t spec_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* %1$d..%3$d: earlier streams; %4$d: a small number; %5$d: any stream; *: gives a signal; ~: may become its
 * first operand */
static const char *const forms[] = {
    "default(s%1$d, %4$d)",
    "~defaultFrom(s%1$d, s%2$d)",
    "time(s%1$d)",
    "last(s%5$d, s%2$d)",
    "~merge(s%1$d, s%2$d)",
    "filter(s%1$d, s%2$d > %4$d)",
    "on(s%1$d, s%2$d)",
    "(s%1$d + s%2$d) %% 101",
    "s%1$d - s%2$d",
    ("lift(s%1$d, s%2$d, (x: Option[Int], y: Option[Int]) => if isNone(x) then None[Int] else "
     "Some((getSomeOrElse(y, %4$d) - getSome(x)) %% 101))"),
    ("lift3(s%1$d, s%2$d, s%3$d, (x: Option[Int], y: Option[Int], z: Option[Int]) => if isSome(x) && "
     "isSome(y) then z else if isSome(z) || !isNone(y) then Some(%4$d) else x)"),
    "*pure(s%1$d)",
    "fold(s%1$d, %4$d, (r: Int, e: Int) => (r * 3 + e) %% 7)",
    "reduce(s%1$d, max)",
    "const(%4$d, s%1$d)",
    "const(%4$d, delay(const(%4$d + 1, s%1$d), s%2$d))",
    "count(s%1$d)",
    "resetCount(s%1$d, s%2$d)",
    "if s%1$d > %4$d then s%2$d else s%3$d",
    "default(nil[Int], %4$d)",
    "if s%1$d > s%2$d then 1 else 0",
    "const(1, filter(s%1$d, time(s%1$d) - on(s%1$d, time(s%2$d)) < %4$d + 3))",
};

size_t random_spec(uint32_t seed, char *text, bool signals[SPEC_STREAMS])
{
    char *p = text;
    for (int i = 0; i < SPEC_INPUTS; i++) {
        signals[i] = false;
        p += sprintf(p, "in s%d: Events[Int]\n", i);
    }
    for (uint32_t i = SPEC_INPUTS; i < SPEC_STREAMS; i++) {
        const char *form = forms[spec_random(&seed) % (sizeof forms / sizeof *forms)];
        const bool marked = *form == '*' || *form == '~';
        p += sprintf(p, "def s%u: Events[Int] = ", i);
        const uint32_t a = spec_random(&seed) % i;
        const uint32_t b = spec_random(&seed) % i;
        const uint32_t c = spec_random(&seed) % i;
        signals[i] = *form == '*' || (*form == '~' && signals[a] && signals[b]);
        p += sprintf(p, form + marked, a, b, c, spec_random(&seed) % 4, spec_random(&seed) % SPEC_STREAMS);
        p += sprintf(p, "\nout s%u\n", i);
    }
    return (size_t)(p - text);
}

size_t spec_events(uint32_t *seed, uint64_t time, uint64_t until, struct ct_monitor_event *events)
{
    size_t n = 0;
    for (; time <= until; time += 1 + spec_random(seed) % 2)
        for (uint32_t i = 0; i < SPEC_INPUTS; i++)
            if (spec_random(seed) % 2)
                events[n++] = (struct ct_monitor_event){
                    .time = time, .input = i, .v.i = (int64_t)(spec_random(seed) % 4) - 1};
    return n;
}
