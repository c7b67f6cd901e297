#include "experiments/peers/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/text.h"

/* ---- a network in the store ---- */

enum { WORD_BYTES = 7 }; /* a count must not be negative */

/* Moves bytes as counts. Only the writing program reads the bytes. */
static void move(struct exp_result_moving *x, const char *name, const char *part, void *data, size_t bytes)
{
    char count[160];

    for (size_t i = 0; i < bytes; i += WORD_BYTES) {
        const size_t n = bytes - i < WORD_BYTES ? bytes - i : WORD_BYTES;
        uint64_t word = 0;

        memcpy(&word, (char *)data + i, n);
        exp_say(count, sizeof count, "%s %s %zu", name, part, i / WORD_BYTES);
        exp_result_move(x, count, &word);
        memcpy((char *)data + i, &word, n);
    }
}

/* Moves times; without times, the reason in `why`. */
static void move_measured(struct exp_result_moving *x, const char *name, struct exp_measured *k, char *why)
{
    if (x->to)
        exp_say(why, EXP_PEERS_WHY_BYTES, "%s", k->why_no_time ? k->why_no_time : "");
    move(x, name, "why", why, EXP_PEERS_WHY_BYTES);
    move(x, name, "n", &k->n_samples, sizeof k->n_samples);
    if (x->from) {
        k->why_no_time = *why ? why : NULL;
        k->n_samples = k->n_samples > x->from->n ? 0 : k->n_samples;
        k->sample_ns = exp_new(k->n_samples + 1, sizeof *k->sample_ns);
        k->mark = exp_new(k->n_samples + 1, sizeof *k->mark);
    }
    move(x, name, "ns", k->sample_ns, k->n_samples * sizeof *k->sample_ns);
    move(x, name, "mark", k->mark, k->n_samples * sizeof *k->mark);
    move(x, name, "phases", &k->phases, sizeof k->phases);
}

static void move_all(struct exp_result_moving *x, struct exp_peers *p)
{
    const size_t n = p->methods->n, n_cases = p->n_layers * n;
    char name[128], why[EXP_PEERS_WHY_BYTES];

    move(x, "", "found", &p->found, sizeof p->found);
    if (x->from)
        p->why = exp_new(EXP_N_PEERS_CACHES * n_cases + 1, sizeof *p->why);
    for (size_t i = 0; i < EXP_N_PEERS_CACHES * n_cases; i++) {
        memset(why, 0, sizeof why);
        exp_say(name, sizeof name, "%zu/%s", i % n_cases / n, p->methods->algo[i % n]->name);
        move_measured(x, name, &p->measured[i / n_cases][i % n_cases], x->from ? p->why[i] : why);
    }
}

void exp_peers_keep(struct exp_result *to, const struct exp_peers *p)
{
    struct exp_result_moving x = { .to = to };

    move_all(&x, (struct exp_peers *)(uintptr_t)p); /* move_all only reads p in this direction */
}

int exp_peers_recall(const struct exp_result *from, struct exp_peers *p)
{
    struct exp_result_moving x = { .from = from };

    move_all(&x, p);
    return x.at == from->n ? 0 : -EINVAL;
}

/* ---- the texts of a task ---- */

/* Returns a network's layers, from malloc. */
static char *layers_of(const struct exp_model *model)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < model->n_layers; i++) {
        fprintf(out, "%s%s: ", i ? "\n" : "", model->layer[i].name);
        exp_problem_print(&model->layer[i].problem, out);
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
    t->seconds = exp_new(n, sizeof *t->seconds);
    t->network = exp_new(n, sizeof *t->network);
    for (size_t i = 0; i < n && !err; i++) {
        const struct exp_model *model = &t->models->model[i];

        t->network[i] = t->of;
        err = exp_peers_plan(&t->network[i], model, why);
        exp_peers_announce(&t->network[i], t->times, t->seconds[i]);
        exp_peers_close(&t->network[i]);
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
    free(t->seconds);
    free(t->setting);
    free(t->program);
}

/* ---- work ---- */

static double seconds(void *ctx, size_t job)
{
    const struct exp_peers_tasks *t = ctx;

    return t->seconds[job][EXP_WORK_ROUNDS];
}

static int run(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    struct exp_peers_tasks *t = ctx;
    struct exp_peers p = t->of;
    int err = exp_peers_plan(&p, &t->models->model[job], why);

    (void)pool;
    if (err)
        return err;
    if (t->times->rounds.limit_ns)
        exp_progress_limit(t->progress, EXP_WORK_ROUNDS,
                           (double)(t->models->n - job) * (double)t->times->rounds.limit_ns * 1e-9);
    err = exp_peers_measure(&p, t->times, t->progress, why);
    p.found.at = time(NULL);
    t->of.found.core = p.found.core = p.found.info[EXP_PEERS_NETWORK].core;
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
    }
    return err;
}

void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out)
{
    for (size_t i = 0; i < t->models->n; i++) {
        const struct exp_peers_found *found = &t->network[i].found;
        const time_t at = (time_t)found->at;
        char date[32] = "";

        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&at));
        if (!t->is_new[i])
            fprintf(out, "%s was timed by another process, %s, on core %d of %s\n", t->task[i].name, date, found->core,
                    found->on);
    }
}
