/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions whose conditions are known twice: from the trace, and from this program itself. Built with TELL
 * it prints a line for each evaluated decision: its source line, then each condition as true, false or not
 * evaluated (1, 0, -), then the outcome. Each decision has its own source line, and its conditions are
 * numbered in the order of the text. The argument chooses which inputs the functions get. */
#include <stdio.h>
#include <stdlib.h>

#define CONDITIONS 6

#ifdef TELL
static struct evaluation {
    int line;
    char outcomes[CONDITIONS + 1];
} open[8];
static int depth;

static void enter(int line)
{
    open[depth].line = line;
    for (int i = 0; i <= CONDITIONS; i++)
        open[depth].outcomes[i] = i < CONDITIONS ? '-' : 0;
    depth++;
}
static int note(int number, int outcome)
{
    open[depth - 1].outcomes[number] = outcome ? '1' : '0';
    return outcome;
}
static int leave(int outcome)
{
    depth--;
    printf("%d %s %d\n", open[depth].line, open[depth].outcomes, outcome);
    return outcome;
}
#define C(number, condition) note(number, !!(condition))
#define D(decision)          (enter(__LINE__), leave(!!(decision)))
#else
#define C(number, condition) (condition)
#define D(decision)          (decision)
#endif

struct input {
    int a, b, c, d, e, f;
    double x;
    long long wide;
    unsigned char *text;
};
static volatile int sink;
static int calls;

static int same(int n)
{
    calls++;
    return n;
}

static void and2(struct input *i)
{
    if (D(C(0, i->a) && C(1, i->b)))
        sink++;
}
static void or2(struct input *i)
{
    if (D(C(0, i->a) || C(1, i->b)))
        sink++;
}
static void not_and(struct input *i)
{
    if (D(!(C(0, i->a) && C(1, i->b))))
        sink++;
}
static void and_not(struct input *i)
{
    if (D(C(0, !i->a) && !C(1, i->b)))
        sink++;
}
static void and3(struct input *i)
{
    if (D(C(0, i->a) && C(1, i->b) && C(2, i->c)))
        sink++;
    else
        sink--;
}
static void or4(struct input *i)
{
    if (D(C(0, i->a) || C(1, i->b) || C(2, i->c) || C(3, i->d)))
        sink++;
}
static void and_or(struct input *i)
{
    if (D((C(0, i->a) && C(1, i->b)) || C(2, i->c)))
        sink++;
}
static void or_and(struct input *i)
{
    if (D((C(0, i->a) || C(1, i->b)) && C(2, i->c)))
        sink++;
}
static void and_of_or(struct input *i)
{
    if (D(C(0, i->a) && (C(1, i->b) || C(2, i->c))))
        sink++;
}
static void two_pairs(struct input *i)
{
    if (D((C(0, i->a) && C(1, i->b)) || (C(2, i->c) && C(3, i->d))))
        sink++;
}
static void pairs_of_or(struct input *i)
{
    if (D((C(0, i->a) || C(1, i->b)) && (C(2, i->c) || C(3, i->d))))
        sink++;
}
static void six(struct input *i)
{
    if (D((C(0, i->a) && (C(1, i->b) || !C(2, i->c))) || (C(3, i->d) && C(4, i->e) && !C(5, i->f))))
        sink++;
}
static void five_deep(struct input *i)
{
    if (D(C(0, i->a) && (C(1, i->b) || (C(2, i->c) && (C(3, i->d) || C(4, i->e))))))
        sink++;
}
static void compares(struct input *i)
{
    if (D(C(0, i->a < i->b) && C(1, i->c >= 1) && C(2, i->d != i->e)))
        sink++;
}
static void range(struct input *i)
{
    if (D(C(0, i->text[0] >= '0') && C(1, i->text[0] <= '9')))
        sink++;
}
static void bits(struct input *i)
{
    int word = i->a | i->b << 2 | i->c << 9;
    if (D(C(0, word & 1) || C(1, word & 4) || C(2, word & 0x200)))
        sink++;
}
static void bits_of_one_byte(struct input *i)
{
    int word = i->a | i->b << 2 | i->c << 4;
    if (D(C(0, word & 1) && C(1, word & 4) && C(2, !(word & 16))))
        sink++;
}
static void pointer(struct input *i)
{
    unsigned char *text = i->a ? i->text : NULL;
    if (D(C(0, text) && C(1, *text == '5')))
        sink++;
}
static void floats(struct input *i)
{
    if (D(C(0, i->x < 0.5) || C(1, i->x > 1.5)))
        sink++;
}
static void wide(struct input *i)
{
    if (D(C(0, i->wide > 0x100000000) && C(1, i->wide != 0x200000001)))
        sink++;
}
static void side_effects(struct input *i)
{
    int n = 0;
    if (D(C(0, i->a) && C(1, (n++, i->b)) && C(2, n++ + i->c > 1)))
        sink += n;
}
static void called(struct input *i)
{
    if (D(C(0, same(i->a)) && C(1, same(i->b))))
        sink++;
}
static void argument(struct input *i)
{
    sink += same(D(C(0, i->a) && C(1, i->b)));
}
static int returned(struct input *i)
{
    return D(C(0, i->a) || (C(1, i->b) && C(2, i->c)));
}
static void assigned(struct input *i)
{
    int value = D(C(0, i->a) && C(1, i->b) && C(2, i->c));
    sink += value;
}
static void negated(struct input *i)
{
    int value = !D(C(0, i->a) || C(1, i->b));
    sink += value;
}
static void chosen(struct input *i)
{
    sink += D(C(0, i->a) && C(1, i->b)) ? same(1) : same(2);
}
static void choice_of_values(struct input *i)
{
    sink += D(C(0, i->a) || C(1, i->b)) ? i->c : i->d;
}
static void chooses(struct input *i)
{
    if (D(C(0, i->a) ? C(1, i->b) : C(2, i->c)))
        sink++;
}
static void while_loop(struct input *i)
{
    int n = 0;
    while (D(C(0, n < 4) && C(1, n != i->a * 2)))
        n++;
    sink += n;
}
static void for_loop(struct input *i)
{
    int n;
    for (n = 0; D(C(0, n < 3) && (C(1, i->b) || C(2, n < 1))); n++)
        sink++;
}
static void do_loop(struct input *i)
{
    int n = 0;
    do
        n++;
    while (D(C(0, n < 3) && C(1, !i->c)));
    sink += n;
}
static void goes_on(struct input *i)
{
    for (int n = 0; n < 4; n++) {
        if (D(C(0, n & 1) || C(1, i->d)))
            continue;
        if (D(C(0, n == 2) && C(1, i->e)))
            break;
        sink++;
    }
}
static void in_switch(struct input *i)
{
    switch (i->a * 2 + i->b) {
    case 0:
        if (D(C(0, i->c) && C(1, i->d)))
            sink++;
        break;
    case 3:
        if (D(C(0, i->c) || C(1, i->e)))
            break;
        /* fall through */
    default:
        sink--;
    }
}
static void equal_ends(struct input *i)
{
    if (D((C(0, i->a) && C(1, i->b)) || (C(2, !i->a) && C(3, i->c))))
        sink++;
}

