/* The parts of the observer: decoding, the stream of accesses, the file of the result. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/watch/marker.h"
#include "counters/watch/insn.h"
#include "counters/watch/watch.h"
#include "sim/trace/trace.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- instructions ---- */

struct encoding {
    const char *text;
    const char *code; /* bytes in hexadecimal, in the order of memory */
    uint8_t class;
    enum { REGISTERS, TOUCHES, MASKED } memory; /* memory operands; MASKED: memory through a mask */
};

/* As assembled by binutils. */
static const struct encoding power_encodings[] = {
    { "xvf32gerpp", "d61802ec", WATCH_MMA, REGISTERS },
    { "xvf32ger", "de1802ec", WATCH_MMA, REGISTERS },
    { "pmxvf32gerpp", "11009007d61802ec", WATCH_MMA, REGISTERS },
    { "xxsetaccz", "6201837d", WATCH_MMA_MOVE, REGISTERS },
    { "xxmfacc", "6201007d", WATCH_MMA_MOVE, REGISTERS },
    { "lxv", "190043f4", WATCH_VECTOR_LOAD, TOUCHES },
    { "stxv", "1d0043f4", WATCH_VECTOR_STORE, TOUCHES },
    { "lxvp", "20006318", WATCH_VECTOR_LOAD, TOUCHES },
    { "stxvp", "21006318", WATCH_VECTOR_STORE, TOUCHES },
    { "lxvx", "1922437c", WATCH_VECTOR_LOAD, TOUCHES },
    { "stxvx", "1923437c", WATCH_VECTOR_STORE, TOUCHES },
    { "lxvl", "1b22437c", WATCH_VECTOR_LOAD, TOUCHES },
    { "stxvl", "1b23437c", WATCH_VECTOR_STORE, TOUCHES },
    { "lxsspx", "1924437c", WATCH_VECTOR_LOAD, TOUCHES },
    { "lxssp", "070043e4", WATCH_VECTOR_LOAD, TOUCHES },
    { "stxssp", "070043f4", WATCH_VECTOR_STORE, TOUCHES },
    { "plxv", "00000004100043cc", WATCH_VECTOR_LOAD, TOUCHES },
    { "pstxv", "00000004100043dc", WATCH_VECTOR_STORE, TOUCHES },
    { "xvmaddasp", "0f2243f0", WATCH_VECTOR, REGISTERS },
    { "vperm", "6b214310", WATCH_VECTOR, REGISTERS },
    { "fadds", "2a1822ec", WATCH_VECTOR, REGISTERS },
    { "lwz", "04006580", WATCH_SCALAR_LOAD, TOUCHES },
    { "lha", "040065a8", WATCH_SCALAR_LOAD, TOUCHES },
    { "ld", "080065e8", WATCH_SCALAR_LOAD, TOUCHES },
    { "lfs", "040023c0", WATCH_SCALAR_LOAD, TOUCHES },
    { "ldx", "2a28647c", WATCH_SCALAR_LOAD, TOUCHES },
    { "pld", "00000004100064e4", WATCH_SCALAR_LOAD, TOUCHES },
    { "stw", "04006590", WATCH_SCALAR_STORE, TOUCHES },
    { "sth", "040065b0", WATCH_SCALAR_STORE, TOUCHES },
    { "std", "080065f8", WATCH_SCALAR_STORE, TOUCHES },
    { "stfs", "040023d0", WATCH_SCALAR_STORE, TOUCHES },
    { "stdx", "2a29647c", WATCH_SCALAR_STORE, TOUCHES },
    { "pstd", "00000004100064f4", WATCH_SCALAR_STORE, TOUCHES },
    { "dcbt", "2c1a007c", WATCH_PREFETCH, REGISTERS },
    { "b", "00000048", WATCH_BRANCH, REGISTERS },
    { "bdnz", "00000042", WATCH_BRANCH, REGISTERS },
    { "blr", "2000804e", WATCH_BRANCH, REGISTERS },
    { "crclr", "8201004c", WATCH_OTHER, REGISTERS },
    { "addi", "01006338", WATCH_OTHER, REGISTERS },
    { "paddi", "01000006a0866438", WATCH_OTHER, REGISTERS },
};

