/* SIFT key points (Lowe, IJCV 60(2), 2004): differences of Gaussians, extrema over space and scale, a
 * histogram of gradient directions for each. */
#include <math.h>

#include "image.h"

#define SCALES  4
#define OCTAVES 3
#define BINS    36

KEEP static void blur(const struct image *in, struct image *scratch, struct image *out, float sigma)
{
    float k[13], sum = 0;
    const int half = (int)(2.5f * sigma) < 6 ? (int)(2.5f * sigma) : 6;
    for (int d = -half; d <= half; d++)
        sum += k[d + half] = expf(-(float)(d * d) / (2 * sigma * sigma));
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            float v = 0;
            for (int d = -half; d <= half; d++)
                v += k[d + half] * near_at(in, x + d, y);
            *at(scratch, x, y) = v / sum;
        }
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            float v = 0;
            for (int d = -half; d <= half; d++)
                v += k[d + half] * near_at(scratch, x, y + d);
            *at(out, x, y) = v / sum;
        }
}

KEEP static void subtract(const struct image *a, const struct image *b, struct image *out)
{
    for (int i = 0; i < a->width * a->height; i++)
        out->pixel[i] = a->pixel[i] - b->pixel[i];
}

KEEP static int extremum(const struct image dog[SCALES - 1], int s, int x, int y)
{
    const float v = *at(&dog[s], x, y);
    if (fabsf(v) < 3)
        return 0;
    for (int d = -1; d <= 1; d++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const float o = *at(&dog[s + d], x + dx, y + dy);
                if ((d || dx || dy) && (v > 0 ? o >= v : o <= v))
                    return 0;
            }
    return 1;
}

KEEP static int orientation(const struct image *g, int x, int y)
{
    float histogram[BINS] = {0};
    int best = 0;
    for (int dy = -6; dy <= 6; dy++)
        for (int dx = -6; dx <= 6; dx++) {
            const float gx = near_at(g, x + dx + 1, y + dy) - near_at(g, x + dx - 1, y + dy);
            const float gy = near_at(g, x + dx, y + dy + 1) - near_at(g, x + dx, y + dy - 1);
            const int bin = (int)((atan2f(gy, gx) / 6.2832f + 0.5f) * BINS);
            histogram[bin < BINS ? bin : BINS - 1] += sqrtf(gx * gx + gy * gy);
        }
    for (int b = 1; b < BINS; b++)
        best = histogram[b] > histogram[best] ? b : best;
    return best;
}

KEEP static void halve(const struct image *in, struct image *out)
{
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            *at(out, x, y) = *at(in, 2 * x, 2 * y);
}

KEEP static int octave(const struct image *in, struct image g[SCALES], struct image dog[SCALES - 1])
{
    int points = 0, turn = 0;
    for (int s = 0; s < SCALES; s++) {
        g[s].width = in->width;
        g[s].height = in->height;
        if (s)
            dog[s - 1].width = in->width, dog[s - 1].height = in->height;
    }
    for (int s = 0; s < SCALES; s++)
        blur(in, &dog[0], &g[s], 0.8f * powf(1.5f, (float)s));
    for (int s = 0; s + 1 < SCALES; s++)
        subtract(&g[s + 1], &g[s], &dog[s]);
    for (int y = 1; y + 1 < in->height; y++)
        for (int x = 1; x + 1 < in->width; x++)
            if (extremum(dog, 1, x, y)) {
                points++;
                turn += orientation(&g[1], x, y);
            }
    return points + (turn < 0);
}

int main(int argc, char **argv)
{
    int width, height, runs, points = 0;
    image_options(argc, argv, &width, &height, &runs);
    struct image in = image_new(width, height), small[OCTAVES], g[SCALES], dog[SCALES - 1];
    for (int s = 0; s < SCALES; s++)
        g[s] = image_new(width, height);
    for (int s = 0; s + 1 < SCALES; s++)
        dog[s] = image_new(width, height);
    for (int o = 0; o < OCTAVES; o++)
        small[o] = image_new(width >> o, height >> o);
    image_scene(&in, 0);
    for (int r = 0; r < runs; r++) {
        points = 0;
        memcpy(small[0].pixel, in.pixel, (size_t)width * (size_t)height * sizeof(float));
        for (int o = 0; o < OCTAVES; o++) {
            points += octave(&small[o], g, dog);
            if (o + 1 < OCTAVES)
                halve(&small[o], &small[o + 1]);
        }
    }
    printf("%d key points\n", points);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
