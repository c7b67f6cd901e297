#include "kernels/emit/program_ukr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/resolve.h"
#include "kernels/ukr/avx512/f32_16x24_few_avx512.h"

static const struct conv_binding at_zero = { { 0 } };

/* The elements that lie side by side in vectors. */
enum side { WINDOWS, BLOCKS, FILTERS, FEW, PANELS, PARTS };

struct emitted {
    const char *name;
    size_t lanes;
    enum side side;
};

static const struct emitted *find(const struct conv_ukr *ukr)
{
    static const struct emitted emitted[] = {
#define EMITTED(name, lanes, side) { name, lanes, side },
#include "kernels/emit/emitted.def"
    };

    for (size_t i = 0; i < sizeof emitted / sizeof emitted[0]; i++) {
        if (!strcmp(ukr->name, emitted[i].name))
            return &emitted[i];
    }
    return NULL;
}

size_t conv_emitted_lanes(const struct conv_ukr *ukr)
{
    const struct emitted *e = find(ukr);

    return e ? e->lanes : 0;
}

bool conv_program_is_plain(const struct conv_plan *plan)
{
    const struct emitted *e = find(plan->ukr);

    return e && e->side == WINDOWS && !plan->sconv.options.prefetches;
}

static bool is_by_filters(const struct emitted *e, const struct conv_ukr_args *a)
{
    return e->side == FILTERS || e->side == PARTS || (e->side == FEW && is_few(a->n_win, a->n_f));
}

/* Takes a call's windows, tap by tap; without taps the windows are neighbours, of one tap. */
static int set_taps(struct conv_routine *r, const struct conv_taps *taps)
{
    struct conv_routine_ukr *u = &r->of.ukr;
    size_t n = taps ? taps->r * taps->s : 1;

    r->n_table = CONV_TAP_VALUES * n;
    r->table = calloc(r->n_table, sizeof *r->table);
    if (!r->table)
        return -ENOMEM;
    if (taps)
        u->ld_in = (size_t)taps->channel_bytes / sizeof(float);
    for (size_t w = 0; w < u->n_win; w++)
        u->window[w] = taps ? taps->window_bytes[w] / (int64_t)sizeof(float) : (int64_t)w;
    r->table[1] = ((int64_t)1 << u->n_win) - 1;
    for (size_t t = 0; taps && t < n; t++) {
        size_t fh = t / taps->s, fw = t % taps->s;

        r->table[CONV_TAP_VALUES * t] =
            ((int64_t)fh * taps->row_bytes + (int64_t)fw * taps->column_bytes) / (int64_t)sizeof(float);
        r->table[CONV_TAP_VALUES * t + 1] = taps->row_live[fh] & taps->column_live[fw];
    }
    return 0;
}

/* Takes a call's prefetches: outputs are found from the call's own outputs, inputs and filters are operands. */
static void set_ahead(struct conv_routine_call *call, const struct conv_ahead_lists *ahead, uint64_t out)
{
    struct conv_routine *r = &call->routine;
    struct conv_routine_ukr *u = &r->of.ukr;

    for (size_t l = 0; ahead && l < ahead->n; l++) {
        const struct conv_ahead *list = &ahead->list[l];
        struct conv_routine_ahead *own = &u->ahead[u->n_ahead++];

        *own = (struct conv_routine_ahead){ 2, list->n, 0, list->step_bytes / (int64_t)sizeof(float) };
        if (list->tag == CONV_OUTPUT) {
            own->at = conv_routine_floats(list->addr - out);
            continue;
        }
        own->operand = r->n_operands;
        r->tensor[r->n_operands] = list->tag;
        call->at[r->n_operands++] = list->addr;
    }
}

int conv_routine_of_ukr(struct conv_routine_call *call, const struct conv_plan *plan, const struct conv_step *s,
                        size_t *filter)
{
    const struct emitted *e = find(plan->ukr);
    struct conv_ukr_args a = conv_resolve_ukr(plan, &at_zero, s);
    struct conv_routine_ukr *u = &call->routine.of.ukr;
    struct conv_ahead_lists lists, *ahead = *filter ? NULL : conv_resolve_ahead(plan, &at_zero, s, &a, &lists);
    struct conv_taps taps;
    size_t group = 1;
    bool few = false;

    a.taps = conv_resolve_taps(plan, &at_zero, s, &a, &taps);
    if (e->side == PANELS)
        a = conv_panel_of_call(&a, *filter, &few, &group);
    *filter += a.n_f;
    *call = (struct conv_routine_call){
        .routine = { .kind = CONV_ROUTINE_UKR,
                     .n_operands = CONV_FOLD_OPERANDS,
                     .tensor = { conv_ukr_in_tensor(&a), CONV_PACKED_FILTER, CONV_OUTPUT } },
        .at = { a.in, a.filter, a.out },
    };
    u->k = a.k;
    u->n_win = a.n_win;
    u->n_f = a.n_f;
    u->ld_in = conv_ukr_ld_in(plan->ukr, &a);
    /* a panel may be all of a step's windows */
    u->in_step = plan->ukr->win_panel ? conv_ukr_in_step(&a, plan->ukr->win_panel) : e->lanes;
    u->is_packed = !a.ld_in;
    u->ld_out = a.ld_out;
    u->accumulate = a.accumulate;
    u->lanes = e->lanes;
    u->in_blocks = e->side == BLOCKS;
    u->few = few;
    u->by_filters = is_by_filters(e, &a);
    u->by_taps = a.taps && !u->by_filters;
    u->group = group;
    set_ahead(call, ahead, a.out);
    if (!u->by_filters && !u->by_taps)
        return 0;
    u->is_packed = 0;
    if (u->by_filters) {
        u->out_windows = e->side == FEW ? GROUP : CONV_MAX_TAP_WINDOWS;
        u->in_step = 0;
    }
    if (e->side == PARTS)
        conv_parts_of_call(u, plan->ukr, &a);
    return set_taps(&call->routine, a.taps);
}
