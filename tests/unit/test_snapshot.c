/* SPDX-License-Identifier: Apache-2.0 */
/* Checks snapshot directories: their content, and the messages for everything that can be wrong in them. */
#include <stdlib.h>

#include "elf_build.h"
#include "support/capture_fixture.h"
#include "support/unit.h"

static const char snapshot_ini[] = "; made by hand\n"
                                   "[snapshot]\n"
                                   "version=1.0\n"
                                   "[device_list]\n"
                                   "device0=core0.ini\n"
                                   "device1=core1.ini\n"
                                   "device2=etm0.ini\n"
                                   "device3=etm1.ini\n"
                                   "device4=stm.ini\n"
                                   "[trace]\n"
                                   "metadata=trace.ini\n";

static const char trace_ini[] = "[trace_buffers]\n"
                                "buffers=b0, b1 ,\n"
                                "[b0]\n"
                                "name=ETB\n"
                                "file=etb.bin\n"
                                "format=coresight\n"
                                "[b1]\n"
                                "name=PROBE\n"
                                "file=probe.bin\n"
                                "format=dstream_coresight\n"
                                "[source_buffers]\n"
                                "ETM_0=ETB\n"
                                "ETM_1=ETB\n"
                                "STM=PROBE\n"
                                "GONE=ETB\n"
                                "[core_trace_sources]\n"
                                "cpu_0=ETM_0\n"
                                "cpu_1=ETM_1\n"
                                "[timestamp]\n"
                                "frequency=25000000\n"
                                "[something else]\n"
                                "key=value\n";

static const char core0_ini[] = "[device]\n"
                                "name=cpu_0\n"
                                "class=core\n"
                                "type=Cortex-A53\n"
                                "[regs]\n"
                                "PC(size:64)=0xFFFFFFC000081000\n"
                                "[dump1]\n"
                                "file=\"ram.bin\" # shared with cpu_1\n"
                                "address=0x80000000\n"
                                "length=0x10\n"
                                "offset=4\n"
                                "[dump.rom]\n"
                                "file=rom.bin\n"
                                "address=4096\n"
                                "space=EL3\n"
                                "[dump3]\n"
                                "file=lost.bin\n"
                                "address=0\n";

static const char core1_ini[] = "[device]\r\n"
                                "name = cpu_1\r\n"
                                "class=core\r\n"
                                "type=ARMv8.3-A\r\n"
                                "[dump1]\r\n"
                                "file=ram.bin\r\n"
                                "address=0x80000000\r\n"
                                "length=0x10\r\n"
                                "offset=4\r\n"
                                "space=ANY\r\n";

static const char etm0_ini[] = "[device]\n"
                               "name=ETM_0\n"
                               "class=trace_source\n"
                               "type=ETM4.2\n"
                               "[regs]\n"
                               "TRCCONFIGR(0x004)=0x000000C1\n"
                               "TRCTRACEIDR(id:0x010,size:32)=\"0x10\"\n"
                               "TRCIDR0(0x078)=0x28000EA1\n"
                               "TRCIDR2(0x07A)=1160 ; decimal\n"
                               "TRCIDR9=7\n";

static const char etm1_ini[] =
    "[device]\nname=ETM_1\nclass=trace_source\ntype=PFT1.1\n[regs]\n"
    "ETMCR(0x000)=0x10001000\nETMTRACEIDR(0x080)=0x11\nETMIDR=0x411CF312\nETMCCER=0x34C01AC2\n";

static const char stm_ini[] =
    "[device]\nname=STM\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR(0x3A0)=0x00A00005\n";

