/*
 * Observed streams. What the observer is made of is tested by itself; then the real thing, where QEMU, the plugin and a
 * guest program are there (make test and make test-power10 say where: OBSERVER, GUEST_x86_64, GUEST_ppc64le).
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/observe/obs_marker.h"
#include "counters/observe/obs_stream.h"
#include "experiments/exp_error.h"
#include "experiments/exp_observe.h"
#include "experiments/exp_process.h"
#include "kernels/backend.h"
#include "kernels/dispatch.h"
#include "sim/hierarchy.h"
#include "sim/trace.h"
#include "sim/trace_reader.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- instructions ---- */

struct encoding {
    const char *text;
    uint8_t code[8];
    uint8_t n_bytes;
    uint8_t class;
    bool may_touch, is_masked;
};

/* As binutils assembles them. */
static const struct encoding power_encodings[] = {
    { "xvf32gerpp", { 0xd6, 0x18, 0x02, 0xec }, 4, OBS_MMA, false, false },
    { "xvf32ger", { 0xde, 0x18, 0x02, 0xec }, 4, OBS_MMA, false, false },
    { "pmxvf32gerpp", { 0x11, 0x00, 0x90, 0x07, 0xd6, 0x18, 0x02, 0xec }, 8, OBS_MMA, false, false },
    { "xxsetaccz", { 0x62, 0x01, 0x83, 0x7d }, 4, OBS_MMA_MOVE, false, false },
    { "xxmfacc", { 0x62, 0x01, 0x00, 0x7d }, 4, OBS_MMA_MOVE, false, false },
    { "lxv", { 0x19, 0x00, 0x43, 0xf4 }, 4, OBS_VECTOR_LOAD, true, false },
    { "stxv", { 0x1d, 0x00, 0x43, 0xf4 }, 4, OBS_VECTOR_STORE, true, false },
    { "lxvp", { 0x20, 0x00, 0x63, 0x18 }, 4, OBS_VECTOR_LOAD, true, false },
    { "stxvp", { 0x21, 0x00, 0x63, 0x18 }, 4, OBS_VECTOR_STORE, true, false },
    { "lxvx", { 0x19, 0x22, 0x43, 0x7c }, 4, OBS_VECTOR_LOAD, true, false },
    { "stxvx", { 0x19, 0x23, 0x43, 0x7c }, 4, OBS_VECTOR_STORE, true, false },
    { "lxvl", { 0x1b, 0x22, 0x43, 0x7c }, 4, OBS_VECTOR_LOAD, true, false },
    { "stxvl", { 0x1b, 0x23, 0x43, 0x7c }, 4, OBS_VECTOR_STORE, true, false },
    { "lxsspx", { 0x19, 0x24, 0x43, 0x7c }, 4, OBS_VECTOR_LOAD, true, false },
    { "lxssp", { 0x07, 0x00, 0x43, 0xe4 }, 4, OBS_VECTOR_LOAD, true, false },
    { "stxssp", { 0x07, 0x00, 0x43, 0xf4 }, 4, OBS_VECTOR_STORE, true, false },
    { "plxv", { 0x00, 0x00, 0x00, 0x04, 0x10, 0x00, 0x43, 0xcc }, 8, OBS_VECTOR_LOAD, true, false },
    { "pstxv", { 0x00, 0x00, 0x00, 0x04, 0x10, 0x00, 0x43, 0xdc }, 8, OBS_VECTOR_STORE, true, false },
    { "xvmaddasp", { 0x0f, 0x22, 0x43, 0xf0 }, 4, OBS_VECTOR, false, false },
    { "vperm", { 0x6b, 0x21, 0x43, 0x10 }, 4, OBS_VECTOR, false, false },
    { "fadds", { 0x2a, 0x18, 0x22, 0xec }, 4, OBS_VECTOR, false, false },
    { "lwz", { 0x04, 0x00, 0x65, 0x80 }, 4, OBS_SCALAR_LOAD, true, false },
    { "lha", { 0x04, 0x00, 0x65, 0xa8 }, 4, OBS_SCALAR_LOAD, true, false },
    { "ld", { 0x08, 0x00, 0x65, 0xe8 }, 4, OBS_SCALAR_LOAD, true, false },
    { "lfs", { 0x04, 0x00, 0x23, 0xc0 }, 4, OBS_SCALAR_LOAD, true, false },
    { "ldx", { 0x2a, 0x28, 0x64, 0x7c }, 4, OBS_SCALAR_LOAD, true, false },
    { "pld", { 0x00, 0x00, 0x00, 0x04, 0x10, 0x00, 0x64, 0xe4 }, 8, OBS_SCALAR_LOAD, true, false },
    { "stw", { 0x04, 0x00, 0x65, 0x90 }, 4, OBS_SCALAR_STORE, true, false },
    { "sth", { 0x04, 0x00, 0x65, 0xb0 }, 4, OBS_SCALAR_STORE, true, false },
    { "std", { 0x08, 0x00, 0x65, 0xf8 }, 4, OBS_SCALAR_STORE, true, false },
    { "stfs", { 0x04, 0x00, 0x23, 0xd0 }, 4, OBS_SCALAR_STORE, true, false },
    { "stdx", { 0x2a, 0x29, 0x64, 0x7c }, 4, OBS_SCALAR_STORE, true, false },
    { "pstd", { 0x00, 0x00, 0x00, 0x04, 0x10, 0x00, 0x64, 0xf4 }, 8, OBS_SCALAR_STORE, true, false },
    { "dcbt", { 0x2c, 0x1a, 0x00, 0x7c }, 4, OBS_PREFETCH, false, false },
    { "b", { 0x00, 0x00, 0x00, 0x48 }, 4, OBS_BRANCH, false, false },
    { "bdnz", { 0x00, 0x00, 0x00, 0x42 }, 4, OBS_BRANCH, false, false },
    { "blr", { 0x20, 0x00, 0x80, 0x4e }, 4, OBS_BRANCH, false, false },
    { "crclr", { 0x82, 0x01, 0x00, 0x4c }, 4, OBS_OTHER, false, false },
    { "addi", { 0x01, 0x00, 0x63, 0x38 }, 4, OBS_OTHER, false, false },
    { "paddi", { 0x01, 0x00, 0x00, 0x06, 0xa0, 0x86, 0x64, 0x38 }, 8, OBS_OTHER, false, false },
};

