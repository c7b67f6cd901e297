/* Traces: the meaning of each format, refusals and their messages; no access is lost. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/trace_reader.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { MAX_ACCESSES = 4096 };

/* Accesses in a row, and the end of reading. */
struct heard {
    size_t n;
    struct sim_access access[MAX_ACCESSES];
    struct sim_trace_counts counts;
    int err;
    char why[256];
};

static void hear(void *ctx, const struct sim_access *a)
{
    struct heard *h = ctx;

    CU_ASSERT_FATAL(h->n < MAX_ACCESSES);
    h->access[h->n++] = *a;
}

static FILE *file_of(const void *bytes, size_t n)
{
    FILE *f = tmpfile();

    CU_ASSERT_FATAL(f && fwrite(bytes, 1, n, f) == n && !fseek(f, 0, SEEK_SET));
    return f;
}

static void read_trace(struct heard *h, FILE *in, const struct sim_trace_options *o)
{
    struct sim_expander x;
    struct sim_trace_reader *r;
    struct sim_run run[5];
    size_t n = 1;

    *h = (struct heard){ 0 };
    sim_expander_init(&x, hear, h);
    CU_ASSERT_FATAL(!sim_trace_reader_new(&r, in, "t", o));
    while (n) {
        h->err = sim_trace_reader_next(r, run, COUNT(run), &n, h->why, sizeof h->why);
        sim_emit(&x.sink, run, n, 1);
    }
    h->counts = sim_trace_reader_counts(r);
    sim_trace_reader_free(r);
}

static void read_bytes(struct heard *h, const void *bytes, size_t n, const struct sim_trace_options *o)
{
    FILE *in = file_of(bytes, n);

    read_trace(h, in, o);
    fclose(in);
}

/* Writes "kind:addr:bytes:tag:phase " of each access. */
static void describe(const struct heard *h, char *text, size_t bytes)
{
    size_t used = 0;

    *text = '\0';
    for (size_t i = 0; i < h->n && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%u:%" PRIx64 ":%" PRIu32 ":%u:%u ", h->access[i].kind,
                                 h->access[i].addr, h->access[i].bytes, h->access[i].tag, h->access[i].phase);
}

static void formats_mean_what_they_say(void)
{
    static const struct {
        struct sim_trace_options options;
        const char *text, *expected;
    } cases[] = {
        { { .format = SIM_TRACE_TEXT },
          "# c\n\nL 1fF 8 2 1\nS 0x20 64 0 0\n\tP  20 64 7 3 \r\nN 0 1048576 1 1\n",
          "0:1ff:8:2:1 1:20:64:0:0 2:20:64:7:3 3:0:1048576:1:1 " },
        { { .format = SIM_TRACE_TEXT },
          "L 1ffffffffffffff 1 0 0\nL fe00000000000000 1 0 0\nL ffffffffffffffff 1 0 0\n",
          "0:1ffffffffffffff:1:0:0 0:fe00000000000000:1:0:0 0:ffffffffffffffff:1:0:0 " },
        { { .format = SIM_TRACE_DIN },
          "0 10\n1 20 10\n2 30 4\n# c\nr 40\n w 0x50 2\ni 60\n",
          "0:10:4:0:0 1:20:16:0:0 0:40:4:0:0 1:50:2:0:0 " },
        { { .format = SIM_TRACE_DIN, .has_fetches = true, .fetch_tag = 5, .din_bytes = 8 },
          "0 10\n2 30\ni 60 1\n",
          "0:10:8:0:0 0:30:8:5:0 0:60:1:5:0 " },
        { { .format = SIM_TRACE_LACKEY },
          "==12== Lackey\n--12-- x\n\nI  04001090,3\n L 1ffefff768,8\n S 1ffefff760,16\n M 04222cac,4\n",
          "0:1ffefff768:8:0:0 1:1ffefff760:16:0:0 0:4222cac:4:0:0 1:4222cac:4:0:0 " },
        { { .format = SIM_TRACE_LACKEY }, /* with changes of editors and foreign systems */
          "\xef\xbb\xbf==12== Lackey\r\n==00:00:00:00.123 12== x\n==12==\n**12** y\nL 10,8\r\r\n\tS\t20,8 \t\n \r\nI "
          "30,8\n",
          "0:10:8:0:0 1:20:8:0:0 " },
        { { .format = SIM_TRACE_DIN },
          "\xef\xbb\xbf"
          "0 10 4 \r\n\r\n# c\r\n1 20\r\r\n",
          "0:10:4:0:0 1:20:4:0:0 " },
        { { .format = SIM_TRACE_LACKEY, .has_fetches = true, .fetch_tag = 7 },
          "I  10,3\nI  13,2\n",
          "0:10:3:7:0 0:13:2:7:0 " },
    };
    static struct heard h;
    char text[512];

    for (size_t i = 0; i < COUNT(cases); i++) {
        read_bytes(&h, cases[i].text, strlen(cases[i].text), &cases[i].options);
        describe(&h, text, sizeof text);
        test_check(!h.err && !strcmp(text, cases[i].expected), "case %zu: read '%s', expected '%s' (%s)", i, text,
                   cases[i].expected, h.why);
        CU_ASSERT_EQUAL(h.counts.accesses, h.n);
    }
}

