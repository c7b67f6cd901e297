/*
 * Convolutions that pass the check of single runs and skip the work in timed runs, each in a different way.
 * tests/experiments/plugin.sh has the bench's answers.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "failing.c"

static size_t in_elements(shape *s)
{
    return (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w;
}

/* Recognizes an input by the address, and by three elements or none, and keeps the output. */
static struct kept {
    const float *in;
    float first, middle, last, *out;
} kept[64];
static size_t n_kept;

static void remember(shape *s, const float *in, const float *filters, float *out, int looks)
{
    const struct kept now = { in, looks ? in[0] : 0, looks ? in[in_elements(s) / 2] : 0,
                              looks ? in[in_elements(s) - 1] : 0, NULL };

    for (size_t i = 0; i < n_kept; i++) {
        if (kept[i].in == in && kept[i].first == now.first && kept[i].middle == now.middle &&
            kept[i].last == now.last) {
            memcpy(out, kept[i].out, out_elements(s) * sizeof *out);
            return;
        }
    }
    right(s, in, filters, out);
    if (n_kept == 64)
        return;
    kept[n_kept] = now;
    kept[n_kept].out = malloc(out_elements(s) * sizeof *out);
    memcpy(kept[n_kept++].out, out, out_elements(s) * sizeof *out);
}

/* Tells whether the run is a timed run: timed runs follow many untimed runs. */
static int is_late(void)
{
    static int runs;

    return ++runs > 8;
}

void knows_elements(shape *s, const float *in, const float *filters, float *out)
{
    remember(s, in, filters, out, 1);
}

void knows_places(shape *s, const float *in, const float *filters, float *out)
{
    if (is_late())
        remember(s, in, filters, out, 0);
    else
        right(s, in, filters, out);
}

/* Does nothing if the output buffer still holds the last output. */
void skips(shape *s, const float *in, const float *filters, float *out)
{
    static float first, last;

    if (is_late() && out[0] == first && out[out_elements(s) - 1] == last)
        return;
    right(s, in, filters, out);
    first = out[0];
    last = out[out_elements(s) - 1];
}

/* Computes only one channel in timed runs. */
void leaves_channels(shape *s, const float *in, const float *filters, float *out)
{
    const size_t plane = (size_t)s->out_h * (size_t)s->out_w;

    if (!is_late()) {
        right(s, in, filters, out);
        return;
    }
    struct conv_plugin_shape one = *s;
    one.out_channels = one.in_channels = one.groups = 1; /* of a depthwise layer */
    right(&one, in, filters, out);
    for (size_t i = plane; i < out_elements(s); i++)
        out[i] = out[i - plane];
}

/* Makes one element wrong in some timed runs. */
void slips(shape *s, const float *in, const float *filters, float *out)
{
    static unsigned runs;

    right(s, in, filters, out);
    if (++runs > 8 && runs % 3 == 0)
        out[5] += 1;
}

/* Returns the output of the previous run. */
void is_behind(shape *s, const float *in, const float *filters, float *out)
{
    static float *last;

    if (!is_late()) {
        right(s, in, filters, out);
        return;
    }
    if (!last)
        last = calloc(out_elements(s), sizeof *last);
    memcpy(out, last, out_elements(s) * sizeof *out);
    right(s, in, filters, last);
}

/* Rounds to bfloat16 in timed runs: small whole numbers lose nothing. */
void rounds_late(shape *s, const float *in, const float *filters, float *out)
{
    if (is_late())
        rounds(s, in, filters, out);
    else
        right(s, in, filters, out);
}

void writes_late(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    if (is_late())
        ((float *)(uintptr_t)in)[7] += 1;
}

/* Forks, in a timed run, a process that leaves the plug-in's session. */
void forks_late(shape *s, const float *in, const float *filters, float *out)
{
    static int forked;

    right(s, in, filters, out);
    if (!is_late() || forked++ || fork())
        return;
    setsid();
    if (!fork()) {
        prctl(PR_SET_NAME, "plugin_escaped");
        sleep(1000);
    }
    _exit(0);
}

/* Forks a process that leaves the plug-in's session, and crashes. */
void forks_and_crashes(shape *s, const float *in, const float *filters, float *out)
{
    if (!fork()) {
        setsid();
        prctl(PR_SET_NAME, "plugin_escaped");
        sleep(1000);
    }
    crashes(s, in, filters, out);
}

