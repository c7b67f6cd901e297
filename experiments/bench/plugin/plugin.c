#define _GNU_SOURCE
#include "experiments/bench/plugin/plugin.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/program.h"

const char *exp_plugin_keep(struct exp_plugin *p, const char *reason)
{
    char **text, *copy = exp_copy_text(reason);

    exp_text_clean(copy);
    pthread_mutex_lock(&p->lock);
    text = exp_append(&p->kept, &p->n_kept, sizeof *p->kept);
    *text = copy;
    pthread_mutex_unlock(&p->lock);
    return copy;
}

/* ---- tasks for the process ---- */

enum { MOST_HANGS = 2 }; /* each hang costs the time limit */

const char *plugin_bury(struct exp_plugin *p, const char *reason)
{
    plugin_keeper_end(&p->channel);
    if (!p->why_dead)
        p->why_dead = exp_plugin_keep(p, reason);
    return p->why_dead;
}

void exp_plugin_condemn(struct exp_plugin *p, const char *reason)
{
    pthread_mutex_lock(&p->lock);
    plugin_bury(p, reason);
    pthread_mutex_unlock(&p->lock);
}

/* Keeps a text of the process. Returns NULL for an empty text. */
static const char *said_of(struct exp_plugin *p, const char *words)
{
    char *text = plugin_channel_text(words, PLUGIN_TEXT_BYTES);
    const char *kept = *text ? exp_plugin_keep(p, text) : NULL;

    free(text);
    return kept;
}

static const char *said(struct exp_plugin *p)
{
    return said_of(p, p->channel.control->text);
}

/* Says how the process ended by itself. */
static const char *explain_end(struct exp_plugin *p, int status, const char *doing)
{
    const char *words = said(p);
    char text[PLUGIN_TEXT_BYTES + 64];

    if (words)
        exp_say(text, sizeof text, "the plug-in %s %s", words, doing);
    else if (WIFSIGNALED(status))
        exp_say(text, sizeof text, "the plug-in crashed (%s) %s", strsignal(WTERMSIG(status)), doing);
    else
        exp_say(text, sizeof text, "the plug-in called exit(%d) %s", WEXITSTATUS(status), doing);
    return p->why_ended = exp_plugin_keep(p, text);
}

/* Ends a process that does not answer in time. */
static const char *end_hanging(struct exp_plugin *p, double seconds, const char *doing)
{
    char text[256];

    exp_say(text, sizeof text, "the plug-in did not come back %s: it was ended after %.0f s", doing, seconds);
    plugin_keeper_end_process(&p->channel);
    p->n_hangs++;
    p->why_hung = p->why_hung ? p->why_hung : exp_plugin_keep(p, text);
    return p->why_ended = exp_plugin_keep(p, text);
}

/* Gives the process a task and waits until the task is done. Returns NULL, or why the process has ended. */
static const char *ask(struct exp_plugin *p, enum plugin_task task, double seconds, const char *doing)
{
    const uint64_t until_ns = ctr_now_ns() + (uint64_t)(1e9 * (p->limit_s + seconds));
    int status;

    if (p->why_dead || !p->channel.is_up)
        return p->why_dead ? p->why_dead : p->why_ended;
    plugin_channel_ask(&p->channel, task);
    while (!plugin_channel_wait(&p->channel)) {
        if (plugin_keeper_saw_end(&p->channel, &status)) {
            plugin_channel_show(&p->channel);
            return explain_end(p, status, doing);
        }
        if (exp_interrupted())
            return plugin_bury(p, "interrupted");
        if (ctr_now_ns() > until_ns)
            return end_hanging(p, p->limit_s + seconds, doing);
    }
    plugin_channel_show(&p->channel);
    return NULL;
}

const char *plugin_load(struct exp_plugin *p)
{
    const char *why = ask(p, PLUGIN_LOAD, 0, "while it was loaded");

    return why ? why : said(p);
}

/* Starts a process if none runs. Returns NULL, or why no process runs. */
static const char *revive(struct exp_plugin *p)
{
    const char *why;

    if (p->why_dead || p->channel.is_up)
        return p->why_dead;
    plugin_keeper_start_again(&p->channel);
    why = plugin_load(p);
    return why ? plugin_bury(p, why) : NULL;
}

