/* schedules.md: the kernels, bundle by bundle, with the contents of the registers; and the verdict. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/vyasa/vyasa.h"

enum { MOST_SHOWN = 40 };

static void print_parameters(const struct vyasa_work *w, FILE *out)
{
    fprintf(out, "| parameter | value | what it is | where it is from |\n|---|---|---|---|\n");
    for (size_t i = 0; i < AIE_N_PARAMETERS; i++) {
        const struct aie_parameter *p = &aie_parameters[i];

        fprintf(out, "| `%s` | %u | %s | %s |\n", p->name,
                *(const unsigned *)(const void *)((const char *)&w->params + p->offset), p->meaning, p->source);
    }
    fprintf(
        out,
        "| entry cycles | %u | idle cycles before each row, with the paper's schedules only | fitted to Table VI |\n\n"
        "Assumed, as nothing public says otherwise: an offset reaches all of the memory; a pointer's increment is "
        "free; "
        "a loop of the hardware may have any length and costs one instruction; bundles are taken as 128 bits.\n\n",
        w->entry_cycles);
}

static void print_sections(const struct vyasa_code *c, FILE *out)
{
    for (unsigned i = 0; i < c->n_sections; i++) {
        const struct vyasa_section *s = &c->section[i];

        if (s->n)
            fprintf(out, "%s%s %zu..%zu", i ? ", " : "", s->name, s->first, s->first + s->n - 1);
    }
}

/* Prints a kernel: a line per bundle, in front the registers that hold something, vl0 vh0 ... vh7. */
static void print_kernel(const struct vyasa_code *c, const struct vyasa_section *s, FILE *out)
{
    uint16_t *held = exp_new(c->body.interval, sizeof *held);

    vyasa_live(c, held);
    fprintf(out, "```\n%-5s %-16s bundle\n", "cycle", "vl0 ... vh7");
    for (size_t i = 0; i < s->n; i++) {
        fprintf(out, "%5zu ", i);
        for (unsigned v = 0; v < AIE_N_V; v++)
            fputc(held[i] >> v & 1 ? '#' : '.', out);
        aie_print_bundle(&c->program.bundle[s->first + i], out);
    }
    fprintf(out, "```\n\n");
    free(held);
}

static int print_workload(const struct vyasa_work *w, size_t i, FILE *out)
{
    const struct vyasa_row *row = &w->row[i];
    struct vyasa_code c;
    struct exp_why why;

    if (vyasa_compile(&c, &w->workload[i].problem, &w->found[i].schedule, &w->params, &why))
        return -EINVAL;
    fprintf(out, "## %s, %u bits: %.2f MACs per model cycle\n\n%s. ", row->name, row->bits, row->tuned_rate,
            row->tuned);
    fprintf(out,
            "An iteration has %zu products in %zu operations, %zu loads, %zu stores; one begins every %u cycles and "
            "takes %u "
            "stages. Vector unit %.0f %% busy, load A %.0f %%, load B %.0f %%, store %.0f %%; at most %" PRIu64
            " of 16 registers alive. Bundles: ",
            c.body.n_triplets, c.body.n_macs, c.body.n_loads, c.body.n_stores, c.body.interval, c.body.n_stages,
            row->mac_busy, row->load_a_busy, row->load_b_busy, row->store_busy, row->live_registers);
    print_sections(&c, out);
    fprintf(out, ".\n\n");
    for (unsigned k = 0; k < c.n_sections; k++) {
        if (!strcmp(c.section[k].name, "kernel") && c.section[k].n <= MOST_SHOWN)
            print_kernel(&c, &c.section[k], out);
        else if (!strcmp(c.section[k].name, "kernel"))
            fprintf(out, "(A kernel of %zu bundles: `CODE=1` writes all of them.)\n\n", c.section[k].n);
    }
    vyasa_code_release(&c);
    return 0;
}

int vyasa_page_print(const void *work, FILE *out)
{
    const struct vyasa_work *w = work;
    int err = 0;

    fprintf(
        out,
        "# Schedules\n\nEvery cycle here is the model's: nothing judges it but the paper's own geomeans.\n\n"
        "A line is a bundle: what all units begin in one cycle. Loads reach their register %u cycles later, sums their "
        "accumulator %u cycles later; stores read it at once. In `x=ya+4/offsets/square` the vector unit selects from "
        "element 4 of ya on. `#`: the register holds something that is still read.\n\n",
        w->params.load_latency, w->params.mac_latency);
    print_parameters(w, out);
    for (size_t i = 0; i < w->n && !err; i++)
        err = print_workload(w, i, out);
    return err;
}

/* ---- the verdict ---- */

static void print_pair(const struct vyasa_work *w, const struct vyasa_printed *p, FILE *out)
{
    const double ours = vyasa_geomean(w, p->group, p->bits, false), best = vyasa_geomean(w, p->group, p->bits, true);

    if (!isnan(ours))
        fprintf(out, "%-9s %u bits: paper %.2f; its schedules, model %.2f (%+.1f %%, %s); tuned, model %.2f\n", p->name,
                p->bits, p->rate, ours, 100 * (ours / p->rate - 1), p->group == VYASA_VI ? "fitted" : "predicted",
                best);
}

static void print_readings(const struct vyasa_work *w, FILE *out)
{
    for (size_t i = 0; i < w->n_readings; i++) {
        const struct vyasa_reading *r = &w->reading[i];

        if (!strstr(r->reading, "(here)"))
            fprintf(out, "read otherwise, %s, %u bits, %s: model %.2f (%+.1f %%)\n", r->table, r->bits, r->reading,
                    r->ours, r->difference);
    }
}

static void print_exact(const struct vyasa_work *w, FILE *out)
{
    size_t at_bound = 0, best = 0;

    for (size_t i = 0; i < w->n_exact; i++) {
        best += w->exact[i].heuristic == w->exact[i].exact;
        at_bound += w->exact[i].exact == w->exact[i].bound;
    }
    if (w->n_exact)
        fprintf(out,
                "small bodies, all orders tried: the compiler's order is as short as any in %zu of %zu; %zu reach "
                "the units' bound\n",
                best, w->n_exact, at_bound);
}

int vyasa_verdict_print(const struct vyasa_work *w, FILE *out)
{
    size_t checked = 0;
    char headline[512];

    vyasa_headline(w, headline, sizeof headline);
    fprintf(out, "%s\n", headline);
    for (size_t i = 0; i < w->n; i++)
        checked += w->row[i].is_checked;
    fprintf(out,
            "MACs per cycle, geomeans. All cycles are the model's; one parameter, %u idle cycles before a row, is "
            "fitted to "
            "Table VI.\n",
            w->entry_cycles);
    for (size_t i = 0; i < VYASA_N_PRINTED; i++)
        print_pair(w, &vyasa_printed[i], out);
    print_readings(w, out);
    print_exact(w, out);
    fprintf(out, "outputs of %zu of %zu workloads equal plain loops, bit for bit, with both schedules\n", checked,
            w->n);
    return 0;
}
