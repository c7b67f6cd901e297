/* Advice as JSON, and in sentences. */
#include "experiments/choices/advice/advice.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/show/trace_events.h"

#define SCHEMA "advice/1"

/* Returns a number; null for a number that is not finite. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void set_text(json_t *object, const char *key, const char *text)
{
    exp_trace_set(object, key, text ? exp_trace_text(text) : json_null());
}

/* ---- a piece of advice ---- */

static json_t *evidence_of(const struct exp_advice *x)
{
    const struct measure_record *m = measure_at(x->cause->measure);
    json_t *o = exp_trace_made(json_object());

    set_text(o, "measure", m->name);
    set_text(o, "unit", m->unit);
    set_text(o, "algo", x->of->algo->name);
    exp_trace_set(o, "value", number(x->was));
    exp_trace_set(o, "value_with_knob", number(x->becomes));
    return o;
}

static json_t *knob_of(const struct exp_advice *x)
{
    json_t *o = exp_trace_made(json_object());
    char *option = exp_format("%.*s", (int)strcspn(x->knob, "="), x->knob);

    set_text(o, "option", option);
    set_text(o, "value", x->knob + strlen(option) + 1);
    set_text(o, "command", x->command);
    free(option);
    return o;
}

/* Returns the measured speed-up of the alternative, with the interval; null without times of both. */
static json_t *measured_of(const struct exp_advice *x)
{
    json_t *o;

    if (!isfinite(x->measured.value))
        return json_null();
    o = exp_trace_made(json_object());
    exp_trace_set(o, "speedup", number(x->measured.value));
    exp_trace_set(o, "low", number(x->measured.low));
    exp_trace_set(o, "high", number(x->measured.high));
    return o;
}

static json_t *threshold_of(const struct exp_gain *g)
{
    json_t *o = exp_trace_made(json_object());

    exp_trace_set(o, "percent", number(100 * (1 - 1 / exp_gain_bound(g))));
    set_text(o, "machine", g->machine);
    set_text(o, "from", g->from);
    set_text(o, "to", g->to);
    exp_trace_set(o, "layers", exp_trace_number(g->layers));
    return o;
}

static json_t *advice_of(const struct exp_advice *x)
{
    json_t *o = exp_trace_made(json_object());

    set_text(o, "cause", x->cause->name);
    set_text(o, "words", x->cause->words);
    exp_trace_set(o, "evidence", evidence_of(x));
    exp_trace_set(o, "knob", knob_of(x));
    exp_trace_set(o, "gain_percent", number(x->gain_percent.number));
    exp_trace_set(o, "simulated_gain_percent", number(x->gain_percent.why ? (double)NAN : 100 * (1 - 1 / x->ratio)));
    set_text(o, "why_no_gain", x->gain_percent.why);
    exp_trace_set(o, "threshold", threshold_of(x->error));
    exp_trace_set(o, "measured", measured_of(x));
    return o;
}

/* ---- the file ---- */

static json_t *list_of(const struct exp_advice_list *l)
{
    json_t *o = exp_trace_made(json_object()), *list = exp_trace_made(json_array());

    set_text(o, "layer", l->of->layer->name);
    exp_trace_set(o, "layer_index", exp_trace_number(l->of->layer->index));
    set_text(o, "algo", l->of->algo->name);
    for (size_t i = 0; i < l->n; i++)
        exp_trace_append(list, advice_of(&l->advice[i]));
    exp_trace_set(o, "advice", list);
    set_text(o, "why_none", l->why_none);
    return o;
}

struct writing {
    const struct exp_advices *a;
    const struct exp_report *r;
};

static int print(const void *ctx, FILE *out)
{
    const struct writing *w = ctx;
    json_t *o = exp_trace_made(json_object()), *layers = exp_trace_made(json_array());
    int failed;

    set_text(o, "schema", SCHEMA);
    set_text(o, "model", w->r->e->model->name);
    set_text(o, "machine", w->r->e->setup->machine.name);
    set_text(o, "caches", exp_cache_state_name(w->r->cache));
    set_text(o, "commit", w->r->commit);
    set_text(o, "why_none", w->a->why_none);
    for (size_t i = 0; i < w->a->n; i++)
        exp_trace_append(layers, list_of(&w->a->list[i]));
    exp_trace_set(o, "layers", layers);
    failed = json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    fputc('\n', out);
    json_decref(o);
    return failed ? -EIO : 0;
}

int exp_advices_write(const struct exp_advices *a, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why)
{
    const struct writing w = { a, r };

    assert(a && r && dir);
    return exp_outdir_write(dir, EXP_ADVICE_FILE, print, &w, why);
}

/* ---- sentences ---- */

static void say_advice(const struct exp_advice *x, FILE *out)
{
    fprintf(out, "  %s: %s in place of %s", x->of->layer->name, x->knob, x->of->algo->name);
    if (!x->gain_percent.why)
        fprintf(out, " saves %.0f %% of the cycles (simulated: %.0f %%)", x->gain_percent.number,
                100 * (1 - 1 / x->ratio));
    fprintf(out, "; the largest saving: %s", x->cause->words);
    if (isfinite(x->measured.value))
        fprintf(out, "; measured %.2fx", x->measured.value);
    fprintf(out, "\n");
}

/* Says the bound of the first advice. */
static void say_bound(const struct exp_advice *first, FILE *out)
{
    const struct exp_gain *g = first->error;

    fprintf(
        out,
        "  A simulated gain counts above %.0f %% here: of layers with such a gain of %s over %s, 95 %% gained (%s, %ld "
        "layers; experiments/" EXP_GAINS_FILE "); below %.0f %% is a tie.\n",
        100 * (1 - 1 / exp_gain_bound(g)), g->to, g->from, g->machine, (long)g->layers, 100 * (1 - 1 / EXP_CYCLES_TIE));
}

void exp_advices_print(const struct exp_advices *a, size_t most, FILE *out)
{
    size_t n = 0;

    while (n < a->n && a->list[n].n)
        n++;
    if (!n)
        return;
    fprintf(out, "\nAdvice for %zu of %zu layers and algorithms, the largest saving first (" EXP_ADVICE_FILE "):\n", n,
            a->n);
    for (size_t i = 0; i < n && i < most; i++)
        say_advice(&a->list[i].advice[0], out);
    if (n > most)
        fprintf(out, "  and %zu more\n", n - most);
    if (a->why_no_gain)
        fprintf(out, "  Estimates choose, and no gain is promised: %s.\n", a->why_no_gain);
    say_bound(exp_advices_first(a), out);
}
