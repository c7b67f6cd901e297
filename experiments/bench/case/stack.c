#include "experiments/bench/case/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/bench/case/algo.h"
#include "kernels/ukr/dispatch.h"

#define FOLDER "experiments/stack"

#if defined(__clang__)
#define COMPILER "clang"
#define COMPILER_VERSION __clang_major__
#else
#define COMPILER "gcc"
#define COMPILER_VERSION __GNUC__
#endif

#define OBSERVED_COMPILER "gcc-12" /* of the kept tables */

enum { MAX_LINES = 4096 };

/* A fit leaves at most this for a cost of 0. */
#define LEAST 1e-6

enum { ALGO, UKR, PHASE, LINES, WORK, LOADS, STORES, INSTRUCTIONS, BRANCHES, N_COLUMNS };

static const char *const columns[N_COLUMNS] = { "algo",  "micro_kernel", "phase",        "lines",   "work",
                                                "loads", "stores",       "instructions", "branches" };

static const char *family(enum cpu_isa isa)
{
    return isa == CPU_ISA_MMA ? "ppc64le" : isa == CPU_ISA_AVX512 ? "x86_64-avx512" : "x86_64";
}

char *exp_stacks_path(enum cpu_isa isa)
{
    return exp_format(FOLDER "/%s-" COMPILER "-%d.csv", family(isa), COMPILER_VERSION);
}

char *exp_stacks_known_path(enum cpu_isa isa)
{
    char *path = exp_stacks_path(isa);

    if (!access(path, F_OK))
        return path;
    free(path);
    return exp_format(FOLDER "/%s-" OBSERVED_COMPILER ".csv", family(isa));
}

const char *exp_stack_kernel(const struct conv_plan *plan)
{
    return conv_plan_kernel_name(plan);
}

static struct exp_stack_record *find(const struct exp_stacks *s, const char *algo, const char *ukr)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!strcmp(s->record[i].algo, algo) && !strcmp(s->record[i].ukr, ukr))
            return &s->record[i];
    }
    return NULL;
}

void exp_stacks_keep_work(struct exp_stacks *s)
{
    for (size_t i = 0; i < s->n; i++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            struct conv_stack_phase *phase = &s->record[i].stack.phase[p];

            memset(phase->loads, 0, sizeof phase->loads);
            memset(phase->stores, 0, sizeof phase->stores);
        }
    }
}

bool exp_stacks_have(const struct exp_stacks *s, const char *algo)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!strcmp(s->record[i].algo, algo))
            return true;
    }
    return false;
}

/* The algorithm that runs the code of this plan of SConv. */
static const char *alike(const struct conv_plan *plan)
{
    const struct conv_sconv_options *o = &plan->sconv.options;

    if (o->skips_padding)
        return "sconv_tuned";
    if (o->pads_first)
        return "sconv_pads_first";
    if (o->prefetches)
        return "sconv_ahead";
    if (!conv_ukr_find(plan->ukr->name)) /* of no instruction set: OpenBLAS's micro-kernel */
        return "sconv_openblas";
    return plan->sconv.tiling.schedule == CSA_IS ? "sconv_is" : "sconv_ws";
}

const struct conv_stack *exp_stacks_find(const struct exp_stacks *s, const char *algo, const struct conv_plan *plan)
{
    const bool is_noted = !strcmp(algo, EXP_ALGO_NOTED);
    const struct exp_stack_record *r = find(s, is_noted ? alike(plan) : algo, exp_stack_kernel(plan));

    return r ? &r->stack : NULL;
}

/* ---- reading ---- */

struct reader {
    struct exp_stacks *s;
    struct exp_table *table;
    size_t column[N_COLUMNS];
    unsigned n_columns; /* all, or those before instructions */
    struct exp_why *why;
};

static const char *text(const struct reader *in, size_t row, unsigned column)
{
    return exp_table_string(in->table, row, in->column[column]);
}

static const char *phase_name(unsigned i)
{
    return conv_phase_name((enum conv_phase)i);
}

static const char *work_name(unsigned i)
{
    return conv_work_name((enum conv_work)i);
}