static void fetches_and_skipped_lines_are_counted(void)
{
    static const char text[] = "==1== a\n**1** b\nI  10,3\n L 10,4\n\nI  13,3\n";
    static struct heard h;

    read_bytes(&h, text, strlen(text), &(struct sim_trace_options){ .format = SIM_TRACE_LACKEY });
    CU_ASSERT_EQUAL(h.err, 0);
    CU_ASSERT_EQUAL(h.counts.accesses, 1);
    CU_ASSERT_EQUAL(h.counts.fetches, 2);
    CU_ASSERT_EQUAL(h.counts.valgrind_lines, 2);
}

#define NO_LACKEY                                                                                                      \
    "neither an access (I, L, S or M) nor a line of Valgrind's own; valgrind --log-file=FILE keeps what the program "  \
    "prints apart"

static void malformed_lines_are_refused_by_name_and_line(void)
{
    static const struct {
        enum sim_trace_format format;
        const char *text, *message;
    } cases[] = {
        { SIM_TRACE_DIN, "0 10\n3 10\n", "t:2: wrong label (0 or r, 1 or w, 2 or i), '3 10'" },
        { SIM_TRACE_DIN, "00 10\n", "t:1: wrong label (0 or r, 1 or w, 2 or i), '00 10'" },
        { SIM_TRACE_DIN, "0\n", "t:1: wrong label (0 or r, 1 or w, 2 or i), '0'" },
        { SIM_TRACE_DIN, "0 \n", "t:1: not a hexadecimal address, ''" },
        { SIM_TRACE_DIN, "0 xyz\n", "t:1: not a hexadecimal address, 'xyz'" },
        { SIM_TRACE_DIN, "0 10,4\n", "t:1: no blank after the address, ',4'" },
        { SIM_TRACE_DIN, "0 10 0\n", "t:1: access of no bytes, '0'" },
        { SIM_TRACE_DIN, "0 10 100001\n", "t:1: access too wide, '100001'" },
        { SIM_TRACE_DIN, "0 10 4 4\n", "t:1: something follows the access, '4'" },
        { SIM_TRACE_DIN, "0 10000000000000000\n", "t:1: number of more than 64 bits, '10000000000000000'" },
        { SIM_TRACE_DIN, "0 200000000000000\n", "t:1: address overflow: more than 57 bits, '200000000000000'" },
        { SIM_TRACE_DIN, "2 ffffffffffffffff 2\n", "t:1: address overflow: more than 57 bits, 'ffffffffffffffff 2'" },
        { SIM_TRACE_DIN, "1 1ffffffffffffff 2\n", "t:1: address overflow: more than 57 bits, '1ffffffffffffff 2'" },
        { SIM_TRACE_DIN, "0 10 4\n0 1",
          "t:2: cut short: the last line does not end with a newline (if it is whole, add one), '0 1'" },
        { SIM_TRACE_TEXT, "X 10 4 0 0\n", "t:1: wrong label (L, S, P or N), 'X 10 4 0 0'" },
        { SIM_TRACE_TEXT, "L 10\n", "t:1: no size after the address, ''" },
        { SIM_TRACE_TEXT, "L 10 0 0 0\n", "t:1: access of no bytes, '0 0 0'" },
        { SIM_TRACE_TEXT, "L 10 1048577 0 0\n", "t:1: not a size of at most 1048576, '1048577 0 0'" },
        { SIM_TRACE_TEXT, "L 10 4 8 0\n", "t:1: not a tag from 0 to 7, '8 0'" },
        { SIM_TRACE_TEXT, "L 10 4 0 8\n", "t:1: not a phase from 0 to 7, '8'" },
        { SIM_TRACE_TEXT, "L 10 4 0\n", "t:1: no blank after the tag, ''" },
        { SIM_TRACE_TEXT, "\001\n", "t:1: wrong label (L, S, P or N), '?'" },
        { SIM_TRACE_LACKEY, " L 10,4\n L zz,4\n", "t:2: not a hexadecimal address, 'zz,4'" },
        { SIM_TRACE_LACKEY, " L 10;4\n", "t:1: no comma after the address, ';4'" },
        { SIM_TRACE_LACKEY, " S 10,0\n", "t:1: access of no bytes, '0'" },
        { SIM_TRACE_LACKEY, "I  10,x\n", "t:1: not a size of at most 1048576, 'x'" },
        { SIM_TRACE_LACKEY, "==1== a\n Q 10,4\n", "t:2: " NO_LACKEY ", ' Q 10,4'" },
        { SIM_TRACE_LACKEY, " l 10,4\n", "t:1: " NO_LACKEY ", ' l 10,4'" },
        { SIM_TRACE_LACKEY, "hello world\n", "t:1: " NO_LACKEY ", 'hello world'" },
        { SIM_TRACE_LACKEY, "hello L 10,8\n", "t:1: " NO_LACKEY ", 'hello L 10,8'" },
        { SIM_TRACE_LACKEY, "L10,8\n", "t:1: " NO_LACKEY ", 'L10,8'" },
        { SIM_TRACE_LACKEY, "0 10 4\n", "t:1: " NO_LACKEY ", '0 10 4'" },
        { SIM_TRACE_LACKEY, "# x\n", "t:1: " NO_LACKEY ", '# x'" },
        { SIM_TRACE_LACKEY, "=1= x\n", "t:1: " NO_LACKEY ", '=1= x'" },
        { SIM_TRACE_LACKEY, "==1 x\n", "t:1: " NO_LACKEY ", '==1 x'" },
        { SIM_TRACE_LACKEY, "==1==x\n", "t:1: " NO_LACKEY ", '==1==x'" },
        { SIM_TRACE_LACKEY, " L -10,4\n", "t:1: not a hexadecimal address, '-10,4'" },
        { SIM_TRACE_LACKEY, " L 10, 4\n", "t:1: not a size of at most 1048576, ' 4'" },
        { SIM_TRACE_LACKEY, " L 10,+4\n", "t:1: not a size of at most 1048576, '+4'" },
        { SIM_TRACE_LACKEY, " L 10,4 x\n", "t:1: something follows the access, 'x'" },
        { SIM_TRACE_LACKEY, "S\n", "t:1: " NO_LACKEY ", 'S'" },
        { SIM_TRACE_LACKEY, " M ffffffffffffffff,4\n",
          "t:1: address overflow: more than 57 bits, 'ffffffffffffffff,4'" },
        { SIM_TRACE_LACKEY, " L 1ffefff768",
          "t:1: cut short: the last line does not end with a newline (if it is whole, add one), ' L 1ffefff768'" },
    };
    static struct heard h;

    for (size_t i = 0; i < COUNT(cases); i++) {
        read_bytes(&h, cases[i].text, strlen(cases[i].text), &(struct sim_trace_options){ .format = cases[i].format });
        test_check(h.err == -EINVAL && !strcmp(h.why, cases[i].message), "case %zu: %d, \"%s\", expected \"%s\"", i,
                   h.err, h.why, cases[i].message);
    }
}