static void setup(struct fixture *f)
{
    fixture_free(f);
    memset(f, 0, sizeof *f);
    fixture_dir(f, "cap");
    fixture_put(f, "cap/snapshot.ini", snapshot_ini);
    fixture_put(f, "cap/trace.ini", trace_ini);
    fixture_put(f, "cap/core0.ini", core0_ini);
    fixture_put(f, "cap/core1.ini", core1_ini);
    fixture_put(f, "cap/etm0.ini", etm0_ini);
    fixture_put(f, "cap/etm1.ini", etm1_ini);
    fixture_put(f, "cap/stm.ini", stm_ini);
    fixture_put(f, "cap/etb.bin", "0123456789abcdef");
    fixture_put(f, "cap/probe.bin", "");
    fixture_put(f, "cap/ram.bin", "0123456789abcdefghijklmnopqrstuv");
    fixture_put(f, "cap/rom.bin", "0123456789abcdef");
}

static int begin(void **state)
{
    static struct fixture f;
    setup(&f);
    *state = &f;
    return 0;
}

static int finish(void **state)
{
    struct fixture *f = *state;
    fixture_free(f);
    memset(f, 0, sizeof *f);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

static void check_sources(const struct ct_buffer *buffer)
{
    assert_int_equal(buffer->source_count, 2);
    const struct ct_source *etm = &buffer->sources[0], *ptm = &buffer->sources[1];
    assert_string_equal(etm->name, "ETM_0");
    assert_string_equal(etm->core, "cpu_0");
    assert_string_equal(etm->model, "Cortex-A53");
    assert_int_equal(etm->protocol, CT_PROTOCOL_ETM4);
    assert_int_equal(etm->trace_id, 0x10);
    assert_int_equal(etm->regs.configr, 0xc1);
    assert_int_equal(etm->regs.idr1, 0x4100f403); /* the default */
    assert_int_equal(etm->regs.idr2, 1160);
    assert_int_equal(etm->regs.idr9, 7);
    assert_int_equal(etm->regs.devarch, 0x47705a13);
    assert_int_equal(ptm->protocol, CT_PROTOCOL_PTM);
    assert_int_equal(ptm->trace_id, 0x11);
    assert_int_equal(ptm->regs.etmccer, 0x34c01ac2);
}

TEST_WITH(a_whole_snapshot, f)
{
    assert_int_equal(fixture_open(f, "cap"), CT_OK);
    assert_string_equal(f->capture->kind, "snapshot");
    assert_int_equal(f->capture->buffer_count, 2);
    const struct ct_buffer *etb = &f->capture->buffers[0], *probe = &f->capture->buffers[1];
    assert_string_equal(etb->name, "ETB");
    assert_string_equal(etb->path, "cap/etb.bin");
    assert_int_equal(etb->framing, CT_FRAMING_FRAMES);
    check_sources(etb);
    assert_string_equal(probe->name, "PROBE");
    assert_int_equal(probe->framing, CT_FRAMING_AUTO);
    assert_int_equal(probe->source_count, 1);
    assert_null(probe->sources[0].core);
    assert_int_equal(probe->sources[0].trace_id, 0x20);
    assert_int_equal(probe->image_count, 0);
    assert_true(has_words(f->log, WORDS("cap/trace.ini:15", "GONE", "not decoded")));
}

TEST_WITH(images_of_all_cores_once, f)
{
    assert_int_equal(fixture_open(f, "cap"), CT_OK);
    const struct ct_buffer *etb = &f->capture->buffers[0];
    assert_int_equal(etb->image_count, 2);
    assert_string_equal(etb->images[0].path, "cap/ram.bin");
    assert_int_equal(etb->images[0].addr, 0x80000000);
    assert_int_equal(etb->images[0].offset, 4);
    assert_int_equal(etb->images[0].size, 16);
    assert_int_equal(etb->images[0].space, CT_SPACE_ANY);
    assert_int_equal(etb->images[1].addr, 4096);
    assert_int_equal(etb->images[1].size, 16);
    assert_int_equal(etb->images[1].space, CT_SPACE_EL3);
    assert_int_equal(f->capture->missing_count, 1);
    assert_true(has_words(f->capture->missing[0], WORDS("cap/lost.bin", "cap/core0.ini:16", "[dump3]")));
}

/* The code of the ELF file is at offset 0x1000 and linked for 0x400000, its header for 0x500000. */
TEST_WITH(an_elf_file_as_memory, f)
{
    static const struct {
        const char *keys;
        uint64_t addr;
        int is_elf;
    } cases[] = {
        {"address=0\nlength=0x1800\n", 0, 1},
        {"address=0x400000\n", 0, 1},
        {"address=0x500000\n", 0x500000, 0},                /* memory from that address on */
        {"address=0x3ff000\n", 0x3ff000, 0},                /* its bytes were memory */
        {"address=0x400000\noffset=0x1000\n", 0x400000, 0}, /* a part of the memory */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t elf[ELF_SIZE];
        char core[300];
        elf64_build(elf, NULL, 0);
        ((Elf64_Phdr *)(elf + 0x40))[1].p_offset = 0;
        snprintf(core, sizeof core,
                 "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump]\nfile=fw.elf\n%s", cases[i].keys);
        setup(f);
        fixture_put(f, "cap/core0.ini", core);
        fixture_put_bytes(f, "cap/fw.elf", (const char *)elf, sizeof elf);
        assert_int_equal(fixture_open(f, "cap"), CT_OK);
        const struct ct_image *image = &f->capture->buffers[0].images[0];
        assert_string_equal(image->path, "cap/fw.elf");
        assert_int_equal(image->addr, cases[i].addr);
        assert_int_equal(image->is_elf, cases[i].is_elf);
        assert_int_equal(has_words(f->log, WORDS("cap/core0.ini:5", "[dump]", "cap/fw.elf")),
                         cases[i].is_elf);
    }
}

TEST_WITH(the_ini_itself_may_be_named, f)
{
    assert_int_equal(fixture_open(f, "cap/snapshot.ini"), CT_OK);
    assert_int_equal(f->capture->buffer_count, 2);
}

/* Replaces one file of the snapshot; opening must fail with this code and this text. */
TEST_WITH(every_error_says_where, f)
{
    static const struct {
        const char *path, *text;
        int code;
        const char *words[5];
    } cases[] = {
        {"cap/trace.ini", NULL, CT_ERR_IO, {"cap/trace.ini", "cap/snapshot.ini:11", "metadata="}},
        {"cap/etm0.ini", NULL, CT_ERR_IO, {"cap/etm0.ini", "cap/snapshot.ini:7", "device2="}},
        {"cap/etb.bin", NULL, CT_ERR_IO, {"cap/etb.bin", "buffer ETB", "cap/trace.ini:3"}},
        {"cap/snapshot.ini", "[snapshot]\nversion=1.0\n", CT_ERR_CONFIG, {"cap/snapshot.ini", "metadata="}},
        {"cap/snapshot.ini", "[snapshot\nversion=1.0\n", CT_ERR_FORMAT, {"cap/snapshot.ini:1", "]"}},
        {"cap/trace.ini", "[trace_buffers]\nnonsense\n", CT_ERR_FORMAT, {"cap/trace.ini:2", "has no ="}},
        {"cap/trace.ini", "[trace_buffers]\n=x\n", CT_ERR_FORMAT, {"cap/trace.ini:2", "has no key"}},
        {"cap/trace.ini", "[trace_buffers]\nbuffers=b7\n", CT_ERR_CONFIG, {"cap/trace.ini:2", "b7"}},
        {"cap/trace.ini", "[other]\n", CT_ERR_CONFIG, {"cap/trace.ini", "buffers="}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=b\n[b]\nname=x\nfile=etb.bin\nformat=exotic\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:3", "format=exotic", "source_data"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=b\n[b]\nname=x\nformat=coresight\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:3", "file= is missing"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=b\n[b]\nfile=x\nformat=coresight\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:3", "name= is missing"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=a,b\n[a]\nname=x\nfile=etb.bin\nformat=coresight\n[b]\nname=x\nfile=etb."
         "bin\n"
         "format=coresight\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:7", "name=x"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=a\n[a]\nname=x\nfile=etb.bin\nformat=coresight\n[source_buffers]\ncpu_0="
         "x\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:8", "cpu_0", "class core", "trace_source"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=a\n[a]\nname=x\nfile=etb.bin\nformat=coresight\n[source_buffers]\nSTM="
         "x\nSTM=x\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini:9", "STM", "twice"}},
        {"cap/core1.ini",
         "[device]\nname=cpu_1\nclass=core\ntype=Pentium-3\n",
         CT_ERR_CONFIG,
         {"cap/core1.ini", "cpu_1", "Pentium-3", "Cortex-A53"}},
        {"cap/core0.ini", "[device]\nclass=core\n", CT_ERR_CONFIG, {"cap/core0.ini", "name="}},
        {"cap/core0.ini",
         "[device]\nname=cpu_1\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini", "cap/core1.ini", "cpu_1"}},
        {"cap/core0.ini", "[device]\nname=a\nname=b\n", CT_ERR_CONFIG, {"cap/core0.ini:3", "name=b"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\n[dump1]\nfile=ram.bin\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini:3", "[dump1]", "no address="}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\n[dump1]\naddress=1\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini:3", "[dump1]", "no file="}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\n[dump1]\naddress=0xzz\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini:4", "address=0xzz", "number"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\n[dump1]\naddress=0x10000000000000000\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini:4", "too large"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\n[dump1]\nfile=\"ram.bin\n",
         CT_ERR_FORMAT,
         {"cap/core0.ini:4", "quotation mark"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\ntype=Cortex-A53\n[dump1]\nfile=ram.bin\naddress=0xfffffffffffffff8\n",
         CT_ERR_CONFIG,
         {"cap/core0.ini:4", "64-bit"}},
        {"cap/etm0.ini",
         "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM9\n",
         CT_ERR_UNSUPPORTED,
         {"cap/etm0.ini", "ETM_0", "ETM9", "PTM1.x"}},
        {"cap/etm0.ini",
         "[device]\nname=ETM_0\ntype=ETM4\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=1\nTRCIDR2=1\n",
         CT_ERR_CONFIG,
         {"cap/etm0.ini", "ETM_0", "TRCIDR0"}},
        {"cap/etm0.ini",
         "[device]\nname=ETM_0\ntype=ETM4\n[regs]\nTRCCONFIGR=0x100000000\n",
         CT_ERR_CONFIG,
         {"cap/etm0.ini:5", "TRCCONFIGR", "too large"}},
        {"cap/etm0.ini",
         "[device]\nname=ETM_0\ntype=ETM4\n[regs]\nTRCIDR0=1\nTRCIDR0(0x78)=2\n",
         CT_ERR_CONFIG,
         {"cap/etm0.ini:6", "TRCIDR0", "0x1"}},
        {"cap/etm1.ini",
         "[device]\nname=ETM_1\ntype=PTM1.0\n[regs]\nETMCR=0\nETMTRACEIDR=0x10\nETMIDR=0\nETMCCER=0\n",
         CT_ERR_CONFIG,
         {"cap/trace.ini", "ETM_0", "ETM_1", "0x10"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setup(f);
        fixture_put(f, cases[i].path, cases[i].text);
        int code = fixture_open(f, "cap");
        if (code != cases[i].code || !has_words(ct_ctx_error(f->ctx), cases[i].words))
            fail_msg("case %zu: %s: %s", i, ct_error_name(code), ct_ctx_error(f->ctx));
        assert_null(f->capture);
    }
}

TEST_WITH(what_is_only_noted, f)
{
    static const struct {
        const char *path, *text;
        const char *words[4];
    } cases[] = {
        {"cap/core0.ini",
         "[device]\nname=cpu_0\ntype=Cortex-A53\n[dump1]\nfile=ram.bin\naddress=0\nlength=999\n",
         {"cap/core0.ini:4", "0x3e7", "cap/ram.bin"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\ntype=Cortex-A53\n[dump1]\nfile=ram.bin\naddress=0\noffset=32\n",
         {"cap/core0.ini:4", "cap/ram.bin", "offset"}},
        {"cap/core0.ini",
         "[device]\nname=cpu_0\ntype=Cortex-A53\n[dump1]\nfile=ram.bin\naddress=0\nspace=ODD\n",
         {"cap/core0.ini:7", "ODD"}},
        {"cap/core0.ini", "[device]\nname=another\n", {"cap/trace.ini:17", "cpu_0", "no device file"}},
        {"cap/stm.ini", "[device]\nname=STM\ntype=STM\n[regs]\nSTMTCSR=0x5\n", {"STM", "trace ID 0x00"}},
        {"cap/snapshot.ini",
         "[snapshot]\nversion=2.0\n[trace]\nmetadata=trace.ini\n",
         {"cap/snapshot.ini:2", "version=2.0"}},
        {"cap/trace.ini",
         "[trace_buffers]\nbuffers=a\n[a]\nname=x\nfile=etb.bin\nformat=source_data\n[source_buffers]\nSTM="
         "x\n"
         "ETM_1=x\nETM_0=elsewhere\n",
         {"decoded as those of STM", "cap/trace.ini:10", "elsewhere"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setup(f);
        fixture_put(f, cases[i].path, cases[i].text);
        if (fixture_open(f, "cap"))
            fail_msg("case %zu: %s", i, ct_ctx_error(f->ctx));
        if (!has_words(f->log, cases[i].words))
            fail_msg("case %zu", i);
    }
}

/* Arm's access library writes type=unknown for cores newer than itself. */
TEST_WITH(an_unknown_core_with_64_bits, f)
{
    fixture_put(f, "cap/core0.ini", "[device]\nname=cpu_0\nclass=core\ntype=unknown\n");
    assert_int_equal(fixture_open(f, "cap"), CT_OK);
    assert_string_equal(f->capture->buffers[0].sources[0].model, "unknown");
    assert_true(f->capture->buffers[0].sources[0].arch.newest);
    assert_true(has_words(f->log, WORDS("cap/core0.ini", "cpu_0", "64-bit", "type=")));
}

/* A core that traces into no buffer may be of any model. */
TEST_WITH(unknown_cores_without_trace_do_not_matter, f)
{
    fixture_put(f, "cap/core1.ini", "[device]\nname=cpu_9\nclass=core\ntype=Pentium-3\n");
    assert_int_equal(fixture_open(f, "cap"), CT_OK);
    assert_null(f->capture->buffers[0].sources[1].model);
    assert_int_equal(f->capture->buffers[0].sources[1].arch.major, 0);
}

TEST_WITH(the_probe_says_why, f)
{
    fixture_dir(f, "empty");
    fixture_put(f, "perf", "PERFILE2 and more");
    fixture_put(f, "blob", "no\1trace");
    assert_int_equal(fixture_open(f, "nowhere"), CT_ERR_IO);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("nowhere", "No such file")));
    assert_int_equal(fixture_open(f, "empty"), CT_ERR_FORMAT);
    assert_true(has_words(ct_ctx_error(f->ctx),
                          WORDS("empty", "snapshot: this is a directory without", "raw: ", "perf.data: ")));
    assert_int_equal(fixture_open(f, "blob"), CT_ERR_FORMAT);
    assert_true(
        has_words(ct_ctx_error(f->ctx), WORDS("snapshot: this is neither", "raw: the file does not begin")));
    assert_int_equal(fixture_open(f, "cap/etb.bin"), CT_ERR_UNSUPPORTED);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("cap/etb.bin", "hexadecimal digits", "xxd -r -p")));
    assert_int_equal(fixture_open(f, "perf"), CT_ERR_FORMAT);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("perf: ", "header")));
    assert_int_equal(fixture_open(f, "-"), CT_ERR_ARG);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("file=-")));
    assert_int_equal(ct_capture_open(f->ctx, NULL, &f->capture), CT_ERR_ARG);
}

