#include "experiments/observe/observe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/outdir.h"
#include "experiments/base/tasks.h"
#include "experiments/base/text.h"
#include "experiments/bench/replay/quantity.h"
#include "kernels/backend/backend.h"
#include "sim/hierarchy.h"

/* Multiply-adds per second, slower than any observed emulation; and the limit of a start. */
#define SLOWEST_MACS_PER_S 1e6
enum { START_S = 60 };

/* ---- an observation as the result of a task ---- */

enum { NAME_BYTES = 2 * WATCH_NAME_BYTES };

/* Tags beside tensors have no name. */
static void say_prefix(unsigned tag, unsigned phase, char text[NAME_BYTES])
{
    const char *phase_name = conv_phase_name((enum conv_phase)phase);

    if (tag < CONV_N_TENSORS)
        snprintf(text, NAME_BYTES, "%s/%s/", conv_tensor_name((enum conv_tensor)tag), phase_name);
    else
        snprintf(text, NAME_BYTES, "tag%u/%s/", tag, phase_name);
}

static void move_numbers(struct exp_result_moving *x, const struct sim_machine *m, struct watch_result *seen)
{
    char name[NAME_BYTES];

    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
            say_prefix(tag, phase, name);
            exp_kept_counts_move(x, m, name, &seen->stats.cell[tag][phase]);
        }
    }
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        const char *phase_name = conv_phase_name((enum conv_phase)phase);

        for (unsigned c = 0; c < WATCH_N_CLASSES; c++) {
            snprintf(name, sizeof name, "%s/instructions/%s", phase_name, watch_class_name((enum watch_class)c));
            exp_result_move(x, name, &seen->instructions[phase][c]);
        }
        snprintf(name, sizeof name, "%s/footprint", phase_name);
        exp_result_move(x, name, &seen->outside_lines[phase]);
    }
    exp_result_move(x, "masked", &seen->masked_loads);
}

/* ---- lists: each item has its own name, so the reader knows the next item ---- */

static void put_lists(struct exp_result *to, const struct watch_result *seen)
{
    char name[NAME_BYTES];

    for (const struct watch_buffer *b = seen->buffer; b < seen->buffer + seen->n_buffers; b++) {
        snprintf(name, sizeof name, "buffer/%u/address", b->tag);
        exp_result_put(to, name, b->address);
        snprintf(name, sizeof name, "buffer/%u/%s", b->tag, b->is_learned ? "learned" : "bytes");
        exp_result_put(to, name, b->bytes);
    }
    for (const struct watch_outside *o = seen->outside; o < seen->outside + seen->n_outside; o++) {
        const char *where = o->is_stack ? "stack" : "elsewhere";

        snprintf(name, sizeof name, "outside/%u/%.63s/%s/loads", o->phase, o->function, where);
        exp_result_put(to, name, o->loads);
        snprintf(name, sizeof name, "outside/%u/%.63s/%s/stores", o->phase, o->function, where);
        exp_result_put(to, name, o->stores);
    }
}

/* Reads a buffer from two counts, or nothing. */
static bool get_buffer(struct exp_result_moving *x, struct watch_result *seen)
{
    struct watch_buffer *b = &seen->buffer[seen->n_buffers];
    const char *const *name = (const char *const *)x->from->name + x->at;
    unsigned tag, again;
    char what[8];

    if (x->at + 2 > x->from->n || seen->n_buffers == WATCH_MAX_BUFFERS ||
        sscanf(name[0], "buffer/%u/address", &tag) != 1 || sscanf(name[1], "buffer/%u/%7s", &again, what) != 2 ||
        tag != again || tag >= SIM_USUAL_TAGS)
        return false;
    *b = (struct watch_buffer){ x->from->value[x->at], x->from->value[x->at + 1], (uint8_t)tag,
                                !strcmp(what, "learned") };
    seen->n_buffers++;
    x->at += 2;
    return true;
}

/* Reads one function's accesses outside all buffers, from two counts. */
static bool get_outside(struct exp_result_moving *x, struct watch_result *seen)
{
    struct watch_outside *o = &seen->outside[seen->n_outside];
    unsigned phase;
    char where[10];

    if (x->at + 2 > x->from->n || seen->n_outside == WATCH_MAX_OUTSIDE ||
        sscanf(x->from->name[x->at], "outside/%u/%63[^/]/%9[^/]/loads", &phase, o->function, where) != 3 ||
        phase >= CONV_N_PHASES)
        return false;
    o->phase = (uint8_t)phase;
    o->is_stack = !strcmp(where, "stack");
    o->loads = x->from->value[x->at];
    o->stores = x->from->value[x->at + 1];
    seen->n_outside++;
    x->at += 2;
    return true;
}

