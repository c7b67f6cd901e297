/*
 * The program in which a plug-in's C file records every access of its machine code. The program is linked with the
 * compiler's code of the file, after record.awk has put recording code before each instruction that touches memory. The
 * program runs a layer once, and hands the accesses of `run` to the bench.
 *
 *     recorder FILE      the memory shared by the program and the bench (recorder.h)
 *
 * With CONV_RECORDED_EMULATED the program runs under an emulator whose plugin (counters/watch/emulator_plugin.c) sees
 * all accesses, also the accesses of libraries, and hands the accesses to the bench; marker.h is included from the
 * command line then.
 *
 * CONV_RECORDED is the name of the plug-in's record, or with CONV_RECORDED_IS_FUNCTION of the plug-in's function.
 * Without the emulator, the program sees no accesses of libraries but memcpy, memmove and memset.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "counters/watch/recorder.h"

#define ADDRESSES ((uint64_t)1 << 47)
#define AROUND ((uint64_t)16 << 20) /* memory before and behind the tensors: emulators read masked vectors whole */
#define PAGE ((uint64_t)4096)
#define STACK_BYTES ((size_t)64 << 20)

enum { EXIT_UNABLE = 3, SIGNAL_STACK_BYTES = 1 << 16, COPIED_BYTES = 64 /* of an access of memcpy's: a vector */ };

static struct {
    struct conv_recorder *shared;
    struct conv_plugin plugin;
    void *state;
    pid_t pid; /* the program's own: a child forked by the plug-in has a different pid, and is not recorded */
} recorder;

static void __attribute__((noreturn)) give_up(const char *why)
{
    strncpy(recorder.shared->why, why, sizeof recorder.shared->why - 1);
    _exit(EXIT_UNABLE);
}

/* Returns where all tensors are, in whole pages. */
static struct conv_recorder_memory whole(void)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (int t = 0; t < CONV_RECORDER_TENSORS; t++) {
        const struct conv_recorder_memory *m = &recorder.shared->tensor[t];

        first = m->at < first ? m->at : first;
        last = m->at + m->bytes > last ? m->at + m->bytes : last;
    }
    first -= first % PAGE;
    last += 2 * PAGE - last % PAGE; /* a plug-in may read up to two pages behind a tensor */
    return (struct conv_recorder_memory){ first, last - first };
}

#ifndef CONV_RECORDED_EMULATED

/* Global: the recording code has no argument for the recorder. One thread. */
static struct {
    unsigned number; /* of the next block */
    bool is_on;
    uint64_t *start; /* of as many records as a block has; behind them a page without access rights */
    unsigned phase;
    struct watch_work work[WATCH_RECORD_PHASES]; /* since the last block */
} ring;

/* Used by the recording code. */
uint64_t *conv_recorder_next __attribute__((visibility("hidden"))); /* where in the ring the next record goes */
uint64_t conv_recorder_origin __attribute__((visibility("hidden")));
uint32_t conv_recorder_what __attribute__((visibility("hidden")));
uint8_t conv_recorder_index[64] __attribute__((visibility("hidden")));
uint8_t conv_recorder_mask[64] __attribute__((visibility("hidden")));

/* ---- instructions ---- */

void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);

/* What a run of a block of code costs (record.awk). */
struct cost {
    uint32_t vectors, scalars; /* instructions, without branches */
    uint32_t macs, loop;       /* loop: of the end of a loop, 1 + the counter of the last block of the loop */
};

/* A processor foresees the end of a loop with so few rounds, and overlaps the rounds with the code around the loop. */
enum { FEW_ROUNDS = 16 };

extern uint64_t conv_recorder_counts[] __attribute__((visibility("hidden")));
extern const struct cost conv_recorder_costs[] __attribute__((visibility("hidden")));
extern const uint32_t conv_recorder_n_counts __attribute__((visibility("hidden")));

/* Adds the work since the last call to the phase. */
static void take_work(void)
{
    struct watch_work *w = &ring.work[ring.phase];
    uint64_t most = 0;

    for (uint32_t i = 0; i < conv_recorder_n_counts; i++)
        most = conv_recorder_counts[i] > most ? conv_recorder_counts[i] : most;
    for (uint32_t i = 0; i < conv_recorder_n_counts; i++) {
        const struct cost *c = &conv_recorder_costs[i];
        const uint64_t n = conv_recorder_counts[i];

        w->operations += n * c->vectors;
        *(n * FEW_ROUNDS < most ? &w->serial : &w->operations) += n * c->scalars;
        w->macs += n * c->macs;
        w->loops += c->loop && conv_recorder_counts[c->loop - 1] > FEW_ROUNDS * n ? n : 0;
    }
    __real_memset(conv_recorder_counts, 0, conv_recorder_n_counts * sizeof *conv_recorder_counts);
}