static const struct encoding x86_encodings[] = {
    { "vfmadd231ps register", "c4e26db8d9", WATCH_FMA, REGISTERS },
    { "vfmadd231ps memory", "c4e26db818", WATCH_FMA, TOUCHES },
    { "vbroadcastss", "c4e27d1808", WATCH_VECTOR_LOAD, TOUCHES },
    { "vmovups load", "c5fc100c98", WATCH_VECTOR_LOAD, TOUCHES },
    { "vmovups store", "c5fc1108", WATCH_VECTOR_STORE, TOUCHES },
    { "vmovups register", "c4417c10e1", WATCH_VECTOR, REGISTERS },
    { "vmaskmovps load", "c4e2752c10", WATCH_VECTOR_LOAD, MASKED },
    { "vmaskmovps store", "c4e2752e10", WATCH_VECTOR_STORE, TOUCHES },
    { "vmovsldup", "c5fe1208", WATCH_VECTOR_LOAD, TOUCHES },
    { "vaddps memory", "c5f45810", WATCH_VECTOR, TOUCHES },
    { "vaddps register", "c5f458d3", WATCH_VECTOR, REGISTERS },
    { "movups load", "0f1008", WATCH_VECTOR_LOAD, TOUCHES },
    { "movss store", "f30f1108", WATCH_VECTOR_STORE, TOUCHES },
    { "movq store", "660fd608", WATCH_VECTOR_STORE, TOUCHES },
    { "mov load", "488b18", WATCH_SCALAR_LOAD, TOUCHES },
    { "mov store", "8918", WATCH_SCALAR_STORE, TOUCHES },
    { "movl immediate", "c70001000000", WATCH_SCALAR_STORE, TOUCHES },
    { "movzbl", "0fb600", WATCH_SCALAR_LOAD, TOUCHES },
    { "push", "55", WATCH_SCALAR_STORE, TOUCHES },
    { "pop", "415c", WATCH_SCALAR_LOAD, TOUCHES },
    { "add", "4801c3", WATCH_OTHER, TOUCHES },
    { "prefetcht0", "0f1808", WATCH_PREFETCH, TOUCHES },
    { "jne", "75fe", WATCH_BRANCH, TOUCHES },
    { "jne near", "0f85e2030000", WATCH_BRANCH, TOUCHES },
    { "call", "e8fbffffff", WATCH_BRANCH, TOUCHES },
    { "ret", "c3", WATCH_BRANCH, TOUCHES },
    { "call register", "ffd0", WATCH_BRANCH, TOUCHES },
};

static size_t read_code(const char *text, uint8_t code[8])
{
    size_t n = 0;

    for (unsigned byte; *text && sscanf(text, "%2x", &byte) == 1; text += 2)
        code[n++] = (uint8_t)byte;
    return n;
}

static void check_encodings(const char *target, const struct encoding *e, size_t n)
{
    watch_decode_fn decode = watch_decoder_find(target);

    CU_ASSERT_FATAL(decode != NULL);
    for (size_t i = 0; i < n; i++) {
        uint8_t code[8];
        struct watch_insn insn = decode(code, read_code(e[i].code, code));

        test_check(insn.class == e[i].class, "%s: %s is %s, taken for %s", target, e[i].text,
                   watch_class_name((enum watch_class)e[i].class), watch_class_name((enum watch_class)insn.class));
        test_check(insn.may_touch == (e[i].memory != REGISTERS) && insn.is_masked == (e[i].memory == MASKED), "%s: %s",
                   target, e[i].text);
    }
}

static void instructions_are_told_apart(void)
{
    check_encodings("ppc64le", power_encodings, COUNT(power_encodings));
    check_encodings("x86_64", x86_encodings, COUNT(x86_encodings));
    CU_ASSERT(watch_decoder_find("riscv64") == NULL);
}