void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct watch_result *seen)
{
    struct exp_result_moving x = { .to = to };

    move_numbers(&x, m, (struct watch_result *)(uintptr_t)seen); /* read only in this direction */
    put_lists(to, seen);
}

int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct watch_result *seen)
{
    struct exp_result_moving x = { .from = from };

    *seen = (struct watch_result){ .stats.n_levels = m->n_levels };
    move_numbers(&x, m, seen);
    while (get_buffer(&x, seen))
        ;
    while (get_outside(&x, seen))
        ;
    return x.at == from->n ? 0 : -EINVAL;
}

/* ---- one observation ---- */

/* The guest's buffers must have the places of this program's plan, relative to the arena. */
static bool is_same_plan(const struct conv_layout *l, const struct watch_result *r)
{
    const struct watch_buffer *input = watch_result_buffer(r, CONV_INPUT);

    for (unsigned t = 0; t < CONV_N_TENSORS && input; t++) {
        const struct watch_buffer *b = watch_result_buffer(r, t);

        if (l->bytes[t] && (!b || b->bytes != l->bytes[t] || b->address - input->address != l->offset[t]))
            return false;
    }
    return input && (input->address & (CONV_ARENA_ALIGN - 1)) == 0;
}

/* Tells whether the kernel was seen at all: unwatched code leaves no trace. */
static bool is_kernel_seen(const struct watch_result *r)
{
    uint64_t loads = 0;

    for (unsigned t = 0; t < CONV_N_TENSORS; t++)
        loads += r->stats.cell[t][CONV_PHASE_UKR].loads;
    return loads > 0;
}

/*
 * Tells whether OpenBLAS's copying in a twin was seen: an emulator sees every function, and some products need no
 * copies.
 */
static bool is_copying_seen(const struct conv_plan *plan, const struct watch_result *r)
{
    unsigned learned = 0;

    for (size_t i = 0; i < r->n_buffers; i++)
        learned |= r->buffer[i].is_learned ? 1u << r->buffer[i].tag : 0;
    return !conv_plan_is_base(plan) || r->n_outside > 0 ||
           learned == (1u << CONV_PACKED_INPUT | 1u << CONV_PACKED_FILTER);
}

static int check(const struct conv_plan *plan, const struct watch_result *r, struct exp_why *why)
{
    if (!is_same_plan(&plan->layout, r))
        return exp_fail(why, -EILSEQ, "the guest planned otherwise than the experiment");
    if (!is_kernel_seen(r) || !is_copying_seen(plan, r))
        return exp_fail(why, -EILSEQ, "a part of its code ran without being watched");
    return 0;
}

/* ---- the work ---- */

struct observing {
    struct exp_observed *o;
    const struct exp_observe_options *options;
    struct exp_progress *progress;
    const struct sim_machine *m;
    char *setting;                 /* text of the machine, as in tasks */
    struct exp_workdir folder;     /* for the guests' results */
    int lock_fd;                   /* the folder's lock; -1: none */
    char *machine_path;            /* in the folder */
    uint64_t programs[EXP_N_WAYS]; /* hashes of the programs */
    struct place *order;           /* the distinct cases, shortest first */
    size_t n_order;
    struct exp_budget budget;
};

struct place {
    double seconds;
    size_t index;
};

static const char time_over[] = "the time for observing was over";

/* One case, or a part of a case, to run, and the task. */
struct job {
    const struct exp_case *c;
    struct exp_observation *x;
    const struct exp_emulator *emulator;
    struct conv_part part;
    struct conv_plan plan; /* of the part */
    struct exp_task task;
};

static double seconds_of(const struct exp_emulator *e, double macs)
{
    return e->start_s + 1e-9 * e->ns_per_mac * macs;
}

static double seconds_of_case(const struct exp_observed *o, size_t i)
{
    if (!exp_observe_is_meant(o, i))
        return 0;
    return seconds_of(o->way[o->observation[i].way].emulator, conv_macs(&o->experiment.cases[i].layer->problem));
}

double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads)
{
    double sum = 0;

    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i++)
        sum += o->observation[i].same_as == i ? seconds_of_case(o, i) / n_threads : 0;
    return sum;
}

/* Returns the time limit of a run, so that nothing hangs and the budget holds. */
static unsigned limit_s(const struct observing *ob, double macs)
{
    double slowest = START_S + floor(macs / SLOWEST_MACS_PER_S);

    return (unsigned)fmin(slowest, ceil(exp_budget_left(&ob->budget)));
}

