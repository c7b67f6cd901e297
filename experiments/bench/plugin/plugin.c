#define _GNU_SOURCE
#include "experiments/bench/plugin/plugin.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/process.h"
#include "kernels/plugin/conv_plugin.h"
#include "sim/machine/machine_words.h"

/* The program that records the plug-in's accesses: made when first needed. */
struct recorder {
    const struct exp_recorder_kind *asked; /* NULL: no request yet */
    const struct exp_recorder_kind
        *kind;     /* what there is: an emulator, where code that records itself cannot be made */
    char *program; /* NULL: there is no program */
    struct exp_why why;
};

enum { MAX_KINDS = 4 };

struct exp_plugin {
    struct exp_plugin *next;
    char *name, *title, *path, *symbol, *flags, *user_plan, *object;
    const char *observer;
    bool calls_libraries; /* or is a library: the C file is only a part of the code */
    uint64_t hash;        /* of the object */
    struct recorder recorder[MAX_KINDS];
    const char *why_dead;  /* NULL: the plug-in runs */
    const char *why_ended; /* how the last process ended; valid while no process runs */
    const char *why_hung;  /* reason of the first hang */
    unsigned n_hangs;      /* number of hangs */
    pthread_mutex_t lock;
    struct plugin_channel channel;
    unsigned limit_s, threads;
    double run_s; /* additional limit for a run of the chosen layer */
    char **kept;  /* [n_kept] reasons */
    size_t n_kept;
};

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

struct conv_plugin_shape exp_plugin_shape(const struct conv_problem *p)
{
    return (struct conv_plugin_shape){
        .bytes = sizeof(struct conv_plugin_shape),
        .batch = (int32_t)p->n,
        .groups = (int32_t)p->groups,
        .in_channels = (int32_t)p->c,
        .in_h = (int32_t)p->h,
        .in_w = (int32_t)p->w,
        .out_channels = (int32_t)p->k,
        .out_h = (int32_t)p->p,
        .out_w = (int32_t)p->q,
        .kernel_h = (int32_t)p->r,
        .kernel_w = (int32_t)p->s,
        .stride_h = (int32_t)p->stride_h,
        .stride_w = (int32_t)p->stride_w,
        .pad_top = (int32_t)p->pad_top,
        .pad_left = (int32_t)p->pad_left,
        .pad_bottom = (int32_t)p->pad_bottom,
        .pad_right = (int32_t)p->pad_right,
        .dilation_h = (int32_t)p->dilation_h,
        .dilation_w = (int32_t)p->dilation_w,
    };
}

/* ---- tasks for the process ---- */

enum { MOST_HANGS = 2 }; /* each hang costs the time limit */

/* Ends a plug-in for good, and prints the reason. */
static const char *bury(struct exp_plugin *p, const char *reason)
{
    plugin_keeper_end(&p->channel);
    if (!p->why_dead)
        p->why_dead = exp_plugin_keep(p, reason);
    return p->why_dead;
}

void exp_plugin_condemn(struct exp_plugin *p, const char *reason)
{
    pthread_mutex_lock(&p->lock);
    bury(p, reason);
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
            return bury(p, "interrupted");
        if (ctr_now_ns() > until_ns)
            return end_hanging(p, p->limit_s + seconds, doing);
    }
    plugin_channel_show(&p->channel);
    return NULL;
}

/* Has the process load the object. Returns NULL, or why loading failed. */
static const char *load(struct exp_plugin *p)
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
    why = load(p);
    return why ? bury(p, why) : NULL;
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
    static const enum conv_tensor tensors[3] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };
    const char *why = get_process(p, plan, now_ns);

    if (why)
        return why;
    for (int t = 0; t < 3; t++)
        p->channel.control->lent_at[t] = (size_t)(bind->addr[tensors[t]] - (uintptr_t)p->channel.lent);
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

static int compile_recorder(const struct exp_plugin *p, struct recorder *r, const struct exp_recorder_kind *kind,
                            struct exp_why *why)
{
    const bool is_function = p->channel.control->is_function;
    const char *symbol = *p->symbol ? p->symbol : is_function ? "conv" : "conv_plugin";

    r->kind = kind;
    return exp_plugin_compile_recorder(p->path, &(struct exp_plugin_limits){ p->limit_s, p->flags }, symbol,
                                       is_function, kind, &r->program, why);
}