/* The example of every field of trace_binary.h. */
static const uint8_t documented[] = {
    0x89, 'C',  'S',  'T',  '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 0, 0, 0, 0, /* header */
    0x08, 0x08, 0x80, 0x40,                                                 /* load of 8 bytes at 0 + 4096 */
    0x01, 0x0f,                                                             /* store, 8 bytes lower, same width */
    0x1c, 0x21, 0x20, 0xfe, 0x01, 0x02, 0x80, 0x01, /* tag 1, phase 2: loads of 32 at 127, 191 and 255 */
    0x00, 0x02,                                     /* a load a byte above the last store */
    0x06, 0x00, 0x00,                               /* prefetch, tag 0 again, phase 0, 0 further */
    0x80, 0x07,                                     /* end: 7 accesses */
};

static void binary_traces_are_as_documented(void)
{
    static struct heard h;
    char text[512];
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);
    struct sim_trace t;
    struct sim_run run[] = {
        { .addr = 4096, .count = 1, .access_bytes = 8 },
        { .addr = 4088, .count = 1, .access_bytes = 8, .kind = SIM_STORE },
        { .addr = 127, .count = 3, .stride_bytes = 64, .access_bytes = 32, .tag = 1, .phase = 2 },
        { .addr = 256, .count = 1, .access_bytes = 32, .tag = 1, .phase = 2 },
        { .addr = 4088, .count = 1, .access_bytes = 8, .kind = SIM_PREFETCH },
    };

    read_bytes(&h, documented, sizeof documented, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
    describe(&h, text, sizeof text);
    test_check(
        !h.err &&
            !strcmp(text, "0:1000:8:0:0 1:ff8:8:0:0 0:7f:32:1:2 0:bf:32:1:2 0:ff:32:1:2 0:100:32:1:2 2:ff8:8:0:0 "),
        "read %s (%s)", text, h.why);
    CU_ASSERT_FATAL(out != NULL);
    sim_trace_init_as(&t, out, SIM_TRACE_BINARY);
    sim_emit(sim_trace_sink(&t), run, COUNT(run), 1);
    CU_ASSERT(!sim_trace_close(&t));
    fclose(out);
    CU_ASSERT_EQUAL(n, sizeof documented);
    CU_ASSERT(n == sizeof documented && !memcmp(bytes, documented, n));
    free(bytes);
}