/*
 * Returns the name for the guest's plan: the chosen micro-kernel, or for a direct kernel the instruction set of the
 * choice.
 */
static const char *ukr_name(const struct observing *ob, const struct job *j)
{
    const struct conv_ukr *ukr = ob->o->way[j->x->way].setup.ukr;
    const char *set = strstr(ukr->name, "__");

    if (j->c->plan.algorithm == CONV_DIRECT && set)
        return set + 2;
    return (j->c->algo->is_sconv ? j->c->plan.ukr : ukr)->name;
}

static struct exp_guest_run run_of(const struct observing *ob, const struct job *j)
{
    return (struct exp_guest_run){
        .emulator = j->emulator,
        .observer = ob->options->observer,
        .guest = j->x->way == EXP_WAY_TWIN ? ob->options->twin : ob->options->guest,
        .machine_path = ob->machine_path,
        .problem = &j->c->layer->problem,
        .part = conv_part_is_whole(&j->part, &j->c->layer->problem) ? NULL : &j->part,
        .algo = j->c->algo->name,
        .ukr = ukr_name(ob, j),
        .core = ob->o->way[j->x->way].setup.core ? ob->o->way[j->x->way].setup.core->name : "",
        .packs_filters = ob->o->way[j->x->way].setup.packs_filters,
        .limit_s = limit_s(ob, conv_plan_part_macs(&j->plan)),
    };
}

/* Replays the part with tensors at the observed addresses: observed buffers replace announced buffers. */
static int replay(const struct job *j, const struct sim_machine *m)
{
    const struct watch_result *seen = j->x->seen;
    struct conv_replay r;
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, m);

    if (err)
        return err;
    conv_replay_init(&r, &j->plan, sim_hierarchy_sink(h));
    for (size_t i = 0; i < seen->n_buffers; i++) {
        if (seen->buffer[i].tag < CONV_N_TENSORS)
            r.bind.addr[seen->buffer[i].tag] = seen->buffer[i].address;
    }
    err = conv_nest_run(&j->plan, &r.base);
    if (!err)
        err = sim_hierarchy_error(h);
    *j->x->replayed = *sim_hierarchy_stats(h);
    sim_hierarchy_free(h);
    return err;
}

static void release_task(struct exp_task *t)
{
    free((char *)t->name);
    free((char *)t->what);
    free((char *)t->program);
    *t = (struct exp_task){ 0 };
}

/* Names the task of an observed part: programs, machine, shape, part, algorithm. */
static void name_task(const struct observing *ob, struct job *j)
{
    const struct exp_guest_run run = run_of(ob, j);
    char *shape = exp_guest_shape_text(run.problem), *part = exp_guest_part_text(run.part);

    release_task(&j->task);
    j->task = (struct exp_task){
        .kind = "observe",
        .name = exp_format("%s %s %s", run.algo, shape, part),
        .what = exp_format("%s %s; %s; micro-kernel %s; core %s; filters %s", shape, part, run.algo, run.ukr, run.core,
                           run.packs_filters ? "packed" : "as they are"),
        .setting = ob->setting,
        .program = exp_format("guest %016" PRIx64, ob->programs[j->x->way]),
    };
    free(shape);
    free(part);
}

/*
 * Reads the stored result of a task. Returns 0; -ENOENT without a result; -EINVAL or -EILSEQ for a result of a
 * different plan; or as exp_store_find.
 */
static int find(const struct observing *ob, struct job *j, struct exp_why *why)
{
    struct exp_result kept;
    int err = exp_tasks_find(ob->options->store, &j->task, &kept, why);

    if (!err)
        err = exp_observed_result_get(&kept, ob->m, j->x->seen);
    exp_result_release(&kept);
    return err ? err : check(&j->plan, j->x->seen, why);
}

static int keep(const struct observing *ob, const struct job *j, double seconds, struct exp_why *why)
{
    struct exp_result r = { 0 };
    int err;

    exp_observed_result_put(&r, ob->m, j->x->seen);
    err = exp_tasks_keep(ob->options->store, &j->task, &r, seconds, why);
    exp_result_release(&r);
    return err;
}

