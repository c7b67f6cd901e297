/* The checks of a layer in a plug-in's process: part of inside.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "experiments/base/program.h"
#include "experiments/bench/plugin/inside.h"
#include "kernels/shape/sizes.h"

/* Address space between tensors, without memory: the address of a stray access tells the tensor. */
#define GUARD_BYTES ((size_t)64 << 20)

enum {
    NO_NUMBER = 0xff, /* bytes of floats that are NaN */
    SOMETHING = 0xc5, /* bytes of ordinary floats */
    MORE_RUNS = 4,    /* runs compared with the first run, if the first run is short */
    SHORT_MS = 80     /* of CPU time */
};

/*
 * The input of the second run is the first input times this factor. The factor has 21 bits, so multiples up to 4 are
 * exact, and lies in the middle between numbers of 16 bits, of bfloat16 and of TF32: code that computes with fewer bits
 * than a float makes the largest possible error.
 */
static const float other_scale = -0x1.00effp0F;

/*
 * The allowed distance of two runs, in shares of the largest output. Runs on equal inputs are equal; a run on a
 * multiple rounds differently, by less than an error of numbers with 11 bits.
 */
static const float same_share = 0x1p-20F, other_share = 0x1p-13F;

/* ---- the lent tensors ---- */

/* Maps the lent tensors between inaccessible pages; input and filters may be read-only. */
static bool map_lent(struct plugin_inside *p)
{
    const size_t bytes = plugin_places(&p->control->plan.layout, p->place);
    size_t at = GUARD_BYTES;

    p->guarded_bytes = bytes + 4 * GUARD_BYTES;
    p->guarded = mmap(NULL, p->guarded_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->guarded == MAP_FAILED) {
        p->guarded = NULL;
        return false;
    }
    for (int t = 0; t < 3; t++) {
        const struct plugin_place *x = &p->place[t];

        if (mmap(p->guarded + at, x->mapped, t == 2 ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED, p->fd,
                 (off_t)x->offset) == MAP_FAILED)
            return false;
        p->at[t] = (const float *)(const void *)(p->guarded + at + x->before);
        at += x->mapped + GUARD_BYTES;
    }
    return true;
}

/* Makes input and filters writable. Returns false on failure. */
static bool may_write(const struct plugin_inside *p)
{
    for (int t = 0; t < 2; t++) {
        if (mprotect((unsigned char *)(uintptr_t)p->at[t] - p->place[t].before, p->place[t].mapped,
                     PROT_READ | PROT_WRITE))
            return false;
    }
    return true;
}

static void unmap_lent(struct plugin_inside *p)
{
    if (p->guarded)
        munmap(p->guarded, p->guarded_bytes);
    p->guarded = NULL;
}

void plugin_say_where(struct plugin_inside *p, uintptr_t address, const char *access)
{
    static const char *const names[3] = { "input", "filters", "output" };
    char *text = p->control->text;
    const size_t bytes = sizeof p->control->text;

    for (int t = 0; t < 3 && p->guarded; t++) {
        const uintptr_t begin = (uintptr_t)p->at[t], end = begin + p->place[t].bytes;
        const uintptr_t first = begin - p->place[t].before, last = first + p->place[t].mapped;

        if (address < first - GUARD_BYTES / 2 || address >= last + GUARD_BYTES / 2)
            continue;
        p->control->is_wrong = true;
        if (address >= begin && address < end)
            snprintf(text, bytes, "wrote to its %s, element %zu,", names[t], (size_t)(address - begin) / sizeof(float));
        else
            snprintf(text, bytes, "touched memory %zu bytes %s its %s,",
                     address < begin ? (size_t)(begin - address) : (size_t)(address - end + 1),
                     address < begin ? "before" : "behind", names[t]);
        return;
    }
    snprintf(text, bytes, "crashed (%s address %#lx)", access, (unsigned long)address);
}

/* ---- what the plug-in leaves behind ---- */

static size_t count_entries(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    size_t n = 0;

    while (entries && (entry = readdir(entries)))
        n += entry->d_name[0] != '.';
    if (entries)
        closedir(entries);
    return n;
}

void plugin_look(struct plugin_belongings *b)
{
    sigprocmask(SIG_BLOCK, NULL, &b->blocked);
    sigaction(SIGSEGV, NULL, &b->crash);
}

static bool has_changed_signals(const struct plugin_belongings *a, const struct plugin_belongings *b)
{
    for (int i = 1; i < NSIG; i++) {
        if (sigismember(&a->blocked, i) != sigismember(&b->blocked, i))
            return true;
    }
    return a->crash.sa_sigaction != b->crash.sa_sigaction;
}

/* Tells whether a process forked by the plug-in still runs. */
static bool has_children(void)
{
    pid_t child;

    while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return !child;
}

