/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the buffer of a capture that describes a source. */
#pragma once

#include "coretap/input.h"

/* Returns the buffer that describes a source. For a source that no buffer describes, returns the first
 * one. */
static inline const struct ct_buffer *ct_source_buffer(const struct ct_capture *capture,
                                                       const struct ct_source *source)
{
    static const struct ct_buffer none = {.name = "trace"};
    for (size_t i = 0; i < capture->buffer_count; i++)
        for (size_t j = 0; j < capture->buffers[i].source_count; j++)
            if (&capture->buffers[i].sources[j] == source)
                return &capture->buffers[i];
    return capture->buffer_count ? capture->buffers : &none;
}
