#include "experiments/observe/exp_observe.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_guard.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_process.h"
#include "experiments/base/exp_signal.h"
#include "experiments/observe/exp_budget.h"
#include "kernels/backend.h"
#include "kernels/ukr/dispatch.h"
#include "sim/cpu.h"
#include "sim/hierarchy.h"

/* Slower than any emulation that was seen, in multiply-adds per second; and what a start may take. */
#define SLOWEST_MACS_PER_S 1e6
enum { START_S = 60 };

static const struct exp_emulator emulators[] = {
    { .arch = "ppc64le",
      .program = "qemu-ppc64le",
      .cpu = "power10",
      .isa = CPU_ISA_MMA,
      .ukr = "f32_16x8__mma",
      .core = "POWER10" },
    { .arch = "x86_64",
      .program = "qemu-x86_64",
      .cpu = "max",
      .isa = CPU_ISA_AVX2,
      .ukr = "f32_16x6__avx2",
      .core = "Haswell",
      .coretype = "Haswell" },
};

/*
 * Whose work OpenBLAS's functions do, and whose memory the copying ones fill. The clearing (beta = 0) may be left to
 * memset, which nothing else in the region calls.
 */
static const char openblas_rules[] = "rule=sgemm_itcopy*:1:1,rule=sgemm_oncopy*:1:3,rule=sgemm_kernel*:2:-,"
                                     "rule=sgemm_small_kernel*:2:-,rule=sgemm_beta*:3:-,rule=*memset*:3:-";

_Static_assert(CONV_PHASE_PACK == 1 && CONV_PHASE_UKR == 2 && CONV_PHASE_ZERO == 3, "the rules name these");
_Static_assert(CONV_PACKED_INPUT == 1 && CONV_PACKED_FILTER == 3, "the rules name these");

/* glibc clears large blocks by `rep stosb`, which QEMU makes byte by byte; with vectors it does what it reads like. */
static const char glibc_tunables[] = "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000";

const struct exp_emulator *exp_emulator_for(const struct conv_ukr *ukr)
{
    return &emulators[ukr->isa == CPU_ISA_MMA ? 0 : 1];
}

/* POWER10's programs are built on every computer, others on their own CPU family. */
static bool can_observe(const struct conv_ukr *ukr)
{
    return ukr->isa == CPU_ISA_MMA || (ukr->isa != CPU_ISA_NONE && conv_ukr_find(exp_emulator_for(ukr)->ukr)->fn);
}

bool exp_observe_is_wanted(enum exp_observe_mode mode, const struct conv_ukr *ukr, bool is_counted)
{
    return mode == EXP_OBSERVE_AUTO ? !is_counted && can_observe(ukr) : mode != EXP_OBSERVE_NONE;
}

/* ---- planning ---- */

/* The same machine with kernels that the emulator can run. */
static void choose_kernels(struct exp_observed *o, const struct exp_setup *setup)
{
    const struct exp_emulator *emulator = exp_emulator_for(setup->ukr);
    bool fits = setup->ukr->isa == CPU_ISA_NONE || setup->ukr->isa == emulator->isa;

    o->emulator = emulator;
    o->setup = *setup;
    o->setup.blas = (struct conv_blas){ 0 };
    o->setup.core = conv_gemm_core_find(emulator->core);
    conv_blas_ukr_init(&o->setup.openblas_ukr, o->setup.core, NULL);
    if (exp_setup_uses_openblas_ukr(setup))
        o->setup.ukr = &o->setup.openblas_ukr.ukr;
    else
        o->setup.ukr = fits ? setup->ukr : conv_ukr_find(emulator->ukr);
    o->unobserved_ukr = fits ? NULL : setup->ukr;
}

int exp_observe_plan(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                     unsigned algos, enum exp_observe_mode mode, char *why, size_t why_bytes)
{
    int err;

    *o = (struct exp_observed){ .mode = mode };
    if (o->mode == EXP_OBSERVE_NONE)
        return 0;
    choose_kernels(o, setup);
    err = exp_experiment_plan(&o->experiment, &o->setup, model, algos, why, why_bytes);
    if (err)
        return err;
    o->observation = calloc(o->experiment.n_cases, sizeof *o->observation);
    if (!o->observation) {
        exp_observe_release(o);
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < o->experiment.n_cases; i++)
        o->observation[i].same_as = o->mode == EXP_OBSERVE_ALL ? i : o->experiment.cases[i].same_as;
    return 0;
}

