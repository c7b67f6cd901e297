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
#include "experiments/observe/exp_observed_result.h"
#include "experiments/replay/exp_quantity.h"

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