/* Makes the recording program. Code with instructions that cannot be watched is emulated, if an emulator is there. */
static void make_recorder(const struct exp_plugin *p, struct recorder *r, const struct exp_recorder_kind *kind)
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
static const struct recorder *recorder_of(struct exp_plugin *p, const struct exp_recorder_kind *kind)
{
    struct recorder *r = p->recorder;

    pthread_mutex_lock(&p->lock);
    while (r->asked && r->asked != kind)
        r++;
    assert(r < p->recorder + MAX_KINDS);
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

static const char *why_not_recorded(const struct exp_plugin *p, const struct recorder *r)
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
    const struct recorder *r = plan->plugin.recorder;
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

/* Finds the end of the path in "dir/mine.c:other": the last ':' without a slash behind it. */
static size_t path_length(const char *item, size_t length)
{
    for (size_t i = length; i > 0 && item[i - 1] != '/'; i--) {
        if (item[i - 1] == ':')
            return i - 1;
    }
    return length;
}

/* Returns the default name of a plug-in: "mine" of dir/mine.c, "mine_other" of dir/mine.c:other. */
static char *name_of_file(const char *path, const char *symbol)
{
    const char *file = exp_last_part(path), *dot = strrchr(file, '.');
    char *name = exp_format("%.*s%s%s", (int)(dot && dot > file ? dot - file : (ptrdiff_t)strlen(file)), file,
                            *symbol ? "_" : "", symbol);

    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    if (!*name)
        strcpy(name = exp_resize(name, 2, 1), "_");
    if (strlen(name) >= PLUGIN_NAME_BYTES)
        name[PLUGIN_NAME_BYTES - 1] = '\0';
    return name;
}

/* Starts the process and has the process load the object. Returns NULL, or why the plug-in does not run. */
static const char *start(struct exp_plugin *p)
{
    char text[PLUGIN_TEXT_BYTES];
    int err = plugin_channel_open(&p->channel);

    if (!err) {
        p->channel.control->threads = p->threads;
        exp_say(p->channel.control->user_plan, PLUGIN_PLAN_BYTES, "%s", p->user_plan);
        err = plugin_keeper_start(&p->channel, p->object, p->symbol);
    }
    if (!err)
        return load(p);
    exp_say(text, sizeof text, "its process cannot be started: %s", strerror(-err));
    return exp_plugin_keep(p, text);
}

/* The plug-ins of this process, as its algorithms (algo.c). */
static struct exp_plugin *first_plugin;

/* Adds the plug-in to the list of algorithms. */
static int add(struct exp_plugin *p, const char *item, unsigned *selected, struct exp_why *why)
{
    const struct exp_algo algo = { .name = p->name,
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
    const struct exp_algo *added;

    added = exp_algo_add(&algo);
    if (!added)
        return exp_fail(why, -EINVAL, "ALGO: %s: more than %d plug-ins", item, EXP_MAX_PLUGINS);
    *selected |= exp_algo_bit(added);
    return 0;
}

static bool is_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(name);
}

/* Copies a title for figures and tables, without characters special to their languages. */
static char *clean_title(const char *title)
{
    char *copy = exp_copy_text(title);

    for (char *c = copy; *c; c++)
        *c = iscntrl((unsigned char)*c) || strchr("\"'`\\$@{}<>;|%", *c) ? ' ' : *c;
    return copy;
}

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

static void take_names(struct exp_plugin *p)
{
    const struct plugin_control *said = p->channel.control;
    char *name = plugin_channel_text(said->name, sizeof said->name);
    char *title = plugin_channel_text(said->title, sizeof said->title);

    if (is_name(name))
        replace(&p->name, exp_copy_text(name));
    p->title = clean_title(*title ? title : p->name);
    free(name);
    free(title);
    if (p->threads > 1) {
        replace(&p->name, exp_format("%s_%u_threads", p->name, p->threads));
        replace(&p->title, exp_format("%s, %u threads", p->title, p->threads));
    }
}

static bool has_title(const char *title)
{
    for (size_t i = 0; i < exp_algo_record_count(); i++) {
        if (!strcmp(exp_algo_record(i)->title, title))
            return true;
    }
    return false;
}

/*
 * Gives a plug-in a new name or title if an algorithm already has the name or title: two versions of a file may stand
 * beside each other.
 */
static void make_unique(struct exp_plugin *p, const char *item)
{
    char *name = exp_copy_text(p->name), *title = exp_copy_text(p->title);

    for (unsigned i = 2; exp_algo_find(p->name); i++)
        replace(&p->name, exp_format("%s_%u", name, i));
    for (unsigned i = 2; has_title(p->title); i++)
        replace(&p->title, exp_format("%s (%u)", title, i));
    if (strcmp(name, p->name))
        fprintf(stderr, "plug-in %s is called %s here: there is another %s\n", item, p->name, name);
    else if (strcmp(title, p->title))
        fprintf(stderr, "plug-in %s is called '%s' in figures: there is another '%s'\n", item, p->title, title);
    free(name);
    free(title);
}

/* Compiles the plug-in and starts its process. Returns NULL, or why the plug-in does not run. */
static const char *make(struct exp_plugin *p)
{
    const struct exp_plugin_limits limits = { p->limit_s, p->flags };
    struct exp_why why;

    if (exp_plugin_compile(p->path, &limits, &p->object, &why))
        return exp_plugin_keep(p, why.text);
    exp_hash_file(&p->hash, p->object);
    p->hash = exp_hash_bytes(p->hash, p->user_plan, strlen(p->user_plan));
    return start(p);
}

/* The lock is recursive: a thread that holds the lock may call exp_plugin_keep. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Loads an item of ALGO=: "dir/mine.c", "./mine.so", "mine.c:other". */
static int load_item(const char *item, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why)
{
    struct exp_plugin *p = exp_new(1, sizeof *p);
    const size_t length = path_length(item, strlen(item));
    const char *symbol = item[length] ? item + length + 1 : "", *reason;

    *p = (struct exp_plugin){ .next = first_plugin,
                              .limit_s = o->limit_s,
                              .threads = o->threads,
                              .channel.fd = -1,
                              .path = exp_format("%s%.*s", strchr("-@", *item) ? "./" : "", (int)length, item),
                              .symbol = exp_copy_text(symbol),
                              .observer = o->observer,
                              .flags = exp_copy_text(o->flags),
                              .user_plan = exp_copy_text(o->plan) };
    first_plugin = p;
    init_lock(&p->lock);
    p->calls_libraries = !exp_plugin_is_source(p->path);
    p->name = name_of_file(p->path, symbol);
    reason = make(p);
    if (reason && !o->may_fail) {
        exp_fail(why, 0, "ALGO: plug-in %s: %s", item, reason);
        exp_text_clean(why->text);
        return exp_interrupted() ? -EINTR : -EINVAL;
    }
    if (reason)
        fprintf(stderr, "plug-in %s does not run: %s\n", item, bury(p, reason));
    if (p->channel.control) {
        p->calls_libraries |= p->channel.control->calls_libraries;
        take_names(p);
    } else {
        p->title = exp_copy_text(p->name);
    }
    make_unique(p, item);
    return add(p, item, selected, why);
}

static bool is_plugin(const char *item)
{
    return strpbrk(item, "./") != NULL;
}

/* Counts the plug-ins before any plug-in runs. */
static int check_number(const char *list, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *item;
    size_t n = 0;
    int err = 0;

    while ((item = strsep(&rest, ","))) {
        n += is_plugin(item);
        if (n > EXP_MAX_PLUGINS && !err)
            err = exp_fail(why, -EINVAL, "ALGO: %s: more than %d plug-ins", item, EXP_MAX_PLUGINS);
    }
    free(items);
    return err;
}

static unsigned count_cores(void)
{
    cpu_set_t cores;

    return sched_getaffinity(0, sizeof cores, &cores) ? 1 : (unsigned)CPU_COUNT(&cores);
}

/* Refuses the name of an unknown algorithm if a file has the name: "mine" of mine.c. */
static int check_name(const char *name, struct exp_why *why)
{
    static const char *const folders[] = { "", "kernels/plugin/" }, *const endings[] = { ".c", ".cpp", ".cc", ".so" };
    enum { N_FOLDERS = sizeof folders / sizeof folders[0], N_ENDINGS = sizeof endings / sizeof endings[0] };
    int err = 0;

    for (size_t i = 0; i < N_FOLDERS * N_ENDINGS && !err && *name && !exp_algo_find(name); i++) {
        const char *before = i / N_ENDINGS || strcmp(endings[i % N_ENDINGS], ".so") ? "" : "./";
        char *path = exp_format("%s%s%s%s", before, folders[i / N_ENDINGS], name, endings[i % N_ENDINGS]);

        if (!access(path, R_OK))
            err = exp_fail(why, -EINVAL, "ALGO: unknown algorithm '%s'; there is a plug-in: ALGO=%s", name, path);
        free(path);
    }
    return err;
}

/* Copies the items that name built-in algorithms into `own`; *has_plugins: the list names plug-ins. */
static int take_own(const char *list, char *own, bool *has_plugins, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *item;
    int err = 0;

    while (!err && (item = strsep(&rest, ","))) {
        *has_plugins |= is_plugin(item);
        if (is_plugin(item))
            continue;
        err = check_name(item, why);
        strcat(strcat(own, *own ? "," : ""), item);
    }
    free(items);
    return err;
}

static int has_ending(const struct dirent *entry)
{
    return exp_plugin_is_source(entry->d_name) || exp_name_ends_in(entry->d_name, ".so");
}

/* Says that a file is missing, and which file of the folder has nearly the name. */
static void say_missing(const char *path, int err, struct exp_why *why)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? exp_format("%.*s/", (int)(slash - path), path) : exp_copy_text("./");
    struct dirent **entry = NULL;
    const int n = scandir(folder, &entry, has_ending, alphasort);
    const char **known = exp_new((size_t)(n > 0 ? n : 0) + 1, sizeof *known), *nearest;

    for (int i = 0; i < n; i++)
        known[i] = entry[i]->d_name;
    nearest = sim_nearest_word(exp_last_part(path), known, (size_t)(n > 0 ? n : 0));
    exp_fail(why, err, "ALGO: there is no file '%s'%s%s%s%s", path, nearest ? ", did you mean " : "",
             nearest && slash ? folder : "", nearest ? nearest : "", nearest ? "?" : "");
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    free(known);
    free(folder);
}

