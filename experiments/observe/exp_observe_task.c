#include "experiments/observe/exp_observe_task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_quantity.h"
#include "kernels/ukr/ukr.h"

enum { NAME_BYTES = 2 * OBS_NAME_BYTES };

/* A result on its way, in one of two directions. Both call the same functions, in the same order. */
struct moving {
    const struct sim_machine *m;
    struct exp_result *to;         /* NULL: it is read */
    const struct exp_result *from; /* NULL: it is written */
    size_t at;
};

/* Moves a count that is there unless it is 0. */
static void move(struct moving *x, const char *name, uint64_t *value)
{
    if (x->to && *value)
        exp_result_put(x->to, name, *value);
    else if (x->from)
        *value = x->at < x->from->n && !strcmp(x->from->name[x->at], name) ? x->from->value[x->at++] : 0;
}

static void move_cell(struct moving *x, struct sim_cell *cell, const char *prefix)
{
    if (x->to)
        exp_kept_counts_put(x->to, x->m, prefix, cell);
    else if (x->at < x->from->n && !strncmp(x->from->name[x->at], prefix, strlen(prefix)))
        exp_kept_counts_get(x->from, x->m, prefix, cell, &x->at);
}

/* Tags that are no tensors have no name. */
static void say_prefix(unsigned tag, unsigned phase, char text[NAME_BYTES])
{
    const char *phase_name = conv_phase_name((enum conv_phase)phase);

    if (tag < CONV_N_TENSORS)
        snprintf(text, NAME_BYTES, "%s/%s/", conv_tensor_name((enum conv_tensor)tag), phase_name);
    else
        snprintf(text, NAME_BYTES, "tag%u/%s/", tag, phase_name);
}

static void move_cells(struct moving *x, struct obs_result *seen)
{
    char prefix[NAME_BYTES];

    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
            say_prefix(tag, phase, prefix);
            move_cell(x, &seen->stats.cell[tag][phase], prefix);
        }
    }
}

static void move_instructions(struct moving *x, struct obs_result *seen)
{
    char name[NAME_BYTES];

    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        for (unsigned c = 0; c < OBS_N_CLASSES; c++) {
            snprintf(name, sizeof name, "%s/instructions/%s", conv_phase_name((enum conv_phase)phase),
                     obs_class_name((enum obs_class)c));
            move(x, name, &seen->instructions[phase][c]);
        }
        snprintf(name, sizeof name, "%s/footprint", conv_phase_name((enum conv_phase)phase));
        move(x, name, &seen->outside_lines[phase]);
    }
}

/* ---- lists: their items are named by what they are, so that reading finds out what comes ---- */

static void put_lists(struct exp_result *to, const struct obs_result *seen)
{
    char name[NAME_BYTES];

    for (const struct obs_buffer *b = seen->buffer; b < seen->buffer + seen->n_buffers; b++) {
        snprintf(name, sizeof name, "buffer/%u/address", b->tag);
        exp_result_put(to, name, b->address);
        snprintf(name, sizeof name, "buffer/%u/%s", b->tag, b->is_learned ? "learned" : "bytes");
        exp_result_put(to, name, b->bytes);
    }
    for (const struct obs_outside *o = seen->outside; o < seen->outside + seen->n_outside; o++) {
        const char *where = o->is_stack ? "stack" : "elsewhere";

        snprintf(name, sizeof name, "outside/%u/%.63s/%s/loads", o->phase, o->function, where);
        exp_result_put(to, name, o->loads);
        snprintf(name, sizeof name, "outside/%u/%.63s/%s/stores", o->phase, o->function, where);
        exp_result_put(to, name, o->stores);
    }
}

/* Reads a buffer from two counts, or nothing. */
static bool get_buffer(struct moving *x, struct obs_result *seen)
{
    struct obs_buffer *b = &seen->buffer[seen->n_buffers];
    const char *const *name = (const char *const *)x->from->name + x->at;
    unsigned tag, again;
    char what[8];

    if (x->at + 2 > x->from->n || seen->n_buffers == OBS_MAX_BUFFERS ||
        sscanf(name[0], "buffer/%u/address", &tag) != 1 || sscanf(name[1], "buffer/%u/%7s", &again, what) != 2 ||
        tag != again || tag >= SIM_USUAL_TAGS)
        return false;
    *b =
        (struct obs_buffer){ x->from->value[x->at], x->from->value[x->at + 1], (uint8_t)tag, !strcmp(what, "learned") };
    seen->n_buffers++;
    x->at += 2;
    return true;
}