/* Chooses the largest part that is stored or fits the quota; the smallest part if no part fits. *is_kept: stored. */
static int choose_part(const struct observing *ob, struct job *j, double quota, bool *is_kept, struct exp_why *why)
{
    int err;

    j->part = conv_part_whole(&j->c->layer->problem);
    do {
        err = conv_plan_part(&j->plan, &j->c->plan, &j->part);
        if (err)
            return err;
        name_task(ob, j);
        err = find(ob, j, why);
        if (err && err != -ENOENT && err != -EINVAL && err != -EILSEQ)
            return err;
        *is_kept = !err;
    } while (!*is_kept && seconds_of(j->emulator, conv_plan_part_macs(&j->plan)) > quota &&
             conv_part_halve(&j->part, &j->c->plan));
    return 0;
}

static int observe(struct observing *ob, struct job *j, struct exp_why *why)
{
    static atomic_uint n_runs; /* each run has a file of its own */
    const uint64_t begun = ctr_now_ns();
    char *out = exp_format("%s/%u", ob->folder.path, atomic_fetch_add(&n_runs, 1));
    struct exp_guest_run run = run_of(ob, j);
    struct exp_why reason = { "" };
    int err;

    run.out = out;
    err = exp_guest_run(&run, j->x->seen, &reason);
    unlink(out);
    free(out);
    if (!err)
        err = check(&j->plan, j->x->seen, &reason);
    if (!err)
        err = keep(ob, j, (double)(ctr_now_ns() - begun) * 1e-9, &reason);
    return err ? exp_fail(why, err, "%s: %s", j->c->layer->name, reason.text) : 0;
}

/* Observes if the budget has time. */
static int observe_in_time(struct observing *ob, struct job *j, struct exp_why *why)
{
    double guessed = seconds_of(j->emulator, conv_plan_part_macs(&j->plan)), begun = exp_budget_spent(&ob->budget);
    bool has_room = exp_budget_allows(&ob->budget, guessed);
    int err = has_room ? observe(ob, j, why) : -ETIMEDOUT;

    if (!err)
        exp_budget_learn(&ob->budget, guessed, exp_budget_spent(&ob->budget) - begun);
    j->x->is_left_out = err == -ETIMEDOUT && !(has_room && exp_budget_left(&ob->budget) > 0);
    return j->x->is_left_out ? exp_fail(why, err, "%s", time_over) : err;
}

/* Returns the machine that the observer saw: an emulator performs no prefetch instructions. */
static struct sim_machine machine_seen(const struct exp_way *way)
{
    struct sim_machine m = way->setup.machine;

    m.has_software_prefetch &= !way->emulator->program;
    return m;
}

static int observe_or_find(struct observing *ob, struct job *j, size_t n_left, struct exp_why *why)
{
    const struct sim_machine m = machine_seen(&ob->o->way[j->x->way]);
    int err = choose_part(ob, j, exp_budget_quota(&ob->budget, n_left, ob->options->n_threads), &j->x->was_kept, why);

    if (!err && !j->x->was_kept)
        err = observe_in_time(ob, j, why);
    j->x->share = err ? 0 : conv_plan_part_macs(&j->plan) / conv_macs(&j->c->layer->problem);
    return err ? err : replay(j, &m);
}

/* Prints a reason once for each layer or, about all layers, once. */
static void say(const struct observing *ob, const char *why)
{
    exp_progress_note(ob->progress, "not observed: %s", why);
}

static int run_job(struct observing *ob, struct job *j, size_t n_left)
{
    struct exp_observation *x = j->x;
    struct exp_why why = { "" };
    int err;

    x->seen = exp_new(1, sizeof *x->seen);
    x->replayed = exp_new(1, sizeof *x->replayed);
    err = observe_or_find(ob, j, n_left, &why);
    release_task(&j->task);
    if (err == -EINTR || err == -ENOMEM)
        return err;
    if (err)
        exp_say(x->why, sizeof x->why, "%s", why.text);
    if (err && !x->is_left_out)
        say(ob, why.text);
    return 0;
}

static int observe_job(void *ctx, size_t job, size_t thread, const struct exp_pool *pool)
{
    struct observing *ob = ctx;
    const struct place *at = &ob->order[job];
    struct exp_observation *x = &ob->o->observation[at->index];
    struct job j = { .c = &ob->o->experiment.cases[at->index], .x = x, .emulator = ob->o->way[x->way].emulator };
    int err;

    (void)thread;
    (void)pool;
    if (*x->why)
        return 0;
    exp_progress_begin(ob->progress, EXP_WORK_OBSERVE, j.c->layer->name, "observing");
    err = run_job(ob, &j, ob->n_order - job);
    if (!err)
        (x->was_kept || x->is_left_out ? exp_progress_drop : exp_progress_step)(ob->progress, EXP_WORK_OBSERVE,
                                                                                at->seconds / ob->options->n_threads);
    return err;
}