/* ---- the .ini dialect ---- */

static int collect(void *user, const struct ct_ini_item *item)
{
    char *text = user;
    size_t used = strlen(text);
    if (item->key)
        snprintf(text + used, 4096 - used, "%u %s|%s|%s\n", item->line, item->section, item->key,
                 item->value);
    else
        snprintf(text + used, 4096 - used, "%u [%s]\n", item->line, item->section);
    return CT_OK;
}

static int number_of(const char *text, uint64_t max, uint64_t *number)
{
    char value[64];
    snprintf(value, sizeof value, "%s", text);
    struct ct_ini_item item = {.path = "t", .section = "", .key = "k", .value = value, .line = 1};
    return ct_ini_number(&item, max, number);
}

TEST(numbers)
{
    static const char *const bad[] = {"", "0x", "0x0x5", "-1", "+1", "5 6", "a", "0xg", "1.0", "'0x1"};
    uint64_t number;
    assert_int_equal(number_of("0x1F", 0x1f, &number), CT_OK);
    assert_int_equal(number, 31);
    assert_int_equal(number_of("'010'", 10, &number), CT_OK);
    assert_int_equal(number, 10);
    assert_int_equal(number_of("0xffffffffffffffff", UINT64_MAX, &number), CT_OK);
    assert_true(number == UINT64_MAX);
    assert_int_equal(number_of("0x20", 0x1f, &number), CT_ERR_CONFIG);
    assert_int_equal(number_of("18446744073709551616", UINT64_MAX, &number), CT_ERR_CONFIG);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number_of(bad[i], UINT64_MAX, &number) == CT_OK)
            fail_msg("%s was taken for a number", bad[i]);
}

