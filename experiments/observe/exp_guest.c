#include "experiments/observe/exp_guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_process.h"
#include "experiments/base/exp_program.h"
#include "kernels/backend/backend.h"

static const struct exp_emulator power10 = { .arch = "ppc64le",
                                             .program = "qemu-ppc64le",
                                             .cpu = "power10",
                                             .isa = CPU_ISA_MMA,
                                             .ukr = "f32_16x8__mma",
                                             .core = "POWER10",
                                             .source = "emulated: qemu-ppc64le -cpu power10",
                                             .ns_per_mac = 25,
                                             .start_s = 0.2 };

static const struct exp_emulator haswell = { .arch = "x86_64",
                                             .program = "qemu-x86_64",
                                             .cpu = "max",
                                             .isa = CPU_ISA_AVX2,
                                             .ukr = "f32_16x6__avx2",
                                             .core = "Haswell",
                                             .coretype = "Haswell",
                                             .source = "emulated: qemu-x86_64 -cpu max",
                                             .ns_per_mac = 14,
                                             .start_s = 0.15 };

static const struct exp_emulator twin = {
    .arch = "x86_64", .isa = CPU_ISA_AVX512, .core = "", .source = "instrumented twin", .ns_per_mac = 2, .start_s = 0.05
};

#define COPIED(isa_, core_)                                                                                            \
    {                                                                                                                  \
        .arch = "x86_64-copied", .isa = isa_, .core = core_, .source = "copies of the machine code", .ns_per_mac = 2,  \
        .start_s = 0.1                                                                                                 \
    }
static const struct exp_emulator copied[] = { COPIED(CPU_ISA_AVX512, "SkylakeX"), COPIED(CPU_ISA_AVX2, "Haswell") };

/* As the plugin takes them. */
#define RULE(pattern, phase, tag) ",rule=" #pattern ":" #phase ":" #tag
static const char openblas_rules[] =
#include "counters/observe/obs_openblas_rules.def"
    ;

_Static_assert(CONV_PHASE_PACK == 1 && CONV_PHASE_UKR == 2 && CONV_PHASE_ZERO == 3, "the rules name these");
_Static_assert(CONV_PACKED_INPUT == 1 && CONV_PACKED_FILTER == 3, "the rules name these");

/* glibc clears large blocks by `rep stosb`, which QEMU makes byte by byte; with vectors it does what it reads like. */
static const char glibc_tunables[] = "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000";

const struct exp_emulator *exp_emulator_for(const struct conv_ukr *ukr)
{
    return ukr->isa == CPU_ISA_MMA ? &power10 : &haswell;
}

const struct exp_emulator *exp_emulator_twin(void)
{
    return &twin;
}

const struct exp_emulator *exp_emulator_copied(enum cpu_isa isa)
{
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        if (copied[i].isa == isa)
            return &copied[i];
    }
    return NULL;
}

char *exp_guest_rewritten_path(const char *guest)
{
    return exp_format("%s.rewritten", guest);
}

bool exp_guest_is_rewritten(const struct conv_gemm_core *core)
{
    return core->ukr.isa == CPU_ISA_AVX512;
}

bool exp_guest_used_small_kernels(const struct obs_result *seen)
{
    static const char name[] = "sgemm_small_kernel";

    for (size_t i = 0; i < seen->n_outside; i++) {
        if (!strncmp(seen->outside[i].function, name, sizeof name - 1))
            return true;
    }
    return false;
}

/* ---- what a run is told ---- */

char *exp_guest_shape_text(const struct conv_problem *p)
{
    char text[CONV_N_FIELDS * 21] = ""; /* as many digits as 2^64 has, and a comma */
    size_t used = 0;

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", i ? "," : "", conv_field(p, i));
    return exp_format("SHAPE=%s", text);
}