static void binary_traces_cut_anywhere_are_refused(void)
{
    static struct heard h;
    char place[32];

    for (size_t n = 0; n < sizeof documented; n++) {
        read_bytes(&h, documented, n, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
        test_check(h.err == -EINVAL && strstr(h.why, "cut short") && !strncmp(h.why, "t:byte ", 7),
                   "cut to %zu bytes: %d, \"%s\"", n, h.err, h.why);
    }
    snprintf(place, sizeof place, "t:byte %zu: cut short", sizeof documented - 2);
    read_bytes(&h, documented, sizeof documented - 2, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
    CU_ASSERT(!strncmp(h.why, place, strlen(place)));
}

static void binary_traces_with_a_wrong_byte_are_refused_with_its_place(void)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *message;
    } cases[] = {
        { 0, 0x09, "t:byte 0: not a binary trace; unexpected byte, 9" },
        { 8, 2, "t:byte 0: unknown version of the format, 2" },
        { 15, 1, "t:byte 0: reserved byte is not 0, 1" },
        { 16, 0x20, "t:byte 16: wrong label, 32" },
        { 16, 0x00, "t:byte 16: access of no bytes, 0" },
        { 17, 0x00, "t:byte 16: access of no bytes, 0" },
        { 23, 0x28, "t:byte 22: tag too large, 8" },
        { 23, 0x81, "t:byte 22: phase too large, 8" },
        { 27, 0x00, "t:byte 22: bad number of repetitions, 0" },
        { 36, 0x08, "t:byte 35: accesses announced at the end are not those before it, 8" },
        { 35, 0x81, "t:byte 35: wrong label, 129" },
    };
    static struct heard h;
    uint8_t bytes[sizeof documented + 1];

    for (size_t i = 0; i < COUNT(cases); i++) {
        memcpy(bytes, documented, sizeof documented);
        bytes[cases[i].at] = cases[i].byte;
        read_bytes(&h, bytes, sizeof documented, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
        test_check(h.err == -EINVAL && !strcmp(h.why, cases[i].message), "case %zu: \"%s\", expected \"%s\"", i, h.why,
                   cases[i].message);
    }
    memcpy(bytes, documented, sizeof documented);
    bytes[sizeof documented] = 0;
    read_bytes(&h, bytes, sizeof bytes, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
    CU_ASSERT(h.err == -EINVAL && strstr(h.why, "something follows the end"));
}

/* 4 billion accesses in one record are one run, not 4 billion. */
/* The tail's last byte before the end is any last byte of a record; the total is any 64-bit number. */
static void the_end_of_a_binary_trace_tells_its_total(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t tail[2 * SIM_BINARY_MAX_RECORD_BYTES];
        const struct sim_binary b = { .n_accesses = rng_u64() >> rng_below(64) };
        size_t n = rng_below(SIM_BINARY_MAX_RECORD_BYTES), cut;

        for (size_t k = 0; k < n; k++)
            tail[k] = (uint8_t)rng_u64();
        if (n)
            tail[n - 1] &= 0x7f;
        n += sim_binary_put_end(&b, tail + n);
        cut = n < SIM_BINARY_MAX_RECORD_BYTES ? 0 : n - SIM_BINARY_MAX_RECORD_BYTES;
        test_check(sim_binary_total(tail + cut, n - cut) == b.n_accesses, "%" PRIu64, b.n_accesses);
    }
    CU_ASSERT(!sim_binary_total((const uint8_t *)"", 0));
    CU_ASSERT(!sim_binary_total((const uint8_t *)"\x01", 1));
    CU_ASSERT(!sim_binary_total((const uint8_t *)"\x01\x02\x03", 3));
    CU_ASSERT(!sim_binary_total((const uint8_t *)"\x01\x80\x80", 3));
    CU_ASSERT(!sim_binary_total((const uint8_t *)"\x01\x81\x01", 3));
}

static void repetitions_arrive_as_runs(void)
{
    struct sim_binary state = { 0 };
    const struct sim_run run = { .addr = 64, .stride_bytes = -64, .count = UINT32_MAX, .access_bytes = 1 };
    const struct sim_run far = { .addr = 64, .stride_bytes = 64, .count = UINT32_MAX, .access_bytes = 1 };
    uint8_t bytes[128];
    size_t n = sim_binary_put_header(bytes), n_runs;
    struct sim_trace_reader *r;
    struct sim_run read[4];
    char why[256] = "";
    FILE *in;

    n += sim_binary_put(&state, &far, bytes + n);
    n += sim_binary_put(&state, &run, bytes + n);
    in = file_of(bytes, n);
    CU_ASSERT_FATAL(!sim_trace_reader_new(&r, in, "t", &(struct sim_trace_options){ .format = SIM_TRACE_BINARY }));
    CU_ASSERT_EQUAL(sim_trace_reader_next(r, read, 1, &n_runs, why, sizeof why), 0);
    CU_ASSERT_EQUAL(n_runs, 0 + 1);
    CU_ASSERT(read[0].count == UINT32_MAX && read[0].stride_bytes == 64 && read[0].addr == 64);
    CU_ASSERT_EQUAL(sim_trace_reader_counts(r).accesses, UINT32_MAX);
    CU_ASSERT_EQUAL(sim_trace_reader_next(r, read, 1, &n_runs, why, sizeof why), -EINVAL); /* runs below address 0 */
    CU_ASSERT(strstr(why, "address overflow") != NULL);
    CU_ASSERT_EQUAL(n_runs, 0);
    sim_trace_reader_free(r);
    fclose(in);
}

/* ---- there and back ---- */

static struct sim_access random_access(const struct sim_access *last)
{
    struct sim_access a = *last;

    switch (rng_below(6)) {
    case 0:
        a.addr = rng_u64() >> (7 + rng_below(50));
        break;
    case 1:
        a.addr = UINT64_MAX - (rng_u64() >> (8 + rng_below(49))) - ((uint64_t)1 << 21);
        break;
    default:
        a.addr = (last->addr + (uint64_t)rng_range(-2, 2) * 8) & (UINT64_MAX >> 8);
        return a;
    }
    a.bytes = 1 + (uint32_t)rng_below(rng_below(2) ? 64 : SIM_TRACE_MAX_BYTES);
    a.kind = (uint8_t)rng_below(SIM_N_KINDS);
    a.tag = (uint8_t)rng_below(SIM_USUAL_TAGS);
    a.phase = (uint8_t)rng_below(SIM_MAX_PHASES);
    return a;
}

static FILE *write_all(const struct heard *h, enum sim_trace_format format)
{
    FILE *f = tmpfile();
    struct sim_trace t;

    CU_ASSERT_FATAL(f != NULL);
    sim_trace_init_as(&t, f, format);
    for (size_t i = 0; i < h->n; i++) {
        const struct sim_access *a = &h->access[i];
        struct sim_run r = {
            .addr = a->addr, .count = 1, .access_bytes = a->bytes, .kind = a->kind, .tag = a->tag, .phase = a->phase
        };

        sim_emit(sim_trace_sink(&t), &r, 1, 1);
    }
    CU_ASSERT_FATAL(!sim_trace_close(&t) && !fseek(f, 0, SEEK_SET));
    return f;
}

/* Keeps the parts of accesses that din and lackey keep. */
static void keep_plain(struct heard *h)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        struct sim_access a = h->access[i];

        if (a.kind == SIM_PREFETCH)
            continue;
        a.kind = a.kind == SIM_STORE_NT ? SIM_STORE : a.kind;
        a.tag = a.phase = 0;
        h->access[n++] = a;
    }
    h->n = n;
}