TEST(lines_of_the_dialect)
{
    char seen[4096] = "";
    static const char text[] = "\xef\xbb\xbf[one] ; comment\n"
                               "  key = a value with = and : # comment\r\n"
                               "\tREG(id:0x10,size:32)=1\n"
                               "\n"
                               "# whole line\n"
                               "[two;]\n" /* not a section head: the rule for comments has no exception */
                               "x=1";
    assert_int_equal(ct_ini_parse(NULL, "t", text, sizeof text - 1, collect, seen), CT_ERR_FORMAT);
    assert_string_equal(seen, "1 [one]\n2 one|key|a value with = and :\n3 one|REG(id:0x10,size:32)|1\n");
    seen[0] = 0;
    assert_int_equal(ct_ini_parse(NULL, "t", "a=\nb=;x\n c = d", 14, collect, seen), CT_OK);
    assert_string_equal(seen, "1 |a|\n2 |b|\n3 |c|d\n");
    assert_int_equal(ct_ini_parse(NULL, "t", "a=\0b", 4, collect, seen), CT_ERR_FORMAT);
    assert_int_equal(ct_ini_parse(NULL, "t", "", 0, collect, seen), CT_OK);
}

/* Values and section names of any length, with blanks wherever a buffer might end. */
TEST(long_lines)
{
    for (size_t size = 150; size < 1500; size += 7) {
        char text[4096], expected[4096], seen[4096] = "";
        char value[2048] = "";
        for (size_t i = 0; i < size; i++)
            value[i] = i % 3 && i > 180 && i < 220 && i + 1 < size ? ' ' : 'v';
        int n = snprintf(text, sizeof text, "[%s]\nkey=%s\nnext=1\n", "s", value);
        snprintf(expected, sizeof expected, "1 [s]\n2 s|key|%s\n3 s|next|1\n", value);
        assert_int_equal(ct_ini_parse(NULL, "t", text, (size_t)n, collect, seen), CT_OK);
        assert_string_equal(seen, expected);
    }
    char text[512] = "[", seen[4096] = "";
    memset(text + 1, 'n', 300);
    strcat(text, "]\nk=v\n");
    assert_int_equal(ct_ini_parse(NULL, "t", text, strlen(text), collect, seen), CT_OK);
    assert_int_equal(strlen(seen), 3 + 300 + 2 + 2 + 300 + 5);
}

