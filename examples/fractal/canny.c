/* Canny's edge detector (IEEE PAMI 8(6), 1986): smooth, differentiate, thin, track. */
#include <math.h>

#include "image.h"

KEEP static void smooth_rows(const struct image *in, struct image *out)
{
    static const float k[] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            float v = 0;
            for (int d = -2; d <= 2; d++)
                v += k[d + 2] * near_at(in, x + d, y);
            *at(out, x, y) = v;
        }
}

KEEP static void smooth_columns(const struct image *in, struct image *out)
{
    static const float k[] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            float v = 0;
            for (int d = -2; d <= 2; d++)
                v += k[d + 2] * near_at(in, x, y + d);
            *at(out, x, y) = v;
        }
}

KEEP static void gradient(const struct image *in, struct image *gx, struct image *gy, struct image *size)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const float dx = near_at(in, x + 1, y) - near_at(in, x - 1, y);
            const float dy = near_at(in, x, y + 1) - near_at(in, x, y - 1);
            *at(gx, x, y) = dx;
            *at(gy, x, y) = dy;
            *at(size, x, y) = fabsf(dx) + fabsf(dy);
        }
}

/* Keeps the pixels with the largest gradient across an edge. */
KEEP static void thin(const struct image *gx, const struct image *gy, const struct image *size,
                      struct image *out)
{
    for (int y = 0; y < size->height; y++)
        for (int x = 0; x < size->width; x++) {
            const float dx = *at(gx, x, y), dy = *at(gy, x, y), m = *at(size, x, y);
            const int sx = fabsf(dx) * 2.414f > fabsf(dy) ? (dx > 0 ? 1 : -1) : 0;
            const int sy = fabsf(dy) * 2.414f > fabsf(dx) ? (dy > 0 ? 1 : -1) : 0;
            *at(out, x, y) = m >= near_at(size, x + sx, y + sy) && m > near_at(size, x - sx, y - sy) ? m : 0;
        }
}

/* Follows edges: keeps strong pixels, and weak ones connected to them. Returns how many. */
KEEP static int track(struct image *edges, int *stack, float low, float high)
{
    int count = 0, top = 0;
    const int n = edges->width * edges->height;
    for (int seed = 0; seed < n; seed++) {
        if (edges->pixel[seed] < high)
            continue;
        edges->pixel[seed] = -1;
        stack[top++] = seed;
        while (top) {
            const int p = stack[--top], x = p % edges->width, y = p / edges->width;
            count++;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (near_at(edges, x + dx, y + dy) >= low && x + dx >= 0 && y + dy >= 0 &&
                        x + dx < edges->width && y + dy < edges->height) {
                        *at(edges, x + dx, y + dy) = -1;
                        stack[top++] = (y + dy) * edges->width + x + dx;
                    }
        }
    }
    return count;
}

KEEP static int canny(const struct image *in, struct image work[4], int *stack)
{
    smooth_rows(in, &work[0]);
    smooth_columns(&work[0], &work[1]);
    gradient(&work[1], &work[0], &work[2], &work[3]);
    thin(&work[0], &work[2], &work[3], &work[1]);
    return track(&work[1], stack, 20, 40);
}

int main(int argc, char **argv)
{
    int width, height, runs, edges = 0;
    image_options(argc, argv, &width, &height, &runs);
    struct image in = image_new(width, height), work[4];
    int *stack = malloc((size_t)width * (size_t)height * sizeof *stack);
    for (int i = 0; i < 4; i++)
        work[i] = image_new(width, height);
    image_scene(&in, 0);
    for (int i = 0; i < runs && stack; i++)
        edges = canny(&in, work, stack);
    printf("%d edge pixels\n", edges);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