/* Finds a plug-in whose file is missing; a function or record of the file may be named behind a colon. */
static int check_file(const char *item, struct exp_why *why)
{
    char *path = exp_format("%.*s", (int)path_length(item, strlen(item)), item);
    int err = !access(item, F_OK) || !access(path, F_OK) ? 0 : -ENOENT;

    if (err)
        say_missing(path, err, why);
    free(path);
    return err;
}

int exp_plugins_check(const char *list, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *own = exp_new(strlen(list) + 1, 1), *item;
    bool has_plugins = false;
    unsigned selected;
    int err = take_own(list, own, &has_plugins, why);

    err = err ? err : exp_algo_select(own, &selected, why);
    while (!err && (item = strsep(&rest, ",")))
        err = is_plugin(item) ? check_file(item, why) : 0;
    free(own);
    free(items);
    return err;
}

static int check_options(const struct exp_plugin_options *o, struct exp_why *why)
{
    struct exp_words words = { 0 };
    int err = exp_words_split(&words, o->flags);

    exp_words_release(&words);
    if (o->threads > count_cores())
        return exp_fail(why, -EINVAL, "PLUGIN_THREADS=%u: this program may use %u cores", o->threads, count_cores());
    if (strlen(o->plan) >= PLUGIN_PLAN_BYTES)
        return exp_fail(why, -EINVAL, "PLUGIN_PLAN has more than %d bytes", PLUGIN_PLAN_BYTES - 1);
    return err ? exp_fail(why, err, "PLUGIN_CFLAGS has a quote that is not closed: %s", o->flags) : 0;
}