static const struct encoding x86_encodings[] = {
    { "vfmadd231ps register", { 0xc4, 0xe2, 0x6d, 0xb8, 0xd9 }, 5, OBS_FMA, false, false },
    { "vfmadd231ps memory", { 0xc4, 0xe2, 0x6d, 0xb8, 0x18 }, 5, OBS_FMA, true, false },
    { "vbroadcastss", { 0xc4, 0xe2, 0x7d, 0x18, 0x08 }, 5, OBS_VECTOR_LOAD, true, false },
    { "vmovups load", { 0xc5, 0xfc, 0x10, 0x0c, 0x98 }, 5, OBS_VECTOR_LOAD, true, false },
    { "vmovups store", { 0xc5, 0xfc, 0x11, 0x08 }, 4, OBS_VECTOR_STORE, true, false },
    { "vmovups register", { 0xc4, 0x41, 0x7c, 0x10, 0xe1 }, 5, OBS_VECTOR, false, false },
    { "vmaskmovps load", { 0xc4, 0xe2, 0x75, 0x2c, 0x10 }, 5, OBS_VECTOR_LOAD, true, true },
    { "vmaskmovps store", { 0xc4, 0xe2, 0x75, 0x2e, 0x10 }, 5, OBS_VECTOR_STORE, true, false },
    { "vmovsldup", { 0xc5, 0xfe, 0x12, 0x08 }, 4, OBS_VECTOR_LOAD, true, false },
    { "vaddps memory", { 0xc5, 0xf4, 0x58, 0x10 }, 4, OBS_VECTOR, true, false },
    { "vaddps register", { 0xc5, 0xf4, 0x58, 0xd3 }, 4, OBS_VECTOR, false, false },
    { "movups load", { 0x0f, 0x10, 0x08 }, 3, OBS_VECTOR_LOAD, true, false },
    { "movss store", { 0xf3, 0x0f, 0x11, 0x08 }, 4, OBS_VECTOR_STORE, true, false },
    { "movq store", { 0x66, 0x0f, 0xd6, 0x08 }, 4, OBS_VECTOR_STORE, true, false },
    { "mov load", { 0x48, 0x8b, 0x18 }, 3, OBS_SCALAR_LOAD, true, false },
    { "mov store", { 0x89, 0x18 }, 2, OBS_SCALAR_STORE, true, false },
    { "movl immediate", { 0xc7, 0x00, 0x01, 0, 0, 0 }, 6, OBS_SCALAR_STORE, true, false },
    { "movzbl", { 0x0f, 0xb6, 0x00 }, 3, OBS_SCALAR_LOAD, true, false },
    { "push", { 0x55 }, 1, OBS_SCALAR_STORE, true, false },
    { "pop", { 0x41, 0x5c }, 2, OBS_SCALAR_LOAD, true, false },
    { "add", { 0x48, 0x01, 0xc3 }, 3, OBS_OTHER, true, false },
    { "prefetcht0", { 0x0f, 0x18, 0x08 }, 3, OBS_PREFETCH, true, false },
    { "jne", { 0x75, 0xfe }, 2, OBS_BRANCH, true, false },
    { "jne near", { 0x0f, 0x85, 0xe2, 0x03, 0, 0 }, 6, OBS_BRANCH, true, false },
    { "call", { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, OBS_BRANCH, true, false },
    { "ret", { 0xc3 }, 1, OBS_BRANCH, true, false },
    { "call register", { 0xff, 0xd0 }, 2, OBS_BRANCH, true, false },
};

#define N(array) (sizeof(array) / sizeof(array)[0])

static void check_encodings(const char *target, const struct encoding *e, size_t n)
{
    obs_decode_fn decode = obs_decoder_find(target);

    CU_ASSERT_FATAL(decode != NULL);
    for (size_t i = 0; i < n; i++) {
        struct obs_insn insn = decode(e[i].code, e[i].n_bytes);

        test_check(insn.class == e[i].class, "%s: %s is %s, taken for %s", target, e[i].text,
                   obs_class_name((enum obs_class)e[i].class), obs_class_name((enum obs_class)insn.class));
        test_check(insn.may_touch == e[i].may_touch && insn.is_masked == e[i].is_masked, "%s: %s", target, e[i].text);
    }
}

static void instructions_are_told_apart(void)
{
    check_encodings("ppc64le", power_encodings, N(power_encodings));
    check_encodings("x86_64", x86_encodings, N(x86_encodings));
    CU_ASSERT(obs_decoder_find("riscv64") == NULL);
}

static void any_bytes_decode(void)
{
    for (unsigned round = 0; round < test_rounds(20000); round++) {
        uint8_t code[16];
        size_t n = rng_below(sizeof code + 1);

        for (size_t i = 0; i < sizeof code; i++)
            code[i] = (uint8_t)rng_below(256);
        CU_ASSERT(obs_decode_ppc64le(code, n).class < OBS_N_CLASSES);
        CU_ASSERT(obs_decode_x86_64(code, n).class < OBS_N_CLASSES);
    }
}

/* ---- the stream ---- */

enum { BUFFER = 0x10000, BUFFER_BYTES = 0x1000, STACK = 0x700000, STACK_BYTES = 0x10000, HEAP = 0x900000, MOST = 64 };

/* Keeps what comes out. */
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

static struct obs_stream *open_stream(struct capture *c)
{
    static const struct obs_rule rules[] = { { "copy_*", 1, 3 }, { "multiply", 2, -1 } };
    struct sim_machine m;
    struct obs_stream *s = NULL;
    char why[256];

    *c = (struct capture){ .n = 0 };
    sim_expander_init(&c->expander, keep, c);
    CU_ASSERT_FATAL(sim_machine_read(&m, "sim/machines/toy.cfg", why, sizeof why) == 0);
    CU_ASSERT_FATAL(obs_stream_new(&s, &m, rules, N(rules), &c->expander.sink) == 0);
    obs_stream_mark(s, OBS_MARK_BUFFER, 0, BUFFER, BUFFER_BYTES);
    obs_stream_mark(s, OBS_MARK_STACK, 0, STACK, STACK_BYTES);
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

static void pieces_become_accesses(void)
{
    struct capture c;
    struct obs_stream *s = open_stream(&c);
    struct obs_site *site = obs_stream_site(s, "f");
    uint64_t *executed = obs_stream_executed(s);

    obs_stream_access(site, BUFFER, 8, false); /* no region is open */
    obs_stream_mark(s, OBS_MARK_BEGIN, 2, 0, 0);
    for (int times = 0; times < 2; times++) { /* one instruction, twice: 32 bytes each, side by side */
        ++*executed;
        for (uint64_t i = 0; i < 4; i++)
            obs_stream_access(site, BUFFER + 32 * (uint64_t)times + 8 * i, 8, false);
    }
    ++*executed;
    obs_stream_access(site, BUFFER + 64, 8, false); /* reads, then writes the same */
    obs_stream_access(site, BUFFER + 64, 8, true);
    obs_stream_access(site, BUFFER + 80, 8, true); /* a gap */
    obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
    obs_stream_access(site, BUFFER, 8, false); /* too late */
    CU_ASSERT(c.n == 5);
    check_access(&c, 0, BUFFER, 32, false, 0, 2);
    check_access(&c, 1, BUFFER + 32, 32, false, 0, 2);
    check_access(&c, 2, BUFFER + 64, 8, false, 0, 2);
    check_access(&c, 3, BUFFER + 64, 8, true, 0, 2);
    check_access(&c, 4, BUFFER + 80, 8, true, 0, 2);
    CU_ASSERT(obs_stream_error(s) == NULL);
    obs_stream_free(s);
}

/* One access of an instruction of its own. */
static void touch(struct obs_stream *s, const char *function, uint64_t address, uint32_t bytes, bool is_store)
{
    ++*obs_stream_executed(s);
    obs_stream_access(obs_stream_site(s, function), address, bytes, is_store);
}

static void rules_tag_what_libraries_do(void)
{
    struct capture c;
    struct obs_stream *s = open_stream(&c);
    struct obs_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    obs_stream_mark(s, OBS_MARK_BEGIN, 0, 0, 0);
    touch(s, "driver", HEAP, 4, false);      /* nobody's yet: outside */
    touch(s, "copy_a", STACK + 64, 8, true); /* the stack is never learned */
    touch(s, "copy_a", BUFFER + 4, 4, false);
    touch(s, "copy_a", HEAP + 16, 16, true); /* learned */
    touch(s, "copy_a", HEAP, 16, true);      /* grows downwards */
    touch(s, "multiply", HEAP + 8, 8, false);
    touch(s, "driver", HEAP + 31, 1, false);
    touch(s, "driver", HEAP + 32, 1, false); /* just behind it */
    obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
    CU_ASSERT(c.n == 5);
    check_access(&c, 0, BUFFER + 4, 4, false, 0, 1);
    check_access(&c, 1, HEAP + 16, 16, true, 3, 1);
    check_access(&c, 2, HEAP, 16, true, 3, 1);
    check_access(&c, 3, HEAP + 8, 8, false, 3, 2);
    check_access(&c, 4, HEAP + 31, 1, false, 3, 0);
    CU_ASSERT_FATAL(obs_stream_result(s, r) == 0);
    CU_ASSERT(r->n_buffers == 2 && r->buffer[1].is_learned && r->buffer[1].address == HEAP && r->buffer[1].bytes == 32);
    CU_ASSERT(r->n_outside == 2);
    for (size_t i = 0; i < r->n_outside; i++) {
        const struct obs_outside *o = &r->outside[i];

        CU_ASSERT(o->is_stack ? !strcmp(o->function, "copy_a") && o->stores == 1 && !o->loads
                              : !strcmp(o->function, "driver") && o->loads == 2 && !o->stores);
    }
    free(r);
    obs_stream_free(s);
}

static void masked_loads_are_cut_to_the_buffer(void)
{
    struct capture c;
    struct obs_stream *s = open_stream(&c);
    struct obs_site *site = obs_stream_site(s, "f");

    site->is_masked = true;
    obs_stream_mark(s, OBS_MARK_BEGIN, 0, 0, 0);
    for (uint64_t i = 0; i < 4; i++)
        obs_stream_access(site, BUFFER - 20 + 8 * i, 8, false);
    ++*obs_stream_executed(s);
    obs_stream_access(site, BUFFER + BUFFER_BYTES - 4, 8, false);
    obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
    CU_ASSERT(c.n == 2);
    check_access(&c, 0, BUFFER, 12, false, 0, 0);
    check_access(&c, 1, BUFFER + BUFFER_BYTES - 4, 4, false, 0, 0);
    obs_stream_free(s);
}

static void the_outside_is_simulated_if_asked_for(void)
{
    struct obs_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    for (int asked = 0; asked < 2; asked++) {
        struct capture c;
        struct obs_stream *s = open_stream(&c);

        if (asked)
            obs_stream_simulate_outside(s);
        obs_stream_mark(s, OBS_MARK_BEGIN, 1, 0, 0);
        touch(s, "f", HEAP, 8, false);
        obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
        CU_ASSERT(c.n == 0);
        CU_ASSERT_FATAL(obs_stream_result(s, r) == 0);
        CU_ASSERT(r->stats.cell[OBS_OUTSIDE_TAG][1].loads == (uint64_t)asked);
        CU_ASSERT(r->n_outside == 1 && r->outside[0].loads == 1);
        obs_stream_free(s);
    }
    free(r);
}

static void instructions_go_to_their_phase(void)
{
    struct capture c;
    struct obs_stream *s = open_stream(&c);
    struct obs_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    obs_stream_instructions(s, "f")[OBS_MMA] += 1000; /* before the region */
    obs_stream_mark(s, OBS_MARK_BEGIN, 0, 0, 0);
    obs_stream_instructions(s, "f")[OBS_MMA] += 1;
    obs_stream_instructions(s, "copy_b")[OBS_VECTOR_LOAD] += 2;
    obs_stream_mark(s, OBS_MARK_PHASE, 3, 0, 0);
    obs_stream_instructions(s, "g")[OBS_MMA] += 4;
    obs_stream_instructions(s, "copy_b")[OBS_VECTOR_LOAD] += 8;
    obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
    obs_stream_instructions(s, "f")[OBS_MMA] += 1000;
    CU_ASSERT_FATAL(obs_stream_result(s, r) == 0);
    CU_ASSERT(r->instructions[0][OBS_MMA] == 1);
    CU_ASSERT(r->instructions[3][OBS_MMA] == 4);
    CU_ASSERT(r->instructions[1][OBS_VECTOR_LOAD] == 10);
    free(r);
    obs_stream_free(s);
}

static void marker_mistakes_are_noticed(void)
{
    static const struct {
        uint64_t mark, argument;
        const char *words;
    } mistakes[] = {
        { OBS_MARK_BEGIN, SIM_MAX_PHASES, "phase" },
        { OBS_MARK_PHASE, 99, "phase" },
        { OBS_MARK_BUFFER, SIM_MAX_TAGS, "tag" },
        { OBS_MARK_END, 0, "not open" },
        { 77, 0, "unknown" },
    };
    struct capture c;
    struct obs_stream *s;

    for (size_t i = 0; i < N(mistakes); i++) {
        s = open_stream(&c);
        obs_stream_mark(s, mistakes[i].mark, mistakes[i].argument, BUFFER, 1);
        test_check(obs_stream_error(s) && strstr(obs_stream_error(s), mistakes[i].words), "mistake %zu: %s", i,
                   obs_stream_error(s) ? obs_stream_error(s) : "not noticed");
        obs_stream_free(s);
    }
    s = open_stream(&c);
    for (int times = 0; times < 2; times++) {
        obs_stream_mark(s, OBS_MARK_BEGIN, 0, 0, 0);
        obs_stream_mark(s, OBS_MARK_END, 0, 0, 0);
    }
    CU_ASSERT(obs_stream_error(s) && strstr(obs_stream_error(s), "second region"));
    obs_stream_free(s);
    s = open_stream(&c);
    for (int i = 0; i < OBS_MAX_BUFFERS; i++)
        obs_stream_mark(s, OBS_MARK_BUFFER, 1, HEAP, 1);
    CU_ASSERT(obs_stream_error(s) && strstr(obs_stream_error(s), "too many buffers"));
    obs_stream_free(s);
}

/* ---- the result's file ---- */

static char scratch[64]; /* a folder of this test */

static const char *scratch_file(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void make_scratch(void)
{
    snprintf(scratch, sizeof scratch, "/tmp/observe_test_XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(scratch) != NULL);
}

static void remove_scratch(void)
{
    static const char *const names[] = { "r", "r.partial", "r.watched", "t", "m.cfg" };

    for (size_t i = 0; i < N(names); i++)
        unlink(scratch_file(names[i]));
    CU_ASSERT(rmdir(scratch) == 0);
}

static void fill_result(struct obs_result *r)
{
    *r = (struct obs_result){ .n_buffers = 2, .n_outside = 1 };
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
    r->instructions[2][OBS_MMA] = 12345;
    r->buffer[0] = (struct obs_buffer){ .address = 1ull << 47, .bytes = 77, .tag = 1 };
    r->buffer[1] = (struct obs_buffer){ .address = 4096, .bytes = 1, .tag = 3, .is_learned = true };
    r->outside[0] = (struct obs_outside){ .function = "memcpy", .is_stack = true, .loads = 3, .stores = 4 };
}

static void results_read_back(void)
{
    struct obs_result *a = calloc(2, sizeof *a), *b = a + 1;
    char why[256] = "";

    CU_ASSERT_FATAL(a != NULL);
    make_scratch();
    fill_result(a);
    CU_ASSERT(obs_result_write(a, scratch_file("r"), why, sizeof why) == 0);
    test_check(obs_result_read(b, scratch_file("r"), why, sizeof why) == 0, "%s", why);
    CU_ASSERT(memcmp(a, b, sizeof *a) == 0);
    CU_ASSERT(access(scratch_file("r.partial"), F_OK) != 0);
    CU_ASSERT(obs_result_write(a, "/no/such/folder/r", why, sizeof why) == -ENOENT);
    CU_ASSERT(strstr(why, "/no/such/folder/r") != NULL);
    CU_ASSERT(obs_result_read(b, "/no/such/file", why, sizeof why) == -ENOENT);
    free(a);
    remove_scratch();
}

static void broken_results_are_refused(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "", "ends before its end" },
        { "observation 1\nlevels 3\n", "ends before its end" },
        { "observation 9\nend\n", ":1: not a version" },
        { "observation 1\nlevels 99\nend\n", ":2: no such number of levels" },
        { "observation 1\nlevels 1\ncell 0 0 1 2 3\nend\n", ":3: counts" },
        { "observation 1\nlevels 1\ncell 9 0 1 2 3\nend\n", ":3: no such tag" },
        { "observation 1\ninstructions 1 magic 4\nend\n", ":2: no such class" },
        { "observation 1\ninstructions 9 mma 4\nend\n", ":2: no such phase" },
        { "observation 1\nbuffer 1 2\nend\n", ":2: a buffer needs" },
        { "observation 1\nbuffer 1 2 3 bought\nend\n", ":2: a buffer is" },
        { "observation 1\noutside f stack 1\nend\n", ":2: a function needs" },
        { "observation 1\ncell 0 0 -1\nend\n", ":2: counts" },
        { "observation 1\nhello\nend\n", ":2: no such kind" },
        { "observation 1\nend\nend\n", ":3: something follows" },
    };
    struct obs_result *r = malloc(sizeof *r);

    CU_ASSERT_FATAL(r != NULL);
    make_scratch();
    for (size_t i = 0; i < N(cases); i++) {
        FILE *out = fopen(scratch_file("r"), "w");
        char why[256] = "";
        int err;

        CU_ASSERT_FATAL(out != NULL);
        fputs(cases[i].text, out);
        fclose(out);
        err = obs_result_read(r, scratch_file("r"), why, sizeof why);
        test_check(err == -EINVAL && strstr(why, cases[i].words), "case %zu: %d, '%s'", i, err, why);
    }
    free(r);
    remove_scratch();
}

/* ---- other programs ---- */

static bool always(void)
{
    return true;
}

static void programs_are_run_and_killed(void)
{
    const char *const says[] = { "sh", "-c", "echo one >&2; echo ' two' >&2; printf ' ^\n\n' >&2; exit 3", NULL };
    const char *const sleeps[] = { "sleep", "60", NULL };
    const char *const missing[] = { "no-such-program-anywhere", NULL };
    const char *const dies[] = { "sh", "-c", "kill -SEGV $$", NULL };
    char last[64];
    int status = 0;

    CU_ASSERT(exp_process_run(says, 60, NULL, &status, last, sizeof last) == 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 3 && !strcmp(last, "two"));
    CU_ASSERT(exp_process_run(dies, 60, NULL, &status, last, sizeof last) == 0);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CU_ASSERT(exp_process_run(sleeps, 0, NULL, &status, last, sizeof last) == -ETIMEDOUT);
    CU_ASSERT(exp_process_run(sleeps, 60, always, &status, last, sizeof last) == -EINTR);
    CU_ASSERT(exp_process_run(missing, 60, NULL, &status, last, sizeof last) == -ENOENT);
}

/* ---- under emulation ---- */

/* A guest to test with, or a reason why there is none. */
struct place {
    const struct exp_emulator *emulator;
    const char *observer, *guest, *machine, *ukr;
};

static bool find_place(struct place *p, const char *ukr, const char *variable, const char *machine)
{
    const char *path = getenv("PATH");
    char *find;
    int found;

    *p = (struct place){ .emulator = exp_emulator_for(conv_ukr_find(ukr)), .machine = machine, .ukr = ukr };
    p->observer = getenv("OBSERVER");
    p->guest = getenv(variable);
    if (!p->observer || !*p->observer || !p->guest || !*p->guest || !path)
        return false;
    find = exp_format("command -v %s >/dev/null", p->emulator->program);
    found = find ? system(find) : -1;
    free(find);
    return found == 0 && !access(p->observer, R_OK) && !access(p->guest, X_OK);
}

/* Every place that there is; the test is skipped if there is none. */
static size_t find_places(struct place place[2])
{
    size_t n = 0;

    n += find_place(&place[n], "f32_16x6__avx2", "GUEST_x86_64", "sim/machines/clx4208.cfg");
    n += find_place(&place[n], "f32_16x8__mma", "GUEST_ppc64le", "sim/machines/power10.cfg");
    if (!n)
        test_skip("no qemu-user, or no OBSERVER and GUEST_x86_64 or GUEST_ppc64le in the environment");
    return n;
}

/* One layer, planned as the guest plans it. */
struct layer {
    struct exp_setup setup;
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment e;
};

static void plan_layer(struct layer *l, const struct place *p, struct conv_problem problem, const char *algo,
                       bool packs_filters)
{
    static char name[] = "test";
    char why[256] = "";
    unsigned algos;

    *l = (struct layer){ .layer = { .name = name, .problem = problem } };
    CU_ASSERT_FATAL(conv_problem_finish(&l->layer.problem, why, sizeof why) == 0);
    CU_ASSERT_FATAL(sim_machine_read(&l->setup.machine, p->machine, why, sizeof why) == 0);
    CU_ASSERT_FATAL(exp_algo_select(algo, &algos, why, sizeof why) == 0);
    l->setup.packs_filters = packs_filters;
    CU_ASSERT_FATAL(exp_setup_init(&l->setup, p->ukr, p->emulator->core, why, sizeof why) == 0);
    l->model = (struct exp_model){ .name = name, .path = name, .n_layers = 1, .layer = &l->layer };
    CU_ASSERT_FATAL(exp_experiment_plan(&l->e, &l->setup, &l->model, algos, why, sizeof why) == 0);
}

static void release_layer(struct layer *l)
{
    exp_experiment_release(&l->e);
    exp_setup_release(&l->setup);
}

static int run_layer(const struct layer *l, const struct place *p, bool is_traced, struct obs_result *r, char *why,
                     size_t why_bytes)
{
    char out[128], trace[128];
    const struct exp_guest_run run = {
        .emulator = p->emulator,
        .observer = p->observer,
        .guest = p->guest,
        .machine_path = p->machine,
        .out = strcpy(out, scratch_file("r")),
        .trace = is_traced ? strcpy(trace, scratch_file("t")) : NULL,
        .problem = &l->layer.problem,
        .algo = l->e.cases[0].algo->name,
        .ukr = p->ukr,
        .packs_filters = l->setup.packs_filters,
        .verifies = true,
        .limit_s = 120,
    };
    int err = exp_guest_run(&run, why, why_bytes);

    return err ? err : obs_result_read(r, out, why, why_bytes);
}

static struct conv_binding observed_binding(const struct conv_plan *plan, const struct obs_result *r)
{
    struct conv_binding bind = conv_bind(&plan->layout, 0);

    for (size_t i = 0; i < r->n_buffers; i++)
        bind.addr[r->buffer[i].tag] = r->buffer[i].address;
    return bind;
}

/* Feeds the reader's bursts into a list: traces are small here. */
struct list {
    struct sim_expander expander; /* first */
    struct sim_access *access;
    size_t n, room;
};

static void append(void *ctx, const struct sim_access *a)
{
    struct list *l = ctx;

    if (a->kind == SIM_PREFETCH) /* replayed, but QEMU tells of none */
        return;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 1 << 16;
        struct sim_access *access = realloc(l->access, room * sizeof *access);

        CU_ASSERT_FATAL(access != NULL);
        l->access = access;
        l->room = room;
    }
    l->access[l->n++] = *a;
}

/* An emulated masked load covers the real one, and, cut to its buffer, at most a vector of it. */
static bool is_covered(const struct sim_access *seen, const struct sim_access *replayed)
{
    return seen->kind == SIM_LOAD && replayed->kind == SIM_LOAD && seen->phase == CONV_PHASE_PACK &&
           seen->tag == CONV_INPUT && seen->bytes <= 32 && seen->addr <= replayed->addr &&
           replayed->addr + replayed->bytes <= seen->addr + seen->bytes;
}

static bool is_equal(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind && a->tag == b->tag && a->phase == b->phase;
}

static void compare_streams(const char *what, const struct list *seen, const struct list *replayed, bool has_masks)
{
    size_t n = seen->n < replayed->n ? seen->n : replayed->n, i, n_covered = 0;

    for (i = 0; i < n; i++) {
        if (is_equal(&seen->access[i], &replayed->access[i]))
            continue;
        if (!has_masks || !is_covered(&seen->access[i], &replayed->access[i]))
            break;
        n_covered++;
    }
    test_check(i == n && seen->n == replayed->n && n > 0 && (n_covered == 0 || has_masks),
               "%s: %zu accesses observed, %zu replayed; they part at %zu (tag %u, phase %u)", what, seen->n,
               replayed->n, i, i < n ? (unsigned)seen->access[i].tag : 0u,
               i < n ? (unsigned)seen->access[i].phase : 0u);
}

static void read_trace(const char *path, struct list *l)
{
    const struct sim_trace_options options = { .format = SIM_TRACE_BINARY };
    struct sim_run run[SIM_MAX_BURST_RUNS];
    struct sim_trace_reader *reader;
    char why[256] = "";
    size_t n = 0;
    FILE *in = fopen(path, "rb");

    CU_ASSERT_FATAL(in != NULL);
    CU_ASSERT_FATAL(sim_trace_reader_new(&reader, in, path, &options) == 0);
    while (test_check(sim_trace_reader_next(reader, run, N(run), &n, why, sizeof why) == 0, "%s", why) && n)
        sim_emit(&l->expander.sink, run, n, 1);
    sim_trace_reader_free(reader);
    fclose(in);
}

static void check_stream(const struct place *p, struct conv_problem problem, const char *algo, bool packs_filters)
{
    struct obs_result *r = malloc(sizeof *r);
    struct list seen = { .n = 0 }, replayed = { .n = 0 };
    struct conv_replay replay;
    struct layer l;
    char why[512] = "";

    CU_ASSERT_FATAL(r != NULL);
    sim_expander_init(&seen.expander, append, &seen);
    sim_expander_init(&replayed.expander, append, &replayed);
    plan_layer(&l, p, problem, algo, packs_filters);
    if (test_check(run_layer(&l, p, true, r, why, sizeof why) == 0, "%s", why)) {
        read_trace(scratch_file("t"), &seen);
        conv_replay_init(&replay, &l.e.cases[0].plan, &replayed.expander.sink);
        replay.bind = observed_binding(&l.e.cases[0].plan, r);
        CU_ASSERT(conv_nest_run(&l.e.cases[0].plan, &replay.base) == 0);
        compare_streams(algo, &seen, &replayed, p->emulator->isa == CPU_ISA_AVX2);
    }
    free(seen.access);
    free(replayed.access);
    release_layer(&l);
    free(r);
}

static const struct conv_problem small_problems[] = {
    { .n = 1,
      .c = 16,
      .h = 14,
      .w = 14,
      .k = 32,
      .r = 3,
      .s = 3,
      .stride_h = 1,
      .stride_w = 1,
      .pad_top = 1,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 1,
      .dilation_h = 1,
      .dilation_w = 1,
      .groups = 1 },
    { .n = 2,
      .c = 20,
      .h = 9,
      .w = 7,
      .k = 21,
      .r = 1,
      .s = 1,
      .stride_h = 1,
      .stride_w = 1,
      .dilation_h = 1,
      .dilation_w = 1,
      .groups = 1 },
    { .n = 1,
      .c = 6,
      .h = 23,
      .w = 19,
      .k = 14,
      .r = 5,
      .s = 3,
      .stride_h = 2,
      .stride_w = 2,
      .pad_top = 2,
      .pad_left = 1,
      .pad_bottom = 1,
      .pad_right = 0,
      .dilation_h = 1,
      .dilation_w = 1,
      .groups = 2 },
    { .n = 1,
      .c = 8,
      .h = 17,
      .w = 18,
      .k = 8,
      .r = 3,
      .s = 3,
      .stride_h = 1,
      .stride_w = 3,
      .pad_top = 2,
      .pad_left = 2,
      .pad_bottom = 2,
      .pad_right = 2,
      .dilation_h = 2,
      .dilation_w = 2,
      .groups = 8 },
};

static void sconv_streams_equal_their_replay(void)
{
    struct place place[2];
    size_t n = find_places(place);

    if (!n)
        return;
    make_scratch();
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < N(small_problems); k++) {
            check_stream(&place[i], small_problems[k], "sconv_is", k % 2);
            check_stream(&place[i], small_problems[k], "sconv_ws", !(k % 2));
        }
    }
    remove_scratch();
}