static void any_bytes_decode(void)
{
    for (unsigned round = 0; round < test_rounds(20000); round++) {
        uint8_t code[16];
        size_t n = rng_below(sizeof code + 1);

        for (size_t i = 0; i < sizeof code; i++)
            code[i] = (uint8_t)rng_below(256);
        CU_ASSERT(watch_decode_ppc64le(code, n).class < WATCH_N_CLASSES);
        CU_ASSERT(watch_decode_x86_64(code, n).class < WATCH_N_CLASSES);
    }
}

/* ---- the stream ---- */

enum { BUFFER = 0x10000, BUFFER_BYTES = 0x1000, STACK = 0x700000, STACK_BYTES = 0x10000, HEAP = 0x900000, MOST = 64 };

/* Keeps the stream's output. */
struct capture {
    struct sim_expander expander; /* first */
    size_t n;
    struct sim_access access[MOST];
};

static void keep(void *ctx, const struct sim_access *a)
{
    struct capture *c = ctx;

    if (c->n < MOST)
        c->access[c->n++] = *a;
}

static struct watch_stream *open_stream(struct capture *c)
{
    static const struct watch_rule rules[] = { { "copy_*", 1, 3 }, { "multiply", 2, -1 } };
    struct sim_machine m;
    struct watch_stream *s = NULL;
    char why[256];

    *c = (struct capture){ .n = 0 };
    sim_expander_init(&c->expander, keep, c);
    CU_ASSERT_FATAL(sim_machine_read(&m, "sim/machines/toy.cfg", why, sizeof why) == 0);
    CU_ASSERT_FATAL(watch_stream_new(&s, &m, rules, COUNT(rules), &c->expander.sink) == 0);
    watch_stream_mark(s, WATCH_MARK_BUFFER, 0, BUFFER, BUFFER_BYTES);
    watch_stream_mark(s, WATCH_MARK_STACK, 0, STACK, STACK_BYTES);
    return s;
}

static void check_access(const struct capture *c, size_t i, uint64_t addr, uint32_t bytes, bool is_store, unsigned tag,
                         unsigned phase)
{
    const struct sim_access *a = &c->access[i];

    test_check(i < c->n && a->addr == addr && a->bytes == bytes && (a->kind == SIM_STORE) == is_store &&
                   a->tag == tag && a->phase == phase,
               "access %zu of %zu is %s of %u at %llx, tag %u, phase %u", i, c->n, a->kind ? "store" : "load",
               (unsigned)a->bytes, (unsigned long long)a->addr, (unsigned)a->tag, (unsigned)a->phase);
}

static void piece(struct watch_site *site, uint64_t address, uint32_t bytes, bool is_store)
{
    watch_stream_take(&(struct watch_access){ site, address, bytes, is_store ? SIM_STORE : SIM_LOAD });
}

static void ask(struct watch_site *site, uint64_t address)
{
    watch_stream_take(&(struct watch_access){ site, address, 1, SIM_PREFETCH });
}

static void pieces_become_accesses(void)
{
    struct capture c;
    struct watch_stream *s = open_stream(&c);
    struct watch_site *site = watch_stream_site(s, "f");
    uint64_t *executed = watch_stream_executed(s);

    piece(site, BUFFER, 8, false); /* no region is open */
    watch_stream_mark(s, WATCH_MARK_BEGIN, 2, 0, 0);
    for (int times = 0; times < 2; times++) { /* one instruction, twice: 32 bytes each, side by side */
        ++*executed;
        for (uint64_t i = 0; i < 4; i++)
            piece(site, BUFFER + 32 * (uint64_t)times + 8 * i, 8, false);
    }
    ++*executed;
    piece(site, BUFFER + 64, 8, false); /* reads, then writes, the 8 bytes */
    piece(site, BUFFER + 64, 8, true);
    piece(site, BUFFER + 80, 8, true); /* a gap */
    watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    piece(site, BUFFER, 8, false); /* too late */
    CU_ASSERT(c.n == 5);
    check_access(&c, 0, BUFFER, 32, false, 0, 2);
    check_access(&c, 1, BUFFER + 32, 32, false, 0, 2);
    check_access(&c, 2, BUFFER + 64, 8, false, 0, 2);
    check_access(&c, 3, BUFFER + 64, 8, true, 0, 2);
    check_access(&c, 4, BUFFER + 80, 8, true, 0, 2);
    CU_ASSERT(watch_stream_error(s) == NULL);
    watch_stream_free(s);
}

