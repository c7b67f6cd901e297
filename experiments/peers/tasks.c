#include "experiments/peers/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/error.h"
#include "experiments/base/text.h"

/* ---- what the store keeps of a network ---- */

enum { NAME_BYTES = 256 };

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

/* A number that is missing is not there. */
static void move_number(struct moving *x, const char *name, double *value)
{
    uint64_t bits = 0;

    if (x->to ? !(*value >= 0) : !comes(x, name)) {
        *value = (double)NAN;
        return;
    }
    memcpy(&bits, value, sizeof bits);
    move_count(x, name, &bits);
    memcpy(value, &bits, sizeof bits);
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

/* Names the parts of a struct that are kept. */
#define PART(row, member)                                                                                              \
    {                                                                                                                  \
        .column.name = #member, REC_AT(row, member)                                                                    \
    }
#define N_OF(parts) (sizeof(parts) / sizeof(parts)[0])

/* clang-format off */
static const struct rec_field origin_parts[] = {
    PART(struct exp_peers_origin, on), PART(struct exp_peers_origin, core), PART(struct exp_peers_origin, at),
};

static const struct rec_field network_parts[] = {
    PART(struct exp_peers, sweeps.n_rounds), PART(struct exp_peers, why_no_parts),
    PART(struct exp_peers, peak_gflops), PART(struct exp_peers, read_gbytes),
    PART(struct exp_peers, disturbance.steal_percent), PART(struct exp_peers, disturbance.waited_percent),
    PART(struct exp_peers, disturbance.switches), PART(struct exp_peers, disturbance.migrations),
    PART(struct exp_peers, disturbance.peak_before), PART(struct exp_peers, disturbance.peak_after),
    PART(struct exp_peers, disturbance.median_percent),
};

static const struct rec_field mark_parts[] = {
    PART(struct exp_mark, clock_ns), PART(struct exp_mark, fma_ns), PART(struct exp_mark, loads_clock_ns),
    PART(struct exp_mark, loads_ns), PART(struct exp_mark, n_again),
};

static const struct rec_field ruled_parts[] = {
    PART(struct exp_ruler_report, n_timings), PART(struct exp_ruler_report, n_again),
    PART(struct exp_ruler_report, n_disturbed), PART(struct exp_ruler_report, n_things),
    PART(struct exp_ruler_report, n_lost), PART(struct exp_ruler_report, limit_ended),
};
/* clang-format on */

static void move_part(struct moving *x, const char *name, const struct rec_field *part, char *at)
{
    uint64_t value = 0;

    if (part->type == REC_CHARS) {
        move_text(x, name, at, part->bytes);
    } else if (part->type == REC_DOUBLE) {
        move_number(x, name, (double *)(void *)at);
    } else {
        memcpy(&value, at, part->bytes);
        move_count(x, name, &value);
        memcpy(at, &value, part->bytes);
    }
}

/* Moves the parts of a struct. */
static void move_parts(struct moving *x, const char *of, const struct rec_field *part, size_t n, void *row)
{
    char name[NAME_BYTES];

    for (size_t i = 0; i < n; i++) {
        exp_say(name, sizeof name, "%s/%s/", of, part[i].column.name);
        move_part(x, name, &part[i], (char *)row + part[i].offset);
    }
}

/* A mark that is all 0 is not there: no ruler stood beside the timing. */
static void move_mark(struct moving *x, const char *of, struct exp_mark *m)
{
    char first[NAME_BYTES];

    exp_say(first, sizeof first, "%s/%s/", of, mark_parts[0].column.name);
    if (x->to ? m->clock_ns > 0 : comes(x, first))
        move_parts(x, of, mark_parts, N_OF(mark_parts), m);
}

static void move_samples(struct moving *x, const char *prefix, struct exp_peer_times *t)
{
    char name[NAME_BYTES];
    uint64_t n = t->n;

    exp_say(name, sizeof name, "%s/rounds", prefix);
    move_count(x, name, &n);
    if (x->from && !x->err) {
        x->err = n <= x->from->n ? 0 : -EINVAL;
        t->n = x->err ? 0 : n;
        t->sample_ns = exp_new(t->n + 1, sizeof *t->sample_ns);
        t->mark = exp_new(t->n + 1, sizeof *t->mark);
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
    uint64_t end = p->sweeps.end;

    move_parts(x, "origin", origin_parts, N_OF(origin_parts), o);
    move_count(x, "end", &end);
    p->sweeps.end = (enum exp_end)end;
    move_parts(x, "network", network_parts, N_OF(network_parts), p);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++)
        move_parts(x, exp_peers_cache_name((enum exp_peers_cache)c), ruled_parts, N_OF(ruled_parts), &p->ruled[c]);
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

/* ---- what a task is ---- */

/* Returns a network's layers, from malloc. */
static char *layers_of(const struct exp_model *model)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < model->n_layers; i++) {
        const struct conv_problem *p = &model->layer[i].problem;

        fprintf(out, "%s%s:", i ? "\n" : "", model->layer[i].name);
#define FIELD(member, sconv_member, name, ...) fprintf(out, " %s=%zu", name, p->member);
#include "kernels/shape/problem_fields.def"
    }
    fclose(out);
    return text;
}

int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why)
{
    const size_t n = t->models->n;
    uint64_t hash = 0;
    int err = exp_hash_file(&hash, "/proc/self/exe");

    if (err)
        return exp_fail(why, err, "cannot read this program: %s", strerror(-err));
    t->setting = exp_copy_text(setting);
    t->program = exp_format("peers %016" PRIx64, hash);
    t->task = exp_new(n, sizeof *t->task);
    t->kept = exp_new(n, sizeof *t->kept);
    t->is_new = exp_new(n, sizeof *t->is_new);
    for (size_t i = 0; i < n && !err; i++) {
        const struct exp_model *model = &t->models->model[i];

        err = exp_peers_check(&t->of, model, why);
        t->task[i] = (struct exp_task){ "time", model->name, layers_of(model), t->setting, t->program };
    }
    return err;
}

void exp_peers_tasks_release(struct exp_peers_tasks *t)
{
    for (size_t i = 0; i < t->models->n && t->task; i++) {
        free((char *)t->task[i].what);
        exp_result_release(&t->kept[i]);
    }
    free(t->task);
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

static void take(void *ctx, size_t task, const struct exp_result *r)
{
    struct exp_peers_tasks *t = ctx;

    for (size_t i = 0; i < r->n; i++)
        exp_result_put(&t->kept[task], r->name[i], r->value[i]);
    if (!t->is_new[task] && t->progress) {
        exp_progress_drop(t->progress, EXP_WORK_VERIFY, seconds_of(t, EXP_WORK_VERIFY, task));
        exp_progress_drop(t->progress, EXP_WORK_PHASES, seconds_of(t, EXP_WORK_PHASES, task));
    }
}

struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t)
{
    return (struct exp_tasks){ .task = t->task,
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