TEST_WITH(programs_are_named, f)
{
    char text[sizeof snapshot_ini + 200];
    snprintf(text, sizeof text, "%s%s", snapshot_ini,
             "[program]\nelf=ram.bin\nbias=0x5500000000\n[program2]\nelf='gone'\nbias=0x70\nbuild_id=0a0b\n["
             "program3]\nelf=rom.bin\n");
    fixture_put(f, "cap/snapshot.ini", text);
    assert_int_equal(fixture_open(f, "cap"), CT_OK);
    assert_int_equal(f->capture->program_count, 2);
    assert_string_equal(f->capture->programs[0].path, "cap/ram.bin");
    assert_int_equal(f->capture->programs[0].addr, 0x5500000000);
    assert_int_equal(f->capture->programs[0].is_elf, 1);
    assert_string_equal(f->capture->programs[1].path, "cap/rom.bin");
    assert_int_equal(f->capture->programs[1].addr, 0);
    assert_int_equal(f->capture->gone_count, 1);
    assert_string_equal(f->capture->gone[0].path, "cap/gone");
    assert_int_equal(f->capture->gone[0].addr, 0x70);
    assert_int_equal(f->capture->gone[0].is_elf, 1);
    assert_string_equal(f->capture->gone_build_ids[0], "0a0b");
    for (size_t i = 0; i < f->capture->buffers[0].image_count; i++)
        assert_int_equal(f->capture->buffers[0].images[i].is_elf, 0);

    setup(f);
    snprintf(text, sizeof text, "%s%s", snapshot_ini, "[program]\nbias=1\n");
    fixture_put(f, "cap/snapshot.ini", text);
    assert_int_equal(fixture_open(f, "cap"), CT_ERR_CONFIG);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("cap/snapshot.ini:12", "[program]", "elf=")));
}

