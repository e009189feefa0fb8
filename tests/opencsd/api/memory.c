/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accessors: which ones are accepted, what a decoder reads through them, and their list. */
#include <string.h>

#include "opencsd/api/reader.h"

#define ANY OCSD_MEM_SPACE_ANY

static uint8_t bytes[4096];

/* Makes a tree with a decoder that reads memory. */
static dcd_tree_handle_t make_tree(void)
{
    dcd_tree_handle_t tree = single_tree();
    reader_add(tree);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    return tree;
}

/* Writes a file for memory to be read from. */
static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file && fwrite(bytes, 1, size, file) == size)
        fclose(file);
}

/* Reads at both ends of a range and across them. */
static void read_around(uint64_t first, uint64_t last, ocsd_mem_space_acc_t space)
{
    reader_read(first - 2, space, 4);
    reader_read(first, space, 4);
    reader_read(first + 1, space, 300);
    reader_read(last - 3, space, 4);
    reader_read(last - 3, space, 5);
    reader_read(last - 1, space, 300);
    reader_read(last + 1, space, 4);
}

static void buffer(void)
{
    dcd_tree_handle_t tree = make_tree();
    SHOW(ocsd_dt_add_buffer_mem_acc(NULL, 0x1000, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, ANY, NULL, 64));
    ocsd_tl_log_mapped_mem_ranges(tree);
    reader_read(0x1000, ANY, 4);
    for (uint32_t size = 0; size < 9; size++) {
        printf("size %u\n", size);
        SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x100 * (size + 1), ANY, bytes, size));
        SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1001 + 0x100 * size, ANY, bytes, size));
    }
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, UINT64_MAX - 15, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, UINT64_MAX - 15, ANY, bytes, 16));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0, ANY, bytes, 16));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x3000, ANY, bytes, sizeof bytes));
    read_around(0x3000, 0x3fff, ANY);
    ocsd_tl_log_mapped_mem_ranges(tree);
}

static void overlaps(void)
{
    dcd_tree_handle_t tree = make_tree();
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x103e, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0xfc2, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0xf00, ANY, bytes, 1024));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1S, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1040, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL1S, bytes + 100, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL1N, bytes + 200, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_S, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL2, bytes + 300, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL3, bytes + 400, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_S, bytes + 500, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_N, bytes + 600, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, (ocsd_mem_space_acc_t)0, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, (ocsd_mem_space_acc_t)0, bytes, 64));
    for (int space = 0; space < 0x20; space++) {
        reader_read(0x1010, (ocsd_mem_space_acc_t)space, 4);
        reader_read(0x1030, (ocsd_mem_space_acc_t)space, 32);
        reader_read(0x4010, (ocsd_mem_space_acc_t)space, 4);
    }
    reader_read(0x2010, OCSD_MEM_SPACE_EL1S, 8);
    reader_read(0x2014, OCSD_MEM_SPACE_EL1S, 8);
    reader_read(0x3010, OCSD_MEM_SPACE_N, 8);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_N));
    reader_read(0x3020, OCSD_MEM_SPACE_S, 8);
    ocsd_tl_log_mapped_mem_ranges(tree);
}

static void remove_accessors(void)
{
    dcd_tree_handle_t tree = make_tree();
    SHOW(ocsd_dt_remove_mem_acc(NULL, 0x1000, ANY));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x1000, ANY));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL1S, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_N, bytes, 64));
    reader_read(0x1000, ANY, 4);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x1002, ANY));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1S));
    reader_read(0x1000, ANY, 4);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x1000, ANY));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x2000, ANY));
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x2000, ANY));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x2000, ANY));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_S));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x3000, (ocsd_mem_space_acc_t)0));
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_EL2));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, ANY, bytes + 64, 64));
    reader_read(0x1000, ANY, 4);
    ocsd_tl_log_mapped_mem_ranges(tree);
}

static void list(void)
{
    dcd_tree_handle_t tree = single_tree();
    ocsd_tl_log_mapped_mem_ranges(NULL);
    ocsd_tl_log_mapped_mem_ranges(tree);
    for (uint32_t space = 0; space < 0x40; space++)
        ocsd_dt_add_buffer_mem_acc(tree, 0x1000 * space, (ocsd_mem_space_acc_t)space, bytes, 64);
    ocsd_tl_log_mapped_mem_ranges(tree);
    for (int severity = OCSD_ERR_SEV_INFO; severity >= OCSD_ERR_SEV_NONE; severity--) {
        printf("severity %d\n", severity);
        ocsd_def_errlog_init((ocsd_err_severity_t)severity, 0);
        ocsd_tl_log_mapped_mem_ranges(tree);
    }
}

/* ---- callbacks ---- */

