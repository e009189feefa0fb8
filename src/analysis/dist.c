/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dist.h"
#include "base/require.h"
#include "base/saturate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT 3 /* log2 of the buckets of each power of two */
#define EACH  (1u << SHIFT)

/* fewest buckets of a histogram: those of values below 16 */
#define FEWEST 16u

static inline unsigned bucket_of(uint64_t value)
{
    if (value < EACH)
        return (unsigned)value;
    unsigned top = 63u - (unsigned)__builtin_clzll(value);
    return (top - SHIFT + 1) * EACH + ((unsigned)(value >> (top - SHIFT)) & (EACH - 1));
}

unsigned ct_dist_bucket(uint64_t value)
{
    return bucket_of(value);
}

uint64_t ct_dist_bucket_start(unsigned bucket)
{
    if (bucket < EACH)
        return bucket;
    return (uint64_t)(EACH + bucket % EACH) << (bucket / EACH - 1);
}

/* Makes only as many buckets as needed. Most distributions are of edges, of which a large program has
 * hundreds of thousands, and few edges take more than a hundred cycles. */
static int make_buckets(struct ct_dist *d, unsigned needed)
{
    unsigned buckets = FEWEST;
    while (buckets < needed)
        buckets *= 2;
    if (buckets > CT_DIST_BUCKETS)
        buckets = CT_DIST_BUCKETS;
    uint32_t *histogram = realloc(d->histogram, buckets * sizeof *histogram);
    if (!histogram)
        return CT_ERR_NOMEM;
    memset(histogram + d->buckets, 0, (buckets - d->buckets) * sizeof *histogram);
    d->histogram = histogram;
    d->buckets = buckets;
    return CT_OK;
}

int ct_dist_make_room(struct ct_dist *d, uint64_t value)
{
    const unsigned bucket = bucket_of(value);
    return bucket < d->buckets ? CT_OK : make_buckets(d, bucket + 1);
}

static void add_count(uint32_t *into, uint32_t count)
{
    *into = count > UINT32_MAX - *into ? UINT32_MAX : *into + count;
}

static int add_to_bucket(struct ct_dist *d, unsigned bucket, uint32_t count)
{
    if (bucket >= d->buckets && make_buckets(d, bucket + 1))
        return CT_ERR_NOMEM;
    add_count(&d->histogram[bucket], count);
    return CT_OK;
}

static void add_square(struct ct_dist *d, uint64_t lo, uint64_t hi)
{
    d->square_lo += lo;
    d->square_hi += hi + (d->square_lo < lo);
}

int ct_dist_add_times(struct ct_dist *d, uint64_t value, uint32_t count, bool histogram)
{
    const unsigned __int128 squares = (unsigned __int128)value * value * count;
    if (!d->count || value < d->min)
        d->min = value;
    if (value > d->max)
        d->max = value;
    d->count += count;
    d->sum += value * count;
    add_square(d, (uint64_t)squares, (uint64_t)(squares >> 64));
    return histogram ? add_to_bucket(d, bucket_of(value), count) : CT_OK;
}

static void merge_squares(struct ct_dist *into, const struct ct_dist *from)
{
    const unsigned __int128 a = (unsigned __int128)into->square_hi << 64 | into->square_lo;
    const unsigned __int128 b = (unsigned __int128)from->square_hi << 64 | from->square_lo;
    const unsigned __int128 sum = a + b < a ? ~(unsigned __int128)0 : a + b;
    into->square_lo = (uint64_t)sum;
    into->square_hi = (uint64_t)(sum >> 64);
}

/* Adds with saturation, so that the order of additions does not matter. */
int ct_dist_merge(struct ct_dist *into, const struct ct_dist *from)
{
    CT_REQUIRE(NULL, into, from);
    if (!from->count)
        return CT_OK;
    if (!into->count || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    ct_add_up(&into->count, from->count);
    ct_add_up(&into->sum, from->sum);
    merge_squares(into, from);
    unsigned buckets = from->buckets;
    while (buckets && !from->histogram[buckets - 1])
        buckets--;
    if (buckets > into->buckets && make_buckets(into, buckets))
        return CT_ERR_NOMEM;
    for (unsigned i = 0; i < buckets; i++)
        add_count(&into->histogram[i], from->histogram[i]);
    return CT_OK;
}

void ct_dist_free(struct ct_dist *d)
{
    if (!d)
        return;
    free(d->histogram);
    d->histogram = NULL;
    d->buckets = 0;
}

double ct_dist_mean(const struct ct_dist *d)
{
    if (!d)
        return 0;
    return d->count ? (double)d->sum / (double)d->count : 0;
}

/* Computes in long double, because a double is not precise enough for the square of 2^31 cycles or more. */
double ct_dist_deviation(const struct ct_dist *d)
{
    if (!d)
        return 0;
    if (!d->count)
        return 0;
    long double n = (long double)d->count;
    long double mean = (long double)d->sum / n;
    long double squares = (long double)d->square_hi * 18446744073709551616.0L + (long double)d->square_lo;
    long double variance = squares / n - mean * mean;
    return variance > 0 ? (double)sqrtl(variance) : 0;
}

uint64_t ct_dist_quantile(const struct ct_dist *d, double q)
{
    if (!d)
        return 0;
    uint64_t wanted = (uint64_t)ceil(q * (double)d->count);
    uint64_t seen = 0;
    for (unsigned i = 0; i < d->buckets; i++) {
        seen += d->histogram[i];
        if (seen >= wanted && seen) {
            uint64_t end = i + 1 < CT_DIST_BUCKETS ? ct_dist_bucket_start(i + 1) - 1 : UINT64_MAX;
            return end > d->max ? d->max : end;
        }
    }
    return d->max;
}