static double run_seconds(const struct conv_plan *plan)
{
    return 20e-9 * conv_macs(&plan->problem);
}

/* Returns the fault behind the last reason of the process. */
static enum exp_plugin_fault fault_of(const struct exp_plugin *p)
{
    if (p->channel.control->is_wrong)
        return EXP_PLUGIN_IS_WRONG;
    return p->channel.is_up ? EXP_PLUGIN_REFUSES : EXP_PLUGIN_ENDED;
}

/* Checks a layer. Returns NULL, or why the layer is refused. */
static const char *check(struct exp_plugin *p, const struct conv_plan *plan, const struct conv_binding *bind,
                         const char **doubt, enum exp_plugin_fault *fault)
{
    const char *why = p->n_hangs >= MOST_HANGS ? p->why_hung : revive(p);
    char text[256];

    if (!why) {
        p->channel.control->plan = *plan;
        if (plugin_channel_lend(&p->channel, plan, bind))
            return exp_plugin_keep(p, "there is no shared memory for its tensors");
        why = ask(p, PLUGIN_CHECK, 6 * run_seconds(plan), "before timing");
        *fault = fault_of(p);
        why = why ? why : said(p);
    } else {
        *fault = EXP_PLUGIN_ENDED;
    }
    if (!why && *p->channel.control->doubt)
        *doubt = said_of(p, p->channel.control->doubt);
    if (!why && plugin_channel_find_stray(&p->channel, plan, text, sizeof text)) {
        why = exp_plugin_keep(p, text);
        *fault = EXP_PLUGIN_IS_WRONG;
    }
    if (!why)
        plugin_channel_take(&p->channel, plan, bind);
    plugin_channel_return(&p->channel);
    return why;
}

const char *exp_plugin_why_not(struct exp_plugin *p, const struct conv_plan *plan)
{
    const char *why;

    pthread_mutex_lock(&p->lock);
    why = revive(p);
    if (!why) {
        p->channel.control->plan = *plan;
        why = ask(p, PLUGIN_CAN, 0, "when it was asked about a shape");
    }
    if (!why)
        why = said(p);
    pthread_mutex_unlock(&p->lock);
    return why;
}

const char *exp_plugin_check(struct exp_plugin *p, const struct conv_plan *plan, const struct conv_binding *bind,
                             const char **doubt, enum exp_plugin_fault *fault)
{
    const char *why;

    *doubt = NULL;
    pthread_mutex_lock(&p->lock);
    why = check(p, plan, bind, doubt, fault);
    pthread_mutex_unlock(&p->lock);
    return why;
}

static void choose(struct exp_plugin *p, size_t layer, const struct conv_plan *plan)
{
    if (!p->why_dead)
        p->channel.control->layer = layer;
    p->run_s = run_seconds(plan);
}

/* Prepares the process for a layer. A plug-in with a single thread runs on the core of the calling thread. */
static const char *get_process(struct exp_plugin *p, const struct conv_plan *plan, uint64_t (*now_ns)(void))
{
    struct plugin_control *control = p->channel.control;
    const char *why = revive(p);

    if (why)
        return why;
    control->is_pinned = p->threads == 1 && !sched_getaffinity(0, sizeof control->cores, &control->cores);
    control->plan = *plan;
    control->now_ns = now_ns;
    return NULL;
}

const char *exp_plugin_open(struct exp_plugin *p, size_t layer, const struct conv_plan *plan, uint64_t (*now_ns)(void))
{
    const char *why = get_process(p, plan, now_ns);

    if (why)
        return why;
    choose(p, layer, plan);
    why = ask(p, PLUGIN_OPEN, p->run_s, "while it got ready");
    return why ? why : said(p);
}

const char *exp_plugin_prepare(struct exp_plugin *p, enum exp_cache_state cache)
{
    p->channel.control->cache = cache;
    return ask(p, PLUGIN_PREPARE, p->run_s, "in a timed run");
}

const char *exp_plugin_run(struct exp_plugin *p, uint64_t *took_ns)
{
    const char *why = ask(p, PLUGIN_RUN, p->run_s, "in a timed run");

    *took_ns = p->channel.control->took_ns;
    return why;
}

