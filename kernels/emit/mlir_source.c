#include "kernels/emit/mlir_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/emit/c_source.h"

const char *const conv_mlir_passes[] = {
    "--convert-vector-to-scf=full-unroll=true",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-vector-to-llvm",
    "--convert-func-to-llvm=use-bare-ptr-memref-call-conv",
    "--finalize-memref-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
    NULL,
};

const char *conv_mlir_why_not(const struct conv_plan *plan)
{
    if (plan->view.stride_w > 2)
        return "MLIR is not written for strides above 2";
    return plan->sconv.options.packs_filters ? "MLIR is written for filters that were packed before" : NULL;
}

/* ---- the loops ---- */

/* Places of calls that are alike but for them: a row for each time, a column for each operand of each call. */
struct table {
    const struct conv_item *first; /* of the first time */
    size_t n, times;               /* items of a time */
    size_t number, n_columns;
    size_t column; /* of the next operand, in the order of the text */
};

struct nest {
    const struct conv_program *program;
    const char *name, *prefix;
    FILE *out, *tables;
    unsigned n_loops;
    size_t n_values, n_tables;
    struct table *table; /* whose loop this is in; NULL: none */
};

static void indent(const struct nest *n)
{
    fprintf(n->out, "%*s", (int)(2 * (n->n_loops + !!n->table + 1)), "");
}

static bool packs_windows(const struct nest *n, const struct conv_item *item)
{
    return !item->times && n->program->routine[item->routine].kind == CONV_ROUTINE_VECTORS;
}

/* Tells whether items do the same at other places; which windows are packed is a place, too. */
static bool are_alike(const struct nest *nest, const struct conv_item *a, const struct conv_item *b, size_t n)
{
    bool alike = true;

    for (size_t i = 0; i < n && alike; i++) {
        alike = a[i].times == b[i].times && a[i].n_body == b[i].n_body &&
                (a[i].routine == b[i].routine || (packs_windows(nest, &a[i]) && packs_windows(nest, &b[i]))) &&
                a[i].depth == b[i].depth && !memcmp(a[i].step, b[i].step, a[i].depth * sizeof a[i].step[0]);
        alike = alike && are_alike(nest, a[i].body, b[i].body, a[i].n_body);
    }
    return alike;
}

/* Returns how often the first n items follow each other. */
static size_t times_of(const struct nest *nest, const struct conv_item *item, size_t n, size_t n_items)
{
    size_t times = 1;

    while ((times + 1) * n <= n_items && are_alike(nest, item, item + times * n, n))
        times++;
    return times;
}

enum { MOST_ITEMS = 16, FEWEST_TIMES = 2 };

/* Finds what is repeated from an item on, so that most items are saved. times is 1 if nothing is. */
static struct table find_table(const struct nest *nest, const struct conv_item *item, size_t n_items)
{
    struct table best = { .first = item, .n = 1, .times = 1 };

    for (size_t n = 1; n <= MOST_ITEMS && n * FEWEST_TIMES <= n_items; n++) {
        size_t times = times_of(nest, item, n, n_items);

        if (times >= FEWEST_TIMES && (times - 1) * n > (best.times - 1) * best.n)
            best = (struct table){ .first = item, .n = n, .times = times };
    }
    return best;
}

/* Prints where an operand is, beside its part that moves with loops. */
static size_t print_moved(struct nest *n, const struct conv_item *call, int operand, int64_t plus)
{
    indent(n);
    fprintf(n->out, "%%a%zu = affine.apply affine_map<(", n->n_values);
    for (unsigned d = 0; d < call->depth; d++)
        fprintf(n->out, "%sd%u", d ? ", " : "", d);
    fprintf(n->out, ") -> (");
    for (unsigned d = 0; d < call->depth; d++) {
        if (call->step[d][operand])
            fprintf(n->out, "d%u * %" PRId64 " + ", d, call->step[d][operand]);
    }
    fprintf(n->out, "%" PRId64 ")>(", plus);
    for (unsigned d = 0; d < call->depth; d++)
        fprintf(n->out, "%s%%i%u", d ? ", " : "", n->n_loops - 1 - d);
    fprintf(n->out, ")\n");
    return n->n_values++;
}

static bool moves(const struct conv_item *call, int operand)
{
    for (unsigned d = 0; d < call->depth; d++) {
        if (call->step[d][operand])
            return true;
    }
    return false;
}