/* ---- handing over ---- */

/* Hands over the ring's records, as soon as the bench has read the block's earlier records; empties the ring. */
static void hand_over(uint64_t *end)
{
    struct watch_block *b;

    conv_recorder_next = ring.start;
    if (!ring.is_on || getpid() != recorder.pid)
        return;
    b = watch_ring_next(&recorder.shared->ring, ring.number++);
    if (!b)
        _exit(EXIT_UNABLE);
    b->n = (uint32_t)(end - ring.start);
    take_work();
    __real_memcpy(b->work, ring.work, sizeof b->work);
    __real_memset(ring.work, 0, sizeof ring.work);
    __real_memcpy(b->record, ring.start, b->n * sizeof *b->record);
    watch_ring_hand_over(b, 1);
}

static uint64_t *ring_end(void)
{
    return ring.start + WATCH_RING_RECORDS;
}

/*
 * The ring is full: the faulting instruction, which writes at a distance from rcx, writes the first record of the next
 * ring. The instructions behind with room from the same access do so, too (record.awk).
 */
static void on_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;

    if ((uintptr_t)info->si_addr - (uintptr_t)ring_end() >= PAGE) {
        signal(number, SIG_DFL); /* the plug-in's own mistake: the repeated fault ends the program */
        return;
    }
    hand_over(ring_end());
    c->uc_mcontext.gregs[REG_RCX] += (greg_t)((uintptr_t)ring.start - (uintptr_t)info->si_addr);
    conv_recorder_next = (uint64_t *)(uintptr_t)c->uc_mcontext.gregs[REG_RCX];
}

int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);

static void get_ready(void)
{
    const struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    const size_t bytes = WATCH_RING_RECORDS * sizeof(uint64_t);
    const stack_t stack = { .ss_sp = malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES };
    char *start = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (start == MAP_FAILED || !stack.ss_sp || mprotect(start + bytes, PAGE, PROT_NONE) || sigaltstack(&stack, NULL) ||
        __real_sigaction(SIGSEGV, &action, NULL))
        give_up("there is no memory for what it records");
    ring.start = conv_recorder_next = (uint64_t *)(void *)start;
}

/* ---- accesses without a single address ---- */

/* Records as the recording code does: a fault of the first store is on_fault's. */
static inline __attribute__((always_inline, target("general-regs-only"))) void record(uint64_t address, uint64_t bytes,
                                                                                      uint64_t is_store)
{
    uint64_t *next = conv_recorder_next;

    __asm__ volatile("movq %1, (%0)\n\tmovw %w2, 6(%0)\n\tleaq 8(%0), %0"
                     : "+c"(next)
                     : "r"(address), "r"((bytes - 1) * 2 + is_store)
                     : "memory");
    conv_recorder_next = next;
}

/* A gather or scatter, described by record.awk in conv_recorder_what. The calling code keeps all its registers. */
__attribute__((visibility("hidden"), no_caller_saved_registers, target("general-regs-only"))) void
conv_recorder_elements(void);

void conv_recorder_elements(void)
{
    const uint32_t what = conv_recorder_what;
    const unsigned index_bytes = what & 15, element = what >> 4 & 15, scale = what >> 8 & 15, n = what >> 12 & 31;

    for (unsigned i = 0; i < n; i++) {
        const int64_t index = index_bytes == 4 ? ((const int32_t *)(const void *)conv_recorder_index)[i]
                                               : ((const int64_t *)(const void *)conv_recorder_index)[i];
        const bool is_taken =
            what >> 17 & 1 ? conv_recorder_mask[i / 8] >> i % 8 & 1 : conv_recorder_mask[(i + 1) * element - 1] >> 7;

        if (is_taken)
            record(conv_recorder_origin + (uint64_t)(index * scale), element, what >> 18 & 1);
    }
}

/*
 * A masked vector, described as above: an access from the first to the last taken element; or an access for each
 * element.
 */
__attribute__((visibility("hidden"), no_caller_saved_registers, target("general-regs-only"))) void
conv_recorder_masked(void);