void exp_observe_release(struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i++) {
        if (o->observation[i].same_as == i) {
            free(o->observation[i].seen);
            free(o->observation[i].replayed);
        }
    }
    free(o->observation);
    exp_experiment_release(&o->experiment);
    *o = (struct exp_observed){ 0 };
}

/* On one thread of a usual computer; most of a small layer is the emulator's start. */
static double seconds_of(const struct exp_case *c)
{
    return 0.2 + 2e-8 * conv_macs(&c->layer->problem);
}

double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads)
{
    double sum = 0;

    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i++)
        sum += o->observation[i].same_as == i ? seconds_of(&o->experiment.cases[i]) / n_threads : 0;
    return sum;
}

/* Whether all of a layer's cases were observed. */
static bool is_layer_observed(const struct exp_observed *o, size_t first)
{
    for (size_t i = first; i < first + o->experiment.n_algos; i++) {
        if (*o->observation[i].why_not)
            return false;
    }
    return true;
}

size_t exp_observe_count(const struct exp_observed *o, size_t *n_observed)
{
    size_t n = 0;

    *n_observed = 0;
    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i += o->experiment.n_algos) {
        if (o->observation[i].same_as != i)
            continue;
        n++;
        *n_observed += is_layer_observed(o, i);
    }
    return n;
}

/* ---- what an observation depends on ---- */

/* FNV-1a, 64 bits: tells apart, and protects against nobody. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

static int hash_file(uint64_t *hash, const char *path)
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

/* ---- observing ---- */

struct observing {
    struct exp_observed *o;
    const struct exp_observe_options *options;
    struct exp_progress *progress;
    char *folder;       /* RESULTS/.observed */
    char *machine_path; /* the simulated machine's file in it */
    struct exp_guard guard;
    uint64_t hash; /* of programs and machine */
    size_t *order; /* of the cases: smallest first */
    struct exp_budget budget;
};

static const char time_over[] = "the time for observing was over";

static char *shape_text(const struct conv_problem *p)
{
    char text[CONV_N_FIELDS * 21] = ""; /* as many digits as 2^64 has, and a comma */
    size_t used = 0;

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", i ? "," : "", conv_field(p, i));
    return exp_format("SHAPE=%s", text);
}

/* A path as QEMU's options want it: commas twice. From malloc; NULL when out of memory. */
static char *escape_commas(const char *path)
{
    char *text = malloc(2 * strlen(path) + 1), *out = text;

    for (; text && *path; path++) {
        *out++ = *path;
        if (*path == ',')
            *out++ = ',';
    }
    if (text)
        *out = '\0';
    return text;
}

/* Everything that a guest's run is told, each from malloc. */
struct command {
    char *plugin, *coretype, *shape, *algo, *machine, *ukr, *core, *out;
};

static void release_command(struct command *c)
{
    char *const texts[] = { c->plugin, c->coretype, c->shape, c->algo, c->machine, c->ukr, c->core, c->out };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
}

static char *plugin_text(const struct exp_guest_run *run)
{
    char *observer = escape_commas(run->observer), *out = escape_commas(run->out), *text = NULL;
    char *machine = escape_commas(run->machine_path), *trace = escape_commas(run->trace ? run->trace : "");

    if (observer && out && machine && trace)
        text = exp_format("%s,out=%s,machine=%s,%s%s%s", observer, out, machine, openblas_rules,
                          *trace ? ",trace=" : "", trace);
    free(observer);
    free(out);
    free(machine);
    free(trace);
    return text;
}

static int make_command(struct command *c, const struct exp_guest_run *run)
{
    const char *coretype = run->emulator->coretype;

    *c = (struct command){
        .plugin = plugin_text(run),
        .coretype = exp_format("OPENBLAS_CORETYPE%s%s", coretype ? "=" : "", coretype ? coretype : ""),
        .shape = shape_text(run->problem),
        .algo = exp_format("ALGO=%s", run->algo),
        .machine = exp_format("MACHINE=%s", run->machine_path),
        .ukr = exp_format("UKR=%s", run->ukr),
        .core = exp_format("CORE=%s", run->emulator->core),
        .out = exp_format("OUT=%s", run->out),
    };
    if (c->plugin && c->coretype && c->shape && c->algo && c->machine && c->ukr && c->core && c->out)
        return 0;
    release_command(c);
    return -ENOMEM;
}