int exp_plugins_select(const char *list, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *own = exp_new(strlen(list) + 1, 1), *item;
    bool has_plugins = false;
    int err = check_options(o, why);

    *selected = 0;
    err = err ? err : check_number(list, why);
    err = err ? err : take_own(list, own, &has_plugins, why);
    if (!err && (*own || !has_plugins)) /* find a misspelt name before any compilation */
        err = exp_algo_select(own, selected, why);
    while (!err && (item = strsep(&rest, ","))) {
        if (is_plugin(item))
            err = load_item(item, o, selected, why);
    }
    free(own);
    free(items);
    return err;
}

/* Waits a moment for the process to end by itself, so that coverage data are written. */
static void leave(struct exp_plugin *p)
{
    enum { MOST_WAITS = 50 };
    int status;

    if (!p->channel.is_up)
        return;
    plugin_channel_ask(&p->channel, PLUGIN_LEAVE);
    for (int i = 0; i < MOST_WAITS && !plugin_keeper_saw_end(&p->channel, &status); i++)
        plugin_channel_wait(&p->channel);
}

void exp_plugins_release(void)
{
    for (struct exp_plugin *p = first_plugin, *next; p; p = next) {
        next = p->next;
        leave(p);
        plugin_channel_close(&p->channel);
        p->why_dead = "its process has been ended";
        for (size_t i = 0; i < p->n_kept; i++)
            free(p->kept[i]);
        free(p->kept);
        p->kept = NULL;
        p->n_kept = 0;
    }
}