void conv_recorder_masked(void)
{
    const uint32_t what = conv_recorder_what;
    const unsigned element = what & 15, n = what >> 4 & 127;
    unsigned first = n, end = 0, n_taken = 0;

    for (unsigned i = 0; i < n; i++) {
        const bool is_taken =
            what >> 17 & 1 ? conv_recorder_mask[i / 8] >> i % 8 & 1 : conv_recorder_mask[(i + 1) * element - 1] >> 7;

        n_taken += is_taken;
        first = is_taken && first == n ? i : first;
        end = is_taken ? i + 1 : end;
    }
    if (what >> 19 & 1) { /* elements are contiguous */
        first = 0;
        end = n_taken;
    }
    if (end)
        record(conv_recorder_origin + (uint64_t)first * element, (uint64_t)(end - first) * element, what >> 18 & 1);
}

/* The linker sends calls of the C library's functions here. The calls count as vectors. */
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);

static void record_copy(const char *to, const char *from, size_t bytes)
{
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i < COPIED_BYTES ? bytes - i : COPIED_BYTES;
        ring.work[ring.phase].operations += from ? 2 : 1;
        if (from)
            record((uintptr_t)from + i, n, 0);
        record((uintptr_t)to + i, n, 1);
    }
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    record_copy(to, from, bytes);
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    record_copy(to, from, bytes);
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    record_copy(to, NULL, bytes);
    return __real_memset(to, byte, bytes);
}

/*
 * ---- signals ----
 *
 * SIGSEGV tells the recording code that the ring is full. If a plug-in blocks all signals for a while, as libraries do,
 * SIGSEGV stays unblocked. If a plug-in handles SIGSEGV, the handler is only remembered. The linker sends the plug-in's
 * calls here, too.
 */
int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before);
void (*__wrap_signal(int number, void (*handler)(int)))(int);

/* The plug-in's view of SIGSEGV: blocked or not, and the action. */
static struct {
    bool is_blocked;
    struct sigaction action;
} believed;

static int set_mask(int (*real)(int how, const sigset_t *set, sigset_t *before), int how, const sigset_t *set,
                    sigset_t *before)
{
    const bool was_blocked = believed.is_blocked, is_named = set && sigismember(set, SIGSEGV) == 1;
    sigset_t others;
    int err;

    if (set) {
        others = *set;
        sigdelset(&others, SIGSEGV);
        if (how == SIG_SETMASK)
            believed.is_blocked = is_named;
        else if (is_named)
            believed.is_blocked = how == SIG_BLOCK;
    }
    err = real(how, set ? &others : NULL, before);
    if (before && was_blocked)
        sigaddset(before, SIGSEGV);
    return err;
}

int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    return set_mask(__real_sigprocmask, how, set, before);
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return set_mask(__real_pthread_sigmask, how, set, before);
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction others;

    if (number == SIGSEGV) {
        const struct sigaction was = believed.action;

        if (action)
            believed.action = *action;
        if (before)
            *before = was;
        return 0;
    }
    if (action) {
        others = *action;
        sigdelset(&others.sa_mask, SIGSEGV);
    }
    return __real_sigaction(number, action ? &others : NULL, before);
}