static bool same_access(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind && a->tag == b->tag && a->phase == b->phase;
}

static bool survives(const struct heard *written, enum sim_trace_format format, size_t block_bytes)
{
    static struct heard read;
    FILE *f = write_all(written, format);
    size_t i = 0;

    read_trace(&read, f, &(struct sim_trace_options){ .format = format, .block_bytes = block_bytes });
    fclose(f);
    while (i < written->n && i < read.n && same_access(&written->access[i], &read.access[i]))
        i++;
    return test_check(!read.err && i == written->n && i == read.n,
                      "%s, blocks of %zu: differs at access %zu of %zu: %s", sim_trace_format_name(format), block_bytes,
                      i, written->n, read.why);
}

static void traces_survive_writing_and_reading(void)
{
    static struct heard h, plain;

    for (unsigned round = 0; round < test_rounds(20); round++) {
        struct sim_access a = { .addr = 4096, .bytes = 8 };
        size_t block_bytes = rng_below(2) ? 0 : 64 + (size_t)rng_below(200);

        h.n = 1 + (size_t)rng_below(MAX_ACCESSES - 1);
        for (size_t i = 0; i < h.n; i++)
            h.access[i] = a = random_access(&a);
        plain = h;
        keep_plain(&plain);
        if (!survives(&h, SIM_TRACE_TEXT, block_bytes) || !survives(&h, SIM_TRACE_BINARY, block_bytes) ||
            !survives(&plain, SIM_TRACE_DIN, block_bytes) || !survives(&plain, SIM_TRACE_LACKEY, block_bytes))
            return;
    }
}