/* The same of what a function did to no buffer. */
static bool get_outside(struct moving *x, struct obs_result *seen)
{
    struct obs_outside *o = &seen->outside[seen->n_outside];
    unsigned phase;
    char where[10];

    if (x->at + 2 > x->from->n || seen->n_outside == OBS_MAX_OUTSIDE ||
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

/* ---- all of it ---- */

static void move_numbers(struct moving *x, struct obs_result *seen)
{
    move_cells(x, seen);
    move_instructions(x, seen);
}

void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct obs_result *seen)
{
    struct moving x = { .m = m, .to = to };

    move_numbers(&x, (struct obs_result *)(uintptr_t)seen); /* which are only read in this direction */
    put_lists(to, seen);
}

int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct obs_result *seen)
{
    struct moving x = { .m = m, .from = from };

    *seen = (struct obs_result){ .stats.n_levels = m->n_levels };
    move_numbers(&x, seen);
    while (get_buffer(&x, seen))
        ;
    while (get_outside(&x, seen))
        ;
    return x.at == from->n ? 0 : -EINVAL;
}

/* ---- what an observation depends on ---- */

int exp_observe_task_make(struct exp_task *t, const struct exp_observe_tasks *k, uint64_t programs,
                          const struct exp_guest_run *run)
{
    char *shape = exp_guest_shape_text(run->problem), *part = exp_guest_part_text(run->part);

    *t = (struct exp_task){ .kind = "observe", .setting = k->setting };
    if (shape && part) {
        t->name = exp_format("%s %s %s", run->algo, shape, part);
        t->what = exp_format("%s %s; %s; micro-kernel %s; core %s; filters %s", shape, part, run->algo, run->ukr,
                             run->core, run->packs_filters ? "packed" : "as they are");
        t->program = exp_format("guest %016" PRIx64, programs);
    }
    free(shape);
    free(part);
    if (t->name && t->what && t->program)
        return 0;
    exp_observe_task_release(t);
    return -ENOMEM;
}

void exp_observe_task_release(struct exp_task *t)
{
    free((char *)t->name);
    free((char *)t->what);
    free((char *)t->program);
    *t = (struct exp_task){ 0 };
}

/* ---- one observation ---- */

/* The guest's buffers must be where this program's plan has them, relative to their arena. */
static bool is_same_plan(const struct conv_layout *l, const struct obs_result *r)
{
    const struct obs_buffer *input = obs_result_buffer(r, CONV_INPUT);

    for (unsigned t = 0; t < CONV_N_TENSORS && input; t++) {
        const struct obs_buffer *b = obs_result_buffer(r, t);

        if (l->bytes[t] && (!b || b->bytes != l->bytes[t] || b->address - input->address != l->offset[t]))
            return false;
    }
    return input && (input->address & (CONV_ARENA_ALIGN - 1)) == 0;
}

/* Tells whether the kernel was seen at all: code that nobody watches leaves no trace. */
static bool is_kernel_seen(const struct obs_result *r)
{
    uint64_t loads = 0;

    for (unsigned t = 0; t < CONV_N_TENSORS; t++)
        loads += r->stats.cell[t][CONV_PHASE_UKR].loads;
    return loads > 0;
}

/*
 * Tells whether the copying of OpenBLAS in a twin was seen: an emulator sees every function, and some products need
 * none.
 */
static bool is_copying_seen(const struct conv_plan *plan, const struct obs_result *r)
{
    unsigned learned = 0;

    for (size_t i = 0; i < r->n_buffers; i++)
        learned |= r->buffer[i].is_learned ? 1u << r->buffer[i].tag : 0;
    return !conv_plan_is_base(plan) || r->n_outside > 0 ||
           learned == (1u << CONV_PACKED_INPUT | 1u << CONV_PACKED_FILTER);
}

static int check(const struct conv_plan *plan, const struct obs_result *r, struct exp_why *why)
{
    if (!is_same_plan(&plan->layout, r))
        return exp_fail(why, -EILSEQ, "the guest planned otherwise than the experiment");
    if (!is_kernel_seen(r) || !is_copying_seen(plan, r))
        return exp_fail(why, -EILSEQ, "a part of its code ran without being watched");
    return 0;
}

int exp_observe_task_find(const struct exp_observe_tasks *k, const struct exp_task *t, const struct conv_plan *plan,
                          struct obs_result *seen, struct exp_why *why)
{
    struct exp_result kept;
    int err = exp_tasks_find(k->store, t, &kept, why);