/* Makes an access; each call is a new instruction. */
static void touch(struct watch_stream *s, const char *function, uint64_t address, uint32_t bytes, bool is_store)
{
    ++*watch_stream_executed(s);
    piece(watch_stream_site(s, function), address, bytes, is_store);
}

static void rules_tag_what_libraries_do(void)
{
    struct capture c;
    struct watch_stream *s = open_stream(&c);
    struct watch_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    watch_stream_mark(s, WATCH_MARK_BEGIN, 0, 0, 0);
    touch(s, "driver", HEAP, 4, false);      /* nobody's yet: outside */
    touch(s, "copy_a", STACK + 64, 8, true); /* the stack is never learned */
    touch(s, "copy_a", BUFFER + 4, 4, false);
    touch(s, "copy_a", HEAP + 16, 16, true); /* learned */
    touch(s, "copy_a", HEAP, 16, true);      /* grows downwards */
    touch(s, "copy_a", HEAP + 28, 8, true);  /* and over the buffer's end */
    touch(s, "multiply", HEAP + 8, 8, false);
    touch(s, "driver", HEAP + 35, 1, false);
    touch(s, "driver", HEAP + 36, 1, false); /* just behind the buffer */
    watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    CU_ASSERT(c.n == 6);
    check_access(&c, 0, BUFFER + 4, 4, false, 0, 1);
    check_access(&c, 1, HEAP + 16, 16, true, 3, 1);
    check_access(&c, 2, HEAP, 16, true, 3, 1);
    check_access(&c, 3, HEAP + 28, 8, true, 3, 1);
    check_access(&c, 4, HEAP + 8, 8, false, 3, 2);
    check_access(&c, 5, HEAP + 35, 1, false, 3, 0);
    CU_ASSERT_FATAL(watch_stream_result(s, r) == 0);
    CU_ASSERT(r->n_buffers == 2 && r->buffer[1].is_learned && r->buffer[1].address == HEAP && r->buffer[1].bytes == 36);
    CU_ASSERT(r->n_outside == 2 && r->outside_lines[0] == 1 && r->outside_lines[1] == 1);
    for (size_t i = 0; i < r->n_outside; i++) {
        const struct watch_outside *o = &r->outside[i];

        CU_ASSERT(o->is_stack ? !strcmp(o->function, "copy_a") && o->phase == 1 && o->stores == 1 && !o->loads
                              : !strcmp(o->function, "driver") && !o->phase && o->loads == 2 && !o->stores);
    }
    free(r);
    watch_stream_free(s);
}

/* A request belongs to the nearest buffer, unless the address is on the stack. */
static void prefetches_are_the_nearest_buffers(void)
{
    struct capture c;
    struct watch_stream *s = open_stream(&c);
    struct watch_site *site = watch_stream_site(s, "multiply");

    ask(site, BUFFER); /* no region is open */
    watch_stream_mark(s, WATCH_MARK_BEGIN, 0, 0, 0);
    touch(s, "copy_a", HEAP, 16, true);
    touch(s, "multiply", HEAP, 8, false);
    ask(site, HEAP + 512);
    ask(site, BUFFER - 64);
    ask(site, STACK + 64);
    ask(site, UINT64_MAX);
    watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    CU_ASSERT(c.n == 4);
    CU_ASSERT(c.access[2].kind == SIM_PREFETCH && c.access[2].addr == HEAP + 512 && c.access[2].tag == 3);
    CU_ASSERT(c.access[3].kind == SIM_PREFETCH && c.access[3].addr == BUFFER - 64 && c.access[3].tag == 0);
    CU_ASSERT(c.access[3].phase == 2 && watch_stream_error(s) == NULL);
    watch_stream_free(s);
}

/* Returns the masked loads of a stream's result. */
static uint64_t masked_loads(const struct watch_stream *s)
{
    struct watch_result *r = malloc(sizeof *r);
    uint64_t n = 0;

    CU_ASSERT_FATAL(r != NULL);
    CU_ASSERT(watch_stream_result(s, r) == 0);
    n = r->masked_loads;
    free(r);
    return n;
}

