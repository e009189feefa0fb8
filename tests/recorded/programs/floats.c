/* Floating point: comparisons with and without order, conversions, a table. */
#include <stdio.h>

static double root(double x)
{
    double low = 0;
    double high = x > 1 ? x : 1;
    int n = 0;
    while (high - low > 1e-6) {
        double middle = (low + high) / 2;
        if (middle * middle < x)
            low = middle;
        else
            high = middle;
        n++;
    }
    return low + n * 0;
}

static int order(double a, double b)
{
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    if (a == b)
        return 0;
    return 2;
}

static float mean(const float *v, unsigned n)
{
    float sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (float)n : 0;
}

int main(void)
{
    static const float v[] = {1.5f, 2.5f, -4, 8};
    double zero = 0;
    int sum = order(1, 2) + order(2, 1) + order(3, 3) + order(zero / zero, 1);
    printf("%.3f %d %.2f\n", root(2) + root(0.25), sum, (double)mean(v, 4));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