void exp_plugin_steps(struct exp_plugin *p, struct exp_phases *phases)
{
    const char *why = ask(p, PLUGIN_STEPS, p->run_s, "in a timed run");

    *phases = p->channel.control->phases;
    phases->why = why || p->channel.control->has_marks ? why : "the plug-in marks no phases";
}

const char *exp_plugin_do(struct exp_plugin *p, void (*fn)(void *data, const struct exp_runs *runs), void *data,
                          size_t bytes)
{
    const char *why;

    assert(bytes <= sizeof p->channel.control->data);
    if (p->threads > 1)
        return "counters see one thread, and the plug-in has more (PLUGIN_THREADS)";
    p->channel.control->fn = fn;
    memcpy(p->channel.control->data, data, bytes);
    why = ask(p, PLUGIN_DO, 16 * p->run_s, "while it was counted");
    memcpy(data, p->channel.control->data, bytes);
    return why;
}

const char *exp_plugin_close(struct exp_plugin *p, struct exp_plugin_closed *closed)
{
    const char *why = ask(p, PLUGIN_CLOSE, p->run_s, "while it gave back what it had");

    *closed = (struct exp_plugin_closed){ .fault = fault_of(p) };
    if (why)
        return why;
    why = said(p);
    memcpy(closed->convert_ns, p->channel.control->convert_ns, sizeof closed->convert_ns);
    return why;
}

/* ---- layers of a network ---- */

void *exp_plugin_lend(struct exp_plugin *p, size_t bytes)
{
    if (p->why_dead || p->channel.lent || plugin_channel_lend_bytes(&p->channel, bytes))
        return NULL;
    return p->channel.lent;
}

void exp_plugin_take_back(struct exp_plugin *p)
{
    if (!p->why_dead)
        ask(p, PLUGIN_CLOSE_LENT, 0, "while it gave back what it had");
    plugin_channel_return(&p->channel);
}

const char *exp_plugin_open_lent(struct exp_plugin *p, size_t layer, const struct conv_plan *plan,
                                 const struct conv_binding *bind, uint64_t (*now_ns)(void))
{
    const char *why = get_process(p, plan, now_ns);

    if (why)
        return why;
    for (int t = 0; t < 3; t++)
        p->channel.control->lent_at[t] = (size_t)(bind->addr[plugin_tensors[t]] - (uintptr_t)p->channel.lent);
    p->channel.control->lent_bytes = p->channel.lent_bytes;
    choose(p, layer, plan);
    why = ask(p, PLUGIN_OPEN_LENT, p->run_s, "while it got ready");
    return why ? why : said(p);
}

const char *exp_plugin_run_lent(struct exp_plugin *p, size_t layer, const struct conv_plan *plan, uint64_t *took_ns)
{
    const char *why = p->why_dead;

    if (why)
        return why;
    choose(p, layer, plan);
    why = ask(p, PLUGIN_RUN_LENT, p->run_s, "in a run of a network");
    *took_ns = p->channel.control->took_ns;
    return why ? why : said(p);
}

/* ---- as algorithms ---- */

static int compile_recorder(const struct exp_plugin *p, struct plugin_recorder *r, const struct exp_recorder_kind *kind,
                            struct exp_why *why)
{
    const bool is_function = p->channel.control->is_function;
    const char *symbol = *p->symbol ? p->symbol : is_function ? "conv" : "conv_plugin";

    r->kind = kind;
    return exp_plugin_compile_recorder(p->path, &(struct exp_plugin_limits){ p->limit_s, p->flags }, symbol,
                                       is_function, kind, &r->program, why);
}

/* Makes the recording program. Code with instructions that cannot be watched is emulated, if an emulator is there. */
static void make_recorder(const struct exp_plugin *p, struct plugin_recorder *r, const struct exp_recorder_kind *kind)
{
    const struct exp_recorder_kind *other = exp_recorder_kind_of_libraries();
    struct exp_why why;
    int err;

    r->asked = kind;
    err = compile_recorder(p, r, kind, &r->why);
    if (err != -ENOTSUP || *kind->emulator || !other || !*p->observer)
        return;
    if (compile_recorder(p, r, other, &why))
        r->kind = kind; /* the first reason tells more */
}

