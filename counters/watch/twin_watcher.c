/*
 * The watcher inside the program: the kernels are compiled with the compiler's access instrumentation, and the hooks
 * feed the stream. So every load and store of the kernels' own code is seen, on the CPU of the code, at the CPU's
 * speed; spilled registers and calls are not. Of OpenBLAS, copies of the machine code are watched (copies.h), if there
 * are any beside the program.
 */
#define _GNU_SOURCE /* REG_RCX, MAP_FIXED_NOREPLACE */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "counters/watch/marker.h"
#include "counters/watch/ring.h"
#include "counters/watch/watch.h"

/* ---- copies of machine code ---- */

/* As written by rewrite.awk. */
struct head {
    uint64_t magic, base, work, map, n_functions, n_targets, n_sites, is_whole, counts, n_classes;
};

/* The name of a class of instructions; n_classes names follow the head. */
struct class
{
    char name[16];
};

struct function {
    uint64_t original, copy; /* copy 0: refused */
    uint64_t n_first;        /* 0: the function is not entered there */
    uint8_t first[8];        /* the first instruction of the original */
    char name[64], why_not[96];
};

/* Says where indirect jumps may lead. */
struct target {
    uint32_t original, copy;
};

struct site {
    uint16_t function;
    uint8_t bytes, kinds; /* kinds: 1 << enum sim_kind, one or two kinds; with or without MASKED */
};

enum { MASKED = 8 };

/* The memory of the copies: four words, and from the second page on the ring. */
struct work {
    uint64_t *next;
    uint64_t saved[3];
};

enum { PAGE = 4096, RING_BYTES = 1 << 20, SIGNAL_STACK_BYTES = 1 << 20, MAP_BYTES = 448 << 20 };

/* Global: the handler of a signal has no context. */
static struct {
    const struct head *head;
    size_t bytes; /* of the whole file */
    const struct class *class;
    const struct function *function;
    const struct target *target;
    const struct site *site;
    struct watch_site **place; /* [n_sites] */
    struct work *work;
    uint64_t *ring; /* of records (ring.h) */
    uint64_t *executed;
    uint64_t *count;      /* [n_functions][n_classes]: executed since the last take */
    uint64_t **counts_in; /* [n_functions][n_classes]: the stream's counters */
} code;

static bool is_copy(const void *place)
{
    return code.head && (uintptr_t)place - (uintptr_t)code.head < code.bytes;
}

static bool are_whole(void)
{
    return code.head && code.head->is_whole;
}

static void drain(void)
{
    if (!code.work)
        return;
    for (const uint64_t *r = code.ring; r < code.work->next; r++) {
        const size_t number = *r >> WATCH_RECORD_ADDRESS_BITS;
        const struct site *s = &code.site[number];

        ++*code.executed;
        for (enum sim_kind kind = SIM_LOAD; kind <= SIM_PREFETCH; kind++) {
            if (s->kinds >> kind & 1)
                watch_stream_take(
                    &(struct watch_access){ code.place[number], watch_record_address(*r), s->bytes, kind });
        }
    }
    code.work->next = code.ring;
}

static void take_counts(void)
{
    const size_t n = code.count ? code.head->n_functions * code.head->n_classes : 0;

    for (size_t i = 0; i < n; i++) {
        *code.counts_in[i] += code.count[i];
        code.count[i] = 0;
    }
}

/* The ring is full: the faulting instruction writes the first record of the ring instead. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    const char *at = info->si_addr, *end = (const char *)code.ring + RING_BYTES;

    if (at < end || at >= end + PAGE) {
        signal(number, SIG_DFL); /* a fault outside the ring: the instruction runs once more, and ends the program */
        return;
    }
    drain();
    c->uc_mcontext.gregs[REG_RCX] = (greg_t)(uintptr_t)code.ring;
}

static void end_program(uint64_t function)
{
    fprintf(stderr, "observer: %s was called, whose machine code cannot be observed here (%s)\n",
            code.function[function].name, code.function[function].why_not);
    exit(EXIT_FAILURE);
}

/* ---- loading ---- */

static int refuse(struct sim_why why, int err, const char *what, const char *path)
{
    return sim_fail(why, err, "%s: %s", path, what);
}