static uint32_t read_code(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                          const uint32_t size, uint8_t *out)
{
    static int asked; /* how many calls there are depends on the library's cache */
    if (!asked++)
        printf("asked%s for %llx in %x\n", (const char *)context, (unsigned long long)addr, (unsigned)space);
    memset(out, 0, size);
    memcpy(out, code + (addr & 4), sizeof code - (addr & 4));
    return size;
}

static uint32_t read_code_of(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                             const uint8_t id, const uint32_t size, uint8_t *out)
{
    static int asked;
    if (!asked++)
        printf("ID %02x ", id);
    return read_code(context, addr, space, size, out);
}

static void callback(void)
{
    dcd_tree_handle_t tree = single_tree();
    unsigned char id;
    SHOW(ocsd_dt_add_callback_mem_acc(NULL, 0x1000, 0x1fff, ANY, read_code, ""));
    SHOW(ocsd_dt_add_callback_mem_acc(tree, 0x1000, 0x1fff, ANY, NULL, ""));
    SHOW(ocsd_dt_add_callback_mem_acc(tree, 0x1000, 0xfff, ANY, NULL, ""));
    ocsd_tl_log_mapped_mem_ranges(tree);
    for (ocsd_vaddr_t first = 0x1000; first < 0x1004; first++)
        for (ocsd_vaddr_t last = 0xfff; last < 0x1006; last++) {
            printf("%llx:%llx %d\n", (unsigned long long)first, (unsigned long long)last,
                   (int)ocsd_dt_add_callback_mem_acc(tree, first, last, ANY, read_code, ""));
            ocsd_dt_remove_mem_acc(tree, first, ANY);
        }
    SHOW(ocsd_dt_add_callback_mem_acc(tree, CODE, CODE + 0xfff, OCSD_MEM_SPACE_N, read_code, ""));
    SHOW(ocsd_dt_add_callback_mem_acc(tree, CODE + 0x800, CODE + 0xfff, ANY, read_code, ""));
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config,
                                &id));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    feed(tree);
    SHOW(ocsd_dt_remove_mem_acc(tree, CODE, OCSD_MEM_SPACE_N));
    feed(tree);
}

static void callback_with_id(void)
{
    dcd_tree_handle_t tree = single_tree();
    unsigned char id;
    SHOW(ocsd_dt_add_callback_trcid_mem_acc(NULL, 0x1000, 0x1fff, ANY, read_code_of, ""));
    SHOW(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x1000, 0x1fff, ANY, NULL, ""));
    SHOW(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x1000, 0xfff, ANY, read_code_of, ""));
    SHOW(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, UINT64_MAX, ANY, read_code_of, " all"));
    SHOW(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x2000, UINT64_MAX, ANY, read_code_of, ""));
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etm4_config,
                                &id));
    SHOW(ocsd_dt_set_gen_elem_outfn(tree, print_element, NULL));
    feed(tree);
}

/* ---- files ---- */

static void file(void)
{
    dcd_tree_handle_t tree = make_tree();
    write_file("one", 4096);
    write_file("odd", 101);
    write_file("byte", 1);
    write_file("empty", 0);
    SHOW(ocsd_dt_add_binfile_mem_acc(NULL, 0x1000, ANY, "one"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, ANY, "none"));
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, ANY, ""));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, ANY, "empty"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, ANY, "byte"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1001, ANY, "odd"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, UINT64_MAX - 0x7ff, ANY, "one"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, ANY, "odd"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x4000, ANY, "one"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x8000, ANY, "one"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x4000, ANY, "one"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x8000, ANY, "./one"));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x4800, ANY, bytes, 64));
    ocsd_tl_log_mapped_mem_ranges(tree);
    read_around(0x1000, 0x1063, ANY);
    read_around(0x4000, 0x4fff, ANY);
    read_around(0x8000, 0x8fff, ANY);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x4000, ANY));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0xc000, OCSD_MEM_SPACE_EL1N, "one"));
    read_around(0xc000, 0xcfff, OCSD_MEM_SPACE_EL1N);
    ocsd_tl_log_mapped_mem_ranges(tree);
}

/* Adds regions of a new file, reads in them and around them, and removes the last one. */
static void add_regions(const char *path, const ocsd_file_mem_region_t *regions, int count)
{
    dcd_tree_handle_t tree = make_tree();
    write_file(path, 4096);
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, regions, count, ANY, path));
    if (count == 1) /* the order of several regions depends on what the process did before */
        ocsd_tl_log_mapped_mem_ranges(tree);
    for (int i = 0; i < count; i++)
        read_around(regions[i].start_address, regions[i].start_address + regions[i].region_size - 1, ANY);
    SHOW(ocsd_dt_remove_mem_acc(tree, regions[count - 1].start_address, ANY));
    ocsd_tl_log_mapped_mem_ranges(tree);
    ocsd_destroy_dcd_tree(tree);
}

