/*
 * The program in which a plug-in's C file records every access that its code makes: compiled by gcc together with the
 * file, which has gcc's access instrumentation (-fsanitize=thread); the functions that the sanitizer's runtime has
 * otherwise are these. It runs one layer once, natively or under an emulator of another CPU, and hands the accesses of
 * `run` to the bench.
 *
 *     recorder FILE      the memory that it shares with the bench (recorder.h)
 *
 * CONV_RECORDED is the name of the plug-in's record, or with CONV_RECORDED_IS_FUNCTION of its function. What the compiler keeps in registers
 * or spills is not seen, and nothing of libraries that the plug-in calls but memcpy, memmove and memset.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "recorder.h"

#ifdef __clang__
#error "clang's instrumentation leaves out accesses of more than 16 bytes: accesses are recorded with gcc"
#endif

#define PAGE ((uint64_t)4096)
#define STACK_BYTES ((size_t)64 << 20)

enum { EXIT_UNABLE = 3, COPIED_BYTES = 64 /* of an access of memcpy's: a vector */ };

/* The hooks have no argument for it. One thread. */
static struct {
    struct conv_recorder *shared;
    struct conv_recorder_block *block;
    uint64_t *next, *end; /* NULL, NULL: accesses are not recorded */
    unsigned number;
    struct conv_plugin plugin;
    void *state;
} recorder;

/* ---- handing over ---- */

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

/* Begins a block as soon as the bench has read what was in it. */
static void begin_block(void)
{
    struct conv_recorder_block *b = &recorder.shared->block[recorder.number % CONV_RECORDER_BLOCKS];

    wait_while(&b->is_full, 1);
    if (atomic_load(&recorder.shared->is_stopped))
        _exit(EXIT_UNABLE);
    recorder.number++;
    recorder.block = b;
    recorder.next = b->record;
    recorder.end = b->record + CONV_RECORDER_RECORDS;
}

static void hand_over(void)
{
    recorder.block->n = (uint32_t)(recorder.next - recorder.block->record);
    atomic_store(&recorder.block->is_full, 1);
    syscall(SYS_futex, &recorder.block->is_full, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void __attribute__((noinline)) turn_over(void)
{
    hand_over();
    begin_block();
}

static inline __attribute__((always_inline)) void record(const void *p, uint64_t bytes, uint64_t is_store)
{
    if (!recorder.end)
        return;
    *recorder.next++ = conv_record((uintptr_t)p, bytes, is_store);
    if (recorder.next == recorder.end)
        turn_over();
}

static void record_range(const void *p, uint64_t bytes, uint64_t is_store)
{
    const char *at = p;

    for (uint64_t n; bytes; at += n, bytes -= n) {
        n = bytes < CONV_RECORDER_MAX_BYTES ? bytes : CONV_RECORDER_MAX_BYTES;
        record(at, n, is_store);
    }
}

/* ---- what instrumented code calls ---- */

#define HOOK(size)                                                                                                     \
    void __tsan_read##size(void *p);                                                                                   \
    void __tsan_write##size(void *p);                                                                                  \
    void __tsan_read##size(void *p)                                                                                    \
    {                                                                                                                  \
        record(p, size, 0);                                                                                            \
    }                                                                                                                  \
    void __tsan_write##size(void *p)                                                                                   \
    {                                                                                                                  \
        record(p, size, 1);                                                                                            \
    }

HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)
#undef HOOK

void __tsan_read_range(void *p, unsigned long bytes);
void __tsan_write_range(void *p, unsigned long bytes);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

void __tsan_read_range(void *p, unsigned long bytes)
{
    record_range(p, bytes, 0);
}

void __tsan_write_range(void *p, unsigned long bytes)
{
    record_range(p, bytes, 1);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

/* The linker sends calls of the C library's here. They count as vectors. */
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);

static void record_copy(const char *to, const char *from, size_t bytes)
{
    for (size_t i = 0, n; i < bytes && recorder.end; i += n) {
        n = bytes - i < COPIED_BYTES ? bytes - i : COPIED_BYTES;
        if (from)
            record(from + i, n, 0);
        record(to + i, n, 1);
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

static void __attribute__((noreturn)) give_up(const char *why)
{
    strncpy(recorder.shared->why, why, sizeof recorder.shared->why - 1);
    _exit(EXIT_UNABLE);
}

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

/* Puts the tensors where the bench wants them. */
static void map_tensors(void)
{
    uint64_t first = UINT64_MAX, end = 0;

    for (int t = 0; t < CONV_RECORDER_TENSORS; t++) {
        const struct conv_recorder_memory *m = &recorder.shared->tensor[t];

        first = m->at < first ? m->at : first;
        end = m->at + m->bytes > end ? m->at + m->bytes : end;
    }
    first -= first % PAGE;
    end += 2 * PAGE - end % PAGE; /* so much behind a tensor may be read, and more */
    if (mmap((void *)(uintptr_t)first, end - first, PROT_READ | PROT_WRITE,
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
        strncpy(to->name, region[i].name, sizeof to->name - 1);
    }
}

static void run(void)
{
    const struct conv_plugin_ask ask = { .bytes = sizeof ask, .threads = 1, .plan = "" };
    const struct conv_plugin_shape *shape = &recorder.shared->shape;
    const char *why;

    recorder.plugin = RECORD;
    why = recorder.plugin.why_not ? recorder.plugin.why_not(shape) : NULL;
    if (why)
        give_up(why);
    if (recorder.plugin.prepare && recorder.plugin.prepare(shape, &ask, tensor(CONV_RECORDER_FILTERS), &recorder.state))
        give_up("the plug-in's prepare failed");
    name_regions();
    begin_block();
    recorder.plugin.run(shape, recorder.state, tensor(CONV_RECORDER_INPUT), tensor(CONV_RECORDER_FILTERS),
                        tensor(CONV_RECORDER_OUTPUT));
    if (recorder.next > recorder.block->record)
        turn_over();
    recorder.end = NULL;
    hand_over(); /* an empty block */
    if (recorder.plugin.release)
        recorder.plugin.release(recorder.state);
}

/* Runs it on a stack that begins with a page, so that local arrays lie alike each time. */
static void run_on_stack(void)
{
    static ucontext_t own, other;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED || getcontext(&other))
        give_up("there is no memory for its stack");
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = STACK_BYTES;
    other.uc_link = &own;
    makecontext(&other, run, 0);
    swapcontext(&own, &other);
}

int main(int argc, char **argv)
{
    const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
    struct conv_recorder *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (shared == MAP_FAILED || shared->version != CONV_RECORDER_VERSION)
        return 2;
    recorder.shared = shared;
    map_tensors();
    run_on_stack();
    return 0;
}