static void masked_loads_are_cut_to_the_buffer(void)
{
    struct capture c;
    struct watch_stream *s = open_stream(&c);
    struct watch_site *site = watch_stream_site(s, "f");

    site->is_masked = true;
    watch_stream_mark(s, WATCH_MARK_BEGIN, 0, 0, 0);
    for (uint64_t i = 0; i < 4; i++)
        piece(site, BUFFER - 20 + 8 * i, 8, false);
    ++*watch_stream_executed(s);
    piece(site, BUFFER + BUFFER_BYTES - 4, 8, false);
    watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    CU_ASSERT(c.n == 2);
    CU_ASSERT(masked_loads(s) == 2);
    check_access(&c, 0, BUFFER, 12, false, 0, 0);
    check_access(&c, 1, BUFFER + BUFFER_BYTES - 4, 4, false, 0, 0);
    watch_stream_free(s);
}

static void instructions_go_to_their_phase(void)
{
    struct capture c;
    struct watch_stream *s = open_stream(&c);
    struct watch_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    watch_stream_instructions(s, "f")[WATCH_MMA] += 1000; /* before the region */
    watch_stream_mark(s, WATCH_MARK_BEGIN, 0, 0, 0);
    watch_stream_instructions(s, "f")[WATCH_MMA] += 1;
    watch_stream_instructions(s, "copy_b")[WATCH_VECTOR_LOAD] += 2;
    watch_stream_mark(s, WATCH_MARK_PHASE, 3, 0, 0);
    watch_stream_instructions(s, "g")[WATCH_MMA] += 4;
    watch_stream_instructions(s, "copy_b")[WATCH_VECTOR_LOAD] += 8;
    watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    watch_stream_instructions(s, "f")[WATCH_MMA] += 1000;
    CU_ASSERT_FATAL(watch_stream_result(s, r) == 0);
    CU_ASSERT(r->instructions[0][WATCH_MMA] == 1);
    CU_ASSERT(r->instructions[3][WATCH_MMA] == 4);
    CU_ASSERT(r->instructions[1][WATCH_VECTOR_LOAD] == 10);
    free(r);
    watch_stream_free(s);
}

static void marker_mistakes_are_noticed(void)
{
    static const struct {
        uint64_t mark, argument;
        const char *words;
    } mistakes[] = {
        { WATCH_MARK_BEGIN, SIM_MAX_PHASES, "phase" },
        { WATCH_MARK_PHASE, 99, "phase" },
        { WATCH_MARK_BUFFER, SIM_USUAL_TAGS, "tag" },
        { WATCH_MARK_END, 0, "not open" },
        { 77, 0, "unknown" },
    };
    struct capture c;
    struct watch_stream *s;

    for (size_t i = 0; i < COUNT(mistakes); i++) {
        s = open_stream(&c);
        watch_stream_mark(s, mistakes[i].mark, mistakes[i].argument, BUFFER, 1);
        test_check(watch_stream_error(s) && strstr(watch_stream_error(s), mistakes[i].words), "mistake %zu: %s", i,
                   watch_stream_error(s) ? watch_stream_error(s) : "not noticed");
        watch_stream_free(s);
    }
    s = open_stream(&c);
    for (int times = 0; times < 2; times++) {
        watch_stream_mark(s, WATCH_MARK_BEGIN, 0, 0, 0);
        watch_stream_mark(s, WATCH_MARK_END, 0, 0, 0);
    }
    CU_ASSERT(watch_stream_error(s) && strstr(watch_stream_error(s), "second region"));
    watch_stream_free(s);
    s = open_stream(&c);
    for (int i = 0; i < WATCH_MAX_BUFFERS; i++)
        watch_stream_mark(s, WATCH_MARK_BUFFER, 1, HEAP, 1);
    CU_ASSERT(watch_stream_error(s) && strstr(watch_stream_error(s), "too many buffers"));
    watch_stream_free(s);
}

/* ---- the result's file ---- */

