#include "experiments/bench/replay/sample_forms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "kernels/backend/resolve.h"

enum { SLOTS = 1 << 11, MOST_FORMS = SLOTS / 2, ALIGNMENT = 64 };

/*
 * OLD_PART  A use is old once later uses have brought a fourth of the second level's lines.
 * NEAR      Before a simulated piece, old uses go to the caches until the old uses have eight times the second level's
 *           lines: tree-plru forgets slowly where a working set is about as large as the level.
 */
enum { OLD_PART = 4, NEAR = 8 };

void exp_forms_init(struct exp_forms *f, uint64_t first_lines, uint64_t second_lines, bool takes_prefetches)
{
    *f = (struct exp_forms){ .slot = exp_new(SLOTS, sizeof(struct exp_form *)) };
    f->takes_prefetches = takes_prefetches;
    f->recent = (uint32_t)first_lines;
    f->older = (uint32_t)(second_lines / OLD_PART);
}

void exp_forms_release(struct exp_forms *f)
{
    for (size_t i = 0; f->slot && i < SLOTS; i++) {
        for (size_t p = 0; f->slot[i] && p < EXP_FORM_PARTS; p++)
            free(f->slot[i]->part[p].box);
        free(f->slot[i] ? f->slot[i]->accesses : NULL);
        free(f->slot[i]);
    }
    free(f->slot);
    free(f->region);
    free(f->region_at);
    free(f->use);
}

/* ---- keys ---- */

/* Fills a zeroed key, and the places of the parts. */
static void make_key(struct exp_form_key *k, const struct conv_plan *plan, const struct conv_binding *bind,
                     const struct conv_step *s, unsigned line_shift, uint64_t place[EXP_FORM_PARTS])
{
    const uint64_t line = (uint64_t)1 << line_shift, within = (line > ALIGNMENT ? line : ALIGNMENT) - 1;
    struct conv_ukr_args a = conv_resolve_ukr(plan, bind, s);
    struct conv_ahead_lists lists;
    const struct conv_ahead_lists *ahead;
    bool has_input = false;

    conv_resolve_taps(plan, bind, s, &a, &k->taps);
    ahead = conv_resolve_ahead(plan, bind, s, &a, &lists);
    for (size_t i = 0; ahead && i < ahead->n; i++) {
        k->n_ahead[i] = ahead->list[i].n;
        k->ahead_tag[i] = (uint8_t)ahead->list[i].tag;
        k->ahead_step[i] = ahead->list[i].step_bytes;
        if (ahead->list[i].tag == CONV_PACKED_FILTER) {
            place[EXP_FORM_FILTERS_AHEAD] = (ahead->list[i].addr & ~within) >> line_shift;
            k->ahead_at[i] = (int64_t)(ahead->list[i].addr & within);
        }
        if (ahead->list[i].tag != CONV_INPUT)
            continue;
        if (!has_input)
            place[EXP_FORM_INPUT_AHEAD] = (ahead->list[i].addr & ~within) >> line_shift;
        has_input = true;
        k->ahead_at[i] = (int64_t)(ahead->list[i].addr - (place[EXP_FORM_INPUT_AHEAD] << line_shift));
    }
    place[EXP_FORM_INPUT] = (a.in & ~within) >> line_shift;
    place[EXP_FORM_FILTERS] = (a.filter & ~within) >> line_shift;
    place[EXP_FORM_OUTPUTS] = (a.out & ~within) >> line_shift;
    k->args.in = a.in & within;
    k->args.filter = a.filter & within;
    k->args.out = a.out & within;
    k->args.k = a.k;
    k->args.ld_in = a.ld_in;
    k->args.in_step = a.in_step;
    k->args.ld_out = a.ld_out;
    k->args.n_win = a.n_win;
    k->args.n_f = a.n_f;
    k->args.accumulate = a.accumulate;
    k->goes_on = s->goes_on;
    k->has_input_ahead = s->ahead.channels > 0;
    k->has_filter_ahead = s->ahead.elems > 0;
}

/* Keys of a stream differ mostly in these numbers. */
static size_t hash_of(const struct exp_form_key *k)
{
    const uint64_t numbers[] = { k->args.in,          k->args.filter,
                                 k->args.out,         k->args.k,
                                 k->args.n_win,       k->args.n_f,
                                 k->args.accumulate,  k->goes_on,
                                 k->taps.row_live[0], k->taps.column_live[0],
                                 k->taps.n_c,         k->has_input_ahead,
                                 k->taps.row_live[2], k->taps.column_live[2],
                                 k->has_filter_ahead, k->n_ahead[0],
                                 k->taps.row_windows };
    uint64_t h = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        h = (h ^ numbers[i]) * 0x9e3779b97f4a7c15u ^ h >> 29;
    return h >> 40;
}