char *exp_guest_part_text(const struct conv_part *part)
{
    return part ? exp_format("PART=%zu,%zu,%zu", part->images, part->rows, part->filters) : exp_format("PART=");
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

static char *plugin_text(const struct exp_guest_run *run)
{
    char *observer = escape_commas(run->observer), *out = escape_commas(run->out), *text = NULL;
    char *machine = escape_commas(run->machine_path), *trace = escape_commas(run->trace ? run->trace : "");
    char masked[32] = "";

    if (run->masked_phase)
        snprintf(masked, sizeof masked, ",masked=%u", run->masked_phase);
    if (observer && out && machine && trace)
        text = exp_format("%s,out=%s,machine=%s%s%s%s%s", observer, out, machine, openblas_rules, masked,
                          *trace ? ",trace=" : "", trace);
    free(observer);
    free(out);
    free(machine);
    free(trace);
    return text;
}

/* A command line; strings of its own are in text[], from malloc. */
struct command {
    const char *argv[32];
    char *text[12];
    size_t n_args, n_texts;
    bool is_short_of_memory;
};

static void add(struct command *c, const char *arg)
{
    c->argv[c->n_args++] = arg;
}

/* The same for an argument from malloc. */
static void add_text(struct command *c, char *text)
{
    c->is_short_of_memory |= !text;
    c->text[c->n_texts++] = text;
    add(c, text);
}

static void add_emulator(struct command *c, const struct exp_guest_run *run)
{
    const struct exp_emulator *e = run->emulator;
    const char *const before[] = { e->program,
                                   "-cpu",
                                   e->cpu,
                                   "-E",
                                   "OPENBLAS_NUM_THREADS=1",
                                   "-U",
                                   CPU_LIMIT_VARIABLE, /* this program's limit is not the emulated CPU's */
                                   "-E",
                                   glibc_tunables,
                                   e->coretype ? "-E" : "-U" };

    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        add(c, before[i]);
    /* set it, or take this program's own away */
    add_text(c, exp_format("OPENBLAS_CORETYPE%s%s", e->coretype ? "=" : "", e->coretype ? e->coretype : ""));
    add(c, "-plugin");
    add_text(c, plugin_text(run));
}

static void add_twin(struct command *c, const struct exp_guest_run *run)
{
    add(c, "env");
    add(c, "OPENBLAS_NUM_THREADS=1");
    add_text(c, exp_format("OPENBLAS_CORETYPE=%s", run->core));
}

static void add_guest(struct command *c, const struct exp_guest_run *run)
{
    add_text(c, exp_guest_shape_text(run->problem));
    if (run->part)
        add_text(c, exp_guest_part_text(run->part));
    add_text(c, exp_format("ALGO=%s", run->algo));
    add_text(c, exp_format("MACHINE=%s", run->machine_path));
    add_text(c, exp_format("UKR=%s", run->ukr));
    add_text(c, exp_format("CORE=%s", run->emulator->program ? run->emulator->core : run->core));
    add(c, run->packs_filters ? "FILTERS=run_time" : "FILTERS=ahead");
    add(c, run->verifies ? "VERIFY=1" : "VERIFY=0");
    if (run->trace && !run->emulator->program)
        add_text(c, exp_format("TRACE=%s", run->trace));
}

static int make_command(struct command *c, const struct exp_guest_run *run)
{
    *c = (struct command){ .n_args = 0 };
    (run->emulator->program ? add_emulator : add_twin)(c, run);
    add(c, run->guest);
    add_text(c, exp_format("OUT=%s", run->out));
    for (size_t i = 0; run->arguments && run->arguments[i]; i++)
        add(c, run->arguments[i]);
    if (!run->arguments)
        add_guest(c, run);
    return c->is_short_of_memory ? -ENOMEM : 0;
}

static void release_command(struct command *c)
{
    for (size_t i = 0; i < c->n_texts; i++)
        free(c->text[i]);
}

/* ---- running ---- */

/* Turns what became of the program into 0 or a reason. */
static int judge(const struct exp_guest_run *run, int err, int status, const char *last, struct exp_why *why)
{
    const char *program = run->emulator->program ? run->emulator->program : run->guest;

    if (err == -ENOENT && run->emulator->program)
        return exp_fail(why, err, "%s is missing (package qemu-user)", program);
    if (err == -ETIMEDOUT)
        return exp_fail(why, err, "%s ran longer than %u s under %s", run->algo, run->limit_s, program);
    if (err)
        return exp_fail(why, err, "%s cannot be run: %s", program, strerror(-err));
    if (WIFSIGNALED(status))
        return exp_fail(why, -EIO, "%s was ended by signal %d under %s%s%s", run->algo, WTERMSIG(status), program,
                        *last ? ": " : "", last);
    if (WEXITSTATUS(status))
        return exp_fail(why, -EIO, "%s: %s", program, *last ? last : "the guest failed without a word");
    return 0;
}

int exp_guest_run(const struct exp_guest_run *run, struct exp_why *why)
{
    struct command c;
    char last[384];
    int status = 0, err = make_command(&c, run);

    if (err)
        exp_fail(why, err, "out of memory");
    else
        err = exp_process_run(c.argv, run->limit_s, exp_interrupted, &status, last, sizeof last);
    release_command(&c);
    return err == -EINTR || err == -ENOMEM ? err : judge(run, err, status, last, why);
}