static unsigned next_bits(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 13;
}

static void one(void (*function)(struct input *), unsigned seed, int number)
{
    unsigned state = seed * 7919u + (unsigned)number * 104729u;
    unsigned char text[2] = "x";
    const int runs = 1 + (int)(next_bits(&state) % 9u);
    for (int k = 0; k < runs; k++) {
        const unsigned r = next_bits(&state);
        text[0] = (unsigned char)"-5z"[r % 3];
        struct input i = {.a = r >> 3 & 1,
                          .b = r >> 4 & 1,
                          .c = r >> 5 & 1,
                          .d = r >> 6 & 1,
                          .e = r >> 7 & 1,
                          .f = r >> 8 & 1,
                          .x = (double)(r >> 9 & 1) * 2.0 + (r >> 10 & 1),
                          .wide = (r >> 11 & 1 ? 0x200000001 : 0x300000000) * (r >> 12 & 1),
                          .text = text};
        function(&i);
    }
}

static void take_returned(struct input *i)
{
    sink += returned(i);
}

int main(int argc, char **argv)
{
    static void (*const all[])(struct input *) = {
        and2,    or2,        not_and,          and_not,     and3,    or4,       and_or,
        or_and,  and_of_or,  two_pairs,        pairs_of_or, six,     five_deep, compares,
        range,   bits,       bits_of_one_byte, pointer,     floats,  wide,      side_effects,
        called,  argument,   take_returned,    assigned,    negated, chosen,    choice_of_values,
        chooses, while_loop, for_loop,         do_loop,     goes_on, in_switch, equal_ends,
    };
    const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++)
        one(all[k], seed, k);
    return 0;
}
