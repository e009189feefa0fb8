/* Feature tracking (Shi and Tomasi, CVPR 1994; Lucas and Kanade, IJCAI 1981): corners with a large smallest
 * eigenvalue, followed into the next image. */
#include <math.h>

#include "image.h"

#define FEATURES 200
#define HALF     4
#define STEPS    10

struct feature {
    float x, y, score;
};

KEEP static void gradients(const struct image *in, struct image *gx, struct image *gy)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            *at(gx, x, y) = (near_at(in, x + 1, y) - near_at(in, x - 1, y)) / 2;
            *at(gy, x, y) = (near_at(in, x, y + 1) - near_at(in, x, y - 1)) / 2;
        }
}

KEEP static void smallest_eigenvalue(const struct image *gx, const struct image *gy, struct image *out)
{
    for (int y = 2; y < gx->height - 2; y++)
        for (int x = 2; x < gx->width - 2; x++) {
            float a = 0, b = 0, c = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) {
                    const float u = *at(gx, x + dx, y + dy), v = *at(gy, x + dx, y + dy);
                    a += u * u;
                    b += u * v;
                    c += v * v;
                }
            *at(out, x, y) = (a + c) / 2 - sqrtf((a - c) * (a - c) / 4 + b * b);
        }
}

/* Selects the best pixel in each cell of a grid. */
KEEP static int select_features(const struct image *score, struct feature *f)
{
    const int cell = 24;
    int n = 0;
    for (int cy = cell; cy + cell < score->height - cell; cy += cell)
        for (int cx = cell; cx + cell < score->width - cell && n < FEATURES; cx += cell) {
            f[n].score = -1;
            for (int y = cy; y < cy + cell; y++)
                for (int x = cx; x < cx + cell; x++)
                    if (*at(score, x, y) > f[n].score)
                        f[n] = (struct feature){(float)x, (float)y, *at(score, x, y)};
            n += f[n].score > 100;
        }
    return n;
}

static float between(const struct image *i, float x, float y)
{
    const int ix = (int)floorf(x), iy = (int)floorf(y);
    const float u = x - (float)ix, v = y - (float)iy;
    return (1 - u) * (1 - v) * near_at(i, ix, iy) + u * (1 - v) * near_at(i, ix + 1, iy) +
           (1 - u) * v * near_at(i, ix, iy + 1) + u * v * near_at(i, ix + 1, iy + 1);
}

KEEP static void follow(const struct image *from, const struct image *to, const struct image *gx,
                        const struct image *gy, struct feature *f)
{
    float px = 0, py = 0;
    for (int step = 0; step < STEPS; step++) {
        float a = 0, b = 0, c = 0, ex = 0, ey = 0;
        for (int dy = -HALF; dy <= HALF; dy++)
            for (int dx = -HALF; dx <= HALF; dx++) {
                const float x = f->x + (float)dx, y = f->y + (float)dy;
                const float u = between(gx, x, y), v = between(gy, x, y);
                const float d = between(from, x, y) - between(to, x + px, y + py);
                a += u * u, b += u * v, c += v * v, ex += d * u, ey += d * v;
            }
        const float det = a * c - b * b;
        if (fabsf(det) < 1)
            break;
        px += (c * ex - b * ey) / det;
        py += (a * ey - b * ex) / det;
    }
    f->x += px;
    f->y += py;
}

int main(int argc, char **argv)
{
    int width, height, runs, n = 0;
    image_options(argc, argv, &width, &height, &runs);
    struct image a = image_new(width, height), b = image_new(width, height), gx = image_new(width, height);
    struct image gy = image_new(width, height), score = image_new(width, height);
    struct feature f[FEATURES + 1];
    double moved = 0;
    image_scene(&a, 0);
    image_scene(&b, 2);
    for (int r = 0; r < runs; r++) {
        gradients(&a, &gx, &gy);
        smallest_eigenvalue(&gx, &gy, &score);
        n = select_features(&score, f);
        moved = 0;
        for (int i = 0; i < n; i++) {
            const float x = f[i].x;
            follow(&a, &b, &gx, &gy, &f[i]);
            moved += f[i].x - x;
        }
    }
    printf("%d features, mean motion %.3f\n", n, n ? moved / n : 0);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