/* Finds the recording program for machines of an instruction set; makes the program the first time. Thread-safe. */
static const struct plugin_recorder *recorder_of(struct exp_plugin *p, const struct exp_recorder_kind *kind)
{
    struct plugin_recorder *r = p->recorder;

    pthread_mutex_lock(&p->lock);
    while (r->asked && r->asked != kind)
        r++;
    assert(r < p->recorder + PLUGIN_MAX_KINDS);
    if (!r->asked)
        make_recorder(p, r, kind);
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* An emulator of this CPU family sees the accesses of libraries; code for another family is emulated in any case. */
static const struct exp_recorder_kind *kind_of(const struct exp_plugin *p, enum cpu_isa isa)
{
    const struct exp_recorder_kind *kind = exp_recorder_kind(isa), *other = exp_recorder_kind_of_libraries();

    return p->calls_libraries && other && (!*kind->emulator || !exp_plugin_is_source(p->path)) ? other : kind;
}

static int plan_outside(const struct exp_setup *s, const struct conv_problem *p,
                        const struct csa_tiling tiling[CSA_N_SCHEDULES], const struct exp_algo *self,
                        struct conv_plan *plan)
{
    const struct exp_recorder_kind *kind = kind_of(self->plugin, s->ukr->isa);
    const int err = conv_plan_plugin(plan, p, self->name, self->plugin);

    (void)tiling;
    plan->plugin.hash = self->plugin->hash;
    if (!self->plugin->why_dead)
        plan->plugin.recorder = recorder_of(self->plugin, kind);
    if (*kind->emulator && s->ukr->isa == CPU_ISA_AVX512)
        plan->plugin.why_no_cycles = "the emulator runs this code without AVX-512, which the machine has, so no cycles "
                                     "can be simulated";
    return err;
}

static const char *runs(const struct exp_setup *s)
{
    (void)s;
    return NULL;
}

static const char *is_replayed(const struct exp_setup *s)
{
    (void)s;
    return NULL;
}

static const char *why_not_recorded(const struct exp_plugin *p, const struct plugin_recorder *r)
{
    if (p->why_dead)
        return p->why_dead;
    return r && !r->program ? r->why.text : NULL;
}

int exp_plugin_replay(const struct conv_plan *plan, const struct conv_binding *bind, bool (*is_stopped)(const void *),
                      const void *ctx, const struct exp_plugin_clock *clock, struct sim_sink *sink, const char **why)
{
    enum { RECORDED = 100, EMULATED = 500 }; /* times the usual limit of a run: other programs may run beside */
    struct exp_plugin *p = plan->plugin.code;
    const struct plugin_recorder *r = plan->plugin.recorder;
    const struct conv_binding usual = conv_bind(&plan->layout, CONV_REPLAY_BASE);
    struct exp_recording recording = {
        .observer = p->observer,
        .plan = plan,
        .bind = bind ? bind : &usual,
        .is_stopped = is_stopped,
        .ctx = ctx,
        .clock = clock,
    };
    struct exp_why reason = { "" };
    int err;

    *why = why_not_recorded(p, r);
    if (*why)
        return -ENOTSUP;
    recording.kind = r->kind;
    recording.limit_s = p->limit_s + (unsigned)((*r->kind->emulator ? EMULATED : RECORDED) * run_seconds(plan));
    recording.program = r->program;
    recording.user_plan = p->user_plan;
    err = exp_plugin_record(&recording, sink, &reason);
    if (err == -ENOTSUP || err == -ENODATA) {
        err = -ENOTSUP;
        pthread_mutex_lock(&p->lock);
        *why = exp_plugin_keep(p, reason.text);
        pthread_mutex_unlock(&p->lock);
    }
    return err;
}

/* Runs a layer whose time does not matter. */
static int run_outside(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    const char *doubt;
    enum exp_plugin_fault fault;

    (void)s;
    return exp_plugin_check(plan->plugin.code, plan, bind, &doubt, &fault) || doubt ? -EIO : 0;
}

struct exp_algo plugin_algo(struct exp_plugin *p)
{
    return (struct exp_algo){ .name = p->name,
                              .when = EXP_ALGO_ON_REQUEST,
                              .title = p->title,
                              .label = p->title,
                              .plan = plan_outside,
                              .run = run_outside,
                              .why_not_run = runs,
                              .why_not_replay = is_replayed,
                              .why_not_observed = "a plug-in's accesses are what is simulated",
                              .plugin = p,
                              .why_dead = &p->why_dead };
}
