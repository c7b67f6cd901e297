/* Traces at their limits: addresses at both ends, the longest numbers, files cut short, and disks without room. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/trace_lines.h"
#include "sim/trace/trace_reader.h"
#include "tests/failing_alloc.h"
#include "tests/suites.h"

#define HALF ((int64_t)1 << (SIM_ADDRESS_BITS - 1))

static void runs_stay_in_their_half_of_the_addresses(void)
{
    static const struct {
        int64_t addr, stride;
        uint32_t count, bytes;
        bool fits;
    } runs[] = {
        { 0, 0, 1, 1, true },          { HALF - 1, 0, 1, 1, true },
        { HALF - 1, 0, 1, 2, false },  { HALF, 0, 1, 1, false },
        { -HALF, 0, 1, 1, true },      { -HALF - 1, 0, 1, 1, false },
        { -1, 0, 1, 1, true },         { -1, 0, 1, 2, false }, /* into the lower half */
        { -64, 64, 2, 1, false },      { -128, 64, 2, 64, true },
        { 64, -64, 2, 1, true },       { 64, -64, 3, 1, false },
        { 0, HALF - 1, 2, 1, true },   { 0, HALF, 2, 1, false },
        { -1, -HALF, 2, 1, false },    { -1, 1 - HALF, 2, 1, true },
        { 0, INT64_MAX, 3, 1, false },                                       /* the span has no number, */
        { 0, INT64_MIN, 3, 1, false }, { HALF - 1, INT64_MAX, 2, 1, false }, /* or the last address */
        { 0, INT64_MAX, 1, 1, true },
    };

    for (size_t i = 0; i < COUNT(runs); i++) {
        const struct sim_run r = { .addr = (uint64_t)runs[i].addr,
                                   .stride_bytes = runs[i].stride,
                                   .count = runs[i].count,
                                   .access_bytes = runs[i].bytes };

        test_check(sim_run_fits(&r) == runs[i].fits, "run %zu", i);
    }
}

static FILE *file_of(const void *bytes, size_t n)
{
    FILE *f = tmpfile();

    CU_ASSERT_FATAL(f && fwrite(bytes, 1, n, f) == n && !fseek(f, 0, SEEK_SET));
    return f;
}

/* Reads a trace to its end. Returns the last error, and how many accesses came. */
static int read_all(const void *bytes, size_t n, struct sim_trace_options o, uint64_t *accesses, char *why, char *said)
{
    FILE *in = file_of(bytes, n);
    struct sim_trace_reader *r;
    struct sim_run run[8];
    size_t got = 1;
    int err = 0;

    *why = '\0';
    CU_ASSERT_FATAL(!sim_trace_reader_new(&r, in, "t", &o));
    while (!err && got)
        err = sim_trace_reader_next(r, run, COUNT(run), &got, why, 256);
    *accesses = sim_trace_reader_counts(r).accesses;
    if (said)
        snprintf(said, 256, "%s", sim_trace_reader_said(r));
    CU_ASSERT(err || sim_trace_reader_bytes(r) == n);
    sim_trace_reader_free(r);
    fclose(in);
    return err;
}

#define LACKEY " L 10,4\n"

