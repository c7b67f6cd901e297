#include "experiments/observe/exp_kept.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"

/* ---- what an observation depends on ---- */

static const uint64_t hash_start = 0xcbf29ce484222325u;

/* FNV-1a, 64 bits: tells apart, and protects against nobody. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

int exp_kept_hash_program(uint64_t *hash, const char *path)
{
    char block[1 << 16];
    FILE *in = fopen(path, "rb");
    size_t n;
    int err;

    if (!in)
        return -errno;
    while ((n = fread(block, 1, sizeof block, in)))
        *hash = hash_bytes(*hash, block, n);
    err = ferror(in) ? -EIO : 0;
    fclose(in);
    return err;
}

char *exp_kept_path(const struct exp_kept *k, uint64_t programs, const struct exp_guest_run *run)
{
    char *shape = exp_guest_shape_text(run->problem), *part = exp_guest_part_text(run->part), *path = NULL;
    uint64_t hash = hash_bytes(k->hash, &programs, sizeof programs);

    if (shape && part) {
        hash = hash_text(hash_text(hash, shape), part);
        hash = hash_text(hash_text(hash, run->algo), run->ukr);
        hash = hash_bytes(hash, &run->packs_filters, sizeof run->packs_filters);
        path = exp_format("%s/%s_%s_%016" PRIx64 ".txt", k->folder, k->machine, run->algo, hash);
    }
    free(shape);
    free(part);
    return path;
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

/* Whether the kernel was seen at all: code that nobody watches leaves no trace. */
static bool is_kernel_seen(const struct obs_result *r)
{
    uint64_t loads = 0;

    for (unsigned t = 0; t < CONV_N_TENSORS; t++)
        loads += r->stats.cell[t][CONV_PHASE_UKR].loads;
    return loads > 0;
}

/* Of OpenBLAS in a twin, whether its copying was: an emulator sees every function, and some products need none. */
static bool is_copying_seen(const struct conv_plan *plan, const struct obs_result *r)
{
    unsigned learned = 0;

    for (size_t i = 0; i < r->n_buffers; i++)
        learned |= r->buffer[i].is_learned ? 1u << r->buffer[i].tag : 0;
    return !conv_plan_is_base(plan) || r->n_outside > 0 ||
           learned == (1u << CONV_PACKED_INPUT | 1u << CONV_PACKED_FILTER);
}

static int check(const struct conv_plan *plan, const struct obs_result *r, char *why, size_t why_bytes)
{
    if (!is_same_plan(&plan->layout, r))
        return exp_fail(why, why_bytes, -EILSEQ, "the guest planned otherwise than the experiment");
    if (!is_kernel_seen(r) || !is_copying_seen(plan, r))
        return exp_fail(why, why_bytes, -EILSEQ, "a part of its code ran without being watched");
    return 0;
}

int exp_kept_find(const char *path, const struct conv_plan *plan, struct obs_result *seen)
{
    char ignored[256];
    int err = obs_result_read(seen, path, ignored, sizeof ignored);

    return err ? err : check(plan, seen, ignored, sizeof ignored);
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

int exp_kept_observe(const struct exp_guest_run *run, const char *path, const struct conv_plan *plan,
                     struct obs_result *seen, char *why, size_t why_bytes)
{
    char *out = exp_format("%s.%ld", path, (long)getpid());
    struct exp_guard guard = { .undo = remove_remains, .ctx = out };
    struct exp_guest_run here = *run;
    int err;

    if (!out)
        return -ENOMEM;
    here.out = out;
    exp_guard_begin(&guard, NULL, NULL);
    err = exp_guest_run(&here, why, why_bytes);
    if (!err)
        err = obs_result_read(seen, out, why, why_bytes);
    if (!err)
        err = check(plan, seen, why, why_bytes);
    if (!err && rename(out, path))
        err = exp_fail(why, why_bytes, -errno, "cannot keep '%s': %s", path, strerror(errno));
    if (err)
        remove_remains(out);
    exp_guard_end(&guard, NULL, NULL);
    free(out);
    return err;
}

/* ---- the folder ---- */

static int make_folder(const char *path)
{
    return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

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

/* The number of the process that writes a file of the folder; 0 if the file is a finished one. */
static long writer_of(const char *file)
{
    const char *finished = strstr(file, ".txt.");
    long pid = 0;

    if (!finished && sscanf(file, "machine.%ld.cfg", &pid) != 1)
        return 0;
    return finished ? strtol(finished + strlen(".txt."), NULL, 10) : pid;
}

/* Removes what processes that are gone could not remove themselves. */
static void clear_leftovers(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        long pid = writer_of(entry->d_name);

        if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

static void remove_machine(void *path)
{
    unlink(path);
}

int exp_kept_open(struct exp_kept *k, const char *results, const struct sim_machine *m, char *why, size_t why_bytes)
{
    int err;

    *k = (struct exp_kept){ .machine = m->name, .hash = hash_start };
    k->folder = exp_format("%s/.observed", results);
    k->machine_path = k->folder ? exp_format("%s/machine.%ld.cfg", k->folder, (long)getpid()) : NULL;
    if (!k->machine_path) {
        exp_kept_close(k);
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    }
    k->guard = (struct exp_guard){ .undo = remove_machine, .ctx = k->machine_path };
    exp_guard_begin(&k->guard, NULL, NULL);
    clear_leftovers(k->folder);
    err = make_folder(k->folder);
    if (!err)
        err = write_machine(m, k->machine_path);
    if (!err)
        err = exp_kept_hash_program(&k->hash, k->machine_path);
    if (!err)
        return 0;
    exp_fail(why, why_bytes, err, "cannot write to '%s': %s", k->folder, strerror(-err));
    exp_kept_close(k);
    return err;
}

void exp_kept_close(struct exp_kept *k)
{
    if (k->guard.undo) {
        unlink(k->machine_path);
        exp_guard_end(&k->guard, NULL, NULL);
    }
    free(k->machine_path);
    free(k->folder);
    *k = (struct exp_kept){ 0 };
}
