/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of the workloads: grey images of floats, and a scene to look at. */
#ifndef EXAMPLES_FRACTAL_IMAGE_H
#define EXAMPLES_FRACTAL_IMAGE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
    int width, height;
    float *pixel;
};

static inline struct image image_new(int width, int height)
{
    struct image i = {width, height, calloc((size_t)width * (size_t)height, sizeof(float))};
    if (!i.pixel) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return i;
}

static inline float *at(const struct image *i, int x, int y)
{
    return i->pixel + (size_t)y * (size_t)i->width + x;
}

/* Returns the pixel at (x, y), or the nearest one inside of the image. */
static inline float near_at(const struct image *i, int x, int y)
{
    x = x < 0 ? 0 : x >= i->width ? i->width - 1 : x;
    y = y < 0 ? 0 : y >= i->height ? i->height - 1 : y;
    return *at(i, x, y);
}

/* Draws discs and bars on a gradient, with noise: edges of every direction, regions and corners. `shift`
 * moves the scene to the left, in pixels. */
static inline void image_scene(struct image *i, int shift)
{
    uint32_t s = 12345;
    for (int y = 0; y < i->height; y++) {
        for (int x = 0; x < i->width; x++) {
            const int u = x + shift, cx = u % 96 - 48, cy = y % 80 - 40;
            float v = 40.0f + 60.0f * (float)x / (float)i->width;
            if (cx * cx + cy * cy < 28 * 28)
                v += 90.0f;
            if (u % 160 > 120 && y % 120 > 30)
                v = 200.0f - v / 2;
            s = s * 1664525u + 1013904223u;
            *at(i, x, y) = v + (float)(s >> 28);
        }
    }
}

/* Looks up a size by its name, or reads WxH. Ends the program when the text is neither. */
static inline void image_size(const char *text, int *width, int *height)
{
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {
        {"sqcif", 128, 96}, {"qcif", 176, 144}, {"cif", 352, 288}, {"vga", 640, 480}, {"fullhd", 1920, 1080}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(text, sizes[i].name)) {
            *width = sizes[i].width;
            *height = sizes[i].height;
            return;
        }
    if (sscanf(text, "%dx%d", width, height) == 2 && *width > 0 && *height > 0)
        return;
    fprintf(stderr, "-s: '%s' is no size: sqcif, qcif, cif, vga, fullhd or WIDTHxHEIGHT\n", text);
    exit(2);
}

/* Reads the options "-s SIZE" and "-t RUNS", which RT-Bench has, too. */
static inline void image_options(int argc, char **argv, int *width, int *height, int *runs)
{
    *width = 352;
    *height = 288;
    *runs = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-t"))
            *runs = atoi(argv[i + 1]);
        else
            image_size(argv[i + 1], width, height);
    }
}

#define KEEP __attribute__((noinline)) /* so that the timeline shows a function of its own */

#endif
