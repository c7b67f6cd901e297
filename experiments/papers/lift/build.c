#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/papers/lift/replay.h"

enum { COMPILE_LIMIT_S = 300 };

/* ---- the text as a C file ---- */

static void write_program(FILE *out, const struct lift_program *g, size_t i)
{
    for (size_t k = 0; k < g->n_kernels; k++)
        fprintf(out, "#define %s(...) LIFT_ITEM(%zu_%zu, __VA_ARGS__)\n", g->kernel[k].name, i, k);
    fprintf(out, "%s\n", g->text);
    for (size_t k = 0; k < g->n_kernels; k++) {
        const struct lift_kernel *kernel = &g->kernel[k];

        fprintf(out, "#undef %s\nLIFT_GROUP(%zu_%zu, %zu, %zu", kernel->name, i, k, kernel->local[0], kernel->local[1]);
        for (size_t a = 0; a < kernel->n_args; a++)
            fprintf(out, ", b[%d]", (int)kernel->arg[a]);
        fprintf(out, ")\n");
    }
}

static int write_file(const char *path, const struct lift_program *const *program, size_t n, struct exp_why *why)
{
    FILE *out = fopen(path, "w");

    if (!out)
        return exp_fail(why, -errno, "%s: %s", path, strerror(errno));
    fprintf(out, "#include \"experiments/papers/lift/shim.h\"\n");
    for (size_t i = 0; i < n; i++)
        write_program(out, program[i], i);
    return fclose(out) ? exp_fail(why, -errno, "%s: %s", path, strerror(errno)) : 0;
}

/* ---- compilers ---- */

typedef void (*run_fn)(float *const *buffer, int band, const size_t *items);

struct lift_build {
    char folder[64];
    void *object;
    run_fn *run; /* [n][LIFT_MOST_KERNELS] */
    struct lift_recorder *recorder;
    const uint64_t *count, *work; /* [n_blocks]; [n_blocks][2]: operations and multiply-adds of a run; NULL: recorded */
    size_t n_blocks;
    uint64_t *seen; /* the counts when the work was asked for last */
};

/* Runs a command; {} in the command stands for the build's folder. Returns 0 or -errno. */
static int run(const struct lift_build *b, const char *command, struct exp_why *why)
{
    struct exp_words words = { 0 }, filled = { 0 };
    char last[256];
    int status = 0, err;

    exp_words_split(&words, command);
    for (size_t i = 0; i < words.n; i++) {
        const char *hole = strstr(words.word[i], "{}");

        if (hole)
            exp_words_add(&filled, "%.*s%s%s", (int)(hole - words.word[i]), words.word[i], b->folder, hole + 2);
        else
            exp_words_add(&filled, "%s", words.word[i]);
    }
    err =
        exp_process_run((const char *const *)filled.word, COMPILE_LIMIT_S, exp_interrupted, &status, last, sizeof last);
    if (err && err != -EINTR)
        exp_fail(why, err == -ENOENT ? -ENOTSUP : err, "%s: %s", filled.word[0], strerror(-err));
    else if (!err && status)
        err = exp_fail(why, -EIO, "the text does not compile as C: %s", last);
    exp_words_release(&words);
    exp_words_release(&filled);
    return err == -ENOENT ? -ENOTSUP : err;
}

static int make_recorded(const struct lift_build *b, struct exp_why *why)
{
    char here[PATH_MAX], *command;
    int err;

    if (!getcwd(here, sizeof here))
        return exp_fail(why, -errno, "this folder cannot be read: %s", strerror(errno));
    command = exp_format("gcc -std=gnu17 -O0 -w -fPIC -fsanitize=thread -DLIFT_RECORDED -I'%s' -c {}/text.c -o "
                         "{}/text.o",
                         here);
    err = run(b, command, why);
    free(command);
    command = exp_format(
        "gcc -std=gnu17 -O2 -fPIC -shared -Wl,-Bsymbolic -I'%s' experiments/papers/lift/item_watcher.c {}/text.o -o "
        "{}/text.so",
        here);
    err = err ? err : run(b, command, why);
    free(command);
    return err;
}

/* The compilers in place of PoCL's, best first: Debian's PoCL compiles by LLVM 15. */
static const char *const compilers[] = { "clang-15", "clang-19", "clang", "gcc" };

/* Names the flags of C that stand for a program's flags of OpenCL C: PoCL fuses nothing unless a flag allows fusing. */
static const char *flags_of(const char *flags)
{
    if (strstr(flags, "fast-relaxed-math"))
        return "-ffast-math";
    return strstr(flags, "mad-enable") ? "-ffp-contract=fast" : "-ffp-contract=off";
}

static int compile_by(const struct lift_build *b, const char *compiler, const char *flags, struct exp_why *why)
{
    char *command = exp_format("%s -std=gnu17 -O1 -ftree-vectorize -ftree-slp-vectorize -march=native -w -fPIC "
                               "-fno-asynchronous-unwind-tables %s -I. -S "
                               "{}/text.c -o {}/text.s",
                               compiler, flags_of(flags));
    const int err = run(b, command, why);

    free(command);
    return err;
}

/* Code of an unknown kind is recorded by hooks (LIFT_RECORDED). */
static int count(const struct lift_build *b, struct exp_why *why)
{
    const int err = run(b,
                        "sh -c 'awk -f counters/watch/x86.awk -f experiments/papers/lift/count.awk \"$0/text.s\" "
                        ">\"$0/counted.s\"' {}",
                        why);

    return err == -EIO ? -ENOTSUP : err;
}