static void lines_are_refused_or_read(void)
{
    static const struct {
        enum sim_trace_format format;
        const char *text, *why; /* NULL: read, as one access */
    } lines[] = {
        { SIM_TRACE_TEXT, "L 0X1f 8 2 1\n", NULL },
        { SIM_TRACE_TEXT, "L 0X 8 2 1\n", "t:1: not a hexadecimal address, '0X 8 2 1'" },
        { SIM_TRACE_TEXT, "Lx 10 8 2 1\n", "t:1: wrong label (L, S, P or N), 'Lx 10 8 2 1'" },
        { SIM_TRACE_TEXT, "L 10 8x 2 1\n", "t:1: no blank after the size, 'x 2 1'" },
        { SIM_TRACE_TEXT, "L 10 8/ 2 1\n", "t:1: no blank after the size, '/ 2 1'" },
        { SIM_TRACE_TEXT, "L 10 8 2 1 \x7f\n", "t:1: something follows the access, '?'" },
        { SIM_TRACE_DIN, "\x01 10\n", "t:1: wrong label (0 or r, 1 or w, 2 or i), '? 10'" },
        { SIM_TRACE_DIN, "0 10 x\n", "t:1: not a hexadecimal size, 'x'" },
        { SIM_TRACE_DIN, "0\t10\t4\t\n", NULL },
        { SIM_TRACE_LACKEY, "==1== a\n==1/2 b\n" LACKEY,
          "t:2: neither an access (I, L, S or M) nor a line of Valgrind's "
          "own; valgrind --log-file=FILE keeps what the program prints "
          "apart, '==1/2 b'" },
        { SIM_TRACE_LACKEY, "==/1== a\n" LACKEY,
          "t:1: neither an access (I, L, S or M) nor a line of Valgrind's own; "
          "valgrind --log-file=FILE keeps what the program prints apart, '==/1== "
          "a'" },
        { SIM_TRACE_LACKEY, "==x1== a\n" LACKEY,
          "t:1: neither an access (I, L, S or M) nor a line of Valgrind's own; "
          "valgrind --log-file=FILE keeps what the program prints apart, '==x1== "
          "a'" },
        { SIM_TRACE_LACKEY, "==1=-- a\n" LACKEY,
          "t:1: neither an access (I, L, S or M) nor a line of Valgrind's own; "
          "valgrind --log-file=FILE keeps what the program prints apart, '==1=-- "
          "a'" },
    };
    char why[256];
    uint64_t n;

    for (size_t i = 0; i < COUNT(lines); i++) {
        const struct sim_trace_options o = { .format = lines[i].format };
        int err = read_all(lines[i].text, strlen(lines[i].text), o, &n, why, NULL);

        if (lines[i].why)
            test_check(err == -EINVAL && !strcmp(why, lines[i].why),
                       "line %zu: %d\n      \"%s\", expected\n      \"%s\"", i, err, why, lines[i].why);
        else
            test_check(!err && n == 1, "line %zu: %d, %s", i, err, why);
    }
    /* NUL where a label stands is named as a foreign byte */
    CU_ASSERT_EQUAL(read_all("\0 10\n", 5, (struct sim_trace_options){ .format = SIM_TRACE_DIN }, &n, why, NULL),
                    -EINVAL);
    CU_ASSERT(strstr(why, "a NUL byte") != NULL);
    CU_ASSERT_EQUAL(read_all("\0 10,4\n", 7, (struct sim_trace_options){ .format = SIM_TRACE_LACKEY }, &n, why, NULL),
                    -EINVAL);
    CU_ASSERT(strstr(why, "a NUL byte") != NULL);
}

/* The trace of a whole run ends with lackey's last line; further lines are not read. Other formats know no end. */
static void whole_runs_end_with_lackeys_last_line(void)
{
    static const struct {
        enum sim_trace_format format;
        const char *text;
        int err;
        uint64_t n;
        const char *said;
    } traces[] = {
        { SIM_TRACE_LACKEY, "==1== Lackey\n" LACKEY LACKEY "==1== Exit code:       0\n", 0, 2, "Exit code:       0" },
        { SIM_TRACE_LACKEY, LACKEY "==1== Exit code:       0\n" LACKEY, 0, 1, "Exit code:       0" },
        { SIM_TRACE_LACKEY, LACKEY "==1== Exit: 0\n", -EINVAL, 0, "Exit: 0" },
        { SIM_TRACE_LACKEY, LACKEY "==1==\n==1== second\n", -EINVAL, 0, "second" },
        { SIM_TRACE_LACKEY, LACKEY "==1== first\n\n==1== second\n", -EINVAL, 0, "first" },
        { SIM_TRACE_LACKEY, LACKEY "==1== first\n" LACKEY "==1== second\n", -EINVAL, 0, "second" },
        { SIM_TRACE_LACKEY, "==1== first\nwhat\n", -EINVAL, 0, "what" },
        { SIM_TRACE_DIN, "0 10\n", 0, 1, "" },
    };
    char why[256], said[256];
    uint64_t n;

    for (size_t i = 0; i < COUNT(traces); i++) {
        const struct sim_trace_options o = { .format = traces[i].format, .is_whole_run = true };
        FILE *in = file_of(traces[i].text, strlen(traces[i].text));
        struct sim_trace_reader *r;
        struct sim_run run[2];
        size_t got = 1;
        int err = 0;

        CU_ASSERT_FATAL(!sim_trace_reader_new(&r, in, "t", &o));
        while (!err && got)
            err = sim_trace_reader_next(r, run, COUNT(run), &got, why, sizeof why);
        n = sim_trace_reader_counts(r).accesses;
        snprintf(said, sizeof said, "%s", sim_trace_reader_said(r));
        test_check(err == traces[i].err && (err || n == traces[i].n) && !strcmp(said, traces[i].said),
                   "trace %zu: %d, %u accesses, said '%s': %s", i, err, (unsigned)n, said, why);
        CU_ASSERT(!sim_trace_reader_next(r, run, COUNT(run), &got, why, sizeof why) && !got); /* stays at the end */
        sim_trace_reader_free(r);
        fclose(in);
    }
}