bool plugin_find_remains(const struct plugin_inside *p, char *text, size_t bytes)
{
    const size_t n_threads = count_entries("/proc/self/task");
    struct plugin_belongings now;

    plugin_look(&now);
    *text = '\0';
    if (n_threads > p->control->threads)
        exp_say(text, bytes, "the plug-in runs more threads than it may: PLUGIN_THREADS=%u", p->control->threads);
    else if (has_children())
        exp_say(text, bytes, "the plug-in started a process, which runs on");
    else if (has_changed_signals(&p->had, &now))
        exp_say(text, bytes, "the plug-in changed which signals are handled, and how");
    return *text;
}

static void find_remains(struct plugin_inside *p)
{
    char text[128];

    if (plugin_find_remains(p, text, sizeof text))
        plugin_say_wrong(p, text);
}

/* ---- what the plug-in computes ---- */

static size_t n_elements(const struct plugin_inside *p, int t)
{
    return p->place[t].bytes / sizeof(float);
}

static float *output(const struct plugin_inside *p)
{
    return (float *)(uintptr_t)p->at[2];
}

static float largest_of(const float *x, size_t n)
{
    float largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    return largest;
}

/* Compares an output with the first run's output times a scale. Names the element that differs. */
static bool compare(struct plugin_inside *p, const float *first, float scale, const char *when)
{
    const size_t n = n_elements(p, 2);
    const float bound = largest_of(first, n) * (scale == 1 ? same_share : other_share);
    char text[PLUGIN_TEXT_BYTES];

    for (size_t i = 0; i < n; i++) {
        const float want = scale * first[i], got = output(p)[i];

        if (isnan(want) || fabsf(got - want) <= bound) /* the first run's value is judged elsewhere */
            continue;
        exp_say(text, sizeof text, "the plug-in computes a wrong result %s: output element %zu is %.9g, must be %.9g",
                when, i, (double)got, (double)want);
        snprintf(p->control->doubt, sizeof p->control->doubt, "%s", text);
        return false;
    }
    return true;
}

static void scale_input(float *in, size_t n, float factor, bool divides)
{
    for (size_t i = 0; i < n; i++)
        in[i] = divides ? in[i] / factor : in[i] * factor;
}

static bool took_short(clock_t since)
{
    return clock() - since < CLOCKS_PER_SEC / 1000 * SHORT_MS;
}

/* Checks that input and filters are unchanged. */
static bool are_kept(struct plugin_inside *p, const float *const was[2])
{
    static const char *const names[2] = { "input", "filters" };
    char text[128];

    for (int t = 0; t < 2; t++) {
        if (!memcmp(was[t], p->at[t], p->place[t].bytes))
            continue;
        exp_say(text, sizeof text, "the plug-in wrote to its %s in a later run", names[t]);
        plugin_say_wrong(p, text);
        return false;
    }
    return true;
}

/*
 * Runs the plug-in on another input. The run finds a plug-in that repeats its first result or computes with too few
 * bits. Input and filters are writable from now on, as in timed runs, so the plug-in cannot tell the runs apart.
 */
static bool run_on_other(struct plugin_inside *p, const float *first)
{
    float *in = (float *)(uintptr_t)p->at[0];
    const float *was[2];
    bool is_right;

    if (!may_write(p)) {
        plugin_say(p, "there is no memory for its tensors");
        return false;
    }
    scale_input(in, n_elements(p, 0), other_scale, false);
    for (int t = 0; t < 2; t++)
        was[t] = exp_copy_bytes(p->at[t], n_elements(p, t), sizeof(float));
    memset(output(p), SOMETHING, p->place[2].bytes);
    plugin_run(p, p->at[0], p->at[1], output(p));
    is_right = are_kept(p, was) && compare(p, first, other_scale, "in its second run, on the input times -1.00366");
    scale_input(in, n_elements(p, 0), other_scale, true);
    for (int t = 0; t < 2; t++)
        free((float *)(uintptr_t)was[t]);
    return is_right;
}

static void run_again(struct plugin_inside *p, const float *first)
{
    int i = 0;

    do
        plugin_run(p, p->at[0], p->at[1], output(p));
    while (compare(p, first, 1, "in a later run") && ++i < MORE_RUNS);
}

/* ---- the whole check ---- */

static void run_checked(struct plugin_inside *p)
{
    float *first = exp_new(p->place[2].bytes, 1);
    const clock_t start = clock();
    bool is_short;

    memset(output(p), NO_NUMBER, p->place[2].bytes);
    plugin_run(p, p->at[0], p->at[1], output(p));
    is_short = took_short(start);
    memcpy(first, output(p), p->place[2].bytes);
    find_remains(p);
    if (!*p->control->text && run_on_other(p, first) && is_short)
        run_again(p, first);
    memcpy(output(p), first, p->place[2].bytes);
    free(first);
}

void plugin_check(struct plugin_inside *p)
{
    if (!map_lent(p)) {
        plugin_say(p, "there is no memory for its tensors");
    } else if (plugin_get_ready(p, p->at[1])) {
        run_checked(p);
        plugin_give_back(p);
    }
    unmap_lent(p);
}