/* Finds which of n names a field is. */
static int read_name(const struct reader *in, size_t row, unsigned column, const char *(*name)(unsigned), unsigned n,
                     unsigned *i)
{
    const char *word = text(in, row, column);

    for (*i = 0; *i < n; ++*i) {
        if (!strcmp(name(*i), word))
            return 0;
    }
    return exp_fail(in->why, -EINVAL, "%s:%u: %s: '%s' is none that is known here", in->table->path,
                    in->table->line[row], columns[column], word);
}

static int read_number(const struct reader *in, size_t row, unsigned column, double *value)
{
    int err = exp_table_double(in->table, row, in->column[column], value, in->why);

    if (err || *value >= 0)
        return err;
    return exp_fail(in->why, -EINVAL, "%s:%u: %s: must not be negative, '%s'", in->table->path, in->table->line[row],
                    columns[column], text(in, row, column));
}

static struct exp_stack_record *record_of(struct exp_stacks *s, const char *algo, const char *ukr)
{
    struct exp_stack_record *r = find(s, algo, ukr);

    if (r)
        return r;
    r = exp_append(&s->record, &s->n, sizeof *r);
    *r = (struct exp_stack_record){ .algo = algo, .ukr = ukr };
    return r;
}

static int read_row(const struct reader *in, size_t row)
{
    unsigned phase, work;
    double lines, cost[N_COLUMNS] = { 0 };
    struct conv_stack_phase *p;
    int err = read_name(in, row, PHASE, phase_name, CONV_N_PHASES, &phase);

    if (!err)
        err = read_name(in, row, WORK, work_name, CONV_N_WORKS, &work);
    if (!err)
        err = read_number(in, row, LINES, &lines);
    if (!err && (lines < 1 || lines > MAX_LINES))
        err = exp_fail(in->why, -EINVAL, "%s:%u: lines: expected 1 to %d, '%s'", in->table->path, in->table->line[row],
                       MAX_LINES, text(in, row, LINES));
    for (unsigned i = LOADS; i < in->n_columns && !err; i++)
        err = read_number(in, row, i, &cost[i]);
    if (err)
        return err;
    p = &record_of(in->s, text(in, row, ALGO), text(in, row, UKR))->stack.phase[phase];
    p->lines = (uint32_t)lines;
    p->loads[work] = cost[LOADS];
    p->stores[work] = cost[STORES];
    p->instructions[work] = cost[INSTRUCTIONS];
    p->branches[work] = cost[BRANCHES];
    return 0;
}

int exp_stacks_read(struct exp_stacks *s, const char *path, struct exp_why *why)
{
    struct reader in = { .s = s, .table = &s->table[s->n_tables], .why = why };
    int err = exp_table_read(in.table, path, why);

    s->n_tables += !err;
    for (unsigned i = 0; i < N_COLUMNS && !err; i++) {
        struct exp_why missing;

        if (i == INSTRUCTIONS && exp_table_column(in.table, columns[i], &in.column[i], &missing))
            break;
        err = exp_table_column(in.table, columns[i], &in.column[i], why);
        in.n_columns = i + 1;
    }
    for (size_t row = 0; !err && row < in.table->n_rows; row++)
        err = read_row(&in, row);
    if (err)
        exp_stacks_release(s);
    return err;
}

void exp_stacks_release(struct exp_stacks *s)
{
    for (size_t i = 0; i < s->n_tables; i++)
        exp_table_release(&s->table[i]);
    free(s->record);
    *s = (struct exp_stacks){ 0 };
}

/* ---- writing ---- */

void exp_stack_print_header(FILE *out)
{
    for (unsigned i = 0; i < N_COLUMNS; i++)
        fprintf(out, "%s%s", i ? "," : "", columns[i]);
    fprintf(out, "\n");
}

void exp_stack_print(const struct exp_stack_record *r, FILE *out)
{
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        const struct conv_stack_phase *p = &r->stack.phase[phase];

        for (unsigned w = 0; w < CONV_N_WORKS; w++) {
            if (p->loads[w] > LEAST || p->stores[w] > LEAST || p->instructions[w] > LEAST)
                fprintf(out, "%s,%s,%s,%u,%s,%.6g,%.6g,%.6g,%.6g\n", r->algo, r->ukr, phase_name(phase),
                        (unsigned)p->lines, work_name(w), p->loads[w], p->stores[w], p->instructions[w],
                        p->branches[w]);
        }
    }
}