void (*__wrap_signal(int number, void (*handler)(int)))(int)
{
    const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    struct sigaction before;

    return __wrap_sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

static void mark(void *of, int phase)
{
    (void)of;
    take_work();
    ring.phase = (unsigned)phase % WATCH_RECORD_PHASES;
    record(WATCH_RECORD_PHASE | ring.phase, 1, 0);
}

static void begin(void)
{
    take_work(); /* of the preparation: forgotten */
    __real_memset(ring.work, 0, sizeof ring.work);
    conv_recorder_next = ring.start;
    ring.is_on = true;
}

static void end(void)
{
    if (conv_recorder_next > ring.start)
        hand_over(conv_recorder_next);
    hand_over(ring.start); /* no more */
    ring.is_on = false;
}

#else

/* ---- under an emulator: accesses between marks, and in named memory ---- */

/* Names all memory: the tensors' memory, and the memory before and behind. */
static void get_ready(void)
{
    const struct conv_recorder_memory all = whole();

    watch_mark_buffer(0, all.at, all.bytes);
    watch_mark_buffer(1, PAGE, all.at - PAGE);
    watch_mark_buffer(1, all.at + all.bytes, ADDRESSES - all.at - all.bytes);
}

static void mark(void *of, int phase)
{
    (void)of;
    watch_mark_phase((unsigned)phase & 3);
}

static void begin(void)
{
    watch_mark_begin(CONV_PLUGIN_COMPUTES);
}

static void end(void)
{
    watch_mark_end();
}

#endif

/* ---- the plug-in ---- */

#ifdef CONV_RECORDED_IS_FUNCTION
void CONV_RECORDED(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);

static void run_function(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters,
                         float *out)
{
    (void)state;
    CONV_RECORDED(s, in, filters, out);
}

static const struct conv_plugin as_record = { .abi = CONV_PLUGIN_ABI, .run = run_function };

#define RECORD as_record
#else
extern const struct conv_plugin CONV_RECORDED;
#define RECORD CONV_RECORDED
#endif

static float *tensor(enum conv_recorder_tensor t)
{
    return (float *)(uintptr_t)recorder.shared->tensor[t].at;
}

/* Fills a tensor with small whole numbers. */
static void fill(enum conv_recorder_tensor t)
{
    uint32_t state = 1 + (uint32_t)t;

    for (uint64_t i = 0; i < recorder.shared->tensor[t].bytes / sizeof(float); i++) {
        state = state * 1664525 + 1013904223;
        tensor(t)[i] = (float)(state >> 28) - 7;
    }
}

/* Maps the tensors at the bench's addresses. */
static void map_tensors(void)
{
    const struct conv_recorder_memory all = whole();

    if (mmap((void *)(uintptr_t)(all.at - AROUND), all.bytes + 2 * AROUND, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        give_up("there is no memory for its tensors");
    fill(CONV_RECORDER_INPUT);
    fill(CONV_RECORDER_FILTERS);
}

static void name_regions(void)
{
    struct conv_plugin_region region[CONV_RECORDER_REGIONS];
    size_t n = recorder.plugin.regions ? recorder.plugin.regions(recorder.state, region, CONV_RECORDER_REGIONS) : 0;

    for (size_t i = 0; i < n && i < CONV_RECORDER_REGIONS; i++) {
        struct conv_recorder_region *to = &recorder.shared->region[recorder.shared->n_regions++];

        to->memory = (struct conv_recorder_memory){ (uintptr_t)region[i].at, region[i].bytes };
        strncpy(to->name, region[i].name ? region[i].name : "", sizeof to->name - 1);
    }
}

static void run(void)
{
    const struct conv_plugin_ask ask = {
        .bytes = sizeof ask, .threads = 1, .plan = recorder.shared->plan, .marks = { mark, NULL }
    };
    const struct conv_plugin_shape *shape = &recorder.shared->shape;
    const char *why;

    recorder.plugin = RECORD;
    why = recorder.plugin.why_not ? recorder.plugin.why_not(shape) : NULL;
    if (why)
        give_up(why);
    if (recorder.plugin.prepare && recorder.plugin.prepare(shape, &ask, tensor(CONV_RECORDER_FILTERS), &recorder.state))
        give_up("the plug-in's prepare failed");
    name_regions();
#ifdef CONV_RECORDED_EMULATED
    /* Libraries generate and choose code at the first call. */
    recorder.plugin.run(shape, recorder.state, tensor(CONV_RECORDER_INPUT), tensor(CONV_RECORDER_FILTERS),
                        tensor(CONV_RECORDER_OUTPUT));
#endif
    begin();
    recorder.plugin.run(shape, recorder.state, tensor(CONV_RECORDER_INPUT), tensor(CONV_RECORDER_FILTERS),
                        tensor(CONV_RECORDER_OUTPUT));
    if (getpid() != recorder.pid)
        _exit(0);
    end();
    if (recorder.plugin.release)
        recorder.plugin.release(recorder.state);
}

/* Runs the plug-in on a stack that begins with a page, so that local arrays have equal addresses in all runs. */
static void run_on_stack(void)
{
    static ucontext_t own, other;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED || getcontext(&other))
        give_up("there is no memory for its stack");
    recorder.shared->stack = (struct conv_recorder_memory){ (uintptr_t)stack, STACK_BYTES };
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = STACK_BYTES;
    other.uc_link = &own;
    makecontext(&other, run, 0);
    swapcontext(&own, &other);
}

int main(int argc, char **argv)
{
    const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
    struct conv_recorder *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (shared == MAP_FAILED || shared->version != CONV_RECORDER_VERSION)
        return 2;
    recorder.shared = shared;
    recorder.pid = getpid();
    map_tensors();
    get_ready();
    run_on_stack();
    return 0;
}