/* Loads an operand's column of the table. */
static size_t print_entry(struct nest *n)
{
    indent(n);
    fprintf(n->out, "%%a%zu = affine.load %%places%zu[%%time%zu, %zu] : memref<%zux%zuxindex>\n", n->n_values,
            n->table->number, n->table->number, n->table->column++, n->table->times, n->table->n_columns);
    return n->n_values++;
}

/* Prints what an operand's index is in the loops around, and gives it a number. */
static size_t print_index(struct nest *n, const struct conv_item *call, int operand)
{
    size_t entry, moved;

    if (!n->table && !moves(call, operand)) {
        indent(n);
        fprintf(n->out, "%%a%zu = arith.constant %" PRId64 " : index\n", n->n_values, call->at[operand]);
        return n->n_values++;
    }
    if (!n->table)
        return print_moved(n, call, operand, call->at[operand]);
    entry = print_entry(n);
    if (!moves(call, operand))
        return entry;
    moved = print_moved(n, call, operand, 0);
    indent(n);
    fprintf(n->out, "%%a%zu = arith.addi %%a%zu, %%a%zu : index\n", n->n_values, moved, entry);
    return n->n_values++;
}

static void print_call(struct nest *n, const struct conv_item *item)
{
    const struct conv_routine *r = &n->program->routine[item->routine];
    int n_operands = conv_mlir_operands(r);
    size_t index[CONV_FOLD_OPERANDS], which = 0;
    bool packs = packs_windows(n, item);

    if (packs && n->table) {
        which = print_entry(n);
    } else if (packs) {
        which = n->n_values++;
        indent(n);
        fprintf(n->out, "%%a%zu = arith.constant %u : index\n", which, item->routine);
    }
    for (int o = 0; o < n_operands; o++)
        index[o] = print_index(n, item, o);
    indent(n);
    if (packs)
        fprintf(n->out, "func.call @%s_windows(%%a%zu, ", n->prefix, which);
    else
        fprintf(n->out, "func.call @%s_%u(", n->prefix, item->routine);
    for (int o = 0; o < n_operands; o++)
        fprintf(n->out, "%s%%%s, %%a%zu", o ? ", " : "", conv_mlir_tensor(r->tensor[o]), index[o]);
    fprintf(n->out, packs ? ") : (index, " : ") : (");
    for (int o = 0; o < n_operands; o++) {
        fprintf(n->out, "%s", o ? ", " : "");
        conv_mlir_print_type(n->program->plan, r->tensor[o], n->out);
        fprintf(n->out, ", index");
    }
    fprintf(n->out, ") -> ()\n");
}

/* Prints a table's row: the places of all operands. Returns how many there are. */
static size_t print_row(const struct nest *n, const struct conv_item *item, size_t n_items, const char *before)
{
    size_t columns = 0;

    for (size_t i = 0; i < n_items; i++) {
        if (item[i].times) {
            columns += print_row(n, item[i].body, item[i].n_body, columns ? ", " : before);
            continue;
        }
        if (packs_windows(n, &item[i]))
            fprintf(n->tables, "%s%u", columns++ ? ", " : before, item[i].routine);
        for (int o = 0; o < conv_mlir_operands(&n->program->routine[item[i].routine]); o++)
            fprintf(n->tables, "%s%" PRId64, columns++ ? ", " : before, item[i].at[o]);
    }
    return columns;
}

static void print_items(struct nest *n, const struct conv_item *item, size_t n_items);

/* Prints the items of a table once, in a loop over its rows. */
static void print_table(struct nest *n, struct table *t)
{
    size_t number = n->n_tables++, columns = 0, room;
    char *row;
    FILE *out = n->tables, *rows = open_memstream(&row, &room);

    n->tables = rows;
    for (size_t i = 0; i < t->times; i++) {
        fprintf(rows, "%s[", i ? ", " : "");
        columns = print_row(n, t->first + i * t->n, t->n, "");
        fprintf(rows, "]");
    }
    fclose(rows);
    n->tables = out;
    fprintf(out, "memref.global \"private\" constant @%s_places%zu : memref<%zux%zuxindex> = dense<[%s]>\n\n", n->name,
            number, t->times, columns, row);
    free(row);
    indent(n);
    fprintf(n->out, "%%places%zu = memref.get_global @%s_places%zu : memref<%zux%zuxindex>\n", number, n->name, number,
            t->times, columns);
    indent(n);
    fprintf(n->out, "affine.for %%time%zu = 0 to %zu {\n", number, t->times);
    n->table = t;
    t->number = number;
    t->n_columns = columns;
    print_items(n, t->first, t->n);
    n->table = NULL;
    indent(n);
    fprintf(n->out, "}\n");
}