/* Foreign bytes in lines, and foreign files, in every text format. */
static void foreign_bytes_are_named(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *words;
    } cases[] = {
#define CASE(bytes, words) { bytes, sizeof(bytes) - 1, words }
        CASE("0 10 4\r1 20 4\r", "t:1: a carriage return within the line"),
        CASE("L 10 4 0 0\rL 20 4 0 0\n", "t:1: a carriage return within the line"),
        CASE(" L 10,4\r L 20,4\n", "t:1: a carriage return within the line"),
        CASE("0 10 4\r", "t:1: cut short"),
        CASE("0\xc2\xa0"
             "10 4\n",
             "t:1: a non-breaking blank"),
        CASE("0 10\xe2\x80\x89"
             "4\n",
             "t:1: a blank or a sign of Unicode"),
        CASE("0\0 \0"
             "1\0\n\0",
             "t:1: a NUL byte"),
        CASE("\xff\xfe"
             "0\0 \0",
             "it is text in UTF-16"),
        CASE("\xfe\xff\0"
             "0\0 ",
             "it is text in UTF-16"),
        CASE("BZh91AY&SY", "it is compressed by bzip2 (bzip2 -dc"),
        CASE("PK\3\4\n", "it is a zip archive (unzip -p"),
        CASE("7z\xbc\xaf\x27\x1c\n", "it is an archive of 7-Zip"),
        CASE("Rar!\x1a\x07\n", "it is an archive of RAR"),
        CASE("\x1f\x8b\x08\n", "it is compressed by gzip"),
        CASE("version https://git-lfs.github.com/spec/v1\n", "it is a pointer of Git LFS"),
        CASE("\n  <!doctype html>\n", "it is a page of HTML"),
        CASE("\x89PNG\r\n\x1a\n", "it is a picture (PNG)"),
        CASE("\x7f"
             "ELF\2\1\1",
             "it is a program or library (ELF)"),
        CASE("\x89"
             "CST\r\n\x1a\n",
             "it is a binary trace (--format binary)"),
#undef CASE
    };
    static struct heard h;
    char tar[512] = "trace.din";

    for (enum sim_trace_format format = 0; format < SIM_TRACE_BINARY; format++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            if (strchr(" L0", *cases[i].bytes) && format != (*cases[i].bytes == '0'   ? SIM_TRACE_DIN
                                                             : *cases[i].bytes == 'L' ? SIM_TRACE_TEXT
                                                                                      : SIM_TRACE_LACKEY))
                continue;
            read_bytes(&h, cases[i].bytes, cases[i].n, &(struct sim_trace_options){ .format = format });
            test_check(h.err == -EINVAL && strstr(h.why, cases[i].words) && !h.n, "case %zu, %s: %d, \"%s\"", i,
                       sim_trace_format_name(format), h.err, h.why);
        }
        strcpy(tar + 257, "ustar");
        read_bytes(&h, tar, sizeof tar, &(struct sim_trace_options){ .format = format });
        test_check(h.err == -EINVAL && strstr(h.why, "it is an archive of tar"), "\"%s\"", h.why);
    }
    read_bytes(&h, "BZh9", 4, &(struct sim_trace_options){ .format = SIM_TRACE_BINARY });
    test_check(h.err == -EINVAL && strstr(h.why, "t:byte 0: not a binary trace: it is compressed by bzip2"), "%s",
               h.why);
}

