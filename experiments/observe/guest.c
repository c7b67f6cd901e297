#include "experiments/observe/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/text.h"

int exp_workdir_write_machine(const char *path, const struct sim_machine *m, struct exp_why *why)
{
    FILE *out = fopen(path, "w");
    int err = out ? sim_machine_print(m, out) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    return err ? exp_fail(why, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}

/* ---- ways to observe ---- */

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

/* A rule in the plugin's form. */
#define RULE(pattern, phase, tag) ",rule=" #pattern ":" #phase ":" #tag
static const char openblas_rules[] =
#include "counters/watch/openblas_rules.def"
    ;

_Static_assert(CONV_PHASE_PACK == 1 && CONV_PHASE_UKR == 2 && CONV_PHASE_ZERO == 3, "the rules name these");
_Static_assert(CONV_PACKED_INPUT == 1 && CONV_PACKED_FILTER == 3, "the rules name these");

/* glibc clears large blocks by `rep stosb`, which QEMU executes byte by byte; with this setting glibc uses vectors. */
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

bool exp_guest_used_small_kernels(const struct watch_result *seen)
{
    static const char name[] = "sgemm_small_kernel";

    for (size_t i = 0; i < seen->n_outside; i++) {
        if (!strncmp(seen->outside[i].function, name, sizeof name - 1))
            return true;
    }
    return false;
}

/* ---- arguments of a run ---- */

char *exp_guest_shape_text(const struct conv_problem *p)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        fprintf(out, "%s%zu", i ? "," : "SHAPE=", conv_field(p, i));
    fclose(out);
    return text;
}

char *exp_guest_part_text(const struct conv_part *part)
{
    return part ? exp_format("PART=%zu,%zu,%zu", part->images, part->rows, part->filters) : exp_format("PART=");
}

static char *plugin_text(const struct exp_guest_run *run)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_option_print(out, "", run->observer);
    exp_option_print(out, ",out=", run->out);
    exp_option_print(out, ",machine=", run->machine_path);
    fputs(openblas_rules, out);
    if (run->masked_phase)
        fprintf(out, ",masked=%u", run->masked_phase);
    if (run->trace)
        exp_option_print(out, ",trace=", run->trace);
    fclose(out);
    return text;
}

static void add_text(struct exp_words *command, char *text)
{
    exp_words_add(command, "%s", text);
    free(text);
}

static void add_emulator(struct exp_words *command, const struct exp_guest_run *run)
{
    const struct exp_emulator *e = run->emulator;

    exp_words_add(command, "%s", e->program);
    exp_words_add(command, "-cpu");
    exp_words_add(command, "%s", e->cpu);
    /* The emulated CPU must not have this program's limit. */
    exp_words_split(command, "-E OPENBLAS_NUM_THREADS=1 -U " CPU_LIMIT_VARIABLE " -E");
    exp_words_add(command, "%s", glibc_tunables);
    /* Sets the variable, or removes this program's own. */
    exp_words_add(command, e->coretype ? "-E" : "-U");
    exp_words_add(command, "OPENBLAS_CORETYPE%s%s", e->coretype ? "=" : "", e->coretype ? e->coretype : "");
    exp_words_add(command, "-plugin");
    add_text(command, plugin_text(run));
}

static void add_twin(struct exp_words *command, const struct exp_guest_run *run)
{
    exp_words_split(command, "env OPENBLAS_NUM_THREADS=1");
    exp_words_add(command, "OPENBLAS_CORETYPE=%s", run->core);
}

static void add_guest(struct exp_words *command, const struct exp_guest_run *run)
{
    add_text(command, exp_guest_shape_text(run->problem));
    if (run->part)
        add_text(command, exp_guest_part_text(run->part));
    exp_words_add(command, "ALGO=%s", run->algo);
    exp_words_add(command, "MACHINE=%s", run->machine_path);
    exp_words_add(command, "UKR=%s", run->ukr);
    exp_words_add(command, "CORE=%s", run->emulator->program ? run->emulator->core : run->core);
    exp_words_add(command, "FILTERS=%s", run->packs_filters ? "run_time" : "ahead");
    exp_words_add(command, "VERIFY=%d", run->verifies);
    if (run->trace && !run->emulator->program)
        exp_words_add(command, "TRACE=%s", run->trace);
}

static struct exp_words make_command(const struct exp_guest_run *run)
{
    struct exp_words command = { 0 };

    (run->emulator->program ? add_emulator : add_twin)(&command, run);
    exp_words_add(&command, "%s", run->guest);
    exp_words_add(&command, "OUT=%s", run->out);
    for (size_t i = 0; run->arguments && run->arguments[i]; i++)
        exp_words_add(&command, "%s", run->arguments[i]);
    if (!run->arguments)
        add_guest(&command, run);
    return command;
}

/* ---- running ---- */

/* Turns the end of the program into 0 or a reason. */
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

int exp_guest_run(const struct exp_guest_run *run, struct watch_result *seen, struct exp_why *why)
{
    struct exp_words command = make_command(run);
    char last[384];
    int status = 0, err = exp_process_run((const char *const *)command.word, run->limit_s, exp_interrupted, &status,
                                          last, sizeof last);

    exp_words_release(&command);
    if (err != -EINTR)
        err = judge(run, err, status, last, why);
    return err ? err : watch_result_read(seen, run->out, SIM_WHY(why->text));
}

int exp_guest_make(struct exp_guest_made *made, const char *arch, const char *log, struct exp_why *why)
{
    enum { AN_HOUR = 3600 };
    const char *const argv[] = { ".ci/guest", arch, log, NULL };
    struct exp_process_output output = { 0 };
    char last[256] = "";
    int status = 0, err = exp_process_ask(argv, AN_HOUR, exp_interrupted, &status, &output, last, sizeof last);
    size_t length = strcspn(output.first, " ");

    if (err || status) {
        output.first[0] = '\0';
        length = 0;
    }
    made->guest = exp_format("%.*s", (int)length, output.first);
    made->twin = exp_copy_text(output.first + length + strspn(output.first + length, " "));
    if (err || status)
        exp_say(made->why.text, sizeof made->why.text, "%s", *last ? last : err ? exp_error_text(err) : "make failed");
    return err == -EINTR ? exp_fail(why, err, "interrupted while the observed programs were built") : 0;
}

void exp_guest_made_release(struct exp_guest_made *made)
{
    free(made->guest);
    free(made->twin);
    *made = (struct exp_guest_made){ 0 };
}