static double relative(uint64_t a, uint64_t b)
{
    return b ? fabs((double)a - (double)b) / (double)b : a ? 1 : 0;
}

/* Totals within 1 %, load misses of every level within 3 %. */
static void check_totals(const struct layer *l, const struct obs_result *r)
{
    struct conv_replay replay;
    struct sim_hierarchy *h;
    struct sim_cell seen = sim_stats_total(&r->stats), replayed;

    CU_ASSERT_FATAL(sim_hierarchy_new(&h, &l->setup.machine) == 0);
    conv_replay_init(&replay, &l->e.cases[0].plan, sim_hierarchy_sink(h));
    replay.bind = observed_binding(&l->e.cases[0].plan, r);
    CU_ASSERT(conv_nest_run(&l->e.cases[0].plan, &replay.base) == 0);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            const struct sim_cell *a = &r->stats.cell[t][p], *b = &sim_hierarchy_stats(h)->cell[t][p];

            test_check(relative(a->loads, b->loads) <= 0.01 && relative(a->stores, b->stores) <= 0.01,
                       "%s, %s: observed %llu loads, %llu stores, replayed %llu, %llu",
                       conv_tensor_name((enum conv_tensor)t), conv_phase_name((enum conv_phase)p),
                       (unsigned long long)a->loads, (unsigned long long)a->stores, (unsigned long long)b->loads,
                       (unsigned long long)b->stores);
        }
    }
    replayed = sim_stats_total(sim_hierarchy_stats(h));
    for (size_t i = 0; i < l->setup.machine.n_levels; i++)
        test_check(relative(seen.level[i].load_misses, replayed.level[i].load_misses) <= 0.03,
                   "level %zu: observed %llu load misses, replayed %llu", i + 1,
                   (unsigned long long)seen.level[i].load_misses, (unsigned long long)replayed.level[i].load_misses);
    sim_hierarchy_free(h);
}