/* ---- new forms ---- */

struct recorder {
    struct sim_sink sink; /* first */
    struct exp_form *form;
    struct exp_sample_lines *lines;
    const uint64_t *place;
    struct sim_cell cell[SIM_USUAL_TAGS * SIM_MAX_PHASES]; /* not used further */
};

static void record_accesses(struct exp_form *f, const struct sim_run *r, uint64_t n_times)
{
    const uint64_t n = r->count * n_times;
    struct exp_sample_accesses *a = f->accesses, *end = a + f->n_kinds;

    while (a < end && (a->kind != r->kind || a->tag != r->tag || a->phase != r->phase))
        a++;
    if (a == end) {
        a = exp_append(&f->accesses, &f->n_kinds, sizeof *a);
        a->kind = r->kind;
        a->tag = r->tag;
        a->phase = r->phase;
    }
    a->n += n;
    a->bytes += n * r->access_bytes;
    f->n_accesses += n;
    f->is_plain &= r->kind != SIM_STORE_NT;
}

static void record(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct recorder *r = (struct recorder *)self;

    for (size_t i = 0; i < n_runs; i++)
        record_accesses(r->form, &run[i], n_times);
    exp_sample_lines_add(r->lines, run, n_runs, n_times, r->cell);
}

static int part_of(unsigned tag)
{
    switch (tag) {
    case CONV_OUTPUT:
        return EXP_FORM_OUTPUTS;
    case CONV_FILTER:
    case CONV_PACKED_FILTER:
        return EXP_FORM_FILTERS;
    default:
        return EXP_FORM_INPUT;
    }
}

/* Adds a box to the box's part. A box both read and written is written. */
static void record_box(void *recorder, const struct sim_run *lines)
{
    const struct recorder *r = recorder;
    const int at = part_of(lines->tag);
    struct exp_form_part *p = &r->form->part[at];
    const int64_t first = (int64_t)((lines->addr >> r->lines->line_shift) - r->place[at]);

    for (struct exp_form_box *b = p->box; b < p->box + p->n; b++) {
        if (b->first != first || b->n != lines->count)
            continue;
        b->kind |= lines->kind;
        return;
    }
    *(struct exp_form_box *)exp_append(&p->box, &p->n, sizeof *p->box) =
        (struct exp_form_box){ first, lines->count, lines->kind, lines->tag, lines->phase };
    p->n_lines += lines->count;
}

/* Steps prefetch a panel of filters part by part: all steps before the panel's first step together fetch the panel. */
static void record_filters_ahead(struct exp_form *f, unsigned line_shift)
{
    const struct exp_form_key *k = &f->key;
    struct exp_form_part *p = &f->part[EXP_FORM_FILTERS_AHEAD];

    for (size_t i = 0; i < CONV_N_AHEAD; i++) {
        const uint64_t last = (uint64_t)k->ahead_at[i] + (k->n_ahead[i] - 1) * (uint64_t)k->ahead_step[i];

        if (k->ahead_tag[i] != CONV_PACKED_FILTER || !k->n_ahead[i])
            continue;
        *(struct exp_form_box *)exp_append(&p->box, &p->n, sizeof *p->box) =
            (struct exp_form_box){ 0, (uint32_t)(last >> line_shift) + 1, SIM_PREFETCH, CONV_PACKED_FILTER,
                                   CONV_PHASE_UKR };
        p->n_lines += p->box[p->n - 1].n;
    }
}

/* Steps prefetch each line of the input long before a step uses the line. */
static void record_input_ahead(struct exp_form *f, unsigned line_shift)
{
    const struct exp_form_key *k = &f->key;
    struct exp_form_part *p = &f->part[EXP_FORM_INPUT_AHEAD];

    for (size_t i = 0; i < CONV_N_AHEAD; i++) {
        for (size_t n = 0; k->ahead_tag[i] == CONV_INPUT && n < k->n_ahead[i]; n++) {
            const int64_t line = (k->ahead_at[i] + (int64_t)n * k->ahead_step[i]) >> line_shift;
            size_t at = 0;

            while (at < p->n && p->box[at].first != line)
                at++;
            if (at == p->n)
                *(struct exp_form_box *)exp_append(&p->box, &p->n, sizeof *p->box) =
                    (struct exp_form_box){ line, 1, SIM_PREFETCH, CONV_INPUT, CONV_PHASE_UKR };
        }
    }
    p->n_lines = p->n;
}

