#include "experiments/paper/exp_paper_facts.h"

#include "experiments/base/exp_error.h"
#include "kernels/csa/csa.h"

double exp_paper_level_bytes(const struct sim_machine *m, int level)
{
    return (double)(m->level[level].n_sets * m->level[level].n_ways * m->level[level].line_bytes);
}

double exp_paper_clock_ghz(const struct sim_machine *m, int arg)
{
    (void)arg;
    return m->issue.clock_ghz;
}

double exp_paper_peak_gflops(const struct sim_machine *m, int arg)
{
    (void)arg;
    return 2 * m->issue.mac_rows * m->issue.mac_columns * m->issue.mac_instructions_per_cycle * m->issue.clock_ghz;
}

void exp_paper_machine_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "simulated as `%s`: %s", m->name, m->description);
}

void exp_paper_kernel_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "replayed with OpenBLAS's core %s; our own micro-kernel is %s", m->gemm_core, m->ukr);
}

void exp_paper_units_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "%.3g multiply-add instructions of %u x %u per cycle", m->issue.mac_instructions_per_cycle,
            (unsigned)m->issue.mac_rows, (unsigned)m->issue.mac_columns);
}

void exp_paper_cache_share_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "%.2g, all three", csa_default_share);
}

void exp_paper_threads_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "1, pinned to a core");
}

void exp_paper_dtype_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "float32 (C's float)");
}

void exp_paper_compiler_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "%s; OpenBLAS as the distribution compiled it", __VERSION__);
}

void exp_paper_counter_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "Linux perf events, where there are counters; recorded on a Zen 3; else none");
}

void exp_paper_baseline_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "Caffe's im2col and OpenBLAS's sgemm; `sconv_openblas` runs OpenBLAS's micro-kernel");
}

void exp_paper_definition_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "load misses of each level, of all loads");
}