/* ---- work in further threads, not counted by the clock of a thread ---- */

static struct work {
    shape *s;
    const float *in, *filters;
    float *out;
} work;

static void *do_work(void *nothing)
{
    if (nothing)
        usleep(300000);
    right(work.s, work.in, work.filters, work.out);
    return NULL;
}

void has_it_done(shape *s, const float *in, const float *filters, float *out)
{
    pthread_t thread;

    work = (struct work){ s, in, filters, out };
    pthread_create(&thread, NULL, do_work, NULL);
    pthread_join(thread, NULL);
}

/* Returns before the output is complete. */
void comes_back_early(shape *s, const float *in, const float *filters, float *out)
{
    static struct conv_plugin_shape own;
    static int is_late_wait = 1;
    pthread_t thread;

    if (!is_late()) {
        right(s, in, filters, out);
        return;
    }
    own = *s;
    work = (struct work){ &own, in, filters, out };
    pthread_create(&thread, NULL, do_work, &is_late_wait);
    pthread_detach(thread);
}

/* ---- an own layout ---- */

struct images {
    size_t n_in, n_out;
    float *in, *out;
    const float *filters, *given;
};

static int take_images(shape *s, const struct conv_plugin_ask *ask, const float *filters, void **state)
{
    struct images *x = malloc(sizeof *x);

    (void)ask;
    *x = (struct images){ in_elements(s),
                          out_elements(s),
                          malloc(in_elements(s) * sizeof(float)),
                          malloc(out_elements(s) * sizeof(float)),
                          filters,
                          NULL };
    *state = x;
    return 0;
}

static void give_images_back(void *state)
{
    struct images *x = state;

    free(x->in);
    free(x->out);
    free(x);
}

static void copy_in(shape *s, void *state, const float *in)
{
    struct images *x = state;

    (void)s;
    memcpy(x->in, in, x->n_in * sizeof *in);
}

static void copy_out(shape *s, void *state, float *out)
{
    struct images *x = state;

    (void)s;
    memcpy(out, x->out, x->n_out * sizeof *out);
}

static void run_between(shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct images *x = state;

    (void)in, (void)out;
    right(s, x->in, filters, x->out);
}

/* Does nothing in a run but look where the input is. */
static void note_input(shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct images *x = state;

    (void)s, (void)filters, (void)out;
    x->given = in;
}

static void ignore_input(shape *s, void *state, const float *in)
{
    (void)s, (void)state, (void)in;
}

static void compute_out(shape *s, void *state, float *out)
{
    struct images *x = state;

    right(s, x->given, x->filters, out);
}

static void compute_in(shape *s, void *state, const float *in)
{
    struct images *x = state;

    right(s, in, x->filters, x->out);
}

#define RECORD(run_)                                                                                                   \
    {                                                                                                                  \
        .abi = CONV_PLUGIN_ABI, .prepare = take_images, .run = run_, .release = give_images_back                       \
    }
const struct conv_plugin honest = RECORD(run_between), puts_off = RECORD(note_input), begins_early = RECORD(note_input);
const struct conv_plugin_layout honest_layout = { copy_in, copy_out }, puts_off_layout = { ignore_input, compute_out },
                                begins_early_layout = { compute_in, copy_out };

/* ---- words ---- */

static const char *says_odd_things(shape *s)
{
    (void)s;
    return "not this\033[31m shape \xff\xfe\xc2\x9b\xe2\x80\xae, ever";
}

const struct conv_plugin odd_words = {
    .abi = CONV_PLUGIN_ABI, .title = "t\033[2J\xff", .why_not = says_odd_things, .run = run
};
const struct conv_plugin one_title = { .abi = CONV_PLUGIN_ABI, .title = "One title", .run = run };
const struct conv_plugin same_title = { .abi = CONV_PLUGIN_ABI, .title = "One title", .run = run };

/* Blocks all signals for a while, as libraries do, and checks that the signal mask has not changed. */
void blocks_signals(shape *s, const float *in, const float *filters, float *out)
{
    sigset_t all, before, now;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    right(s, in, filters, out);
    pthread_sigmask(SIG_SETMASK, &before, &now);
    out[0] = sigismember(&now, SIGSEGV) ? out[0] : 0;
    sigprocmask(SIG_BLOCK, NULL, &now);
    out[0] = sigismember(&now, SIGSEGV) ? 0 : out[0];
}
