/* SPDX-License-Identifier: Apache-2.0 */
/* Ints of more than 64 bits, by libtommath, which returns an error when out of memory. Operands are read in
 * place on the heap; results are copied there. */
#include "monitor/big.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tommath.h>

#include "monitor/print.h"

enum {
    SMALL_DIGITS = (64 + MP_DIGIT_BIT - 1) / MP_DIGIT_BIT,
    CALCULATE_WORK = 50,                            /* units; covers the allocation in libtommath */
    PRINT_WORK = 4,                                 /* units for each digit and chunk */
    BYTES_PER_DIGIT = MP_DIGIT_BIT / 4,             /* fewest bytes of text per digit */
    DECIMALS_MOST = BIG_BITS_MOST * 302 / 1000 + 2, /* limit of decimal digits: an Int with more exceeds
                                                     * BIG_BITS_MOST */
};

_Static_assert(sizeof(mp_digit) == sizeof(uint64_t), "digits lie on the heap as struct obj_big has them");

static mp_digit *digits_of(const struct ct_mon_obj *o)
{
    return (mp_digit *)((struct ct_mon_obj_big *)o)->digits;
}

/* Returns a view of the value for libtommath, without copying. Do not mp_clear the result. The digits of an
 * Int of 64 bits are put in `room`. */
static mp_int view(const struct ct_mon_cell *c, mp_digit room[SMALL_DIGITS])
{
    if (cell_is_big(c))
        return (mp_int){.used = (int)c->v.o->size,
                        .alloc = (int)c->v.o->size,
                        .sign = c->v.o->negative ? MP_NEG : MP_ZPOS,
                        .dp = digits_of(c->v.o)};
    uint64_t left = c->v.i < 0 ? -(uint64_t)c->v.i : (uint64_t)c->v.i;
    mp_int x = {.alloc = SMALL_DIGITS, .sign = c->v.i < 0 ? MP_NEG : MP_ZPOS, .dp = room};
    for (; left; left >>= MP_DIGIT_BIT)
        room[x.used++] = (mp_digit)(left & MP_MASK);
    return x;
}

static struct ct_mon_cell no_memory(struct ct_mon_heap *h)
{
    if (h)
        heap_exhaust(h, E_MEMORY);
    return cell_error(E_MEMORY);
}

static struct ct_mon_cell to_cell(struct ct_mon_heap *h, const mp_int *x)
{
    const int bits = mp_count_bits(x);
    const uint64_t low = mp_get_mag_u64(x);
    if (bits < 64 || (bits == 64 && x->sign == MP_NEG && low == UINT64_C(1) << 63))
        return cell_int((int64_t)(x->sign == MP_NEG ? -low : low));
    if (bits > BIG_BITS_MOST)
        return cell_error(E_OVERFLOW);
    struct ct_mon_obj_big *o =
        h ? (struct ct_mon_obj_big *)ct_mon_heap_alloc(h, OBJ_BIG, (size_t)x->used) : NULL;
    if (!o)
        return no_memory(h);
    o->o.negative = x->sign == MP_NEG;
    memcpy(o->digits, x->dp, (size_t)x->used * sizeof *x->dp);
    return (struct ct_mon_cell){.v.o = &o->o, .meta = META_PTR};
}

/* Makes a cell from x, the result of a calculation, and clears x. */
static struct ct_mon_cell finish(struct ct_mon_heap *h, mp_err err, mp_int *x)
{
    const struct ct_mon_cell c = err == MP_OKAY ? to_cell(h, x) : no_memory(h);
    mp_clear(x);
    return c;
}