static const char states_ini[] = "[coretap.image0]\nfile=ram.bin\naddress=0x1000\nlength=8\n"
                                 "[coretap.image1]\nfile=ram.bin\naddress=0x1000\noffset=8\nlength=8\n"
                                 "[coretap.image2]\nfile=gone.bin\naddress=0x2000\n"
                                 "[coretap.state0]\nimage=0\n"
                                 "[coretap.state1]\nimage=2\nimage=1\n"
                                 "[coretap.piece0]\nbuffer=ETB\nfrom=16\nstate=1\n";

static int open_with_states(struct fixture *f, const char *more)
{
    char text[sizeof trace_ini + sizeof states_ini + 200];
    setup(f);
    snprintf(text, sizeof text, "%s%s%s", trace_ini, states_ini, more);
    fixture_put(f, "cap/trace.ini", text);
    fixture_put(f, "cap/etb.bin", "0123456789abcdef0123456789abcdef");
    return fixture_open(f, "cap");
}

TEST_WITH(code_that_changed, f)
{
    assert_int_equal(open_with_states(f, ""), CT_OK);
    const struct ct_buffer *etb = &f->capture->buffers[0], *probe = &f->capture->buffers[1];
    assert_int_equal(etb->image_count, 2); /* images that never change */
    assert_true(etb->maps->by_piece);
    assert_ptr_equal(etb->maps, f->capture->maps);
    assert_int_equal(etb->maps->process_count, 1);
    const struct ct_process *process = etb->maps->processes;
    assert_int_equal(process->generation_count, 2);
    assert_int_equal(process->generations[0].image_count, 1);
    assert_int_equal(process->generations[1].image_count, 1); /* one file is missing */
    assert_int_equal(process->generations[1].images[0].offset, 8);
    assert_int_equal(f->capture->missing_count, 2);
    assert_int_equal(etb->piece_count, 2);
    assert_int_equal(etb->pieces[0].offset, 0);
    assert_int_equal(etb->pieces[0].size, 16);
    assert_int_equal(etb->pieces[0].time, 0);
    assert_int_equal(etb->pieces[1].offset, 16);
    assert_int_equal(etb->pieces[1].size, 16);
    assert_int_equal(etb->pieces[1].time, 1);
    assert_int_equal(etb->pieces[1].joins, 1);
    assert_int_equal(probe->piece_count, 1); /* the whole trace has the first state */

    assert_int_equal(open_with_states(f, "[coretap.piece1]\nbuffer=ETB\nfrom=48\nstate=0\n"), CT_OK);
    assert_int_equal(f->capture->buffers[0].piece_count, 2);
    assert_true(has_words(f->log, WORDS("cap/trace.ini", "[coretap.piece1]", "cap/etb.bin", "truncated")));
}

