#include "experiments/peers/exp_peers_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_text.h"

/* ---- what the store keeps of a network ---- */

enum { NAME_BYTES = 256 };

static const double parts = 1e9; /* of numbers that are no counts */

/* A result on its way, in one of two directions. Both call the same functions, in the same order. */
struct moving {
    struct exp_result *to;         /* NULL: it is read */
    const struct exp_result *from; /* NULL: it is written */
    size_t at;
    int err;
};

/* Returns whether a count of that name comes next. */
static bool comes(const struct moving *x, const char *name)
{
    return x->at < x->from->n && !strcmp(x->from->name[x->at], name);
}

static void move_count(struct moving *x, const char *name, uint64_t *value)
{
    if (x->to)
        exp_result_put(x->to, name, *value);
    else if (comes(x, name))
        *value = x->from->value[x->at++];
    else
        x->err = x->err ? x->err : -EINVAL;
}

/* Numbers that are missing are not there. */
static void move_number(struct moving *x, const char *name, double *value)
{
    if (x->to && *value >= 0)
        exp_result_put(x->to, name, (uint64_t)llround(*value * parts));
    if (x->from)
        *value = comes(x, name) ? (double)x->from->value[x->at++] / parts : (double)NAN;
}

/* A text is a part of a count's name; an empty one is not there. */
static void move_text(struct moving *x, const char *prefix, char *text, size_t bytes)
{
    char name[NAME_BYTES];

    exp_say(name, sizeof name, "%s%s", prefix, x->to ? text : "");
    if (x->to && *text)
        exp_result_put(x->to, name, 1);
    if (x->from)
        *text = '\0';
    if (x->from && x->at < x->from->n && !strncmp(x->from->name[x->at], prefix, strlen(prefix)))
        exp_say(text, bytes, "%s", x->from->name[x->at++] + strlen(prefix));
}

/* A mark that is all 0 is not there: no ruler stood beside the timing. */
static void move_mark(struct moving *x, const char *of, struct exp_mark *m)
{
    const struct {
        const char *name;
        uint32_t *value;
    } parts_of[] = {
        { "clock", &m->clock_ns }, { "fma", &m->fma_ns },    { "loads' clock", &m->loads_clock_ns },
        { "loads", &m->loads_ns }, { "again", &m->n_again },
    };
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof parts_of / sizeof parts_of[0]; i++) {
        uint64_t value = *parts_of[i].value;

        exp_say(name, sizeof name, "%s/%s", of, parts_of[i].name);
        if (x->to ? m->clock_ns > 0 : comes(x, name))
            move_count(x, name, &value);
        *parts_of[i].value = (uint32_t)value;
    }
}

/* Moves how many timings of a cache state were taken again. */
static void move_ruled(struct moving *x, enum exp_peers_cache c, struct exp_ruler_report *r)
{
    uint64_t limit_ended = r->limit_ended;
    const struct {
        const char *name;
        size_t *value;
    } counts[] = { { "timings", &r->n_timings },
                   { "again", &r->n_again },
                   { "disturbed", &r->n_disturbed },
                   { "things", &r->n_things },
                   { "lost", &r->n_lost } };
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t value = *counts[i].value;

        exp_say(name, sizeof name, "ruler/%s/%s", exp_peers_cache_name(c), counts[i].name);
        move_count(x, name, &value);
        *counts[i].value = value;
    }
    exp_say(name, sizeof name, "ruler/%s/limit", exp_peers_cache_name(c));
    move_count(x, name, &limit_ended);
    r->limit_ended = limit_ended;
}

static void move_samples(struct moving *x, const char *prefix, struct exp_peer_times *t)
{
    char name[NAME_BYTES];
    uint64_t n = t->n;

    exp_say(name, sizeof name, "%s/rounds", prefix);
    move_count(x, name, &n);
    if (x->from && !x->err) {
        t->sample_ns = n <= x->from->n ? calloc(n + 1, sizeof *t->sample_ns) : NULL;
        t->mark = n <= x->from->n ? calloc(n + 1, sizeof *t->mark) : NULL;
        t->n = n;
        x->err = t->sample_ns && t->mark ? 0 : -ENOMEM;
    }
    for (uint64_t i = 0; i < n && !x->err; i++) {
        exp_say(name, sizeof name, "%s/%llu", prefix, (unsigned long long)i);
        move_count(x, name, &t->sample_ns[i]);
        move_mark(x, name, &t->mark[i]);
    }
}

