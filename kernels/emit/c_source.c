#include "kernels/emit/c_source.h"

#include <assert.h>
#include <inttypes.h>

/* Texts that generated code begins with: the files in text/. The assembler takes each file as bytes; a zero ends it. */
#define TEXT(name)                                                                                                     \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".globl conv_text_" #name "\n"                                                                             \
            "conv_text_" #name ":\n"                                                                                   \
            ".incbin \"kernels/emit/text/" #name ".inc\"\n"                                                            \
            ".byte 0\n"                                                                                                \
            ".popsection\n");

TEXT(common)
TEXT(portable)
TEXT(avx2)
TEXT(avx512)

extern const char conv_text_common[], conv_text_portable[], conv_text_avx2[], conv_text_avx512[];

/* The text of an instruction set, which stands behind the common text, and compiler flags. */
static const struct {
    enum cpu_isa isa;
    const char *text, *flags;
} isas[] = {
    { CPU_ISA_NONE, conv_text_portable, "" },
    { CPU_ISA_AVX2, conv_text_avx2, "-mavx2 -mfma" },
    { CPU_ISA_AVX512, conv_text_avx512, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma" },
};

static size_t isa_of(const struct conv_plan *plan)
{
    size_t i = sizeof isas / sizeof isas[0] - 1;

    while (i && isas[i].isa != plan->ukr->isa)
        i--;
    return i;
}

const char *conv_c_flags(const struct conv_plan *plan)
{
    return isas[isa_of(plan)].flags;
}

void conv_c_name(char name[CONV_C_NAME_BYTES], const char *layer, size_t number)
{
    size_t n = (size_t)snprintf(name, CONV_C_NAME_BYTES, "sconv_%.40s", layer);

    assert(layer);
    for (size_t i = 0; name[i]; i++) {
        bool is_word = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                       (name[i] >= '0' && name[i] <= '9');

        if (!is_word)
            name[i] = '_';
    }
    if (number)
        snprintf(name + n, CONV_C_NAME_BYTES - n, "_%zu", number);
}

void conv_c_print_head(const struct conv_plan *plan, FILE *out)
{
    const char *flags = conv_c_flags(plan);

    fprintf(out, "/* Convolutions as SConv plans them. Compile with -O3%s%s. */\n", *flags ? " " : "", flags);
    fprintf(out, "%s\n%s\n", conv_text_common, isas[isa_of(plan)].text);
}

/* ---- the loops ---- */

struct nest {
    const struct conv_program *program;
    const char *prefix, *packed_filter; /* routines' names; where packed filters are */
    FILE *out;
    unsigned n_loops;
};

static const char *tensor_name(const struct nest *n, size_t t)
{
    static const char *const names[CONV_OPERAND_BIAS + 1] = {
        [CONV_INPUT] = "input",   [CONV_PACKED_INPUT] = "packed_input", [CONV_FILTER] = "filter",
        [CONV_OUTPUT] = "output", [CONV_OPERAND_BIAS] = "bias",
    };

    return t == CONV_PACKED_FILTER ? n->packed_filter : names[t];
}

static void print_operand(const struct nest *n, const struct conv_item *call, size_t t, size_t operand)
{
    fprintf(n->out, "%s", tensor_name(n, t));
    if (call->at[operand])
        fprintf(n->out, " %c %" PRId64, call->at[operand] < 0 ? '-' : '+',
                call->at[operand] < 0 ? -call->at[operand] : call->at[operand]);
    for (unsigned d = call->depth; d-- > 0;) {
        int64_t step = call->step[d][operand];

        if (step)
            fprintf(n->out, " %c i%u * %" PRId64, step < 0 ? '-' : '+', n->n_loops - 1 - d, step < 0 ? -step : step);
    }
}

static void print_call(const struct nest *n, const struct conv_item *item)
{
    const struct conv_routine *r = &n->program->routine[item->routine];

    fprintf(n->out, "%*s%s_%u(", (int)(4 * (n->n_loops + 1)), "", n->prefix, item->routine);
    for (size_t o = 0; o < r->n_operands; o++) {
        fprintf(n->out, "%s", o ? ", " : "");
        print_operand(n, item, r->tensor[o], o);
    }
    fprintf(n->out, ");\n");
}

static void print_items(struct nest *n, const struct conv_item *item, size_t n_items)
{
    for (size_t i = 0; i < n_items; i++) {
        if (!item[i].times) {
            print_call(n, &item[i]);
            continue;
        }
        fprintf(n->out, "%*sfor (ptrdiff_t i%u = 0; i%u < %zu; i%u++) {\n", (int)(4 * (n->n_loops + 1)), "", n->n_loops,
                n->n_loops, item[i].times, n->n_loops);
        n->n_loops++;
        print_items(n, item[i].body, item[i].n_body);
        n->n_loops--;
        fprintf(n->out, "%*s}\n", (int)(4 * (n->n_loops + 1)), "");
    }
}

static void print_routines(const struct conv_program *p, const char *prefix, FILE *out)
{
    for (size_t i = 0; i < p->n_routines; i++)
        conv_c_print_routine(p, i, prefix, out);
}

static void print_nest(const struct conv_program *p, const char *prefix, const char *packed_filter, FILE *out)
{
    struct nest n = { .program = p, .prefix = prefix, .packed_filter = packed_filter, .out = out };

    print_items(&n, p->fold.item, p->fold.n);
}

/* ---- functions ---- */

static void describe(const struct conv_plan *plan, FILE *out)
{
    const struct csa_tiling *t = &plan->sconv.tiling;

    fprintf(out, "/*");
    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        fprintf(out, " %s %zu%s", conv_fields[i].name, conv_field(&plan->problem, i), i + 1 < CONV_N_FIELDS ? "," : "");
    fprintf(out, ":\n * %s, %s, Nc %zu, K2 %zu, K3 %zu, windows %s. */\n", plan->ukr->name,
            csa_schedule_name(t->schedule), t->n_c, t->k2, t->k3, conv_plan_windows_name(plan));
}

static void print_sizes(const struct conv_plan *plan, const char *name, FILE *out)
{
    static const struct {
        const char *what;
        enum conv_tensor tensor;
    } sizes[] = { { "packed_filter", CONV_PACKED_FILTER }, { "packed_input", CONV_PACKED_INPUT } };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        fprintf(out, "const size_t %s_%s_floats = %zu;\n", name, sizes[i].what,
                plan->layout.bytes[sizes[i].tensor] / sizeof(float));
    fprintf(out, "\n");
}

static void print_constants(const struct conv_plan *plan, const char *name, const float *packed, FILE *out)
{
    size_t n = plan->layout.bytes[CONV_PACKED_FILTER] / sizeof(float);

    fprintf(out, "static const float constants_%s[] = {", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%af,", i % 8 ? " " : "\n    ", (double)packed[i]);
    fprintf(out, "\n};\n\n");
}

static int print_pack_filters(const struct conv_plan *plan, const char *name, FILE *out)
{
    struct conv_program p;
    char prefix[CONV_C_NAME_BYTES + 16];
    int err = conv_program_of_filters(&p, plan);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_filters", name);
    print_routines(&p, prefix, out);
    fprintf(out, "void %s_pack_filters(const float *filter, float *packed_filter)\n{\n", name);
    fprintf(out, p.fold.n ? "" : "    (void)filter;\n    (void)packed_filter;\n");
    print_nest(&p, prefix, "packed_filter", out);
    fprintf(out, "}\n\n");
    conv_program_release(&p);
    return 0;
}

int conv_c_print(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out)
{
    char prefix[CONV_C_NAME_BYTES + 16], constants[CONV_C_NAME_BYTES + 16];
    struct conv_program p;
    int err = conv_program_of_fused(&p, plan, &options->after);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_part", name);
    snprintf(constants, sizeof constants, "constants_%s", name);
    describe(plan, out);
    print_sizes(plan, name, out);
    if (options->packed)
        print_constants(plan, name, options->packed, out);
    print_routines(&p, prefix, out);
    fprintf(
        out,
        "void %s(const float *input, const float *filter, float *packed_filter, float *packed_input, float *output%s)\n"
        "{\n    (void)filter;\n    (void)packed_filter;\n    (void)packed_input;\n",
        name, options->after.adds_bias ? ", const float *bias" : "");
    print_nest(&p, prefix, options->packed ? constants : "packed_filter", out);
    fprintf(out, "}\n\n");
    conv_program_release(&p);
    return options->packed ? 0 : print_pack_filters(plan, name, out);
}
