/* SPDX-License-Identifier: Apache-2.0 */
/* A demultiplexer beside which somebody else takes bytes. */
#ifndef CT_FRAME_DEMUX_SKIP_H
#define CT_FRAME_DEMUX_SKIP_H

#include "coretap/frame.h"

/* So many bytes of a stream without frames, whose run is empty, go another way. */
void ct_demux_skip(struct ct_demux *demux, size_t size);

/* The last `size` bytes that were pushed, which nobody consumed, are as though they had not been. */
void ct_demux_take_back(struct ct_demux *demux, size_t size);

/* Says that the first bytes are not those that the trace begins with: what comes before the first
 * synchronisation word of a TPIU is left out, and is not lost. Before the first byte. */
void ct_demux_begin_inside(struct ct_demux *demux);

/* Returns the offset in the capture of a byte of the file: of DSTREAM, of the block that it is in. */
uint64_t ct_framing_block_offset(enum ct_framing framing, uint64_t file_offset);

/* Of the next byte, in the capture. */
uint64_t ct_demux_offset(const struct ct_demux *demux);

#endif