static void move_phases(struct moving *x, size_t layer, enum exp_peer m, struct exp_phases *phases)
{
    char name[NAME_BYTES];

    for (int k = 0; k < CONV_N_STEP_KINDS; k++) {
        exp_say(name, sizeof name, "%zu/%s/step %d", layer, exp_peer_name(m), k);
        move_count(x, name, &phases->step_ns[k]);
    }
    exp_say(name, sizeof name, "%zu/%s/steps", layer, exp_peer_name(m));
    move_count(x, name, &phases->total_ns);
}

static void move_layer(struct moving *x, struct exp_peers_layer *l, size_t layer)
{
    char prefix[NAME_BYTES];

    for (int m = 0; m < EXP_N_PEERS; m++) {
        exp_say(prefix, sizeof prefix, "%zu/%s/why not/", layer, exp_peer_name((enum exp_peer)m));
        move_text(x, prefix, l->why_not[m], sizeof l->why_not[m]);
        for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
            exp_say(prefix, sizeof prefix, "%zu/%s/%s", layer, exp_peer_name((enum exp_peer)m),
                    exp_peers_cache_name((enum exp_peers_cache)c));
            move_samples(x, prefix, &l->times[c][m]);
        }
    }
    for (int m = 0; m < EXP_N_PEERS_SCONVS; m++)
        move_phases(x, layer, EXP_PEER_SCONV + (enum exp_peer)m, &l->sconv[m].phases);
    move_phases(x, layer, EXP_PEER_BASE, &l->base_phases);
}

static void move_all(struct moving *x, struct exp_peers *p, struct exp_peers_origin *o)
{
    struct exp_disturbance *d = &p->disturbance;
    uint64_t n_rounds = p->sweeps.n_rounds, end = p->sweeps.end;

    move_text(x, "on/", o->on, sizeof o->on);
    move_count(x, "core", &o->core);
    move_count(x, "at", &o->at);
    move_count(x, "sweeps", &n_rounds);
    move_count(x, "end", &end);
    p->sweeps.n_rounds = n_rounds;
    p->sweeps.end = (enum exp_end)end;
    move_text(x, "no parts/", p->why_no_parts, sizeof p->why_no_parts);
    move_number(x, "peak_gflops", &p->peak_gflops);
    move_number(x, "read_gbytes", &p->read_gbytes);
    move_number(x, "steal_percent", &d->steal_percent);
    move_number(x, "waited_percent", &d->waited_percent);
    move_number(x, "switches", &d->switches);
    move_number(x, "migrations", &d->migrations);
    move_number(x, "peak_before", &d->peak_before);
    move_number(x, "peak_after", &d->peak_after);
    move_number(x, "median_percent", &d->median_percent);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++)
        move_ruled(x, (enum exp_peers_cache)c, &p->ruled[c]);
    for (size_t i = 0; i < p->n_layers && !x->err; i++)
        move_layer(x, &p->layer[i], i);
}

void exp_peers_keep(struct exp_result *to, const struct exp_peers *p, const struct exp_peers_origin *o)
{
    struct moving x = { .to = to };
    struct exp_peers_origin origin = *o;

    move_all(&x, (struct exp_peers *)(uintptr_t)p, &origin); /* which are only read in this direction */
}

int exp_peers_recall(const struct exp_result *from, struct exp_peers *p, struct exp_peers_origin *o)
{
    struct moving x = { .from = from };

    move_all(&x, p, o);
    return x.err ? x.err : x.at == from->n ? 0 : -EINVAL;
}

/* ---- a network is a task ---- */

/* ---- what a task is ---- */

/* Returns a network's layers, from malloc; NULL when out of memory. */
static char *layers_of(const struct exp_model *model)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < model->n_layers && out; i++) {
        const struct conv_problem *p = &model->layer[i].problem;

        fprintf(out, "%s%s:", i ? "\n" : "", model->layer[i].name);
#define FIELD(member, sconv_member, name, ...) fprintf(out, " %s=%zu", name, p->member);
#include "kernels/shape/problem_fields.def"
    }
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why)
{
    const size_t n = t->models->n;
    uint64_t hash = 0;
    int err = exp_hash_file(&hash, "/proc/self/exe");

    if (err)
        return exp_fail(why, err, "cannot read this program: %s", strerror(-err));
    t->setting = exp_format("%s", setting);
    t->program = exp_format("peers %016" PRIx64, hash);
    t->task = calloc(n, sizeof *t->task);
    t->first = calloc(n + 1, sizeof *t->first);
    t->kept = calloc(n, sizeof *t->kept);
    t->is_new = calloc(n, sizeof *t->is_new);
    if (!t->setting || !t->program || !t->task || !t->first || !t->kept || !t->is_new)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const struct exp_model *model = &t->models->model[i];

        err = exp_peers_check(&t->of, model, why);
        if (err)
            return err;
        t->first[i + 1] = i + 1;
        t->task[i] = (struct exp_task){ "time", model->name, layers_of(model), t->setting, t->program };
        if (!t->task[i].what)
            return exp_fail(why, -ENOMEM, "out of memory");
    }
    return 0;
}