static struct exp_form *new_form(const struct exp_form_key *key, const struct conv_plan *plan,
                                 const struct conv_binding *bind, const struct conv_step *s,
                                 struct exp_sample_lines *lines, const uint64_t place[EXP_FORM_PARTS])
{
    const struct exp_sample_lines usual = *lines;
    struct exp_form *f = exp_new(1, sizeof *f);
    struct recorder r = { .sink.accept = record, .form = f, .lines = lines, .place = place };
    struct conv_work_meter meter;
    struct conv_replay replay;

    assert(!lines->n_open);
    f->key = *key;
    f->is_plain = true;
    lines->touch = record_box;
    lines->ctx = &r;
    lines->is_long = true;
    conv_work_meter_init(&meter, &r.sink);
    conv_replay_init(&replay, plan, &meter.sink);
    replay.bind = *bind;
    replay.base.step(&replay.base, s);
    exp_sample_lines_end(lines);
    conv_work_meter_take(&meter, plan, bind, s, f->work);
    *lines = usual;
    return f;
}

const struct exp_form *exp_forms_find(struct exp_forms *f, const struct conv_plan *plan,
                                      const struct conv_binding *bind, const struct conv_step *s,
                                      struct exp_sample_lines *lines, uint64_t place[EXP_FORM_PARTS])
{
    struct exp_form_key key;
    size_t i;

    memset(&key, 0, sizeof key);
    make_key(&key, plan, bind, s, lines->line_shift, place);
    for (i = hash_of(&key) % SLOTS; f->slot[i]; i = (i + 1) % SLOTS) {
        if (!memcmp(&f->slot[i]->key, &key, sizeof key))
            return f->slot[i]->is_plain ? f->slot[i] : NULL;
    }
    if (f->n == MOST_FORMS)
        return NULL;
    f->n++;
    f->slot[i] = new_form(&key, plan, bind, s, lines, place);
    if (f->takes_prefetches) {
        record_input_ahead(f->slot[i], lines->line_shift);
        record_filters_ahead(f->slot[i], lines->line_shift);
    }
    return f->slot[i]->is_plain ? f->slot[i] : NULL;
}

/* ---- regions ---- */

static uint64_t key_of(const struct exp_form_part *part, uint64_t place)
{
    const uint64_t first = place + (uint64_t)part->box[0].first;

    return (first * 0x9e3779b97f4a7c15u ^ (part->n_lines << 1 | part->box[0].kind)) * 0xc2b2ae3d27d4eb4fu;
}

static uint32_t *find_region(const struct exp_forms *f, uint64_t key)
{
    size_t i = key >> 20;

    while (f->region_at[i & f->mask] && f->region[f->region_at[i & f->mask] - 1].key != key)
        i++;
    return &f->region_at[i & f->mask];
}

static void widen(struct exp_forms *f)
{
    free(f->region_at);
    f->mask = f->mask ? 2 * f->mask + 1 : 4095;
    f->region_at = exp_new(f->mask + 1, sizeof *f->region_at);
    for (size_t i = 0; i < f->n_regions; i++)
        *find_region(f, f->region[i].key) = (uint32_t)(i + 1);
}

/* Returns 1 + the index of a part's region; a new region has never been used. */
static uint32_t region_of(struct exp_forms *f, const struct exp_form_part *part, uint64_t place, bool *is_new)
{
    const uint64_t key = key_of(part, place);
    uint32_t *at;

    if (2 * f->n_regions >= f->mask)
        widen(f);
    at = find_region(f, key);
    *is_new = !*at;
    if (!*at) {
        ((struct exp_form_region *)exp_append(&f->region, &f->n_regions, sizeof *f->region))->key = key;
        *at = (uint32_t)f->n_regions;
    }
    return *at;
}

void exp_forms_list(struct exp_forms *f, const struct exp_form *form, const uint64_t place[EXP_FORM_PARTS])
{
    struct exp_form_use *u = exp_append(&f->use, &f->n_uses, sizeof *u);

    u->clock = f->returned;
    for (unsigned i = 0; form && i < EXP_FORM_PARTS; i++) {
        const uint32_t n = (uint32_t)form->part[i].n_lines;
        struct exp_form_region *r;
        uint32_t away;
        bool is_new;

        if (!n)
            continue;
        u->region[i] = region_of(f, &form->part[i], place[i], &is_new);
        r = &f->region[u->region[i] - 1];
        away = is_new ? UINT32_MAX : f->clock - r->used + n;
        u->missed |= (uint8_t)((away > f->recent) << i);
        f->returned += away > f->older ? n : 0;
        f->clock += n;
        r->used = f->clock;
    }
}