/* Shifts x, the value of a, by b bits; a negative b shifts in the other direction. */
static struct ct_mon_cell shift(struct ct_mon_heap *h, const struct ct_mon_cell *a, const mp_int *x,
                                const struct ct_mon_cell *b, bool right)
{
    const bool left = int_is_negative(b) == right;
    const bool far = cell_is_big(b) || b->v.i > BIG_BITS_MOST || b->v.i < -BIG_BITS_MOST;
    mp_int r;
    if (mp_iszero(x))
        return cell_int(0);
    if (far)
        return left ? cell_error(E_OVERFLOW) : cell_int(int_is_negative(a) ? -1 : 0);
    const int by = (int)(b->v.i < 0 ? -b->v.i : b->v.i);
    if (mp_init(&r) != MP_OKAY)
        return no_memory(h);
    return finish(h, left ? mp_mul_2d(x, by, &r) : mp_signed_rsh(x, by, &r), &r);
}

static mp_err calculate(enum ct_mon_op op, const mp_int *x, const mp_int *y, mp_int *r)
{
    switch (op) {
    case OP_ADD:
        return mp_add(x, y, r);
    case OP_SUB:
        return mp_sub(x, y, r);
    case OP_MUL:
        return mp_mul(x, y, r);
    case OP_DIV:
        return mp_div(x, y, r, NULL);
    case OP_MOD: /* has the sign of the dividend, unlike mp_mod */
        return mp_div(x, y, NULL, r);
    case OP_BITAND:
        return mp_and(x, y, r);
    case OP_BITOR:
        return mp_or(x, y, r);
    case OP_BITXOR:
        return mp_xor(x, y, r);
    default: /* OP_BITNOT */
        return mp_complement(x, r);
    }
}

/* Estimates the work from the digits that are touched. Division passes over the whole dividend for each digit
 * of the quotient. */
static uint64_t work_of(enum ct_mon_op op, const mp_int *x, const mp_int *y)
{
    const uint64_t n = (uint64_t)x->used;
    const uint64_t k = (uint64_t)y->used;
    if (op == OP_MUL)
        return CALCULATE_WORK + n * k;
    if (op == OP_DIV || op == OP_MOD)
        return CALCULATE_WORK + n + (n > k ? (n - k + 1) * n : 0);
    return CALCULATE_WORK + n + k;
}

struct ct_mon_cell ct_mon_big_op(enum ct_mon_op op, struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                 const struct ct_mon_cell *b)
{
    mp_digit rooms[2][SMALL_DIGITS] = {0};
    const mp_int x = view(a, rooms[0]);
    const mp_int y = op == OP_BITNOT ? x : view(b, rooms[1]);
    mp_int r;
    heap_spend(h, work_of(op, &x, &y));
    if (op == OP_SHL || op == OP_SHR)
        return shift(h, a, &x, b, op == OP_SHR);
    if ((op == OP_DIV || op == OP_MOD) && mp_iszero(&y))
        return cell_error(E_DIV);
    if (op == OP_MUL && mp_count_bits(&x) + mp_count_bits(&y) > BIG_BITS_MOST + 1)
        return cell_error(E_OVERFLOW);
    if (mp_init(&r) != MP_OKAY)
        return no_memory(h);
    return finish(h, calculate(op, &x, &y, &r), &r);
}

/* Rounds once: takes the 64 highest bits and sets the lowest of them if any bit below is set. */
double ct_mon_big_to_float(const struct ct_mon_cell *c)
{
    const struct ct_mon_obj *o = c->v.o;
    const mp_digit *d = digits_of(o);
    mp_digit room[SMALL_DIGITS];
    const mp_int x = view(c, room);
    const int bits = mp_count_bits(&x);
    uint64_t high = 0;
    bool below = false;
    for (int i = 0; i < bits; i++) {
        const int from_top = bits - 1 - i;
        const bool bit = d[i / MP_DIGIT_BIT] >> (i % MP_DIGIT_BIT) & 1;
        if (from_top < 64)
            high |= (uint64_t)bit << (63 - from_top);
        else
            below |= bit;
    }
    const double f = ldexp((double)(high | below), bits - 64);
    return o->negative ? -f : f;
}

struct ct_mon_cell ct_mon_big_from_float(struct ct_mon_heap *h, double f)
{
    int exponent;
    const double fraction = frexp(f, &exponent);
    mp_int r;
    if (mp_init_i64(&r, (int64_t)ldexp(fraction, 53)) != MP_OKAY)
        return no_memory(h);
    return finish(h, mp_mul_2d(&r, exponent - 53, &r), &r);
}