/* In the trace of a run, the reader keeps Valgrind's words behind the last access, and lines without a prefix. */
static void what_valgrind_says_at_the_end_is_kept(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "==1== Lackey\n L 10,4\n", "" },
        { "==1== Lackey\n==1== more\n L 10,4\n==1== \n==1== out of memory:\n==1==  sorry\n", "out of memory:" },
        { "==1== Lackey\n L 10,4\nvex: unhandled bytes\n L 10,4\n", "vex: unhandled bytes" },
    };
    struct sim_run run[4];
    char why[256];

    for (size_t i = 0; i < COUNT(cases); i++) {
        FILE *in = file_of(cases[i].text, strlen(cases[i].text));
        struct sim_trace_reader *r;
        size_t n = 1;
        int err = 0;

        CU_ASSERT_FATAL(!sim_trace_reader_new(
            &r, in, "t", &(struct sim_trace_options){ .format = SIM_TRACE_LACKEY, .is_whole_run = true }));
        while (!err && n)
            err = sim_trace_reader_next(r, run, COUNT(run), &n, why, sizeof why);
        test_check(err == -EINVAL && !strcmp(sim_trace_reader_said(r), cases[i].said), "case %zu: %d, '%s', %s", i, err,
                   sim_trace_reader_said(r), why);
        sim_trace_reader_free(r);
        fclose(in);
    }
}