void exp_forms_choose(struct exp_forms *f, const struct exp_piece *piece)
{
    bool has_end = false;
    uint32_t end = 0;

    for (size_t i = f->n_uses; i-- > 0;) {
        struct exp_form_use *u = &f->use[i];

        if (piece[i].mode >= EXP_PIECE_WARMS) {
            has_end = true;
            end = u->clock;
        }
        u->is_near = has_end && end - u->clock < f->older * OLD_PART * NEAR;
    }
}

bool exp_forms_is_far(const struct exp_forms *f, size_t piece)
{
    const struct exp_form_use *u = &f->use[piece];
    bool has_form = false;

    for (unsigned i = 0; i < EXP_FORM_PARTS; i++)
        has_form |= u->region[i] != 0;
    return !has_form || !u->is_near;
}

void exp_forms_clear(struct exp_forms *f)
{
    for (size_t i = 0; i < f->n_regions; i++)
        f->region[i].touched = 0;
}

/* ---- lines ---- */

enum { IN_TURN = 16 }; /* lines of a part, before lines of the other part follow */

/* A place in the lines of a part. */
struct cursor {
    const struct exp_form_part *part;
    uint64_t place;
    size_t box;
    uint32_t at; /* lines of the box */
};

static void touch(struct exp_sample_lines *l, struct cursor *c, uint64_t n)
{
    while (n && c->box < c->part->n) {
        const struct exp_form_box *b = &c->part->box[c->box];
        const uint32_t left = b->n - c->at, some = n < left ? (uint32_t)n : left;
        const struct sim_run lines = {
            .addr = (c->place + (uint64_t)b->first + c->at) << l->line_shift,
            .stride_bytes = (int64_t)1 << l->line_shift,
            .count = some,
            .access_bytes = 1,
            .kind = b->kind,
            .tag = b->tag,
            .phase = b->phase,
        };

        l->touch(l->ctx, &lines);
        n -= some;
        c->at = some == left ? 0 : c->at + some;
        c->box += some == left;
    }
}

/* Touches two parts in turn, in proportion to the lines, as the loop of a micro-kernel does. */
static void touch_in_turn(struct exp_sample_lines *l, struct cursor *a, struct cursor *b)
{
    const uint64_t n = a->part->n_lines > b->part->n_lines ? a->part->n_lines : b->part->n_lines;

    for (uint64_t at = 0; at < n; at += IN_TURN) {
        const uint64_t end = at + IN_TURN < n ? at + IN_TURN : n;

        touch(l, a, a->part->n_lines * end / n - a->part->n_lines * at / n);
        touch(l, b, b->part->n_lines * end / n - b->part->n_lines * at / n);
    }
}

/* Tells whether a part goes to the caches, and notes the answer. */
static bool takes(struct exp_forms *f, const struct exp_form_use *u, unsigned part, uint64_t n_lines,
                  struct exp_sample_lines *l)
{
    struct exp_form_region *r = u->region[part] ? &f->region[u->region[part] - 1] : NULL;
    const bool is_missed = u->is_near && u->missed >> part & 1;

    if (!r || (!is_missed && r->touched && (uint32_t)l->touched + 1 - r->touched <= l->lasting))
        return false;
    l->touched += n_lines;
    r->touched = (uint32_t)l->touched + 1;
    return true;
}

void exp_forms_touch(struct exp_forms *f, size_t piece, const struct exp_form *form,
                     const uint64_t place[EXP_FORM_PARTS], struct exp_sample_lines *l)
{
    struct cursor c[EXP_FORM_PARTS];
    bool is_wanted[EXP_FORM_PARTS];

    for (unsigned i = 0; i < EXP_FORM_PARTS; i++) {
        c[i] = (struct cursor){ &form->part[i], place[i], 0, 0 };
        is_wanted[i] = takes(f, &f->use[piece], i, form->part[i].n_lines, l);
    }
    if (is_wanted[EXP_FORM_INPUT] && is_wanted[EXP_FORM_FILTERS]) {
        touch_in_turn(l, &c[EXP_FORM_INPUT], &c[EXP_FORM_FILTERS]);
        is_wanted[EXP_FORM_INPUT] = is_wanted[EXP_FORM_FILTERS] = false;
    }
    for (unsigned i = 0; i < EXP_FORM_PARTS; i++) {
        if (is_wanted[i])
            touch(l, &c[i], form->part[i].n_lines);
    }
}