/* Lines longer than a block, of 64 bytes here: skipped up to a newline in a later block, or cut short. */
static void long_lines_are_skipped_whole(void)
{
    static const struct {
        enum sim_trace_format format;
        const char *start, *rest, *why;
    } traces[] = {
        { SIM_TRACE_DIN, "#", "\n0 10\n", NULL },
        { SIM_TRACE_DIN, "#", "", "t:1: cut short" },
        { SIM_TRACE_LACKEY, "==1== ", "", "t:1: cut short" },
        { SIM_TRACE_DIN, "0 10 4\r0 10 4\r", "\n", "t:1: line too long: a carriage return within the line" },
        { SIM_TRACE_DIN, "0 10\n0 ", "\n", "t:2: line too long, '0 00000" },
        { SIM_TRACE_DIN, "0 10\r\r\r\n#", "\r\r\n", NULL },
    };
    char text[512], why[256];
    uint64_t n;

    for (size_t i = 0; i < COUNT(traces); i++) {
        const struct sim_trace_options o = { .format = traces[i].format, .block_bytes = 64 };
        const int length = snprintf(text, sizeof text, "%s%0300d%s", traces[i].start, 0, traces[i].rest);
        int err = read_all(text, (size_t)length, o, &n, why, NULL);

        if (traces[i].why)
            test_check(err == -EINVAL && strstr(why, traces[i].why) == why, "trace %zu: %d, \"%s\"", i, err, why);
        else
            test_check(!err && n == 1, "trace %zu: %d, %s", i, err, why);
    }
    CU_ASSERT_EQUAL(read_all("0 10\n\r\r\r", 8, (struct sim_trace_options){ .format = SIM_TRACE_DIN }, &n, why, NULL),
                    -EINVAL);
    CU_ASSERT(strstr(why, "t:2: cut short") == why);
}

#define HEADER                                                                                                         \
    "\x89"                                                                                                             \
    "CST\r\n\x1a\n\1\0\0\0\0\0\0\0"

static void numbers_of_binary_traces_end(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *why;
    } records[] = {
#define RECORD(bytes, why) { HEADER bytes, sizeof(HEADER bytes) - 1, why }
        RECORD("\x08\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
               "t:byte 16: number of more than 64 bits; its last byte, 2"),
        RECORD("\x08\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00",
               "t:byte 16: number of more than 64 bits; its last byte, 129"),
        RECORD("\x08\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
               "t:byte 16: address overflow: more than 57 bits, starting at, "
               "9223372036854775807"),
        RECORD("\x08\x81\x80\x40\x00", "t:byte 16: access too wide, bytes, 1048577"),
        RECORD("\x18\x08\x00\xff\xff\xff\xff\x0f\x00", "t:byte 16: bad number of repetitions, 4294967295"),
        RECORD("\x80\x80\x80", "t:byte 16: cut short within a record; bytes left, 0"),
#undef RECORD
    };
    char why[256];
    uint64_t n;

    for (size_t i = 0; i < COUNT(records); i++) {
        const struct sim_trace_options o = { .format = SIM_TRACE_BINARY };
        int err = read_all(records[i].bytes, records[i].n, o, &n, why, NULL);

        test_check(err == -EINVAL && !strcmp(why, records[i].why), "record %zu: %d, \"%s\", expected \"%s\"", i, err,
                   why, records[i].why);
    }
}