static void long_lines_are_refused_unless_they_are_skipped(void)
{
    static struct heard h;
    char text[1024];
    int n;

    n = snprintf(text, sizeof text, "L 10 4 0 0\n#%0200d\n", 1);
    read_bytes(&h, text, (size_t)n, &(struct sim_trace_options){ .format = SIM_TRACE_TEXT, .block_bytes = 64 });
    test_check(!h.err && h.n == 1, "%d, %s", h.err, h.why);
    n = snprintf(text, sizeof text, "L 10 4 0 0\nX%0200d\n", 1);
    read_bytes(&h, text, (size_t)n, &(struct sim_trace_options){ .format = SIM_TRACE_TEXT, .block_bytes = 64 });
    test_check(h.err == -EINVAL && !strncmp(h.why, "t:2: line too long, 'X000", 24), "%d, %s", h.err, h.why);
    n = snprintf(text, sizeof text, " L 10,4\n==1== %0200d\n L 14,4\n L 18,x\n", 1);
    read_bytes(&h, text, (size_t)n, &(struct sim_trace_options){ .format = SIM_TRACE_LACKEY, .block_bytes = 64 });
    test_check(h.err == -EINVAL && !strncmp(h.why, "t:4: not a size", 15), "%d, %s", h.err, h.why);
    CU_ASSERT_EQUAL(h.counts.valgrind_lines, 1);
    n = snprintf(text, sizeof text, " L 10,4\nx%0200d\n L 14,4\n", 1);
    read_bytes(&h, text, (size_t)n, &(struct sim_trace_options){ .format = SIM_TRACE_LACKEY, .block_bytes = 64 });
    test_check(h.err == -EINVAL && !strncmp(h.why, "t:2: line too long, 'x000", 24), "%d, %s", h.err, h.why);
    n = snprintf(text, sizeof text, " L 10,%0200d\n", 1);
    read_bytes(&h, text, (size_t)n, &(struct sim_trace_options){ .format = SIM_TRACE_LACKEY, .block_bytes = 64 });
    CU_ASSERT(h.err == -EINVAL && strstr(h.why, "line too long"));
}

static void options_outside_their_range_are_refused(void)
{
    static const struct sim_trace_options bad[] = {
        { .format = SIM_N_TRACE_FORMATS },
        { .fetch_tag = SIM_USUAL_TAGS },
        { .din_bytes = SIM_TRACE_MAX_BYTES + 1 },
        { .block_bytes = 63 },
    };
    struct sim_trace_reader *r;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CU_ASSERT_EQUAL(sim_trace_reader_new(&r, stdin, "t", &bad[i]), -EINVAL);
        CU_ASSERT_PTR_NULL(r);
    }
}

static void errors_of_reading_are_told(void)
{
    static struct heard h;
    FILE *folder = fopen("/", "r");

    CU_ASSERT_FATAL(folder != NULL);
    read_trace(&h, folder, &(struct sim_trace_options){ .format = SIM_TRACE_DIN });
    fclose(folder);
    test_check(h.err == -EISDIR && strstr(h.why, "t: cannot read after 0 bytes"), "%d, %s", h.err, h.why);
}

static const struct test_case cases[] = {
    { "formats mean what they say", formats_mean_what_they_say },
    { "fetches and skipped lines are counted", fetches_and_skipped_lines_are_counted },
    { "malformed lines are refused by name and line", malformed_lines_are_refused_by_name_and_line },
    { "binary traces are as documented", binary_traces_are_as_documented },
    { "binary traces cut anywhere are refused", binary_traces_cut_anywhere_are_refused },
    { "binary traces with a wrong byte are refused with its place",
      binary_traces_with_a_wrong_byte_are_refused_with_its_place },
    { "the end of a binary trace tells its total", the_end_of_a_binary_trace_tells_its_total },
    { "repetitions arrive as runs", repetitions_arrive_as_runs },
    { "traces survive writing and reading", traces_survive_writing_and_reading },
    { "foreign bytes are named", foreign_bytes_are_named },
    { "what Valgrind says at the end is kept", what_valgrind_says_at_the_end_is_kept },
    { "long lines are refused unless they are skipped", long_lines_are_refused_unless_they_are_skipped },
    { "options outside their range are refused", options_outside_their_range_are_refused },
    { "errors of reading are told", errors_of_reading_are_told },
    { NULL, NULL },
};

const struct test_suite suite_sim_trace = { "sim_trace", cases };