/* Turns what became of the emulator into 0 or a reason. */
static int judge(const struct exp_guest_run *run, int err, int status, const char *last, char *why, size_t why_bytes)
{
    const char *program = run->emulator->program;

    if (err == -ENOENT)
        return exp_fail(why, why_bytes, err, "%s is missing (package qemu-user)", program);
    if (err == -ETIMEDOUT)
        return exp_fail(why, why_bytes, err, "%s ran longer than %u s under %s", run->algo, run->limit_s, program);
    if (err)
        return exp_fail(why, why_bytes, err, "%s cannot be run: %s", program, strerror(-err));
    if (WIFSIGNALED(status))
        return exp_fail(why, why_bytes, -EIO, "%s was ended by signal %d under %s%s%s", run->algo, WTERMSIG(status),
                        program, *last ? ": " : "", last);
    if (WEXITSTATUS(status))
        return exp_fail(why, why_bytes, -EIO, "%s: %s", program, *last ? last : "the guest failed without a word");
    return 0;
}

int exp_guest_run(const struct exp_guest_run *run, char *why, size_t why_bytes)
{
    const struct exp_emulator *e = run->emulator;
    struct command c;
    char last[384];
    int status = 0, err = make_command(&c, run);
    const char *const argv[] = { e->program,
                                 "-cpu",
                                 e->cpu,
                                 e->coretype ? "-E" : "-U", /* set it, or take this program's own away */
                                 c.coretype,
                                 "-E",
                                 "OPENBLAS_NUM_THREADS=1",
                                 "-U", /* this program's limit is not the emulated CPU's */
                                 CPU_LIMIT_VARIABLE,
                                 "-E",
                                 glibc_tunables,
                                 "-plugin",
                                 c.plugin,
                                 run->guest,
                                 c.shape,
                                 c.algo,
                                 c.machine,
                                 c.ukr,
                                 c.core,
                                 c.out,
                                 run->packs_filters ? "FILTERS=run_time" : "FILTERS=ahead",
                                 run->verifies ? "VERIFY=1" : "VERIFY=0",
                                 NULL };

    if (err)
        return exp_fail(why, why_bytes, err, "out of memory");
    err = exp_process_run(argv, run->limit_s, exp_interrupted, &status, last, sizeof last);
    release_command(&c);
    return err == -EINTR ? err : judge(run, err, status, last, why, why_bytes);
}

/* What a run may take: of what hangs, or of the budget. */
static unsigned limit_s(const struct observing *ob, const struct exp_case *c)
{
    double slowest = START_S + floor(conv_macs(&c->layer->problem) / SLOWEST_MACS_PER_S);

    return (unsigned)fmin(slowest, ceil(exp_budget_left(&ob->budget)));
}

/*
 * What the guest is told to plan with: the micro-kernel that was chosen here, or for a direct kernel the instruction set
 * that it was chosen for.
 */
static const char *ukr_name(const struct observing *ob, const struct exp_case *c)
{
    const char *set = strstr(ob->o->setup.ukr->name, "__");

    if (c->plan.algorithm == CONV_DIRECT && set)
        return set + 2;
    return (c->algo->is_sconv ? c->plan.ukr : ob->o->setup.ukr)->name;
}

static int run_guest(const struct observing *ob, const struct exp_case *c, const char *out, char *why, size_t why_bytes)
{
    const struct exp_guest_run run = {
        .emulator = ob->o->emulator,
        .observer = ob->options->observer,
        .guest = ob->options->guest,
        .machine_path = ob->machine_path,
        .out = out,
        .problem = &c->layer->problem,
        .algo = c->algo->name,
        .ukr = ukr_name(ob, c),
        .packs_filters = ob->o->setup.packs_filters,
        .limit_s = limit_s(ob, c),
    };
    char reason[512] = "";
    int err = exp_guest_run(&run, reason, sizeof reason);

    return err ? exp_fail(why, why_bytes, err, "%s: %s", c->layer->name, reason) : 0;
}

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

/* Replays the case with its tensors where they were observed: learned buffers replace announced ones. */
static int replay(const struct exp_case *c, const struct sim_machine *m, const struct obs_result *seen,
                  struct sim_stats *stats)
{
    struct conv_replay r;
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, m);

    if (err)
        return err;
    conv_replay_init(&r, &c->plan, sim_hierarchy_sink(h));
    for (size_t i = 0; i < seen->n_buffers; i++) {
        if (seen->buffer[i].tag < CONV_N_TENSORS)
            r.bind.addr[seen->buffer[i].tag] = seen->buffer[i].address;
    }
    err = conv_nest_run(&c->plan, &r.base);
    if (!err)
        err = sim_hierarchy_error(h);
    *stats = *sim_hierarchy_stats(h);
    sim_hierarchy_free(h);
    return err;
}