static void fill_result(struct watch_result *r)
{
    *r = (struct watch_result){ .n_buffers = 2, .n_outside = 1 };
    r->stats.n_levels = 3;
    for (unsigned tag = 0; tag < 4; tag++) {
        struct sim_cell *c = &r->stats.cell[tag][tag % SIM_MAX_PHASES];

        c->loads = rng_below(1000);
        c->store_bytes = (uint64_t)-1 - rng_below(1000);
        c->memory_read_lines = rng_below(10);
        for (size_t l = 0; l < 3; l++) {
            c->level[l].reads = rng_below(100);
            c->level[l].write_misses = rng_below(100);
            c->level[l].load_misses = 1 + rng_below(100);
        }
    }
    r->instructions[2][WATCH_MMA] = 12345;
    r->buffer[0] = (struct watch_buffer){ .address = 1ull << 47, .bytes = 77, .tag = 1 };
    r->buffer[1] = (struct watch_buffer){ .address = 4096, .bytes = 1, .tag = 3, .is_learned = true };
    r->outside[0] =
        (struct watch_outside){ .function = "memcpy", .phase = 3, .is_stack = true, .loads = 3, .stores = 4 };
    r->outside_lines[3] = 7;
    r->masked_loads = 9;
}

static void results_read_back(void)
{
    struct watch_result *a = calloc(2, sizeof *a), *b = a + 1;
    char why[256] = "";

    CU_ASSERT_FATAL(a != NULL);
    fill_result(a);
    CU_ASSERT(watch_result_write(a, scratch_path("r"), SIM_WHY(why)) == 0);
    test_check(watch_result_read(b, scratch_path("r"), SIM_WHY(why)) == 0, "%s", why);
    CU_ASSERT(memcmp(a, b, sizeof *a) == 0);
    CU_ASSERT(watch_result_write(a, "/no/such/folder/r", SIM_WHY(why)) == -ENOENT);
    CU_ASSERT(strstr(why, "/no/such/folder/r") != NULL);
    CU_ASSERT(watch_result_read(b, "/no/such/file", SIM_WHY(why)) == -ENOENT);
    free(a);
}

/* A result is refused if a byte is missing or too many, or a count goes beyond its array. */
static void broken_results_are_refused(void)
{
    struct watch_result *r = malloc(sizeof *r);
    char why[256];

    CU_ASSERT_FATAL(r != NULL);
    for (int broken = 0; broken < 4; broken++) {
        FILE *file;

        fill_result(r);
        r->n_outside = broken == 0 ? WATCH_MAX_OUTSIDE + 1 : 1;
        r->buffer[0].tag = broken == 1 ? SIM_USUAL_TAGS : 0;
        CU_ASSERT(watch_result_write(r, scratch_path("r"), SIM_WHY(why)) == 0);
        if (broken == 2)
            CU_ASSERT(truncate(scratch_path("r"), (off_t)sizeof *r) == 0);
        if (broken == 3 && (file = fopen(scratch_path("r"), "ab"))) {
            fputc(0, file);
            fclose(file);
        }
        CU_ASSERT(watch_result_read(r, scratch_path("r"), SIM_WHY(why)) == -EINVAL);
        test_check(strstr(why, "no whole result") != NULL, "%d: %s", broken, why);
    }
    CU_ASSERT(watch_result_read(r, scratch_text("r", "observation 2\nend\n"), SIM_WHY(why)) == -EINVAL);
    free(r);
}

static const struct test_case cases[] = {
    { "instructions of both CPU families are told apart", instructions_are_told_apart },
    { "any bytes decode to something", any_bytes_decode },
    { "pieces become the accesses that instructions made", pieces_become_accesses },
    { "rules tag what libraries do, and learn their memory", rules_tag_what_libraries_do },
    { "prefetches belong to the nearest buffer", prefetches_are_the_nearest_buffers },
    { "masked loads are cut to the buffer they overlap", masked_loads_are_cut_to_the_buffer },
    { "instructions are counted in their phase", instructions_go_to_their_phase },
    { "mistakes of markers are noticed", marker_mistakes_are_noticed },
    { "results read back as they were", results_read_back },
    { "broken results are refused", broken_results_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_observer = { "observer", cases };