void exp_peers_tasks_release(struct exp_peers_tasks *t)
{
    for (size_t i = 0; i < t->models->n && t->task && t->kept; i++) {
        free((char *)t->task[i].what);
        exp_result_release(&t->kept[i]);
    }
    free(t->task);
    free(t->first);
    free(t->kept);
    free(t->is_new);
    free(t->setting);
    free(t->program);
}

/* ---- work ---- */

static double seconds_of(const struct exp_peers_tasks *t, enum exp_work work, size_t i)
{
    double macs = 0;

    for (size_t l = 0; l < t->models->model[i].n_layers; l++)
        macs += conv_macs(&t->models->model[i].layer[l].problem);
    return exp_peers_seconds(work, macs, t->times);
}

static double seconds(void *ctx, size_t job)
{
    return seconds_of(ctx, EXP_WORK_ROUNDS, job);
}

/* One network's tensors are in memory at a time. */
static int run(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    struct exp_peers_tasks *t = ctx;
    struct exp_peers p = t->of;
    struct exp_peers_origin origin = t->here;
    int err = exp_peers_open(&p, &t->models->model[job], why);

    (void)pool;
    if (err)
        return err;
    if (t->times->rounds.limit_ns)
        exp_progress_limit(t->progress, EXP_WORK_ROUNDS,
                           (double)(t->models->n - job) * (double)t->times->rounds.limit_ns * 1e-9);
    err = exp_peers_verify(&p, t->progress, why);
    if (!err)
        err = exp_peers_measure(&p, t->times, t->progress, why);
    origin.at = (uint64_t)time(NULL);
    if (!err)
        exp_peers_keep(result, &p, &origin);
    t->is_new[job] = !err;
    exp_peers_close(&p);
    return err;
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    struct exp_peers_tasks *t = ctx;

    for (size_t i = 0; i < r->n; i++)
        exp_result_put(&t->kept[task], r->name[i], r->value[i]);
    if (!t->is_new[task] && t->progress) {
        exp_progress_drop(t->progress, EXP_WORK_VERIFY, seconds_of(t, EXP_WORK_VERIFY, task));
        exp_progress_drop(t->progress, EXP_WORK_PHASES, seconds_of(t, EXP_WORK_PHASES, task));
    }
    return t->kept[task].err;
}

struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t)
{
    return (struct exp_tasks){ .task = t->task,
                               .first = t->first,
                               .n_jobs = t->models->n,
                               .work = EXP_WORK_ROUNDS,
                               .doing = "timing",
                               .reports_itself = true,
                               .run = run,
                               .take = take,
                               .seconds = seconds,
                               .ctx = t };
}

/* ---- results ---- */

static int report_one(const struct exp_peers_tasks *t, size_t i, struct exp_peers_report *r, struct exp_why *why)
{
    struct exp_peers p = t->of;
    struct exp_peers_origin o;
    int err = exp_peers_plan(&p, &t->models->model[i], why);

    if (!err) {
        err = exp_peers_recall(&t->kept[i], &p, &o);
        if (err)
            exp_fail(why, err, "%s: its times cannot be read back: %s", t->task[i].name, strerror(-err));
    }
    if (!err)
        err = exp_peers_report_add(r, &p, why);
    exp_peers_close(&p);
    return err;
}

int exp_peers_tasks_report(const struct exp_peers_tasks *t, struct exp_peers_report *r, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < t->models->n && !err; i++)
        err = report_one(t, i, r, why);
    return err;
}

void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out)
{
    for (size_t i = 0; i < t->models->n; i++) {
        struct exp_peers none = { .n_layers = 0 };
        struct exp_peers_origin o = { .at = 0 };
        time_t at;
        char date[32] = "";

        if (t->is_new[i])
            continue;
        exp_peers_recall(&t->kept[i], &none, &o); /* of no layer: only where it is from */
        at = (time_t)o.at;
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&at));
        fprintf(out, "%s was timed by another process, %s, on core %" PRIu64 " of %s\n", t->task[i].name, date, o.core,
                o.on);
    }
}
