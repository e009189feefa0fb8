/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "opencsd/layout.h"
#include "opencsd/log.h"

enum {
    FIRST_RESERVED_ID = 0x70, /* first trace ID that is reserved */
    FRAMES_AT_ONCE = 16,      /* most frames without an ID passed to a decoder at once */
};

/* Returns what is wrong with the flags of frames, or NULL. */
static const char *fault_of(uint32_t flags)
{
    if (!(flags & OCSD_DFRMTR_VALID_MASK))
        return "No Config Flags Set";
    if (flags & OCSD_DFRMTR_FRAME_MEM_ALIGN && flags & (OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS))
        return "Invalid Config Flag Combination Set";
    return flags & ~(uint32_t)OCSD_DFRMTR_VALID_MASK ? "Unknown Config Flags" : NULL;
}

/* Reports what is wrong with frames. */
static ocsd_datapath_resp_t refuse(ocsd_err_t code, ocsd_trc_index_t index, const char *message)
{
    ct_ocsd_log("DFMT_CSFRAMES", OCSD_ERR_SEV_ERROR, code, index, OCSD_BAD_CS_SRC_ID, message);
    return OCSD_RESP_FATAL_INVALID_DATA;
}

dcd_tree_handle_t ocsd_create_dcd_tree(const ocsd_dcd_tree_src_t src_type, const uint32_t deformatterCfgFlags)
{
    const bool framed = src_type == OCSD_TRC_SRC_FRAME_FORMATTED;
    const char *fault = framed ? fault_of(deformatterCfgFlags) : NULL;
    struct ct_ocsd_tree *tree = fault ? NULL : calloc(1, sizeof *tree);
    if (fault)
        refuse(OCSD_ERR_INVALID_PARAM_VAL, OCSD_BAD_TRC_INDEX, fault);
    if (!tree)
        return C_API_INVALID_TREE_HANDLE;
    tree->framed = framed;
    tree->frame_text = deformatterCfgFlags & CT_OCSD_FRAME_TEXT;
    ct_ocsd_frames_init(&tree->frames, deformatterCfgFlags & ~(uint32_t)CT_OCSD_FRAME_TEXT);
    return tree;
}

void ocsd_destroy_dcd_tree(const dcd_tree_handle_t handle)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return;
    for (unsigned id = 0; id < CT_OCSD_IDS; id++)
        if (tree->decoders[id])
            tree->decoders[id]->protocol->free(tree->decoders[id]);
    ct_ocsd_memory_deinit(&tree->memory);
    ct_ocsd_outlet_release(tree->outlet);
    free(tree);
}

ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                      const void *p_context)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ct_ocsd_tree_set_output(tree, pFn, p_context, pFn != NULL);
    return OCSD_OK;
}

void ct_ocsd_tree_set_output(struct ct_ocsd_tree *tree, FnTraceElemIn take_element, const void *context,
                             bool attached)
{
    tree->take_element = take_element;
    tree->element_context = context;
    tree->attaches = attached && ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
    for (unsigned id = 0; id < CT_OCSD_IDS; id++)
        if (tree->decoders[id])
            tree->decoders[id]->attached = attached;
}

struct ct_ocsd_decoder *ct_ocsd_tree_find(const struct ct_ocsd_tree *tree, uint8_t id)
{
    if (!tree->framed)
        return tree->decoders[0];
    return id < CT_OCSD_IDS ? tree->decoders[id] : NULL;
}

/* Returns the response that is more severe. */
static ocsd_datapath_resp_t worse(ocsd_datapath_resp_t a, ocsd_datapath_resp_t b)
{
    return a > b ? a : b;
}

/* Counts the bytes of a part in the statistics. */
static void count_part(struct ct_ocsd_frames *f, const struct ct_ocsd_part *part,
                       const struct ct_ocsd_decoder *decoder)
{
    const unsigned size = (unsigned)(part->end - part->begin);
    if (f->counted)
        return;
    f->counted = true;
    if (part->id == CT_OCSD_NO_ID)
        f->stats.unknown_id_bytes += size;
    else if (!part->id || part->id >= FIRST_RESERVED_ID)
        f->stats.reserved_id_bytes += size;
    else if (decoder)
        f->stats.valid_id_bytes += size;
    else
        f->stats.no_id_bytes += size;
}

/* Passes on the remaining parts of the current frame, up to a response other than CONT. */
static ocsd_datapath_resp_t hand_out(struct ct_ocsd_tree *tree)
{
    struct ct_ocsd_frames *f = &tree->frames;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    while (f->part < f->part_count && OCSD_DATA_RESP_IS_CONT(resp)) {
        struct ct_ocsd_part *part = &f->parts[f->part];
        struct ct_ocsd_decoder *decoder = ct_ocsd_tree_find(tree, part->id);
        uint32_t used = part->end - part->begin;
        if (!f->printed)
            ct_ocsd_frames_print_part(f, part);
        f->printed = true;
        count_part(f, part, decoder);
        if (decoder && used)
            resp = decoder->protocol->data(decoder, f->index + part->place, f->bytes + part->begin,
                                           part->end - part->begin, &used);
        part->begin = (uint8_t)(part->begin + used);
        part->place = (uint8_t)(part->place + used);
        if (part->begin == part->end) {
            f->part++;
            f->printed = f->counted = false;
        }
    }
    return resp;
}