/* Where the observation of a case is kept, from malloc. */
static char *kept_path(const struct observing *ob, const struct exp_case *c)
{
    char *shape = shape_text(&c->layer->problem);
    uint64_t hash = ob->hash;
    char *path = NULL;

    if (shape) {
        hash = hash_bytes(hash, shape, strlen(shape));
        hash = hash_bytes(hash, c->algo->name, strlen(c->algo->name) + 1);
        hash = hash_bytes(hash, ukr_name(ob, c), strlen(ukr_name(ob, c)) + 1);
        hash = hash_bytes(hash, &ob->o->setup.packs_filters, sizeof ob->o->setup.packs_filters);
        path = exp_format("%s/%s_%s_%016" PRIx64 ".txt", ob->folder, ob->o->setup.machine.name, c->algo->name, hash);
    }
    free(shape);
    return path;
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

/* Runs the guest, and keeps its result under `path` once it is there as a whole. */
static int observe(const struct observing *ob, const struct exp_case *c, const char *path, struct obs_result *seen,
                   char *why, size_t why_bytes)
{
    char *out = exp_format("%s.%ld", path, (long)getpid());
    struct exp_guard guard = { .undo = remove_remains, .ctx = out };
    int err;

    if (!out)
        return -ENOMEM;
    exp_guard_begin(&guard, NULL, NULL);
    err = run_guest(ob, c, out, why, why_bytes);
    if (!err)
        err = obs_result_read(seen, out, why, why_bytes);
    if (!err && !is_same_plan(&c->plan.layout, seen))
        err = exp_fail(why, why_bytes, -EILSEQ, "the guest planned %s otherwise than the experiment", c->layer->name);
    if (!err && rename(out, path))
        err = exp_fail(why, why_bytes, -errno, "cannot keep '%s': %s", path, strerror(errno));
    if (err)
        remove_remains(out);
    exp_guard_end(&guard, NULL, NULL);
    free(out);
    return err;
}

/* Observes if the budget has room for it. */
static int observe_in_time(struct observing *ob, size_t index, const char *path, char *why, size_t why_bytes)
{
    struct exp_observation *x = &ob->o->observation[index];
    const struct exp_case *c = &ob->o->experiment.cases[index];
    double begun = exp_budget_spent(&ob->budget);
    bool has_room = exp_budget_allows(&ob->budget, seconds_of(c));
    int err = has_room ? observe(ob, c, path, x->seen, why, why_bytes) : -ETIMEDOUT;

    if (!err)
        exp_budget_learn(&ob->budget, seconds_of(c), exp_budget_spent(&ob->budget) - begun);
    x->is_left_out = err == -ETIMEDOUT && !(has_room && exp_budget_left(&ob->budget) > 0);
    return x->is_left_out ? exp_fail(why, why_bytes, err, "%s", time_over) : err;
}

static int observe_or_find(struct observing *ob, size_t index, char *why, size_t why_bytes)
{
    struct exp_observation *x = &ob->o->observation[index];
    const struct exp_case *c = &ob->o->experiment.cases[index];
    char *path = kept_path(ob, c);
    int err = path ? 0 : -ENOMEM;

    if (!err) {
        x->was_kept = !obs_result_read(x->seen, path, why, why_bytes) && is_same_plan(&c->plan.layout, x->seen);
        if (!x->was_kept)
            err = observe_in_time(ob, index, path, why, why_bytes);
    }
    free(path);
    return err ? err : replay(c, &ob->o->setup.machine, x->seen, x->replayed);
}

/* Said once for each layer or, about all of them, once. */
static void say(const struct observing *ob, const char *why)
{
    exp_progress_note(ob->progress, "not observed: %s", why);
}

static int observe_job(void *ctx, size_t job, size_t thread, const struct exp_pool *pool)
{
    struct observing *ob = ctx;
    const size_t index = ob->order[job];
    struct exp_observation *x = &ob->o->observation[index];
    const struct exp_case *c = &ob->o->experiment.cases[index];
    char why[256] = "";
    int err;

    (void)thread;
    (void)pool;
    if (x->same_as != index)
        return 0;
    exp_progress_begin(ob->progress, EXP_WORK_OBSERVE, c->layer->name, "observing");
    x->seen = calloc(1, sizeof *x->seen);
    x->replayed = calloc(1, sizeof *x->replayed);
    err = x->seen && x->replayed ? observe_or_find(ob, index, why, sizeof why) : -ENOMEM;
    if (err == -EINTR || err == -ENOMEM)
        return err;
    if (err)
        snprintf(x->why_not, sizeof x->why_not, "%s", why);
    if (err && !x->is_left_out)
        say(ob, why);
    (x->was_kept || x->is_left_out ? exp_progress_drop : exp_progress_step)(ob->progress, EXP_WORK_OBSERVE,
                                                                            seconds_of(c) / ob->options->n_threads);
    return 0;
}

/* ---- in which order ---- */

struct place {
    double macs;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->macs < y->macs || x->macs > y->macs)
        return x->macs < y->macs ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* All cases, smallest first; those of a layer stay together. From malloc; NULL when out of memory. */
static size_t *order_cases(const struct exp_experiment *e)
{
    struct place *place = calloc(e->n_cases, sizeof *place);
    size_t *order = calloc(e->n_cases, sizeof *order);

    for (size_t i = 0; i < e->n_cases && place; i++)
        place[i] = (struct place){ conv_macs(&e->cases[i].layer->problem), i };
    if (place)
        qsort(place, e->n_cases, sizeof *place, compare_places);
    for (size_t i = 0; i < e->n_cases && place && order; i++)
        order[i] = place[i].index;
    if (!place) {
        free(order);
        order = NULL;
    }
    free(place);
    return order;
}

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

static void fail_all(struct exp_observed *o, const char *why)
{
    for (size_t i = 0; i < o->experiment.n_cases; i++)
        snprintf(o->observation[i].why_not, sizeof o->observation[i].why_not, "%s", why);
}

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

/* Folder, machine file and hash. -ENOENT, with a reason, if a program is missing: no error of the experiment. */
static int open_observing(struct observing *ob, char *why, size_t why_bytes)
{
    const struct exp_observe_options *options = ob->options;
    const char *const programs[] = { options->observer, options->guest };
    int err;

    for (size_t i = 0; i < 2; i++) {
        if (hash_file(&ob->hash, programs[i]))
            return exp_fail(why, why_bytes, -ENOENT, "%s",
                            *options->why_missing ? options->why_missing : "the guest program was not built");
    }
    ob->folder = exp_format("%s/.observed", options->results);
    ob->machine_path = ob->folder ? exp_format("%s/machine.%ld.cfg", ob->folder, (long)getpid()) : NULL;
    ob->order = order_cases(&ob->o->experiment);
    if (!ob->machine_path || !ob->order)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    ob->guard = (struct exp_guard){ .undo = remove_machine, .ctx = ob->machine_path };
    exp_guard_begin(&ob->guard, NULL, NULL);
    clear_leftovers(ob->folder);
    err = make_folder(ob->folder);
    if (!err)
        err = write_machine(&ob->o->setup.machine, ob->machine_path);
    if (!err)
        err = hash_file(&ob->hash, ob->machine_path);
    return err ? exp_fail(why, why_bytes, err, "cannot write to '%s': %s", ob->folder, strerror(-err)) : 0;
}

static void close_observing(struct observing *ob)
{
    if (ob->machine_path)
        unlink(ob->machine_path);
    exp_guard_end(&ob->guard, NULL, NULL);
    free(ob->machine_path);
    free(ob->folder);
    free(ob->order);
}

static int run_all(struct observing *ob, char *why, size_t why_bytes)
{
    struct exp_observed *o = ob->o;
    int err;

    o->limit_s = o->mode == EXP_OBSERVE_AUTO ? ob->options->limit_s : 0;
    exp_budget_init(&ob->budget, o->limit_s, ctr_now_ns);
    err = exp_pool_run(o->experiment.n_cases, ob->options->n_threads, observe_job, ob, exp_interrupted, NULL);
    o->spent_s = exp_budget_spent(&ob->budget);
    exp_budget_release(&ob->budget);
    if (err)
        exp_fail(why, why_bytes, err, err == -EINTR ? "interrupted while observing" : "out of memory while observing");
    share_results(o);
    return err;
}

int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    char *why, size_t why_bytes)
{
    struct observing ob = { .o = o, .options = options, .progress = progress, .hash = 0xcbf29ce484222325u };
    int err;

    if (!o->observation)
        return 0;
    err = open_observing(&ob, why, why_bytes);
    if (err == -ENOENT) {
        say(&ob, why);
        fail_all(o, why);
        err = 0;
    } else if (!err) {
        err = run_all(&ob, why, why_bytes);
    }
    close_observing(&ob);
    return err;
}