TEST_WITH(states_that_lead_nowhere, f)
{
    static const struct {
        const char *text;
        int code;
        const char *words[4];
    } cases[] = {
        {"[coretap.state2]\nimage=3\n", CT_ERR_CONFIG, {"cap/trace.ini", "[coretap.state2]", "image=3"}},
        {"[coretap.piece1]\nbuffer=ETB\nfrom=32\nstate=2\n", CT_ERR_CONFIG, {"[coretap.piece1]", "state="}},
        {"[coretap.piece1]\nbuffer=ETB\nfrom=16\n", CT_ERR_CONFIG, {"[coretap.piece1]", "not greater"}},
        {"[coretap.piece1]\nbuffer=ETB\nfrom=24\n", CT_ERR_CONFIG, {"[coretap.piece1]", "frame"}},
        {"[coretap.image3]\naddress=0\n", CT_ERR_CONFIG, {"[coretap.image3]", "file="}},
        {"[coretap.image3]\nfile=''\n", CT_ERR_CONFIG, {"cap/trace.ini", "name of a file"}},
        {"[coretap.state2]\nimage=x\n", CT_ERR_CONFIG, {"cap/trace.ini", "x"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = open_with_states(f, cases[i].text);
        if (code != cases[i].code || !has_words(ct_ctx_error(f->ctx), cases[i].words))
            fail_msg("case %zu: %s: %s", i, ct_error_name(code), ct_ctx_error(f->ctx));
    }
}

TEST_WITH(limits_end_it, f)
{
    size_t size = (size_t)64 * (CT_ITEMS_MAX + 1);
    char *text = malloc(size);
    size_t used = (size_t)snprintf(text, size, "[snapshot]\n[device_list]\n");
    for (unsigned i = 0; i <= CT_ITEMS_MAX; i++)
        used += (size_t)snprintf(text + used, size - used, "d%u=x\n", i);
    fixture_put(f, "cap/snapshot.ini", text);
    assert_int_equal(fixture_open(f, "cap"), CT_ERR_LIMIT);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("cap/snapshot.ini", "[device_list]", "4096")));
    free(text);
}

TEST(protocols_and_framings_have_names)
{
    assert_string_equal(ct_protocol_name(CT_PROTOCOL_ETM4), "etmv4i");
    assert_string_equal(ct_protocol_name((enum ct_protocol)99), "unknown");
    assert_string_equal(ct_framing_name(CT_FRAMING_DSTREAM), "dstream");
    static const struct {
        const char *type;
        enum ct_protocol protocol;
    } types[] = {
        {"ETM4", CT_PROTOCOL_ETM4},   {"ETM4.4", CT_PROTOCOL_ETM4}, {"ETE", CT_PROTOCOL_ETE},
        {"ETM3.5", CT_PROTOCOL_ETM3}, {"PTM1.0", CT_PROTOCOL_PTM},  {"PFT1.1", CT_PROTOCOL_PTM},
        {"STM", CT_PROTOCOL_STM},     {"ITM", CT_PROTOCOL_ITM},     {"ptm", CT_PROTOCOL_PTM},
        {"ETM", CT_PROTOCOL_NONE},    {"", CT_PROTOCOL_NONE},       {"ETM45", CT_PROTOCOL_NONE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_int_equal(ct_protocol_by_type(types[i].type), types[i].protocol);
}