static void errors_of_writing_are_told(void)
{
    const struct sim_run runs[] = { { .count = 4000, .stride_bytes = 8, .access_bytes = 4, .kind = SIM_LOAD },
                                    { .count = 4000, .stride_bytes = 8, .access_bytes = 8, .kind = SIM_STORE } };

    for (unsigned f = 0; f < SIM_N_TRACE_FORMATS; f++) {
        FILE *out = fopen("/dev/full", "w");
        struct sim_trace t;
        int err;

        if (!out) {
            test_skip("no /dev/full here");
            return;
        }
        setvbuf(out, NULL, _IONBF, 0);
        sim_trace_init_as(&t, out, (enum sim_trace_format)f);
        sim_emit(sim_trace_sink(&t), runs, 2, 3);
        err = sim_trace_close(&t);
        test_check(err == -ENOSPC, "%s: %d", sim_trace_format_name((enum sim_trace_format)f), err);
        fclose(out);
        out = fopen("/dev/full", "w"); /* with a buffer, the end alone fails */
        CU_ASSERT_FATAL(out != NULL);
        sim_trace_init_as(&t, out, (enum sim_trace_format)f);
        sim_emit(sim_trace_sink(&t), runs, 1, 1);
        CU_ASSERT_EQUAL(sim_trace_close(&t), -ENOSPC);
        fclose(out);
    }
}

static void formats_have_names(void)
{
    enum sim_trace_format format = SIM_TRACE_DIN;

    for (unsigned f = 0; f < SIM_N_TRACE_FORMATS; f++) {
        CU_ASSERT(!sim_trace_format_find(sim_trace_format_name((enum sim_trace_format)f), &format));
        CU_ASSERT_EQUAL(format, f);
    }
    CU_ASSERT_EQUAL(sim_trace_format_find("tex", &format), -EINVAL);
    CU_ASSERT_EQUAL(sim_trace_format_find("", &format), -EINVAL);
}

/* din and lackey have no prefetch: the access is left out. */
static void formats_without_prefetches_leave_them_out(void)
{
    const struct sim_run runs[] = { { .count = 1, .access_bytes = 4, .kind = SIM_PREFETCH },
                                    { .count = 1, .addr = 16, .access_bytes = 4, .kind = SIM_STORE_NT } };
    static const char *const texts[] = { [SIM_TRACE_DIN] = "1 10 4\n", [SIM_TRACE_LACKEY] = " S 00000010,4\n" };

    for (enum sim_trace_format f = SIM_TRACE_DIN; f <= SIM_TRACE_LACKEY; f++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        struct sim_trace t;

        CU_ASSERT_FATAL(out != NULL);
        sim_trace_init_as(&t, out, f);
        sim_emit(sim_trace_sink(&t), runs, 2, 1);
        CU_ASSERT(!sim_trace_close(&t) && !fclose(out));
        CU_ASSERT_STRING_EQUAL(text, texts[f]);
        free(text);
    }
}

static void readers_say_want_of_memory(void)
{
    struct sim_trace_reader *r;
    size_t n = 0, refused;
    int err;

    do {
        failing_alloc_after(n++);
        err = sim_trace_reader_new(&r, stdin, "t", &(struct sim_trace_options){ .format = SIM_TRACE_DIN });
        refused = failing_alloc_stop();
        CU_ASSERT(err == (refused ? -ENOMEM : 0) && !r == (refused > 0));
        sim_trace_reader_free(r);
    } while (refused);
    CU_ASSERT(n > (failing_alloc_has_malloc() ? 2 : 1));
}

static const struct test_case cases[] = {
    { "runs stay in their half of the addresses", runs_stay_in_their_half_of_the_addresses },
    { "lines are refused, or read", lines_are_refused_or_read },
    { "whole runs end with lackey's last line", whole_runs_end_with_lackeys_last_line },
    { "long lines are skipped whole", long_lines_are_skipped_whole },
    { "numbers of binary traces end", numbers_of_binary_traces_end },
    { "errors of writing are told", errors_of_writing_are_told },
    { "formats have names", formats_have_names },
    { "formats without prefetches leave them out", formats_without_prefetches_leave_them_out },
    { "readers say want of memory", readers_say_want_of_memory },
    { NULL, NULL },
};

const struct test_suite suite_sim_trace_limits = { "sim_trace_limits", cases };
