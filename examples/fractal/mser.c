/* Maximally stable extremal regions (Matas et al., BMVC 2002): pixels join their components in order of
 * brightness; a component is stable when its area hardly changes over some levels. */
#include "image.h"

#define LEVELS 256
#define DELTA  5

struct forest {
    int *parent, *area, *before; /* of roots: the area DELTA levels ago */
    int *stamp;                  /* level of `before` */
};

KEEP static int root_of(int *parent, int p)
{
    while (parent[p] != p) {
        parent[p] = parent[parent[p]];
        p = parent[p];
    }
    return p;
}

KEEP static void sort_pixels(const struct image *in, int *order)
{
    int start[LEVELS + 1] = {0};
    const int n = in->width * in->height;
    for (int i = 0; i < n; i++)
        start[(int)in->pixel[i] % LEVELS + 1]++;
    for (int l = 0; l < LEVELS; l++)
        start[l + 1] += start[l];
    for (int i = 0; i < n; i++)
        order[start[(int)in->pixel[i] % LEVELS]++] = i;
}

KEEP static void join(struct forest *f, int a, int b)
{
    a = root_of(f->parent, a);
    b = root_of(f->parent, b);
    if (a == b)
        return;
    if (f->area[a] < f->area[b]) {
        const int t = a;
        a = b;
        b = t;
    }
    f->parent[b] = a;
    f->area[a] += f->area[b];
}

KEEP static int stable(struct forest *f, int p, int level)
{
    const int r = root_of(f->parent, p);
    if (level - f->stamp[r] < DELTA)
        return 0;
    const int grown = f->area[r] - f->before[r], was = f->before[r];
    f->before[r] = f->area[r];
    f->stamp[r] = level;
    return was > 60 && grown * 10 < was;
}

KEEP static int mser(const struct image *in, struct forest *f, int *order)
{
    const int w = in->width, n = w * in->height;
    int regions = 0;
    for (int i = 0; i < n; i++)
        f->parent[i] = -1;
    sort_pixels(in, order);
    for (int i = 0; i < n; i++) {
        const int p = order[i], x = p % w, level = (int)in->pixel[p] % LEVELS;
        f->parent[p] = p;
        f->area[p] = 1;
        f->before[p] = 0;
        f->stamp[p] = level;
        if (x > 0 && f->parent[p - 1] >= 0)
            join(f, p, p - 1);
        if (x + 1 < w && f->parent[p + 1] >= 0)
            join(f, p, p + 1);
        if (p >= w && f->parent[p - w] >= 0)
            join(f, p, p - w);
        if (p + w < n && f->parent[p + w] >= 0)
            join(f, p, p + w);
        regions += stable(f, p, level);
    }
    return regions;
}

int main(int argc, char **argv)
{
    int width, height, runs, regions = 0;
    image_options(argc, argv, &width, &height, &runs);
    struct image in = image_new(width, height);
    const size_t n = (size_t)width * (size_t)height;
    struct forest f = {malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc(n * sizeof(int)),
                       malloc(n * sizeof(int))};
    int *order = malloc(n * sizeof(int));
    image_scene(&in, 0);
    for (int r = 0; r < runs && f.parent && f.area && f.before && f.stamp && order; r++)
        regions = mser(&in, &f, order);
    printf("%d stable regions\n", regions);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