static void *map_fixed(uint64_t address, size_t bytes, int protection, int fd)
{
    int flags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0);
    void *p = mmap((void *)(uintptr_t)address, bytes, protection, flags, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Maps the file at the address in the head. */
static int map_file(int fd, const char *path, struct sim_why why)
{
    struct head head;
    struct stat status;

    if (fstat(fd, &status) || read(fd, &head, sizeof head) != (ssize_t)sizeof head || head.magic != WATCH_COPIES_MAGIC)
        return refuse(why, -EINVAL, "no rewritten machine code", path);
    code.head = map_fixed(head.base, (size_t)status.st_size, PROT_READ | PROT_EXEC, fd);
    code.work = map_fixed(head.work, PAGE + RING_BYTES, PROT_READ | PROT_WRITE, -1);
    if (!code.head || !code.work || !map_fixed(head.work + PAGE + RING_BYTES, PAGE, PROT_NONE, -1))
        return refuse(why, -ENOMEM, "its place in memory is taken", path);
    code.bytes = (size_t)status.st_size;
    code.class = (const struct class *)(code.head + 1);
    code.function = (const struct function *)(code.class + head.n_classes);
    code.target = (const struct target *)(code.function + head.n_functions);
    code.site = (const struct site *)(code.target + head.n_targets);
    code.ring = (uint64_t *)((char *)code.work + PAGE);
    code.work->next = code.ring;
    return 0;
}

static bool is_of_this_program(void)
{
    for (size_t i = 0; i < code.head->n_functions; i++) {
        const struct function *f = &code.function[i];

        if (memcmp((const void *)(uintptr_t)f->original, f->first, f->n_first) != 0)
            return false;
    }
    return true;
}

static int find_places(struct watch_stream *s)
{
    code.place = calloc(code.head->n_sites, sizeof(struct watch_site *));
    for (size_t i = 0; i < code.head->n_sites && code.place; i++) {
        code.place[i] = watch_stream_site(s, code.function[code.site[i].function].name);
        if (!code.place[i])
            return -ENOMEM;
        code.place[i]->is_masked = code.site[i].kinds & MASKED;
    }
    code.executed = watch_stream_executed(s);
    return code.place ? 0 : -ENOMEM;
}

static enum watch_class class_of(const char *name)
{
    enum watch_class c = 0;

    while (c < WATCH_OTHER && strcmp(watch_class_name(c), name) != 0)
        c++;
    return c;
}

/* Makes the counters of executed instructions; the copies' code has the counters' addresses. */
static int make_counts(struct watch_stream *s)
{
    const struct head *head = code.head;

    if (!head->n_classes)
        return 0;
    code.counts_in = calloc(head->n_functions * head->n_classes, sizeof *code.counts_in);
    if (!code.counts_in)
        return -ENOMEM;
    for (size_t f = 0; f < head->n_functions; f++) {
        uint64_t *in = watch_stream_instructions(s, code.function[f].name);

        for (size_t k = 0; k < head->n_classes; k++)
            code.counts_in[f * head->n_classes + k] = &in[class_of(code.class[k].name)];
    }
    code.count =
        map_fixed(head->counts, head->n_functions * head->n_classes * sizeof *code.count, PROT_READ | PROT_WRITE, -1);
    return code.count ? 0 : -ENOMEM;
}

/* mov $number, %edi; jmp target */
static int put_jump(const struct function *f, uint64_t target)
{
    uint8_t *at = (uint8_t *)(uintptr_t)f->original, *page = at - f->original % PAGE;
    uint32_t number = (uint32_t)(f - code.function), distance;
    size_t n = f->copy ? 0 : 5;

    if (mprotect(page, (size_t)2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
        return -errno;
    at[0] = 0xbf;
    if (!f->copy)
        memcpy(at + 1, &number, sizeof number);
    distance = (uint32_t)(target - (f->original + n + 5));
    at[n] = 0xe9;
    memcpy(at + n + 1, &distance, sizeof distance);
    return mprotect(page, (size_t)2 * PAGE, PROT_READ | PROT_EXEC) ? -errno : 0;
}

static int put_into_place(void)
{
    int err = 0;

    for (size_t i = 0; i < code.head->n_functions && !err; i++) {
        const struct function *f = &code.function[i];

        if (f->n_first)
            err = put_jump(f, f->copy ? f->copy : (uint64_t)(uintptr_t)end_program);
    }
    return err;
}

/* The table of indirect jumps, four bytes for each byte of the program; unwritten parts take no memory. */
static int make_map(void)
{
    uint32_t *map = map_fixed(code.head->map, MAP_BYTES, PROT_READ | PROT_WRITE, -1);

    if (!map)
        return -ENOMEM;
    for (size_t i = 0; i < code.head->n_targets; i++) {
        if (code.target[i].original >= MAP_BYTES / sizeof *map)
            return -EOVERFLOW;
        map[code.target[i].original] = code.target[i].copy;
    }
    return 0;
}

static int catch_faults(void)
{
    const struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    const stack_t stack = { .ss_sp = malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES };

    if (!stack.ss_sp)
        return -ENOMEM;
    return sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL) ? -errno : 0;
}

static int load(const char *path, struct watch_stream *s, struct sim_why why)
{
    int fd = open(path, O_RDONLY), err;

    if (fd < 0)
        return refuse(why, -errno, strerror(errno), path);
    err = map_file(fd, path, why);
    close(fd);
    if (err)
        return err;
    if (!is_of_this_program())
        return refuse(why, -EINVAL, "made for another program", path);
    err = find_places(s);
    if (!err)
        err = catch_faults();
    if (!err)
        err = make_map();
    if (!err)
        err = make_counts(s);
    if (!err)
        err = put_into_place();
    return err ? refuse(why, err, strerror(-err), path) : 0;
}

/* ---- the program ---- */

enum { N_SITES = 256, CLEARED_BYTES = 64 };

/* "-" is no memory. */
#define RULE(pattern, phase, tag) { #pattern, phase, #tag[0] == '-' ? -1 : #tag[0] - '0' },
static const struct watch_rule rules[] = {
#include "counters/watch/openblas_rules.def"
};

/* Global: the hooks have no argument for a context. One thread. */
static struct {
    struct watch_region region;
    struct watch_site *site[N_SITES], *clearing;
    uint64_t *executed;
} watcher;

/* The copies lie beside the program. Without copies, OpenBLAS goes unseen, and the result lacks OpenBLAS's buffers. */
static int load_copies(struct sim_why why)
{
    static const char suffix[] = ".rewritten";
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof suffix);
    int err;

    if (n < 0)
        return -errno;
    memcpy(path + n, suffix, sizeof suffix);
    err = load(path, watcher.region.stream, why);
    return err == -ENOENT ? 0 : err;
}

int watch_find(const struct watch_files *f, struct sim_why why)
{
    int err = watch_region_open(&watcher.region, f, rules, sizeof rules / sizeof rules[0], why);

    if (err)
        return err;
    for (size_t i = 0; i < N_SITES && !err; i++) {
        watcher.site[i] = watch_stream_site(watcher.region.stream, "instrumented_kernels");
        err = watcher.site[i] ? 0 : -ENOMEM;
    }
    watcher.clearing = err ? NULL : watch_stream_site(watcher.region.stream, "memset");
    if (err || !watcher.clearing)
        return sim_fail(why, -ENOMEM, "out of memory");
    watcher.executed = watch_stream_executed(watcher.region.stream);
    return load_copies(why);
}

/* After an error nothing has a meaning: the program is ended, as the emulator's observer ends the program. */
void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    const char *error;
    char why[4400];

    drain();
    take_counts();
    watch_stream_mark(watcher.region.stream, mark, a, b, c);
    error = watch_stream_error(watcher.region.stream);
    /* Without copies of the whole program, only a part of the accesses outside the buffers is seen: no spills. */
    if (!error && mark == WATCH_MARK_END && watch_region_close(&watcher.region, are_whole(), SIM_WHY(why)))
        error = why;
    if (error) {
        fprintf(stderr, "observer: %s\n", error);
        exit(EXIT_FAILURE);
    }
}

/* A whole access, as the compiler has the access; `caller` is a hint for the access's buffer. */
static void record(const void *p, size_t bytes, enum sim_kind kind, const void *caller)
{
    struct watch_site *site = watcher.site[(uintptr_t)caller % N_SITES];

    if (!watcher.region.stream)
        return;
    drain();
    ++*watcher.executed;
    watch_stream_take(&(struct watch_access){ site, (uintptr_t)p, (uint32_t)bytes, kind });
}

/* The linker sends calls of memset here. Memory cleared by OpenBLAS counts as vectors stored by the C library. */
void *__wrap_memset(void *to, int byte, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    if (is_copy(__builtin_return_address(0))) {
        drain();
        for (size_t i = 0, n; i < bytes; i += n) {
            n = bytes - i < CLEARED_BYTES ? bytes - i : CLEARED_BYTES;
            ++*watcher.executed;
            watch_stream_take(&(struct watch_access){ watcher.clearing, (uintptr_t)to + i, (uint32_t)n, SIM_STORE });
        }
    }
    return __real_memset(to, byte, bytes);
}

#define RECORD(p, bytes, kind) record(p, bytes, kind, __builtin_return_address(0))
#include "counters/watch/hooks.def"