/* ---- the order ---- */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->seconds < y->seconds || x->seconds > y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void order_cases(struct observing *ob)
{
    const struct exp_observed *o = ob->o;

    ob->order = exp_new(o->experiment.n_cases, sizeof *ob->order);
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        if (o->observation[i].same_as == i)
            ob->order[ob->n_order++] = (struct place){ seconds_of_case(o, i), i };
    }
    qsort(ob->order, ob->n_order, sizeof *ob->order, compare_places);
}

/* ---- all of it ---- */

static void share_results(struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        size_t first = o->observation[i].same_as;

        if (first != i) {
            o->observation[i] = o->observation[first];
            o->observation[i].same_as = first;
        }
    }
}

/* Hashes a way's programs. A missing program is the reason of all cases of the way, printed once. */
static void find_programs(struct observing *ob, size_t way, const char *first, const char *second)
{
    struct exp_observed *o = ob->o;
    const char *why = *ob->options->why_missing
                          ? ob->options->why_missing
                          : "the guest program was not built: make does that, in the project's folder";
    bool is_missing = exp_hash_file(&ob->programs[way], first) || exp_hash_file(&ob->programs[way], second);
    bool is_said = false;

    for (size_t i = 0; i < o->experiment.n_cases && is_missing; i++) {
        if (o->observation[i].way != way)
            continue;
        snprintf(o->observation[i].why, sizeof o->observation[i].why, "%s", why);
        if (!is_said)
            say(ob, why);
        is_said = true;
    }
}

static int run_all(struct observing *ob, struct exp_why *why)
{
    struct exp_observed *o = ob->o;
    int err;

    o->limit_s = o->mode == EXP_OBSERVE_AUTO ? ob->options->limit_s : 0;
    exp_budget_init(&ob->budget, o->limit_s, ctr_now_ns);
    err = exp_pool_run(ob->n_order, ob->options->n_threads, observe_job, ob, exp_interrupted, NULL);
    o->spent_s = exp_budget_spent(&ob->budget);
    exp_budget_release(&ob->budget);
    if (err)
        exp_fail(why, err, "%s while observing", exp_error_text(err));
    share_results(o);
    return err;
}

/* ---- the folder RESULTS/.observing.PID, which lives as long as the observing process ---- */

#define FOLDER ".observing."

/* Removes the folders of processes that were killed. */
static void clear_leftovers(const char *results)
{
    DIR *dir = opendir(results);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        bool is_one = !strncmp(entry->d_name, FOLDER, strlen(FOLDER));
        long pid = is_one ? strtol(entry->d_name + strlen(FOLDER), NULL, 10) : 0;

        if (pid > 0 && exp_folder_is_abandoned(dirfd(dir), entry->d_name, pid)) {
            char *path = exp_format("%s/%s", results, entry->d_name);

            exp_workdir_remove(path);
            free(path);
        }
    }
    if (dir)
        closedir(dir);
}

static int open_folder(struct observing *ob, struct exp_why *why)
{
    int err;

    clear_leftovers(ob->options->results);
    err = exp_workdir_open(&ob->folder, exp_format("%s/" FOLDER "%ld", ob->options->results, (long)getpid()), why);
    if (err)
        return err;
    err = exp_folder_lock(AT_FDCWD, ob->folder.path, &ob->lock_fd);
    if (err)
        return exp_fail(why, err, "cannot write to '%s': %s", ob->folder.path, strerror(-err));
    ob->machine_path = exp_format("%s/machine.cfg", ob->folder.path);
    return exp_workdir_write_machine(ob->machine_path, ob->m, why);
}

int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    struct exp_why *why)
{
    const struct sim_machine *m = &o->way[EXP_WAY_EMULATED].setup.machine;
    struct observing ob = { .lock_fd = -1, .o = o, .options = options, .progress = progress, .m = m };
    char *rewritten;
    int err;

    if (!o->observation)
        return 0;
    rewritten = exp_guest_rewritten_path(options->twin);
    find_programs(&ob, EXP_WAY_EMULATED, options->observer, options->guest);
    find_programs(&ob, EXP_WAY_TWIN, options->twin, rewritten);
    order_cases(&ob);
    ob.setting = exp_kept_counts_setting(m);
    err = open_folder(&ob, why);
    if (!err)
        err = run_all(&ob, why);
    exp_workdir_close(&ob.folder);
    if (ob.lock_fd >= 0)
        close(ob.lock_fd);
    free(ob.machine_path);
    free(ob.setting);
    free(ob.order);
    free(rewritten);
    return err;
}