/* Several regions stand for the segments of a program. As there, none begins at the start of the file, where
 * the headers are: when one does, 1.3.3 reads the others wrongly. */
static void regions(void)
{
    static const struct {
        const char *what;
        int count;
        ocsd_file_mem_region_t regions[3];
    } sets[] = {
        {"the begin", 1, {{0, 0x1000, 0x100}}},
        {"all of it", 1, {{0, 0x1000, 0}}},
        {"inside", 1, {{0x100, 0x1000, 0x100}}},
        {"up to the end", 1, {{0x100, 0x1000, 0xf00}}},
        {"past the end", 1, {{0x100, 0x1000, 0xf02}}},
        {"at the end", 1, {{0x1000, 0x1000, 2}}},
        {"no size", 1, {{0x100, 0x1000, 0}}},
        {"odd size", 1, {{0x100, 0x1000, 0x81}}},
        {"odd address", 1, {{0x100, 0x1001, 0x80}}},
        {"odd offset", 1, {{0x101, 0x1000, 0x80}}},
        {"three", 3, {{0x100, 0x1000, 0x100}, {0x200, 0x2000, 0x80}, {0x400, 0x3000, 0x200}}},
        {"descending", 3, {{0x400, 0x3000, 0x200}, {0x200, 0x2000, 0x80}, {0x100, 0x1000, 0x100}}},
        {"adjacent", 2, {{0x100, 0x1000, 0x100}, {0x200, 0x1100, 0x80}}},
        {"the same twice", 2, {{0x100, 0x1000, 0x100}, {0x100, 0x1000, 0x100}}},
        {"bytes at two places", 2, {{0x100, 0x1000, 0x100}, {0x100, 0x2000, 0x100}}},
        {"two at one place", 2, {{0x100, 0x1000, 0x100}, {0x300, 0x1000, 0x80}}},
        {"one that ends in another", 2, {{0x100, 0x1000, 0x100}, {0x300, 0xf80, 0x100}}},
        {"one past the end", 3, {{0x100, 0x1000, 0x100}, {0xff0, 0x2000, 0x80}, {0x300, 0x3000, 0x80}}},
        {"one of an odd address", 2, {{0x100, 0x1000, 0x100}, {0x300, 0x2001, 0x80}}},
        {"one without a size", 2, {{0x100, 0x1000, 0x100}, {0x300, 0x2000, 0}}},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        add_regions(sets[i].what, sets[i].regions, sets[i].count);
}

static void regions_beside_others(void)
{
    static const ocsd_file_mem_region_t both[] = {{0x200, 0x1000, 0x100}, {0x400, 0x3000, 0x100}};
    static const ocsd_file_mem_region_t other = {0x600, 0x5000, 0x100};
    dcd_tree_handle_t tree = make_tree();
    write_file("regions", 4096);
    SHOW(ocsd_dt_add_binfile_region_mem_acc(NULL, both, 2, ANY, "regions"));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, NULL, 2, ANY, "regions"));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, both, 0, ANY, "regions"));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, both, 2, ANY, "none"));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, both, 2, OCSD_MEM_SPACE_N, "regions"));
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, &other, 1, ANY, "regions"));
    SHOW(ocsd_dt_add_binfile_mem_acc(tree, 0x8000, ANY, "regions"));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x1080, ANY, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x3080, OCSD_MEM_SPACE_S, bytes, 64));
    SHOW(ocsd_dt_add_buffer_mem_acc(tree, 0x2000, ANY, bytes, 64));
    read_around(0x1000, 0x10ff, OCSD_MEM_SPACE_EL1N);
    read_around(0x3000, 0x30ff, OCSD_MEM_SPACE_EL1S);
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_remove_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_N));
    ocsd_tl_log_mapped_mem_ranges(tree);
    SHOW(ocsd_dt_add_binfile_region_mem_acc(tree, &other, 1, ANY, "regions"));
    ocsd_tl_log_mapped_mem_ranges(tree);
}

const struct program memory_programs[] = {
    {"ocsd_dt_add_buffer_mem_acc", buffer},
    {"ocsd_dt_add_buffer_mem_acc, overlaps", overlaps},
    {"ocsd_dt_remove_mem_acc", remove_accessors},
    {"ocsd_tl_log_mapped_mem_ranges", list},
    {"ocsd_dt_add_callback_mem_acc", callback},
    {"ocsd_dt_add_callback_trcid_mem_acc", callback_with_id},
    {"ocsd_dt_add_binfile_mem_acc", file},
    {"ocsd_dt_add_binfile_region_mem_acc", regions},
    {"ocsd_dt_add_binfile_region_mem_acc, beside others", regions_beside_others},
    {NULL, NULL},
};
