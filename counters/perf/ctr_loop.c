#define _GNU_SOURCE
#include "counters/perf/ctr_loop.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_loop_asm.h"

/* More than any L1 and less than any L2; more pages than any first TLB holds; more than L2, whose lines are flushed. */
enum { L2_BYTES = 128 << 10, N_PAGES = 1024, MEMORY_BYTES = 4 << 20 };

enum { N_TURNS = 100000, N_ROUNDS = 64 };

/* Of the short clock: 4 runs of 1,800 turns are 58,000 cycles, some 15 us. */
enum { MANY_ADD_TURNS = 1500, FEW_ADD_TURNS = 300, ADD_RUNS = 4 };

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)

CTR_LOOP(static, run_loads, "movl 4(%1), %%eax", "eax")
CTR_LOOP(static, run_unaligned, "movups 56(%1), %%xmm0", "xmm0")
CTR_LOOP(static, run_prefetches, "prefetcht0 4(%1)", "eax")
CTR_LOOP(static, run_stores, "movl %%eax, 4(%1)", "eax")
CTR_LOOP(static, run_multiplies, "imulq %%rax, %%rax", "rax")

static bool has_avx(void)
{
    return __builtin_cpu_supports("avx");
}

static bool has_fma(void)
{
    return has_avx() && __builtin_cpu_supports("fma");
}

static void branch_on(uint64_t x)
{
    __asm__ volatile("testb $1, %b0\n\tjz 1f\n\tnop\n1:" ::"q"(x) : "cc");
}

#elif defined(__powerpc64__)

CTR_LOOP(static, run_loads, "lwz 9, 4(%1)", "9")
CTR_LOOP(static, run_prefetches, "dcbt 0, %1", "9")
CTR_LOOP(static, run_stores, "stw 9, 4(%1)", "9")
CTR_LOOP(static, run_multiplies, "mulld 9, 9, 9", "9")

static void branch_on(uint64_t x)
{
    __asm__ volatile("andi. 9, %0, 1\n\tbeq 1f\n\tnop\n1:" ::"r"(x) : "9", "cr0");
}

#elif defined(__aarch64__)

CTR_LOOP(static, run_loads, "ldr w9, [%1, #4]", "x9")
CTR_LOOP(static, run_prefetches, "prfm pldl1keep, [%1]", "x9")
CTR_LOOP(static, run_stores, "str w9, [%1, #4]", "x9")
CTR_LOOP(static, run_multiplies, "mul x9, x9, x9", "x9")

static void branch_on(uint64_t x)
{
    __asm__ volatile("tbz %0, #0, 1f\n\tnop\n1:" ::"r"(x));
}

#endif

static const uint64_t seed = 88172645463325252u;