static void print_item(struct nest *n, const struct conv_item *item)
{
    if (!item->times) {
        print_call(n, item);
        return;
    }
    indent(n);
    fprintf(n->out, "affine.for %%i%u = 0 to %zu {\n", n->n_loops, item->times);
    n->n_loops++;
    print_items(n, item->body, item->n_body);
    n->n_loops--;
    indent(n);
    fprintf(n->out, "}\n");
}

static void print_items(struct nest *n, const struct conv_item *item, size_t n_items)
{
    for (size_t i = 0; i < n_items;) {
        struct table t = find_table(n, item + i, n->table ? 0 : n_items - i);

        if (t.times > 1)
            print_table(n, &t);
        else
            print_item(n, item + i);
        i += t.times * t.n;
    }
}

/* ---- functions ---- */

static void print_arguments(const struct conv_plan *plan, const enum conv_tensor *tensor, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%%%s: ", i ? ", " : "", conv_mlir_tensor(tensor[i]));
        conv_mlir_print_type(plan, tensor[i], out);
    }
}

static void print_function(const struct conv_program *p, const char *name, const char *suffix, const char *prefix,
                           const enum conv_tensor *tensor, size_t n_tensors, FILE *out)
{
    char *text;
    size_t bytes;
    FILE *body = open_memstream(&text, &bytes);
    struct nest n = { .program = p, .name = prefix, .prefix = prefix, .out = body, .tables = out };

    fprintf(body, "func.func @%s%s(", name, suffix);
    print_arguments(p->plan, tensor, n_tensors, body);
    fprintf(body, ") {\n");
    print_items(&n, p->fold.item, p->fold.n);
    fprintf(body, "  return\n}\n\n");
    fclose(body);
    fwrite(text, 1, bytes, out);
    free(text);
}

static void print_routines(const struct conv_program *p, const char *prefix, enum conv_mlir_kernel kernel, FILE *out)
{
    for (size_t i = 0; i < p->n_routines; i++)
        conv_mlir_print_routine(p, i, prefix, kernel, out);
    conv_mlir_print_choice(p, prefix, out);
}

void conv_mlir_print_head(const struct conv_plan *plan, FILE *out)
{
    fprintf(out,
            "// Convolutions as SConv plans them. Lower with mlir-opt of LLVM 19, mlir-translate --mlir-to-llvmir and\n"
            "// clang -O3 %s.\n// passes:",
            conv_c_flags(plan));
    for (size_t i = 0; conv_mlir_passes[i]; i++)
        fprintf(out, " %s", conv_mlir_passes[i]);
    fprintf(out, "\n\n");
}

int conv_mlir_print(const struct conv_plan *plan, const char *name, enum conv_mlir_kernel kernel, FILE *out)
{
    static const enum conv_tensor nest[] = { CONV_INPUT, CONV_FILTER, CONV_PACKED_FILTER, CONV_PACKED_INPUT,
                                             CONV_OUTPUT },
                                  filters[] = { CONV_FILTER, CONV_PACKED_FILTER };
    char prefix[CONV_C_NAME_BYTES + 16];
    struct conv_program p;
    int err = conv_program_of_nest(&p, plan);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_part", name);
    print_routines(&p, prefix, kernel, out);
    print_function(&p, name, "", prefix, nest, sizeof nest / sizeof nest[0], out);
    conv_program_release(&p);
    err = conv_program_of_filters(&p, plan);
    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_filters", name);
    print_routines(&p, prefix, kernel, out);
    print_function(&p, name, "_pack_filters", prefix, filters, sizeof filters / sizeof filters[0], out);
    conv_program_release(&p);
    return 0;
}

int conv_mlir_print_kernels(const struct conv_plan *plan, const char *name, FILE *out)
{
    char prefix[CONV_C_NAME_BYTES + 16], inner[CONV_C_NAME_BYTES + 16];
    struct conv_program p;
    int err = conv_program_of_nest(&p, plan);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_part", name);
    snprintf(inner, sizeof inner, "%s_ukr", name);
    for (size_t i = 0; i < p.n_routines; i++) {
        if (p.routine[i].kind != CONV_ROUTINE_UKR)
            continue;
        conv_c_print_routine(&p, i, inner, out);
        fprintf(out,
                "void %s_%zu(const float *in, ptrdiff_t i, const float *filter, ptrdiff_t f, float *out, ptrdiff_t o)\n"
                "{\n    %s_%zu(in + i, filter + f, out + o);\n}\n\n",
                prefix, i, inner, i);
    }
    conv_program_release(&p);
    return 0;
}