static void check_layer(const struct place *p, struct conv_problem problem, const char *algo, struct obs_result *r)
{
    struct layer l;
    char why[512] = "";

    plan_layer(&l, p, problem, algo, false);
    if (test_check(run_layer(&l, p, false, r, why, sizeof why) == 0, "%s", why))
        check_totals(&l, r);
    release_layer(&l);
}

/* More multiply-adds than OpenBLAS gives to its small-matrix kernels; several blocks of the reduction. */
static void base_streams_have_the_replays_totals(void)
{
    static const struct conv_problem problems[] = {
        { .n = 1,
          .c = 64,
          .h = 16,
          .w = 16,
          .k = 48,
          .r = 3,
          .s = 3,
          .stride_h = 1,
          .stride_w = 1,
          .pad_top = 1,
          .pad_left = 1,
          .pad_bottom = 1,
          .pad_right = 1,
          .dilation_h = 1,
          .dilation_w = 1,
          .groups = 1 },
        { .n = 1,
          .c = 128,
          .h = 28,
          .w = 28,
          .k = 64,
          .r = 1,
          .s = 1,
          .stride_h = 1,
          .stride_w = 1,
          .dilation_h = 1,
          .dilation_w = 1,
          .groups = 1 },
    };
    struct place place[2];
    size_t n = find_places(place);
    struct obs_result *r = n ? malloc(sizeof *r) : NULL;

    if (!r)
        return;
    make_scratch();
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < N(problems); k++)
            check_layer(&place[i], problems[k], "base", r);
    }
    free(r);
    remove_scratch();
}

