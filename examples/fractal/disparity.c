/* Dense stereo disparity: for each shift, sums the squared difference of both images over a window, with an
 * integral image. The shift with the smallest sum wins. */
#include "image.h"

#define SHIFTS 8
#define HALF   4

KEEP static void difference(const struct image *left, const struct image *right, int shift, struct image *out)
{
    for (int y = 0; y < left->height; y++)
        for (int x = 0; x < left->width; x++) {
            const float d = *at(left, x, y) - near_at(right, x - shift, y);
            *at(out, x, y) = d * d;
        }
}

KEEP static void integrate(struct image *i)
{
    for (int y = 0; y < i->height; y++)
        for (int x = 1; x < i->width; x++)
            *at(i, x, y) += *at(i, x - 1, y);
    for (int y = 1; y < i->height; y++)
        for (int x = 0; x < i->width; x++)
            *at(i, x, y) += *at(i, x, y - 1);
}

KEEP static void choose(const struct image *sum, int shift, struct image *best, struct image *disparity)
{
    for (int y = HALF + 1; y < sum->height - HALF; y++)
        for (int x = HALF + 1; x < sum->width - HALF; x++) {
            const float v = *at(sum, x + HALF, y + HALF) - *at(sum, x - HALF - 1, y + HALF) -
                            *at(sum, x + HALF, y - HALF - 1) + *at(sum, x - HALF - 1, y - HALF - 1);
            if (shift == 0 || v < *at(best, x, y)) {
                *at(best, x, y) = v;
                *at(disparity, x, y) = (float)shift;
            }
        }
}

int main(int argc, char **argv)
{
    int width, height, runs;
    image_options(argc, argv, &width, &height, &runs);
    struct image left = image_new(width, height), right = image_new(width, height);
    struct image sum = image_new(width, height), best = image_new(width, height),
                 out = image_new(width, height);
    image_scene(&left, 0);
    image_scene(&right, 5);
    for (int r = 0; r < runs; r++)
        for (int shift = 0; shift < SHIFTS; shift++) {
            difference(&left, &right, shift, &sum);
            integrate(&sum);
            choose(&sum, shift, &best, &out);
        }
    double total = 0;
    for (int i = 0; i < width * height; i++)
        total += out.pixel[i];
    printf("mean disparity %.3f\n", total / (width * height));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