/* Applies an operation to all decoders. Returns the most severe response. */
static ocsd_datapath_resp_t for_all(struct ct_ocsd_tree *tree,
                                    ocsd_datapath_resp_t (*operation)(struct ct_ocsd_decoder *decoder))
{
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    for (unsigned id = 0; id < CT_OCSD_IDS; id++)
        if (tree->decoders[id])
            resp = worse(resp, operation(tree->decoders[id]));
    return resp;
}

static ocsd_datapath_resp_t flush_decoder(struct ct_ocsd_decoder *decoder)
{
    return decoder->protocol->flush(decoder);
}

static ocsd_datapath_resp_t reset_decoder(struct ct_ocsd_decoder *decoder)
{
    return decoder->protocol->reset(decoder);
}

static ocsd_datapath_resp_t finish_decoder(struct ct_ocsd_decoder *decoder)
{
    return decoder->protocol->finish(decoder);
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_tree *tree)
{
    const ocsd_datapath_resp_t resp = for_all(tree, flush_decoder);
    if (!OCSD_DATA_RESP_IS_CONT(resp) || !tree->framed)
        return resp;
    ct_ocsd_frames_flush(&tree->frames);
    return worse(resp, hand_out(tree));
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_tree *tree)
{
    ct_ocsd_frames_init(&tree->frames, tree->frames.flags);
    return for_all(tree, reset_decoder);
}

/* Handles the synchronisation words before a frame. Words that reset decoders must fill whole frames. */
static ocsd_datapath_resp_t take_words(struct ct_ocsd_tree *tree, const struct ct_ocsd_words *words,
                                       ocsd_trc_index_t index, const uint8_t *bytes)
{
    struct ct_ocsd_frames *f = &tree->frames;
    const bool sound = words->size % CT_OCSD_FRAME_SIZE == 0;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (words->broken)
        return refuse(OCSD_ERR_DFMTR_BAD_FHSYNC, index,
                      "Bad FSYNC pattern before frame or invalid ID.(0x7F)");
    if (!words->resets)
        return resp;
    if (sound) {
        resp = for_all(tree, reset_decoder);
        f->id = CT_OCSD_NO_ID;
    }
    ct_ocsd_frames_print_words(f, index, bytes, words->size);
    return sound ? resp : refuse(OCSD_ERR_DFMTR_BAD_FHSYNC, index, "Incorrect FSYNC frame reset pattern");
}

/* Returns whether the first synchronisation word is still missing. */
static bool lacks_word(const struct ct_ocsd_frames *f)
{
    return f->flags & OCSD_DFRMTR_HAS_FSYNCS && !f->synced;
}

/* Takes bytes up to the end of a frame, and passes them on. */
static ocsd_datapath_resp_t take_frame(struct ct_ocsd_tree *tree, ocsd_trc_index_t index,
                                       const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    struct ct_ocsd_frames *f = &tree->frames;
    const char *message;
    const struct ct_ocsd_words words = ct_ocsd_frames_words(f, bytes, size);
    *used = words.skipped;
    if (lacks_word(f))
        return OCSD_RESP_CONT;
    ocsd_datapath_resp_t resp = take_words(tree, &words, index + *used, bytes + *used);
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    const uint32_t taken =
        ct_ocsd_frames_add(f, index + *used, bytes + *used, size - *used, words.size, &message);
    if (message)
        return refuse(OCSD_ERR_DFMTR_BAD_FHSYNC, index + *used, message);
    *used += taken;
    return worse(resp, hand_out(tree));
}

/* Takes frames without an ID, several at a time, if their decoder supports that. Returns the number of bytes
 * taken, up to the end of the frame in which the client requested a pause. */