/* OpenBLAS's order inside a step is its own: not its stream is compared, but what it adds up to. */
static void openblas_micro_kernels_have_the_replays_totals(void)
{
    struct place place[2];
    size_t n = find_places(place);
    struct obs_result *r = n ? malloc(sizeof *r) : NULL;

    if (!r)
        return;
    make_scratch();
    for (size_t i = 0; i < n; i++) {
        place[i].ukr = "openblas";
        for (size_t k = 0; k < N(small_problems); k++)
            check_layer(&place[i], small_problems[k], k % 2 ? "sconv_is" : "sconv_ws", r);
    }
    free(r);
    remove_scratch();
}

/* What is wrong with a run is said in one line, and nothing is left. */
static void failed_runs_say_why(void)
{
    struct place place[2], wrong;
    struct conv_problem p = { .n = 1,
                              .c = 1,
                              .h = 4,
                              .w = 4,
                              .k = 1,
                              .r = 1,
                              .s = 1,
                              .stride_h = 1,
                              .stride_w = 1,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .groups = 1 };
    struct exp_emulator emulator;
    struct obs_result *r = malloc(sizeof *r);
    struct layer l;
    char why[512];

    CU_ASSERT_FATAL(r != NULL);
    if (find_places(place)) {
        make_scratch();
        plan_layer(&l, &place[0], p, "sconv_is", false);
        wrong = place[0];
        wrong.machine = "no/such.cfg";
        CU_ASSERT(run_layer(&l, &wrong, false, r, why, sizeof why) != 0);
        wrong = place[0];
        wrong.guest = "/no/such/guest";
        CU_ASSERT(run_layer(&l, &wrong, false, r, why, sizeof why) == -EIO);
        wrong = place[0];
        emulator = *wrong.emulator;
        wrong.emulator = &emulator;
        emulator.program = "qemu-no-such-cpu";
        CU_ASSERT(run_layer(&l, &wrong, false, r, why, sizeof why) == -ENOENT);
        test_check(strstr(why, "qemu-no-such-cpu is missing (package qemu-user)") != NULL, "%s", why);
        emulator = *place[0].emulator;
        emulator.cpu = place[0].emulator->isa == CPU_ISA_MMA ? "power9" : "qemu64"; /* no MMA, no AVX2 */
        CU_ASSERT(run_layer(&l, &wrong, false, r, why, sizeof why) != 0);
        CU_ASSERT(access(scratch_file("r"), F_OK) != 0);
        release_layer(&l);
        remove_scratch();
    }
    free(r);
}