/* Returns the next random number by xorshift64: no predictor learns the bits. */
static uint64_t next_random(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

#if defined(CTR_LOOP)
static void prepare_turns(struct ctr_ground *g)
{
    g->n_turns = N_TURNS;
}

static void run_random_branches(const struct ctr_ground *g)
{
    uint64_t x = seed;

    for (size_t i = 0; i < g->n_turns; i++) {
        x = next_random(x);
        branch_on(x >> 20);
    }
}
#endif

static void **place(const struct ctr_ground *g, size_t i, size_t stride)
{
    return (void **)(void *)(g->memory + i * stride);
}

/* Makes each of n places `stride` apart point to the next place, and the last to the first. */
static void make_ring(struct ctr_ground *g, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        *place(g, i, stride) = place(g, (i + 1) % n, stride);
    g->start = g->memory;
}

/* Makes a ring through all places in random order (Sattolo's shuffle). */
static void make_random_ring(struct ctr_ground *g, size_t n, size_t stride)
{
    uint64_t x = seed;

    for (size_t i = 0; i < n; i++)
        *place(g, i, stride) = place(g, i, stride);
    for (size_t i = n - 1; i; i--) {
        void **a = place(g, i, stride), **b = place(g, (x = next_random(x)) % i, stride), *swap = *a;

        *a = *b;
        *b = swap;
    }
    g->start = g->memory;
}

static void follow(const struct ctr_ground *g)
{
    void *const volatile *at = (void *const volatile *)g->start;

    for (size_t i = 0; i < g->n_turns; i++)
        at = (void *const volatile *)*at;
}

/*
 * Follows the ring with three loads more from each line, so that prefetchers have time; each load waits for the load
 * before.
 */
static void follow_slowly(const struct ctr_ground *g)
{
    void *const volatile *at = (void *const volatile *)g->start;

    for (size_t i = 0; i < g->n_turns; i++) {
        const volatile unsigned char *line = (const volatile unsigned char *)at;

        for (size_t k = 1; k < 4; k++)
            line += line[16 * k]; /* 0 */
        at = (void *const volatile *)*(void *const volatile *)(const volatile void *)line;
    }
}

/* Prefetches random lines without loading them. A line already in L1 is no fill. */
static void prefetch_at_random(const struct ctr_ground *g)
{
    const size_t n = L2_BYTES / g->line_bytes;
    uint64_t x = seed;

    for (size_t i = 0; i < g->n_turns; i++) {
        x = next_random(x);
        __builtin_prefetch(g->memory + (x >> 11) % n * g->line_bytes, 0, 3);
        for (unsigned k = 0; k < 8; k++) /* not faster than L2 answers */
            x = next_random(x);
    }
}

static void clear(struct ctr_ground *g, size_t bytes)
{
    memset(g->memory, 0, bytes);
}

static void prepare_l2_in_turn(struct ctr_ground *g)
{
    size_t n = L2_BYTES / g->line_bytes;

    clear(g, L2_BYTES);
    make_ring(g, n, g->line_bytes);
    g->n_turns = n * N_ROUNDS;
}

/* Takes every second line: a prefetcher of pairs brings in lines that no load follows. */
static void prepare_l2_at_random(struct ctr_ground *g)
{
    size_t n = L2_BYTES / (2 * g->line_bytes);

    clear(g, L2_BYTES);
    make_random_ring(g, n, 2 * g->line_bytes);
    g->n_turns = n * N_ROUNDS;
}

static void prepare_l2_prefetches(struct ctr_ground *g)
{
    clear(g, L2_BYTES);
    g->n_turns = N_TURNS;
}

/* Goes round and round through more than L2 holds; the first round is the preparation's. */
static void prepare_l3_in_turn(struct ctr_ground *g)
{
    size_t n = MEMORY_BYTES / g->line_bytes;

    clear(g, MEMORY_BYTES);
    make_ring(g, n, g->line_bytes);
    g->n_turns = 2 * n;
}

static void prepare_memory_in_turn(struct ctr_ground *g)
{
    clear(g, MEMORY_BYTES);
    g->n_turns = MEMORY_BYTES / g->line_bytes;
    make_ring(g, g->n_turns, g->line_bytes);
    ctr_flush(g->memory, MEMORY_BYTES);
}

static void prepare_memory_at_random(struct ctr_ground *g)
{
    clear(g, MEMORY_BYTES);
    g->n_turns = MEMORY_BYTES / (2 * g->line_bytes);
    make_random_ring(g, g->n_turns, 2 * g->line_bytes);
    ctr_flush(g->memory, MEMORY_BYTES);
}

static void prepare_pages(struct ctr_ground *g)
{
    clear(g, MEMORY_BYTES);
    make_random_ring(g, N_PAGES, g->page_bytes + g->line_bytes);
    g->n_turns = N_PAGES * N_ROUNDS;
}

static bool can_flush(void)
{
    return ctr_flush_name() != NULL;
}

static const struct ctr_loop loops[] = {
#if defined(CTR_LOOP)
    { "loads", "8 loads of 4 bytes", always, prepare_turns, run_loads },
    { "prefetches", "8 prefetch instructions", always, prepare_turns, run_prefetches },
    { "stores", "8 stores of 4 bytes", always, prepare_turns, run_stores },
    { "multiplies", "8 multiplications, each waiting for the one before", always, prepare_turns, run_multiplies },
    { "random_branches", "1 branch that nobody can predict", always, prepare_turns, run_random_branches },
#endif
#if defined(__x86_64__)
    { "broadcasts", "8 broadcasts from memory", has_avx, prepare_turns, ctr_run_broadcasts__avx2 },
    { "fmas", "8 vector FMAs with a memory operand", has_fma, prepare_turns, ctr_run_fmas__avx2 },
    { "unaligned", "8 loads across two lines", always, prepare_turns, run_unaligned },
#endif
    { "l2_lines_in_turn", "1 line from L2, the next one", always, prepare_l2_in_turn, follow_slowly },
    { "l2_lines_at_random", "1 line from L2, any", always, prepare_l2_at_random, follow },
    { "l2_lines_prefetched", "1 prefetch instruction for any line in L2", always, prepare_l2_prefetches,
      prefetch_at_random },
    { "l3_lines_in_turn", "1 line from L3 or beyond, the next one", always, prepare_l3_in_turn, follow_slowly },
    { "memory_lines_in_turn", "1 line from memory, the next one", can_flush, prepare_memory_in_turn, follow_slowly },
    { "memory_lines_at_random", "1 line from memory, any", can_flush, prepare_memory_at_random, follow },
    { "pages_at_random", "1 load from any of 1024 pages", always, prepare_pages, follow },
};

enum { N_LOOPS = sizeof loops / sizeof loops[0] };

size_t ctr_n_loops(void)
{
    return N_LOOPS;
}

const struct ctr_loop *ctr_loop_at(size_t i)
{
    assert(i < ctr_n_loops());
    return &loops[i];
}

const struct ctr_loop *ctr_loop_named(const char *name)
{
    for (size_t i = 0; i < N_LOOPS; i++)
        if (!strcmp(loops[i].name, name))
            return &loops[i];
    return NULL;
}

/* Eight additions of a turn, each waiting for the one before. An immediate operand would not wait on every CPU. */
#if defined(__x86_64__)
CTR_LOOP(static, run_adds, "addq %%rax, %%rax", "rax")
#elif defined(__aarch64__)
CTR_LOOP(static, run_adds, "add x9, x9, x9", "x9")
#endif

/* Returns the least ns of a few runs of n turns of additions. */
#if defined(__x86_64__) || defined(__aarch64__)
static double fastest_adds_ns(size_t n)
{
    const struct ctr_ground g = { .n_turns = n };
    double best = 0;

    for (int i = 0; i < ADD_RUNS; i++) {
        const uint64_t start = ctr_now_ns();
        double ns;

        run_adds(&g);
        ns = (double)(ctr_now_ns() - start);
        best = !i || ns < best ? ns : best;
    }
    return best;
}
#endif

double ctr_core_ghz_now(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    const double more = fastest_adds_ns(MANY_ADD_TURNS) - fastest_adds_ns(FEW_ADD_TURNS);

    return more > 0 ? (MANY_ADD_TURNS - FEW_ADD_TURNS) * CTR_LOOP_UNROLL / more : 0;
#else
    return 0;
#endif
}

double ctr_core_ghz(void)
{
    const struct ctr_loop *loop = ctr_loop_named("multiplies");
    const double now = ctr_core_ghz_now();
    struct ctr_ground g = { 0 };
    uint64_t start;

    if (now > 0 || !loop)
        return now;
    loop->prepare(&g);
    start = ctr_now_ns();
    loop->run(&g);
    return (double)(g.n_turns * CTR_LOOP_UNROLL * CTR_LOOP_MULTIPLY_CYCLES) / (double)(ctr_now_ns() - start);
}

static size_t at_least(long value, size_t least)
{
    return value > (long)least ? (size_t)value : least;
}

int ctr_ground_init(struct ctr_ground *g)
{
    const size_t page_bytes = at_least(sysconf(_SC_PAGESIZE), 4096);
    const size_t line_bytes = at_least(sysconf(_SC_LEVEL1_DCACHE_LINESIZE), 64);
    const size_t ring_bytes = N_PAGES * (page_bytes + line_bytes) + sizeof(void *);
    const size_t bytes = ring_bytes > MEMORY_BYTES ? ring_bytes : MEMORY_BYTES;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *g = (struct ctr_ground){ .bytes = bytes, .line_bytes = line_bytes, .page_bytes = page_bytes };
    if (memory == MAP_FAILED)
        return -ENOMEM;
    assert(line_bytes % sizeof(void *) == 0 && L2_BYTES % (2 * line_bytes) == 0 &&
           MEMORY_BYTES % (2 * line_bytes) == 0);
    madvise(memory, bytes, MADV_NOHUGEPAGE); /* a refusal shows in the proof of the TLB misses */
    g->memory = memory;
    memset(memory, 0, bytes);
    return 0;
}

void ctr_ground_release(struct ctr_ground *g)
{
    if (g->memory)
        munmap(g->memory, g->bytes);
    *g = (struct ctr_ground){ 0 };
}
