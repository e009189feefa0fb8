/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between the classifiers and Capstone 4.0.2, with reasons. */
#pragma once

#include <stdint.h>

enum set {
    SET_A64,
    SET_A32,
    SET_T32,
};

enum kind {
    KIND_INVALID,
    KIND_OTHER,
    KIND_BR,
    KIND_IBR,
    KIND_ISB,
    KIND_DSB,
    KIND_WFI,
    KIND_TSTART,
};

static const char *const set_names[] = {"A64", "A32", "T32"};
static const char *const kind_names[] = {"invalid", "other", "br", "ibr", "isb", "dsb", "wfi", "tstart"};

/* Words with these bits for which the two give these kinds. With equal kinds, something else differs: target,
 * link, return, condition or size. */
struct row {
    uint8_t set;
    uint8_t mine;
    uint8_t other;
    uint8_t newer; /* 1: instructions after ARMv8.0, the last version that Capstone 4 knows */
    uint32_t mask, value;
    const char *reason;
};

static const struct row rows[] = {
    /* A64: instructions of later versions of the architecture */
    {SET_A64, KIND_TSTART, KIND_OTHER, 1, 0xffffffe0, 0xd5233060, "TSTART, FEAT_TME"},
    {SET_A64, KIND_WFI, KIND_OTHER, 1, 0xffffffc0, 0xd5031000, "WFET, WFIT: FEAT_WFxT"},
    {SET_A64, KIND_DSB, KIND_OTHER, 1, 0xfffff3ff, 0xd503323f, "DSB nXS, FEAT_XS"},
    {SET_A64, KIND_BR, KIND_INVALID, 1, 0xff000010, 0x54000010, "BC.cond, FEAT_HBC"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xffdff800, 0xd71f0800, "BRAA, BRAB, BLRAA, BLRAB: FEAT_PAuth"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xffdff81f, 0xd61f081f, "BRAAZ, BRABZ, BLRAAZ, BLRABZ: FEAT_PAuth"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xfffffbff, 0xd65f0bff, "RETAA, RETAB: FEAT_PAuth"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xfffffbff, 0xd69f0bff, "ERETAA, ERETAB: FEAT_PAuth"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xfffffbe0, 0xd65f0be0, "RETAASPPCR, RETABSPPCR: FEAT_PAuth_LR"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xffc0001f, 0x5500001f, "RETAASPPC, RETABSPPC: FEAT_PAuth_LR"},
    {SET_A64, KIND_IBR, KIND_INVALID, 1, 0xfffffbff, 0xd6ff03e0, "TEXIT: FEAT_TEV"},
    {SET_A64, KIND_BR, KIND_INVALID, 1, 0x7f00c000, 0x74000000, "CB<cc> of registers, FEAT_CMPBR"},
    {SET_A64, KIND_BR, KIND_INVALID, 1, 0xff008000, 0x74008000, "CBB<cc>, CBH<cc>: FEAT_CMPBR"},
    {SET_A64, KIND_BR, KIND_INVALID, 1, 0x7f004000, 0x75000000, "CB<cc> with an immediate, FEAT_CMPBR"},
    /* A32: a "should be one" or "should be zero" field is violated; Capstone refuses the word, the classifier
     * ignores the field */
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0ff000f0, 0x01200010, "BX, bits 19:8 should be one"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0ff000f0, 0x01200020, "BXJ, bits 19:8 should be one"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0ff000f0, 0x01200030, "BLX, bits 19:8 should be one"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0ff000f0, 0x01600060, "ERET, bits 19:8 and 3:0"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0fa0f010, 0x01a0f000, "MOV, MVN, Rn should be zero"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0x0fa0f000, 0x03a0f000,
     "MOV, MVN with an immediate, Rn should be zero"},
    {SET_A32, KIND_IBR, KIND_INVALID, 0, 0xfe500000, 0xf8100000, "RFE, bits 15:0"},
    {SET_A32, KIND_DSB, KIND_INVALID, 0, 0xfff000f0, 0xf5700040, "DSB, bits 19:8"},
    {SET_A32, KIND_DSB, KIND_INVALID, 0, 0xfff000f0, 0xf5700050, "DMB, bits 19:8"},
    {SET_A32, KIND_ISB, KIND_INVALID, 0, 0xfff000f0, 0xf5700060, "ISB, bits 19:8"},
    /* A32: UNPREDICTABLE with the PC as destination, so no branch; a branch for Capstone */
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e00f090, 0x0000f010,
     "data processing, register shifted by a register; CLZ, QADD and QSUB among them"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0fb0f000, 0x0300f000, "MOVW, MOVT"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e50f000, 0x0450f000, "LDRB, LDRBT, immediate"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e50f010, 0x0650f000, "LDRB, LDRBT, register"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f70f000, 0x0430f000, "LDRT, immediate"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f70f010, 0x0630f000, "LDRT, register"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e10f0f0, 0x0010f0b0, "LDRH, LDRHT"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e10f0d0, 0x0010f0d0, "LDRSB, LDRSH, LDRSBT, LDRSHT"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e10f0f0, 0x0000e0d0, "LDRD, Rt2"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e2f0000, 0x082f0000, "LDM, STM with write-back to the PC"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e2f0e00, 0x0c2f0a00, "VLDM, VSTM with write-back to the PC"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f0f00f0, 0x000f0090, "multiply, Rd or RdHi"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f80f0f0, 0x0080f090, "long multiply, RdLo"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0ff0f0f0, 0x0040f090, "UMAAL, RdLo"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f9f0090, 0x010f0080, "halfword multiply, Rd or RdHi"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0ff0f090, 0x0140f080, "SMLAL<x><y>, RdLo"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f90f0f0, 0x0100f000, "MRS"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f90f0f0, 0x0100f040, "CRC32"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f00f0f0, 0x0100f090,
     "exclusive and atomic loads and stores, Rd or Rt"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0e00f010, 0x0600f010, "media instructions, bits 15:12"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f8f0010, 0x070f0010, "media multiplies and divides, bits 19:16"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0fff00f0, 0x078f0010, "USADA8"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0f10fe10, 0x0e10fa10, "VMOV from one vector register"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0ff0fe00, 0x0c50fa00, "VMOV from two vector registers, Rt"},
    {SET_A32, KIND_OTHER, KIND_IBR, 0, 0x0fff0e00, 0x0c5f0a00, "VMOV from two vector registers, Rt2"},
    /* A32: other differences */
    {SET_A32, KIND_IBR, KIND_IBR, 0, 0x0fff2000, 0x08bd2000,
     "POP that also loads SP, UNPREDICTABLE: not counted as a return"},
    {SET_A32, KIND_OTHER, KIND_OTHER, 0, 0x0ff000f0, 0x01400070,
     "HVC has no condition in Capstone; with one it is UNPREDICTABLE"},
    {SET_A32, KIND_OTHER, KIND_OTHER, 0, 0x0fb00ef0, 0x01000200,
     "MRS of a banked register: Capstone loses the condition"},
    {SET_A32, KIND_OTHER, KIND_OTHER, 0, 0x0fb00ef0, 0x01200200,
     "MSR of a banked register: Capstone loses the condition"},
    /* T32: a "should be one" or "should be zero" field is violated, or the registers are UNPREDICTABLE */
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xff800000, 0x47800000, "BLX, bits 2:0 should be zero"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xffd00000, 0xe8100000, "RFEDB, bits 15:0"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xffd00000, 0xe9900000, "RFEIA, bits 15:0"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xffd0a000, 0xe890a000, "LDM of SP and PC"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xffd0c000, 0xe890c000, "LDM of LR and PC"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xfff0d000, 0xf3c08000, "BXJ, bits 13 and 11:0"},
    {SET_T32, KIND_IBR, KIND_INVALID, 0, 0xfff0d000, 0xf3d08000, "SUBS PC, LR, bits 19:16, 13 and 11:8"},
    {SET_T32, KIND_IBR, KIND_OTHER, 0, 0xffd00000, 0xe8100000,
     "RFEDB whose bits 15:0 are wrong: Capstone takes it for SHA1"},
    /* T32: UNPREDICTABLE with the PC as destination, so no branch; a branch for Capstone */
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xf8008f00, 0xf0000f00, "data processing with an immediate"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe000f00, 0xea000f00, "data processing with a shifted register"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xff000f00, 0xfa000f00, "data processing of registers"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xff000f00, 0xfb000f00, "multiply, divide, RdHi"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xff80f000, 0xfb80f000, "long multiply, RdLo"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe10f000, 0xf810f000,
     "LDRB, LDRH, LDRSB, LDRSH, and unprivileged loads"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xff90ff00, 0xf800fe00,
     "STRBT, STRHT: Capstone says that they write Rt"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe40f000, 0xe840f000, "LDRD, LDREX, Rt"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe400f00, 0xe8400f00, "LDRD, STREX, Rt2 or Rd"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfff0000f, 0xe8c0000f, "STREXB and its kind, STLEX, Rd"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe2f0000, 0xe82f0000, "LDM, STM with write-back to the PC"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfe2f0e00, 0xec2f0a00, "VLDM, VSTM with write-back to the PC"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xffe0df00, 0xf3e08f00, "MRS"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xff10fe10, 0xee10fa10, "VMOV from one vector register"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xfff0fe00, 0xec50fa00, "VMOV from two vector registers, Rt"},
    {SET_T32, KIND_OTHER, KIND_IBR, 0, 0xffff0e00, 0xec5f0a00, "VMOV from two vector registers, Rt2"},
    /* T32: other differences */
    {SET_A32, KIND_ISB, KIND_OTHER, 0, 0x0fff0fff, 0x0e070f95, "MCR p15, 0, Rt, c7, c5, 4: the ISB of ARMv6"},
    {SET_T32, KIND_ISB, KIND_OTHER, 0, 0xffff0fff, 0xee070f95, "MCR p15, 0, Rt, c7, c5, 4: the ISB of ARMv6"},
    {SET_A32, KIND_DSB, KIND_OTHER, 0, 0x0fff0fdf, 0x0e070f9a,
     "MCR p15, 0, Rt, c7, c10, 4 or 5: the barriers of ARMv6"},
    {SET_T32, KIND_DSB, KIND_OTHER, 0, 0xffff0fdf, 0xee070f9a,
     "MCR p15, 0, Rt, c7, c10, 4 or 5: the barriers of ARMv6"},
    {SET_T32, KIND_OTHER, KIND_OTHER, 0, 0xffe0d0e0, 0xf3e08020,
     "MRS of a banked register: Capstone invents a condition"},
    {SET_T32, KIND_OTHER, KIND_OTHER, 0, 0xffe0d0e0, 0xf3808020,
     "MSR of a banked register: Capstone invents a condition"},
};

#define ROW_COUNT ((int)(sizeof rows / sizeof rows[0]))