static int make_counted(struct lift_build *b, const char *flags, struct exp_why *why)
{
    char *command;
    size_t i = 0;
    int err;

#ifndef __x86_64__
    return exp_fail(why, -ENOTSUP, "code is counted on x86-64 only");
#endif
    while ((err = compile_by(b, compilers[i], flags, why)) == -ENOTSUP &&
           i + 1 < sizeof compilers / sizeof compilers[0])
        i++;
    err = err ? err : count(b, why);
    command = exp_format("%s -shared {}/counted.s -o {}/text.so", compilers[i]);
    err = err ? err : run(b, command, why);
    free(command);
    return err;
}

/* ---- builds ---- */

static int load(struct lift_build *b, const struct lift_program *const *program, size_t n, struct exp_why *why)
{
    char *path = exp_format("%s/text.so", b->folder);

    b->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (!b->object)
        return exp_fail(why, -EIO, "%s", dlerror());
    b->run = exp_new(n * LIFT_MOST_KERNELS, sizeof *b->run);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < program[i]->n_kernels; k++) {
            char name[64];
            void *symbol;

            snprintf(name, sizeof name, "lift_run_%zu_%zu", i, k);
            symbol = dlsym(b->object, name);
            memcpy(&b->run[i * LIFT_MOST_KERNELS + k], &symbol, sizeof symbol);
        }
    }
    b->recorder = dlsym(b->object, "lift_recorder");
    b->count = dlsym(b->object, "lift_block_count");
    b->work = dlsym(b->object, "lift_block_work");
    b->n_blocks = b->count ? *(const uint64_t *)dlsym(b->object, "lift_n_blocks") : 0;
    b->seen = exp_new(b->n_blocks + 1, sizeof *b->seen);
    return 0;
}

int lift_build_new(struct lift_build **build, enum lift_build_kind kind, const struct lift_program *const *program,
                   size_t n, struct exp_why *why)
{
    struct lift_build *b = exp_new(1, sizeof *b);
    char *path;
    int err = 0;

    assert(n > 0 && program);
    exp_say(b->folder, sizeof b->folder, "/tmp/convsim-XXXXXX");
    if (!mkdtemp(b->folder)) {
        free(b);
        return exp_fail(why, -errno, "there is no folder in /tmp: %s", strerror(errno));
    }
    path = exp_format("%s/text.c", b->folder);
    err = write_file(path, program, n, why);
    if (!err)
        err = kind == LIFT_RECORDED ? make_recorded(b, why) : make_counted(b, program[0]->flags, why);
    err = err ? err : load(b, program, n, why);
    free(path);
    if (err)
        lift_build_free(b);
    else
        *build = b;
    return err;
}

void lift_build_free(struct lift_build *b)
{
    static const char *const files[] = { "text.c", "text.o", "text.s", "counted.s", "text.so" };

    if (!b)
        return;
    if (b->object)
        dlclose(b->object);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = exp_format("%s/%s", b->folder, files[i]);

        unlink(path);
        free(path);
    }
    rmdir(b->folder);
    free(b->seen);
    free(b->run);
    free(b);
}

void lift_build_run(struct lift_build *b, size_t i, size_t k, const struct lift_memory *m, size_t band,
                    const struct lift_range *items)
{
    const size_t at[] = { items->group[0], items->group[1], items->first[0],
                          items->first[1], items->end[0],   items->end[1] };

    assert(k < LIFT_MOST_KERNELS && b->run && m->at);
    b->run[i * LIFT_MOST_KERNELS + k](m->buffer, (int)band, at);
}

struct lift_recorder *lift_build_recorder(struct lift_build *b)
{
    return b->recorder;
}

bool lift_build_work(struct lift_build *b, struct sim_work *w)
{
    *w = (struct sim_work){ 0 };
    if (!b->count)
        return false;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const double times = (double)(b->count[i] - b->seen[i]);

        w->operations += times * (double)b->work[2 * i];
        w->macs += times * (double)b->work[2 * i + 1];
        b->seen[i] = b->count[i];
    }
    return true;
}

/* ---- memory ---- */

/* Each buffer has the room of 32 bits of addresses, so an address tells the buffer. */
#define ROOM ((uint64_t)1 << 32)

int lift_memory_new(struct lift_memory *m, struct exp_why *why)
{
    void *at = mmap(NULL, (LIFT_N_ROLES + 1) * ROOM, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return exp_fail(why, -ENOMEM, "%llu GiB of addresses cannot be reserved: %s",
                        (unsigned long long)((LIFT_N_ROLES + 1) * ROOM >> 30), strerror(errno));
    m->at = at;
    for (int r = 0; r < LIFT_N_ROLES; r++)
        m->buffer[r] = (float *)(void *)(m->at + (uint64_t)r * ROOM);
    return 0;
}

void lift_memory_clear(struct lift_memory *m)
{
    madvise(m->at, LIFT_N_ROLES * ROOM, MADV_DONTNEED);
}

void lift_memory_free(struct lift_memory *m)
{
    if (m->at)
        munmap(m->at, (LIFT_N_ROLES + 1) * ROOM);
    m->at = NULL;
}

enum lift_role lift_memory_find(const struct lift_memory *m, uint64_t address, uint64_t *offset)
{
    const uint64_t place = address - (uintptr_t)m->at;

    *offset = place % ROOM;
    return place / ROOM < LIFT_N_ROLES ? (enum lift_role)(place / ROOM) : LIFT_N_ROLES;
}