/* ---- text ---- */

/* How many digits fit into one digit of libtommath, and the base to that power. */
struct chunk {
    unsigned digits;
    mp_digit power;
};

static struct chunk chunk_of(unsigned base)
{
    struct chunk c = {0, 1};
    while (c.power <= (mp_digit)(MP_MASK / base)) {
        c.power *= base;
        c.digits++;
    }
    return c;
}

static unsigned digit_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

static mp_err read_digits(const char *p, size_t n, unsigned base, mp_int *x)
{
    const struct chunk chunk = chunk_of(base);
    mp_err err = MP_OKAY;
    for (size_t i = 0; i < n && err == MP_OKAY;) {
        mp_digit value = 0;
        mp_digit power = 1;
        for (unsigned k = 0; k < chunk.digits && i < n; k++) {
            value = value * base + digit_value(p[i++]);
            power *= base;
        }
        err = mp_mul_d(x, power, x);
        if (err == MP_OKAY)
            err = mp_add_d(x, value, x);
    }
    return err;
}

struct ct_mon_cell ct_mon_int_from_digits(struct ct_mon_heap *h, const char *digits, size_t n, unsigned base,
                                          bool negative)
{
    uint64_t u = 0;
    bool fits = true;
    mp_int x;
    for (; n && *digits == '0'; n--)
        digits++;
    for (size_t i = 0; i < n && fits; i++)
        fits = !__builtin_mul_overflow(u, (uint64_t)base, &u) &&
               !__builtin_add_overflow(u, (uint64_t)digit_value(digits[i]), &u);
    if (fits && u <= (uint64_t)INT64_MAX + negative)
        return cell_int((int64_t)(negative ? -u : u));
    if (n > DECIMALS_MOST)
        return cell_error(E_OVERFLOW);
    if (mp_init(&x) != MP_OKAY)
        return no_memory(h);
    mp_err err = read_digits(digits, n, base, &x);
    if (err == MP_OKAY && negative)
        err = mp_neg(&x, &x);
    return finish(h, err, &x);
}

/* Splits the value into chunks of digits, lowest first. The caller frees them. NULL: out of memory. */
static mp_digit *chunks_of(const struct ct_mon_cell *c, mp_digit power, size_t *count)
{
    mp_digit room[SMALL_DIGITS];
    const mp_int x = view(c, room);
    mp_int left;
    mp_err err = mp_init_copy(&left, &x);
    /* each chunk consumes more than a third of a digit's bits */
    mp_digit *chunks = err == MP_OKAY ? malloc(((size_t)x.used * 3 + 1) * sizeof *chunks) : NULL;
    *count = 0;
    while (chunks && err == MP_OKAY && !mp_iszero(&left))
        err = mp_div_d(&left, power, &left, &chunks[(*count)++]);
    mp_clear(&left);
    if (err == MP_OKAY)
        return chunks;
    free(chunks);
    return NULL;
}

void ct_mon_big_print(struct ct_mon_text *t, const struct ct_mon_cell *c, unsigned base)
{
    const struct chunk chunk = chunk_of(base);
    const uint64_t size = c->v.o->size;
    size_t count = 0;
    const bool may = (!t->limit || size * BYTES_PER_DIGIT <= 2 * t->limit) &&
                     (!t->payer || heap_spend(t->payer, PRINT_WORK * size * size));
    mp_digit *chunks = may ? chunks_of(c, chunk.power, &count) : NULL;
    if (!chunks) {
        t->failed = true;
        t->lacked_memory = may;
    }
    for (size_t i = count; chunks && i-- > 0;) {
        char digits[CHAR_BIT * sizeof(mp_digit)];
        unsigned n = 0;
        for (mp_digit left = chunks[i]; left || (i + 1 < count && n < chunk.digits); left /= base)
            digits[n++] = "0123456789abcdef"[left % base];
        while (n)
            ct_mon_text_add(t, &digits[--n], 1);
    }
    free(chunks);
}
