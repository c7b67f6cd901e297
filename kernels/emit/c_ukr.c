#include "kernels/emit/c_source.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/emit/c_ukr_print.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/ref/f32_ref.h"

static void print_by_windows(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;

    conv_c_print_zeros(p, u->n_f, conv_c_window_vectors(u));
    fprintf(p->out, "    for (size_t t = 0; t < %zu; t++, in += %zu, filter += %zu) {\n", u->k, u->ld_in, u->n_f);
    conv_c_print_windows_step(p, "in", 0, false);
    conv_c_print_asking(p);
    fprintf(p->out, "    }\n");
    conv_c_print_windows_out(p);
}

/* ---- any CPU's vectors ---- */

static void print_portable(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;

    for (struct conv_ref_block b = { 0 }; conv_ref_next_block(&b, u->n_win, u->n_f);)
        fprintf(p->out, "    block(in + %zu, %zu, filter + %zu, %zu, %zu, out + %zu, %zu, %zu, %zu, %zu);\n", b.win0,
                u->ld_in, b.f0, u->n_f, u->k, b.f0 * u->ld_out + b.win0, u->ld_out, b.n_win, b.n_f, u->accumulate);
}

/* ---- functions ---- */

static void print_start(const struct conv_c_ukr *p, const char *kind)
{
    fprintf(p->out, "static __attribute__((noinline)) void %s%s_%zu(const float *in, const float *filter, float *out",
            kind, p->prefix, p->number);
}

/* Chooses how a routine's micro-kernel is printed. */
static void print_body(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;

    if (u->in_blocks)
        print_portable(p);
    else if (u->by_taps)
        conv_c_print_by_taps(p);
    else if (u->few)
        conv_c_print_few(p->u, p->asks, p->out);
    else if (u->by_filters)
        conv_c_print_by_filters(p);
    else
        print_by_windows(p);
}

/* The code of all routines that differ by their tables; kind stands before the name. */
static void print_code(const struct conv_c_ukr *p, const char *kind)
{
    const struct conv_routine_ukr *u = p->u;

    if (u->n_parts)
        conv_c_print_parts(p);
    fprintf(p->out, "/* %zu windows by %zu filters, %zu steps; %s. */\n", u->n_win, u->n_f, u->k,
            u->accumulate ? "adds to the outputs" : "overwrites the outputs");
    print_start(p, kind);
    conv_c_print_table_parameters(p);
    fprintf(p->out, ")\n{\n");
    print_body(p);
    fprintf(p->out, "}\n\n");
}

/* The lines that a routine prefetches. */
static size_t ahead_lines(const struct conv_routine_ukr *u)
{
    size_t n = 0;

    for (size_t l = 0; l < u->n_ahead; l++)
        n += u->ahead[l].n;
    return n;
}

static size_t ahead_each(const struct conv_routine_ukr *u)
{
    return ceil_div(ahead_lines(u), u->k);
}

static void print_ahead(const struct conv_c_ukr *p)
{
    size_t first = 0;

    fprintf(p->out, "    const struct ahead ahead[] = {\n");
    for (size_t l = 0; l < p->u->n_ahead; l++) {
        const struct conv_routine_ahead *a = &p->u->ahead[l];

        if (a->operand < CONV_FOLD_OPERANDS)
            fprintf(p->out, "        { out + %" PRId64, a->at);
        else
            fprintf(p->out, "        { ahead%zu", a->operand);
        fprintf(p->out, ", %" PRId64 ", %zu, %zu, %zu },\n", a->step, a->n, first, ahead_each(p->u));
        first += a->n;
    }
    fprintf(p->out, "    };\n\n");
}

/* A routine: a call of the code of number `code` with the routine's tables. */
static void print_call(const struct conv_c_ukr *p, size_t code)
{
    print_start(p, "");
    for (size_t o = CONV_FOLD_OPERANDS; o < p->r->n_operands; o++)
        fprintf(p->out, ", const float *ahead%zu", o);
    fprintf(p->out, ")\n{\n");
    if (p->u->n_ahead)
        print_ahead(p);
    fprintf(p->out, "    code_%s_%zu(in, filter, out", p->prefix, code);
    if (conv_c_walks(p->r))
        fprintf(p->out, ", taps_%s_%zu, %uu", p->prefix, p->number, conv_c_whole_parts(p->r));
    if (p->u->n_ahead)
        fprintf(p->out, ", ahead, %zu, %zu", p->u->n_ahead, ceil_div(ahead_lines(p->u), ahead_each(p->u)));
    else if (p->asks)
        fprintf(p->out, ", NULL, 0, 0");
    fprintf(p->out, ");\n}\n\n");
}

/* Tells whether a routine with this one's code prefetches. */
static bool asks(const struct conv_program *program, const struct conv_routine *r)
{
    for (size_t i = 0; i < program->n_routines; i++) {
        if (conv_c_has_code_of(&program->routine[i], r) && program->routine[i].of.ukr.n_ahead)
            return true;
    }
    return false;
}

void conv_c_print_ukr(const struct conv_program *program, size_t number, const char *prefix, FILE *out)
{
    const struct conv_routine *r = &program->routine[number];
    const struct conv_c_ukr p = { out, program, r, &r->of.ukr, prefix, number, asks(program, r), 0, r->of.ukr.n_win };
    size_t code = 0;

    assert(r->kind == CONV_ROUTINE_UKR);
    if (!p.asks && !conv_c_walks(r)) {
        print_code(&p, "");
        return;
    }
    while (!conv_c_has_code_of(&program->routine[code], r))
        code++;
    if (code == number)
        print_code(&p, "code_");
    if (conv_c_walks(r))
        conv_c_print_taps(&p);
    print_call(&p, code);
}