    if (!err)
        err = exp_observed_result_get(&kept, k->m, seen);
    exp_result_release(&kept);
    return err ? err : check(plan, seen, why);
}

static int keep(const struct exp_observe_tasks *k, const struct exp_task *t, const struct obs_result *seen,
                double seconds, struct exp_why *why)
{
    struct exp_result r = { 0 };
    int err;

    exp_observed_result_put(&r, k->m, seen);
    err = exp_tasks_keep(k->store, t, &r, seconds, why);
    exp_result_release(&r);
    return err;
}

/* Removes what a guest that did not get to its end left behind. */
static void remove_remains(void *ctx)
{
    const char *out = ctx;
    static const char *const suffixes[] = { "", ".partial", ".watched" };

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *path = exp_format("%s%s", out, suffixes[i]);

        if (path)
            unlink(path);
        free(path);
    }
}

/* Each run of this process has a file of its own. */
static char *out_path(const struct exp_observe_tasks *k)
{
    static atomic_uint n_runs;

    return exp_format("%s/%u", k->folder, atomic_fetch_add(&n_runs, 1));
}

int exp_observe_task_run(const struct exp_observe_tasks *k, const struct exp_task *t, const struct exp_guest_run *run,
                         const struct conv_plan *plan, struct obs_result *seen, struct exp_why *why)
{
    const uint64_t begun = ctr_now_ns();
    char *out = out_path(k);
    struct exp_guard guard = { .undo = remove_remains, .ctx = out };
    struct exp_guest_run here = *run;
    int err;

    if (!out)
        return -ENOMEM;
    here.out = out;
    exp_guard_begin(&guard, NULL, NULL);
    err = exp_guest_run(&here, why);
    if (!err)
        err = obs_result_read(seen, out, why->text, sizeof why->text);
    remove_remains(out);
    exp_guard_end(&guard, NULL, NULL);
    free(out);
    if (!err)
        err = check(plan, seen, why);
    return err ? err : keep(k, t, seen, (double)(ctr_now_ns() - begun) * 1e-9, why);
}

/* ---- the folder ---- */

#define FOLDER ".observing."

static int write_machine(const struct sim_machine *m, const char *path)
{
    FILE *out = fopen(path, "w");
    int err;

    if (!out)
        return -errno;
    err = sim_machine_print(m, out);
    if (fclose(out) && !err)
        err = -errno;
    return err;
}

static void remove_folder(int parent, const char *name)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = folder < 0 ? NULL : fdopendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0); /* not what is no file: "." and ".." */
    if (dir)
        closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes what processes that are gone could not remove themselves. */
static void clear_leftovers(const char *results)
{
    DIR *dir = opendir(results);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        long pid =
            strncmp(entry->d_name, FOLDER, strlen(FOLDER)) ? 0 : strtol(entry->d_name + strlen(FOLDER), NULL, 10);

        if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
            remove_folder(dirfd(dir), entry->d_name);
    }
    if (dir)
        closedir(dir);
}

static void remove_own(void *folder)
{
    remove_folder(AT_FDCWD, folder);
}

int exp_observe_tasks_open(struct exp_observe_tasks *k, struct exp_store *store, const char *results,
                           const struct sim_machine *m, struct exp_why *why)
{
    int err;

    *k = (struct exp_observe_tasks){ .store = store, .m = m };
    k->setting = exp_kept_counts_setting(m);
    k->folder = exp_format("%s/" FOLDER "%ld", results, (long)getpid());
    k->machine_path = k->folder ? exp_format("%s/machine.cfg", k->folder) : NULL;
    if (!k->machine_path || !k->setting) {
        exp_observe_tasks_close(k);
        return exp_fail(why, -ENOMEM, "out of memory");
    }
    clear_leftovers(results);
    k->guard = (struct exp_guard){ .undo = remove_own, .ctx = k->folder };
    exp_guard_begin(&k->guard, NULL, NULL);
    err = mkdir(k->folder, 0777) && errno != EEXIST ? -errno : write_machine(m, k->machine_path);
    if (!err)
        return 0;
    exp_fail(why, err, "cannot write to '%s': %s", k->folder, strerror(-err));
    exp_observe_tasks_close(k);
    return err;
}

void exp_observe_tasks_close(struct exp_observe_tasks *k)
{
    if (k->guard.undo) {
        remove_own(k->folder);
        exp_guard_end(&k->guard, NULL, NULL);
    }
    free(k->machine_path);
    free(k->folder);
    free(k->setting);
    *k = (struct exp_observe_tasks){ 0 };
}