static uint32_t take_plain_frames(struct ct_ocsd_tree *tree, ocsd_trc_index_t index, const uint8_t *bytes,
                                  uint32_t size, ocsd_datapath_resp_t *resp)
{
    struct ct_ocsd_frames *f = &tree->frames;
    uint8_t data[FRAMES_AT_ONCE * CT_OCSD_FRAME_SIZE];
    struct ct_ocsd_decoder *decoder = ct_ocsd_tree_find(tree, f->id);
    uint32_t used, begun;
    if (!(f->flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) || f->flags & CT_OCSD_FRAME_TEXT || !decoder ||
        !decoder->protocol->frames || !f->id || f->id >= FIRST_RESERVED_ID)
        return 0;
    const uint32_t count = ct_ocsd_frames_gather(bytes, size, FRAMES_AT_ONCE, data);
    if (!count)
        return 0;
    *resp = decoder->protocol->frames(
        decoder, &(const struct ct_ocsd_piece){index, data, count * CT_OCSD_FRAME_DATA, true}, &used, &begun);
    f->began = true;
    f->stats.valid_id_bytes += (uint64_t)begun * CT_OCSD_FRAME_DATA;
    f->stats.frame_bytes += (uint64_t)begun * (CT_OCSD_FRAME_SIZE - CT_OCSD_FRAME_DATA);
    if (used < begun * CT_OCSD_FRAME_DATA) {
        const uint32_t last = (begun - 1) * CT_OCSD_FRAME_SIZE;
        const uint32_t before = (begun - 1) * CT_OCSD_FRAME_DATA;
        ct_ocsd_frames_go_on(f, index + last, bytes + last, (uint8_t)(used - before));
    }
    return begun * CT_OCSD_FRAME_SIZE;
}

/* Takes frames. Stops after the frame in which the client requested a pause. If the index is not the expected
 * one, *used is that of the previous call. */
static ocsd_datapath_resp_t take_frames(struct ct_ocsd_tree *tree, ocsd_trc_index_t index,
                                        const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    struct ct_ocsd_frames *f = &tree->frames;
    char text[64];
    ocsd_datapath_resp_t resp = hand_out(tree);
    if (f->began && f->next != index) {
        *used = tree->taken;
        return refuse(OCSD_ERR_DFMTR_NOTCONTTRACE, index, "");
    }
    if (size % ct_ocsd_frames_unit(f)) {
        snprintf(text, sizeof text, "Input block incorrect size, must be %u byte multiple",
                 ct_ocsd_frames_unit(f));
        return refuse(OCSD_ERR_INVALID_PARAM_VAL, OCSD_BAD_TRC_INDEX, text);
    }
    for (bool goes_on = true; goes_on && *used < size && OCSD_DATA_RESP_IS_CONT(resp);) {
        ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
        uint32_t taken = take_plain_frames(tree, index + *used, bytes + *used, size - *used, &answer);
        if (!taken)
            answer = take_frame(tree, index + *used, bytes + *used, size - *used, &taken);
        resp = worse(resp, answer);
        *used += taken;
        goes_on = taken && !lacks_word(f); /* a word or a pair of bytes may be split by the end of the call */
    }
    f->next = index + *used;
    tree->taken = *used;
    return resp;
}

/* Returns whether a tree without frames has no decoder. */
static bool lacks_decoder(const struct ct_ocsd_tree *tree)
{
    return !tree->framed && !tree->decoders[0];
}

static ocsd_datapath_resp_t take_data(struct ct_ocsd_tree *tree, ocsd_trc_index_t index, uint32_t size,
                                      const uint8_t *bytes, uint32_t *used)
{
    uint32_t taken = 0;
    ocsd_datapath_resp_t resp;
    if (used && !tree->framed)
        *used = 0;
    if (used && lacks_decoder(tree))
        return OCSD_RESP_FATAL_NOT_INIT;
    if (!bytes || !size || !used)
        return OCSD_RESP_FATAL_INVALID_PARAM;
    if (tree->framed) {
        resp = take_frames(tree, index, bytes, size, &taken);
    } else {
        struct ct_ocsd_decoder *decoder = tree->decoders[0];
        resp = decoder->protocol->data(decoder, index, bytes, size, &taken);
    }
    *used = taken;
    return resp;
}

static ocsd_datapath_resp_t operate(struct ct_ocsd_tree *tree, ocsd_datapath_op_t op, ocsd_trc_index_t index,
                                    uint32_t size, const uint8_t *bytes, uint32_t *used)
{
    switch (op) {
    case OCSD_OP_DATA:
        return take_data(tree, index, size, bytes, used);
    case OCSD_OP_EOT:
        return for_all(tree, finish_decoder);
    case OCSD_OP_FLUSH:
        return flush(tree);
    case OCSD_OP_RESET:
        return reset(tree);
    default:
        return lacks_decoder(tree) ? OCSD_RESP_FATAL_NOT_INIT : OCSD_RESP_FATAL_INVALID_OP;
    }
}

ocsd_datapath_resp_t ocsd_dt_process_data(const dcd_tree_handle_t handle, const ocsd_datapath_op_t op,
                                          const ocsd_trc_index_t index, const uint32_t dataBlockSize,
                                          const uint8_t *pDataBlock, uint32_t *numBytesProcessed)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_RESP_FATAL_NOT_INIT;
    tree->epoch++;
    tree->late = ct_ocsd_layout_is_late();
    struct ct_ocsd_outlet *before = ct_ocsd_outlet_select(tree->outlet);
    const ocsd_datapath_resp_t resp = operate(tree, op, index, dataBlockSize, pDataBlock, numBytesProcessed);
    ct_ocsd_outlet_select(before);
    return resp;
}