static const struct test_case cases[] = {
    { "instructions of both CPU families are told apart", instructions_are_told_apart },
    { "any bytes decode to something", any_bytes_decode },
    { "pieces become the accesses that instructions made", pieces_become_accesses },
    { "rules tag what libraries do, and learn their memory", rules_tag_what_libraries_do },
    { "masked loads are cut to the buffer they overlap", masked_loads_are_cut_to_the_buffer },
    { "what is outside is simulated only if asked for", the_outside_is_simulated_if_asked_for },
    { "instructions are counted in their phase", instructions_go_to_their_phase },
    { "mistakes of markers are noticed", marker_mistakes_are_noticed },
    { "results read back as they were", results_read_back },
    { "broken results are refused, with the line", broken_results_are_refused },
    { "programs are run, and killed at their limit", programs_are_run_and_killed },
    { "SConv's observed stream equals its replay, access for access", sconv_streams_equal_their_replay },
    { "the baseline's observed stream has its replay's totals", base_streams_have_the_replays_totals },
    { "OpenBLAS's micro-kernels in SConv have their replay's totals", openblas_micro_kernels_have_the_replays_totals },
    { "runs that fail say why", failed_runs_say_why },
    { NULL, NULL },
};

const struct test_suite suite_observe = { "observe", cases };
