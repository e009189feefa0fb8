/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the perf.data format, as documented by Linux:
 * tools/perf/Documentation/perf.data-file-format.txt for the file, include/uapi/linux/perf_event.h for
 * records of the kernel, tools/perf/util/cs-etm.h for the description of the trace units. All fields are
 * little-endian and packed. docs/formats.md lists what is read. */
#pragma once

#define CT_PERF_MAGIC        "PERFILE2"
#define CT_PERF_HEADER_SIZE  104u /* of a file; pipe mode only has magic and size: */
#define CT_PERF_HEADER_FLAGS 72u  /* offset of the feature bits */
#define CT_PERF_PIPE_SIZE    16u
#define CT_PERF_ATTR_SIZE    128u /* of struct perf_event_attr, as written by the exporter */
#define CT_PERF_RECORD_MAX   65535u

enum ct_perf_record_type {
    CT_PERF_MMAP = 1,
    CT_PERF_LOST = 2,
    CT_PERF_COMM = 3,
    CT_PERF_EXIT = 4,
    CT_PERF_FORK = 7,
    CT_PERF_SAMPLE = 9,
    CT_PERF_MMAP2 = 10,
    CT_PERF_AUX = 11,
    CT_PERF_ITRACE_START = 12,
    CT_PERF_SWITCH = 14,
    CT_PERF_SWITCH_CPU = 15,
    CT_PERF_NAMESPACES = 16,
    CT_PERF_AUX_HW_ID = 21,
    CT_PERF_USER = 64, /* records from here on come from perf itself and have no sample ID */
    CT_PERF_ATTR = 64,
    CT_PERF_TRACING_DATA = 66,
    CT_PERF_BUILD_ID = 67,
    CT_PERF_AUXTRACE_INFO = 70,
    CT_PERF_AUXTRACE = 71,
    CT_PERF_TIME_CONV = 79,
    CT_PERF_FEATURE = 80,
    CT_PERF_COMPRESSED = 81,
    CT_PERF_COMPRESSED2 = 83,
};

/* Bits of `misc` in the header of a record. */
#define CT_PERF_MISC_MODE          7u
#define CT_PERF_MISC_KERNEL        1u
#define CT_PERF_MISC_USER          2u
#define CT_PERF_MISC_MMAP_DATA     (1u << 13)
#define CT_PERF_MISC_COMM_EXEC     (1u << 13)
#define CT_PERF_MISC_SWITCH_OUT    (1u << 13)
#define CT_PERF_MISC_MMAP_BUILD_ID (1u << 14)
#define CT_PERF_MISC_BUILD_ID_SIZE (1u << 15)

#define CT_PERF_PROT_EXEC 4u

/* Bits of sample_type that add members to the sample ID. */
#define CT_PERF_SAMPLE_IP         (1u << 0)
#define CT_PERF_SAMPLE_TID        (1u << 1)
#define CT_PERF_SAMPLE_TIME       (1u << 2)
#define CT_PERF_SAMPLE_ID         (1u << 6)
#define CT_PERF_SAMPLE_CPU        (1u << 7)
#define CT_PERF_SAMPLE_STREAM_ID  (1u << 9)
#define CT_PERF_SAMPLE_IDENTIFIER (1u << 16)

#define CT_PERF_IN_SAMPLE_ID                                                                                 \
    (CT_PERF_SAMPLE_TID | CT_PERF_SAMPLE_TIME | CT_PERF_SAMPLE_ID | CT_PERF_SAMPLE_STREAM_ID |               \
     CT_PERF_SAMPLE_CPU | CT_PERF_SAMPLE_IDENTIFIER)

/* Bits of sample_type that add further members to a sample. */
#define CT_PERF_SAMPLE_PERIOD       (1u << 8)
#define CT_PERF_SAMPLE_BRANCH_STACK (1u << 11)

/* Bits of branch_sample_type: branches of user space, of the kernel, of any kind. */
#define CT_PERF_BRANCH_USER   (1u << 0)
#define CT_PERF_BRANCH_KERNEL (1u << 1)
#define CT_PERF_BRANCH_ANY    (1u << 3)

/* Bits of the flags of an attribute. */
#define CT_PERF_ATTR_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define CT_PERF_ATTR_SAMPLE_ID_ALL  (UINT64_C(1) << 18)

/* Flags of an AUX record. */
#define CT_PERF_AUX_TRUNCATED 1u
#define CT_PERF_AUX_OVERWRITE 2u
#define CT_PERF_AUX_PARTIAL   4u /* the trace has gaps */
#define CT_PERF_AUX_COLLISION 8u /* of TRBE: its buffer wrapped, and trace was lost before it was stopped */
#define CT_PERF_AUX_LOST      (CT_PERF_AUX_TRUNCATED | CT_PERF_AUX_PARTIAL | CT_PERF_AUX_COLLISION)
#define CT_PERF_AUX_FORMAT    0xff00u
#define CT_PERF_AUX_RAW       0x0100u /* one source, without frames */

/* Features, which are sections after the data or, in pipe mode, records. */
enum ct_perf_feature {
    CT_PERF_FEATURE_BUILD_ID = 2,
    CT_PERF_FEATURE_OSRELEASE = 4,
    CT_PERF_FEATURE_ARCH = 6,
    CT_PERF_FEATURE_BRANCH_STACK = 15,
    CT_PERF_FEATURE_AUXTRACE = 18,
    CT_PERF_FEATURE_INIT_MAP = 134, /* of simpleperf: records of earlier mappings */
};

#define CT_PERF_AUXTRACE_CS_ETM 3u

/* Metadata of trace units, in 64-bit words. */
#define CT_PERF_MAGIC_ETM3 UINT64_C(0x3030303030303030)
#define CT_PERF_MAGIC_ETM4 UINT64_C(0x4040404040404040)
#define CT_PERF_MAGIC_ETE  UINT64_C(0x5050505050505050)

/* The trace ID in the metadata is not valid; a record AUX_OUTPUT_HW_ID contains it. */
#define CT_PERF_ID_UNUSED (UINT64_C(1) << 31)
