/* Runs the program that records a plug-in's accesses, and simulates the accesses meanwhile: part of plugin.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/bench/plugin/stream.h"

enum { WAIT_MS = 20 };

struct program {
    const struct exp_recording *r;
    struct conv_recorder *shared;
    char path[64]; /* of the shared memory */
    pthread_t thread;
    atomic_bool has_ended;
    int err, status;
    char last[256];
};

/*
 * Adds the emulator and its plugin. Libraries have one thread, and the C library clears and copies memory by vectors,
 * not byte by byte.
 */
static void add_emulator(struct exp_words *command, const struct program *p)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_words_split(command, p->r->kind->emulator);
    exp_words_split(command, "-E OMP_NUM_THREADS=1 -E OPENBLAS_NUM_THREADS=1 "
                             "-E OPENBLAS_CORETYPE=Haswell -E DNNL_MAX_CPU_ISA=AVX2 -E "
                             "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:"
                             "glibc.cpu.x86_rep_movsb_threshold=1000000000 -plugin");
    exp_option_print(out, "", p->r->observer);
    exp_option_print(out, ",ring=", p->path);
    fclose(out);
    exp_words_add(command, "%s", text);
    free(text);
}

static void *run_program(void *arg)
{
    struct program *p = arg;
    struct exp_words command = { 0 };

    if (*p->r->kind->emulator)
        add_emulator(&command, p);
    exp_words_add(&command, "%s", p->r->program);
    exp_words_add(&command, "%s", p->path);
    p->err = exp_process_run((const char *const *)command.word, p->r->limit_s, exp_interrupted, &p->status, p->last,
                             sizeof p->last);
    exp_words_release(&command);
    atomic_store(&p->has_ended, true);
    return NULL;
}

/* Waits for the next block. Returns NULL if the program ended without a block, or if the replay was stopped. */
static struct watch_block *next_block(const struct program *p, unsigned number)
{
    const struct timespec most = { 0, WAIT_MS * 1000000L };
    struct watch_block *b = &p->shared->ring.block[number % WATCH_RING_BLOCKS];

    while (!atomic_load(&b->is_full)) {
        if (atomic_load(&p->has_ended) && !atomic_load(&b->is_full))
            return NULL;
        watch_ring_wait(&b->is_full, 0, &most);
    }
    return b;
}

static bool is_stopped(const struct exp_recording *r)
{
    return exp_interrupted() || (r->is_stopped && r->is_stopped(r->ctx));
}

/* Hands on all blocks. Returns whether the last block came. */
static bool read_blocks(struct exp_plugin_stream *s, const struct program *p)
{
    struct watch_block *b;

    for (unsigned number = 0; (b = next_block(p, number)); number++) {
        const bool is_last = !b->n;

        if (!number)
            exp_plugin_stream_place(s, p->shared);
        if (is_stopped(p->r)) {
            atomic_store(&p->shared->ring.is_stopped, 1);
            watch_ring_hand_over(b, 0);
            return false;
        }
        exp_plugin_stream_block(s, b);
        watch_ring_hand_over(b, 0);
        if (is_last)
            return true;
    }
    return false;
}

/* Says why accesses are missing, or returns 0. */
static int judge(const struct program *p, const struct exp_plugin_stream *s, bool is_whole, struct exp_why *why)
{
    const struct exp_recording *r = p->r;

    if (is_stopped(r))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    if (p->err == -EINTR)
        return -EINTR;
    if (p->err == -ETIMEDOUT)
        return exp_fail(why, -ENOTSUP,
                        "the plug-in's accesses are too many: its run was ended after %u s; PLUGIN_LIMIT= grants more",
                        r->limit_s);
    if (p->err)
        return exp_fail(why, -ENOTSUP, "the program that records accesses cannot be run: %s%s%s",
                        *r->kind->emulator ? r->kind->emulator : r->program, ": ", strerror(-p->err));
    if (*p->shared->why)
        return exp_fail(why, -ENOTSUP, "%.*s", (int)sizeof p->shared->why, p->shared->why);
    if (!is_whole && WIFSIGNALED(p->status))
        return exp_fail(why, -ENOTSUP, "the plug-in crashed while its accesses were recorded%s%s: %s%s",
                        *r->kind->emulator ? " by " : "", r->kind->emulator, strsignal(WTERMSIG(p->status)),
                        *r->kind->emulator || WTERMSIG(p->status) != SIGSEGV
                            ? ""
                            : " (what blocks or handles this signal by system calls of its own cannot be recorded)");
    if (!is_whole)
        return exp_fail(why, -ENOTSUP, "the plug-in ended while its accesses were recorded%s%s", *p->last ? ": " : "",
                        p->last);
    if (exp_plugin_stream_stored(s, CONV_OUTPUT) < r->plan->layout.bytes[CONV_OUTPUT])
        return exp_fail(
            why, -ENODATA, "a part of the plug-in's code runs unseen: it stored %llu bytes of %zu to its output",
            (unsigned long long)exp_plugin_stream_stored(s, CONV_OUTPUT), r->plan->layout.bytes[CONV_OUTPUT]);
    return 0;
}

static void prepare(struct conv_recorder *shared, const struct exp_recording *r)
{
    static const enum conv_tensor tensors[] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

    shared->version = CONV_RECORDER_VERSION;
    exp_say(shared->plan, sizeof shared->plan, "%s", r->user_plan);
    shared->shape = exp_plugin_shape(&r->plan->problem);
    for (size_t t = 0; t < CONV_RECORDER_TENSORS; t++)
        shared->tensor[t] =
            (struct conv_recorder_memory){ r->bind->addr[tensors[t]], r->plan->layout.bytes[tensors[t]] };
}

static int record(struct program *p, struct sim_sink *sink, struct exp_why *why)
{
    struct exp_plugin_stream *s = exp_plugin_stream_new(sink, p->r->clock);
    bool is_whole;
    int err;

    prepare(p->shared, p->r);
    err = -pthread_create(&p->thread, NULL, run_program, p);
    if (!err) {
        is_whole = read_blocks(s, p);
        pthread_join(p->thread, NULL);
        err = judge(p, s, is_whole, why);
    }
    exp_plugin_stream_free(s);
    return err;
}

int exp_plugin_record(const struct exp_recording *r, struct sim_sink *sink, struct exp_why *why)
{
    struct program p = { .r = r };
    const int fd = memfd_create("recorder", MFD_CLOEXEC);
    void *shared = MAP_FAILED;
    int err;

    if (*r->kind->emulator && !*r->observer) {
        close(fd);
        return exp_fail(
            why, -ENOTSUP,
            "nobody sees what libraries access: make experiment has QEMU's plugin for that, unless OBSERVE=0");
    }
    if (fd >= 0 && !ftruncate(fd, sizeof *p.shared))
        shared = mmap(NULL, sizeof *p.shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) {
        p.shared = shared;
        exp_say(p.path, sizeof p.path, "/proc/%ld/fd/%d", (long)getpid(), fd);
        err = record(&p, sink, why);
        munmap(shared, sizeof *p.shared);
    } else {
        err = -ENOMEM;
    }
    if (fd >= 0)
        close(fd);
    return err;
}
