#include "experiments/peers/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/text.h"

/* ---- what the store keeps of a network ---- */

/* A result on its way, in one of two directions. Both call the same functions, in the same order. */
struct moving {
    struct exp_result *to;         /* NULL: it is read */
    const struct exp_result *from; /* NULL: it is written */
    size_t at;
    int err;
};

enum { WORD_BYTES = 7 }; /* a count is not negative */

/* Moves bytes as counts of that name. Who reads them is the program that wrote them. */
static void move(struct moving *x, const char *name, void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && !x->err; i += WORD_BYTES) {
        const size_t n = bytes - i < WORD_BYTES ? bytes - i : WORD_BYTES;
        uint64_t word = 0;

        if (x->to) {
            memcpy(&word, (char *)data + i, n);
            exp_result_put(x->to, name, word);
        } else if (x->at < x->from->n && !strcmp(x->from->name[x->at], name)) {
            word = x->from->value[x->at++];
            memcpy((char *)data + i, &word, n);
        } else {
            x->err = -EINVAL;
        }
    }
}

static void move_samples(struct moving *x, const char *name, struct exp_peers_samples *s)
{
    move(x, name, &s->n, sizeof s->n);
    if (x->from && !x->err) {
        s->n = s->n < x->from->n ? s->n : 0;
        s->ns = exp_new(s->n + 1, sizeof *s->ns);
        s->mark = exp_new(s->n + 1, sizeof *s->mark);
    }
    move(x, name, s->ns, s->n * sizeof *s->ns);
    move(x, name, s->mark, s->n * sizeof *s->mark);
}

static void move_cell(struct moving *x, const char *name, struct exp_peers_cell *cell, bool has_phases)
{
    bool runs = !*cell->why_not;

    move(x, name, &runs, sizeof runs);
    if (!runs)
        move(x, name, cell->why_not, sizeof cell->why_not);
    for (int c = 0; c < EXP_N_PEERS_CACHES && runs; c++)
        move_samples(x, name, &cell->in[c]);
    if (has_phases)
        move(x, name, &cell->phases, sizeof cell->phases);
}

static int move_all(struct moving *x, struct exp_peers *p)
{
    char name[128];

    move(x, "found", &p->found, sizeof p->found);
    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t m = 0; m < p->methods->n; m++) {
            exp_say(name, sizeof name, "%zu/%s", i, p->methods->algo[m]->name);
            move_cell(x, name, &p->layer[i].of[m], exp_peers_has_phases(p->methods, m));
        }
    }
    return x->err;
}

void exp_peers_keep(struct exp_result *to, const struct exp_peers *p)
{
    struct moving x = { .to = to };

    move_all(&x, (struct exp_peers *)(uintptr_t)p); /* which is only read in this direction */
}

int exp_peers_recall(const struct exp_result *from, struct exp_peers *p)
{
    struct moving x = { .from = from };
    int err = move_all(&x, p);

    return err || x.at == from->n || !p->n_layers ? err : -EINVAL;
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
    t->network = exp_new(n, sizeof *t->network);
    for (size_t i = 0; i < n && !err; i++) {
        const struct exp_model *model = &t->models->model[i];

        t->network[i] = t->of;
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
        exp_peers_close(&t->network[i]);
    }
    free(t->network);
    free(t->task);
    free(t->kept);
    free(t->is_new);
    free(t->setting);
    free(t->program);
}

/* ---- work ---- */

static double seconds(void *ctx, size_t job)
{
    const struct exp_peers_tasks *t = ctx;
    double macs = 0;

    for (size_t l = 0; l < t->models->model[job].n_layers; l++)
        macs += conv_macs(&t->models->model[job].layer[l].problem);
    return exp_peers_seconds(macs, t->of.methods, t->times);
}

/* One network's tensors are in memory at a time. */
static int run(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    struct exp_peers_tasks *t = ctx;
    struct exp_peers p = t->of;
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
    p.found.at = time(NULL);
    if (!err)
        exp_peers_keep(result, &p);
    t->is_new[job] = !err;
    exp_peers_close(&p);
    return err;
}

static void take(void *ctx, size_t task, const struct exp_result *r)
{
    struct exp_peers_tasks *t = ctx;

    for (size_t i = 0; i < r->n; i++)
        exp_result_put(&t->kept[task], r->name[i], r->value[i]);
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

int exp_peers_tasks_recall(struct exp_peers_tasks *t, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < t->models->n && !err; i++) {
        err = exp_peers_plan(&t->network[i], &t->models->model[i], why);
        if (!err && (err = exp_peers_recall(&t->kept[i], &t->network[i])))
            exp_fail(why, err, "%s: its times cannot be read back: %s", t->task[i].name, strerror(-err));
        if (!err)
            exp_peers_judge(&t->network[i]);
    }
    return err;
}

void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out)
{
    for (size_t i = 0; i < t->models->n; i++) {
        struct exp_peers none = { .methods = t->of.methods }; /* of no layer: only where it is from */
        time_t at;
        char date[32] = "";

        if (t->is_new[i] || exp_peers_recall(&t->kept[i], &none))
            continue;
        at = (time_t)none.found.at;
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&at));
        fprintf(out, "%s was timed by another process, %s, on core %d of %s\n", t->task[i].name, date, none.found.core,
                none.found.on);
    }
}
