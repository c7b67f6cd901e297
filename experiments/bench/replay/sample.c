#include "experiments/bench/replay/sample.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/replay/sample_choice.h"
#include "experiments/bench/replay/sample_estimate.h"
#include "experiments/bench/replay/sample_forms.h"
#include "experiments/bench/replay/sample_lines.h"

enum { TAGS = SIM_USUAL_TAGS };
/* Drawn in the first run: of all, as a share of uneven units (packs_from_memory), and at least of each stratum; the second of strata that are a unit's share or less. */
enum { USUAL_UNITS = 24, UNEVEN_UNITS = 72, LEAST_UNITS = 3, FEWEST_UNITS = 2 };

/* A unit has this part of a stream, within bounds. A tenth of a multiply-add's accesses is the usual number. */
static const double unit_part = 1.0 / 800, accesses_of_mac = 0.1, least_unit = 40000, longest_unit = 150000;

/* The last level counts as sparse below this part of its lines from memory; a full level keeps this part at least. */
enum { SPARSE = 2, LASTING = 3 };

/* A piece of a long step reads new elements if the new lines are this part of all lines read. */
enum { NEW_PART = 8 };

/* Strata of so few units that read new elements are drawn whole: their waits for memory differ by much. */
enum { ALL_NEW = 8 };

/* Accesses between a piece and the next simulated piece, for each line of the second level, from which the piece is far. */
enum { FAR_ACCESSES = 32 };

static const uint64_t piece_accesses = 1 << 16;           /* of a long step */
static const double most_first = 0.5, most_second = 0.25; /* of the accesses, simulated in a run */

/* ---- the sampler ---- */

/* A simulated piece of the current step. */
struct pending {
    size_t piece;
    bool is_drawn; /* else the clock alone takes the piece */
    double accesses;
    struct exp_sample_counts before[EXP_SAMPLE_VIEWS], after[EXP_SAMPLE_VIEWS];
};

struct sampler {
    struct conv_backend base; /* first */
    struct sim_sink sink;
    struct conv_replay replay;
    const struct exp_replay_plan *r;
    struct exp_sample *s;
    struct exp_pieces pieces;
    struct exp_sample_drawn drawn;
    struct sim_cell exact[TAGS][SIM_MAX_PHASES]; /* accesses alone */
    uint64_t mac_instructions;
    double simulated;              /* accesses, in all runs */
    struct exp_sample_lines lines; /* of skipped pieces */
    struct exp_forms forms;
    uint8_t *read[TAGS];         /* [lines of the tensor], owned: read by a piece of a long step, listed until now */
    const struct exp_form *form; /* of the current step; NULL: emitted */
    uint64_t place[EXP_FORM_PARTS];
    /* The place in a run. */
    bool is_listing;
    size_t at; /* the current piece, or the next */
    enum exp_piece_mode mode;
    const struct conv_step *step;
    bool may_split; /* the current step may have several pieces: a step other than packing and micro-kernels */
    bool goes_on;   /* the current step has had a piece */
    uint64_t lines_read, lines_new; /* of the current piece of a long step, listed; new: read by no piece before */
    bool is_open;                   /* a piece has begun */
    bool is_away;                   /* the current step packs from memory */
    uint64_t in_piece;              /* accesses of the piece until now */
    struct pending *pending;
    size_t n_pending, room;
};

/* ---- accesses ---- */

static void count_exactly(struct sampler *x, const struct sim_run *run, uint64_t n_times)
{
    const uint64_t n = run->count * n_times;

    sim_count_accesses(&x->exact[run->tag % TAGS][run->phase], run->kind, n, n * run->access_bytes);
}

static bool takes_tag(const struct sampler *x, size_t view, unsigned tag)
{
    return tag != CONV_STACK || x->s->view[view].has_stack;
}

static void hand_on(struct sampler *x, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (size_t v = 0; v < x->s->n_views; v++) {
        if (takes_tag(x, v, run[0].tag))
            sim_emit(sim_hierarchy_sink(x->s->view[v].h), run, n_runs, n_times);
    }
}

/*
 * Tells whether a view takes the loads of a skipped step. A packing step reads rows side by side, and prefetchers run
 * ahead of each row into the rows of later steps: boxes would bring fewer lines ahead. The packed set is written in
 * boxes.
 */
static bool takes_loads(const struct sampler *x, size_t view)
{
    return x->is_away && !sim_machine_is_plain(x->s->view[view].machine);
}

/* Tells whether a view takes the accesses of a run of a skipped piece. Non-temporal stores have no lines. */
static bool takes_run(const struct sampler *x, size_t view, const struct sim_run *run)
{
    return run->kind == SIM_STORE_NT || (run->kind != SIM_STORE && run->tag != CONV_STACK && takes_loads(x, view));
}

static void touch(void *sampler, const struct sim_run *lines)
{
    const struct sampler *x = sampler;
    const bool is_ahead = lines->kind == SIM_PREFETCH;
    struct sim_run run = *lines;

    run.kind = is_ahead ? SIM_LOAD : run.kind;
    for (size_t v = 0; v < x->s->n_views; v++) {
        if (takes_tag(x, v, run.tag) && !takes_run(x, v, &run) &&
            (!is_ahead || x->s->view[v].machine->has_software_prefetch))
            (x->lines.is_far ? sim_hierarchy_touch_far : sim_hierarchy_touch)(x->s->view[v].h, &run);
    }
}

static bool reads_ahead(const struct sampler *x, const struct sim_run *run, uint64_t n_times)
{
    const struct sim_lattice at = sim_lattice_of(run, n_times, x->lines.line_shift);
    bool reads = false;

    for (uint64_t i = 0; run->count && run->kind == SIM_LOAD && i < at.n_inner * at.n_outer && !reads; i++) {
        const struct sim_lines lines = sim_lattice_lines(&at, i, x->lines.line_shift);
        const struct sim_run box = { .addr = lines.first << x->lines.line_shift, .count = (uint32_t)lines.n };

        reads = sim_hierarchy_reads_ahead(x->s->view[0].h, &box);
    }
    return reads;
}

static bool packs(const struct conv_step *s)
{
    return s->kind == CONV_STEP_PACK_WINDOWS || s->kind == CONV_STEP_PACK_MATRIX || s->kind == CONV_STEP_PACK_FILTERS;
}

/* Finds out whether the current step packs from memory. */
static void find_away(struct sampler *x, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    bool is_away = false;

    if (x->is_away || !packs(x->step) || sim_machine_is_plain(x->s->view[0].machine))
        return;
    for (size_t i = 0; i < n_runs && !is_away; i++)
        is_away = reads_ahead(x, &run[i], n_times);
    if (is_away)
        exp_sample_lines_end(&x->lines);
    x->is_away = is_away;
}

/* Leaves a burst's footprint, and hands on the runs whose accesses a view takes. */
static void skip(struct sampler *x, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_run taken[SIM_MAX_BURST_RUNS];

    find_away(x, run, n_runs, n_times);
    for (size_t v = 0; v < x->s->n_views; v++) {
        size_t n = 0;

        for (size_t i = 0; i < n_runs && takes_tag(x, v, run[0].tag); i++) {
            if (takes_run(x, v, &run[i]))
                taken[n++] = run[i];
        }
        if (n)
            sim_emit(sim_hierarchy_sink(x->s->view[v].h), taken, n, n_times);
    }
    exp_sample_lines_add(&x->lines, run, n_runs, n_times, &x->exact[0][0]);
}

/* ---- pieces ---- */

static void enter(struct sampler *x, enum exp_piece_mode mode)
{
    for (size_t v = 0; v < x->s->n_views; v++) {
        const struct exp_sample_view *view = &x->s->view[v];

        if (mode == EXP_PIECE_SKIPPED)
            sim_hierarchy_begin_skip(view->h);
        if (x->mode == EXP_PIECE_SKIPPED)
            sim_hierarchy_end_skip(view->h);
        if (x->mode == EXP_PIECE_SKIPPED && view->clock)
            sim_clock_resume(view->clock);
    }
    x->mode = mode;
}

/* Returns the lines of a level, or of the last level before. */
static uint64_t lines_of(const struct sampler *x, size_t level)
{
    const struct sim_machine *m = x->s->view[0].machine;
    const struct sim_level *l = &m->level[level < m->n_levels ? level : m->n_levels - 1];

    return l->n_sets * l->n_ways;
}

/*
 * Returns how many lines the last level keeps at least, whatever the order of their uses. A level that is far from full
 * has hardly replaced a line.
 */
static uint64_t lasting_lines(const struct sampler *x)
{
    const struct sim_cell sum = sim_stats_total(sim_hierarchy_stats(x->s->view[0].h));
    const uint64_t n = lines_of(x, SIM_MAX_LEVELS);

    return x->s->may_repeat && sum.memory_read_lines < n / SPARSE ? UINT64_MAX : n / LASTING;
}

static void look(const struct sampler *x, size_t view, struct exp_sample_counts *c)
{
    const struct sim_stats *stats = sim_hierarchy_stats(x->s->view[view].h);

    for (size_t t = 0; t < TAGS; t++)
        c->cell[t] = stats->cell[t][conv_step_phase(x->step->kind)];
    memcpy(c->prefetcher, stats->prefetcher, sizeof c->prefetcher);
}

static void begin_piece(struct sampler *x)
{
    const struct exp_piece *p;

    x->is_open = true;
    x->lines_read = x->lines_new = 0;
    x->in_piece = 0;
    if (x->is_listing)
        return;
    assert(x->at < x->pieces.n);
    p = &x->pieces.piece[x->at];
    if (p->mode != x->mode)
        enter(x, p->mode);
    x->lines.accesses_left = p->left;
    if (!x->at || p[-1].unit != p->unit)
        x->lines.lasting = lasting_lines(x);
    x->lines.is_long = x->may_split;
    x->lines.is_far = exp_forms_is_far(&x->forms, x->at) && p->left > FAR_ACCESSES * lines_of(x, 1);
    if (x->mode == EXP_PIECE_SKIPPED)
        return;
    if (x->n_pending == x->room)
        exp_append(&x->pending, &x->room, sizeof *x->pending);
    x->pending[x->n_pending].piece = x->at;
    x->pending[x->n_pending].is_drawn = x->mode == EXP_PIECE_DRAWN;
    for (size_t v = 0; v < x->s->n_views; v++)
        look(x, v, &x->pending[x->n_pending].before[v]);
}

static void end_piece(struct sampler *x)
{
    x->is_open = false;
    exp_sample_lines_end(&x->lines);
    if (x->is_listing) {
        exp_pieces_add(&x->pieces, x->r->plan, x->step, x->in_piece, x->goes_on,
                       x->lines_new * NEW_PART > x->lines_read);
        exp_forms_list(&x->forms, x->form, x->place);
        x->goes_on = true;
        return;
    }
    x->simulated += x->mode != EXP_PIECE_SKIPPED ? (double)x->in_piece : 0;
    if (x->mode != EXP_PIECE_SKIPPED) {
        struct pending *p = &x->pending[x->n_pending++];

        p->accesses = (double)x->in_piece;
        for (size_t v = 0; v < x->s->n_views; v++)
            look(x, v, &p->after[v]);
    }
    x->lines.accesses += x->in_piece;
    x->at++;
}

/* Notes that a line of a tensor is read. Returns whether the line is read for the first time. */
static bool note_line(struct sampler *x, unsigned tag, uint64_t line)
{
    const uint64_t first = x->replay.bind.addr[tag] >> x->lines.line_shift;
    const uint64_t n = (x->r->plan->layout.bytes[tag] >> x->lines.line_shift) + 2;
    bool is_new;

    if (line < first || line - first >= n)
        return false;
    if (!x->read[tag])
        x->read[tag] = exp_new(n, sizeof *x->read[tag]);
    is_new = !x->read[tag][line - first];
    x->read[tag][line - first] = 1;
    return is_new;
}

/* Notes what a burst of a long step reads. */
static void note_read(struct sampler *x, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (size_t i = 0; i < n_runs; i++) {
        const struct sim_lattice at = sim_lattice_of(&run[i], n_times, x->lines.line_shift);

        if (run[i].kind != SIM_LOAD || !run[i].count || run[i].tag >= CONV_N_TENSORS)
            continue;
        for (uint64_t k = 0; k < at.n_inner * at.n_outer; k++) {
            const struct sim_lines lines = sim_lattice_lines(&at, k, x->lines.line_shift);

            x->lines_read += lines.n;
            for (uint64_t l = 0; l < lines.n; l++)
                x->lines_new += note_line(x, run[i].tag, lines.first + l);
        }
    }
}

static void feed(struct sampler *x, const struct sim_run *run, size_t n_runs, uint64_t n_times, uint64_t each)
{
    const bool is_stack = run[0].tag == CONV_STACK; /* follows a step: perhaps after the step's last piece */

    if (!x->is_open && !is_stack)
        begin_piece(x);
    x->in_piece += is_stack ? 0 : each * n_times;
    if (x->is_listing && x->may_split && !is_stack)
        note_read(x, run, n_runs, n_times);
    if (x->is_listing)
        return;
    if (x->mode == EXP_PIECE_SKIPPED) {
        skip(x, run, n_runs, n_times);
        return;
    }
    for (size_t i = 0; i < n_runs; i++)
        count_exactly(x, &run[i], n_times);
    hand_on(x, run, n_runs, n_times);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sampler *x = (struct sampler *)((char *)self - offsetof(struct sampler, sink));
    struct sim_run part[SIM_MAX_BURST_RUNS];
    uint64_t each = 0;

    for (size_t i = 0; i < n_runs; i++)
        each += run[i].count;
    if (!x->may_split || run[0].tag == CONV_STACK || !each) {
        feed(x, run, n_runs, n_times, each);
        return;
    }
    memcpy(part, run, n_runs * sizeof *run);
    for (uint64_t n; n_times; n_times -= n) {
        const uint64_t room = x->is_open ? piece_accesses - x->in_piece : piece_accesses;

        n = room / each;
        n = n < 1 ? 1 : n > n_times ? n_times : n;
        feed(x, part, n_runs, n, each);
        for (size_t i = 0; i < n_runs; i++)
            part[i].addr += (uint64_t)part[i].step_bytes * n;
        if (x->in_piece >= piece_accesses)
            end_piece(x);
    }
}

/* ---- steps ---- */

static struct sim_cycles cycles_between(struct sim_clock *clock, unsigned phase, const struct sim_cell before[TAGS],
                                        const struct sim_cell after[TAGS], const struct sim_work *w)
{
    clock->phase[phase] = (struct sim_cycles){ 0 };
    sim_clock_between(clock, phase, before, after, w);
    return clock->phase[phase];
}

/* Returns the cycles of a simulated piece, with the piece's share of the step's work. */
static struct sim_cycles cycles_of(const struct sampler *x, size_t view, const struct pending *p, double share)
{
    const struct sim_work all = exp_replay_work(x->r, x->step, x->replay.work);
    const struct sim_work w = { all.operations * share, all.serial_operations * share, all.macs * share,
                                all.loops * share, all.chained_macs * share };

    return cycles_between(x->s->view[view].clock, conv_step_phase(x->step->kind), p->before[view].cell,
                          p->after[view].cell, &w);
}

static bool has_clock(const struct sampler *x, size_t view)
{
    return x->s->view[view].clock && x->r->stack;
}

/* Takes a simulated piece. Pieces before a drawn unit pass the clock, too: their pace and their lines on the way matter. */
static void take_piece(struct sampler *x, const struct pending *p, double step_accesses)
{
    for (size_t v = 0; v < x->s->n_views; v++) {
        struct sim_cycles cycles = { 0 };

        if (has_clock(x, v))
            cycles = cycles_of(x, v, p, p->accesses / step_accesses);
        if (p->is_drawn)
            exp_sample_drawn_add(&x->drawn, &x->pieces.piece[p->piece], p->accesses, v, x->s->view[v].machine,
                                 &p->before[v], &p->after[v], &cycles);
    }
}

/* Adds a count's difference, times a factor, to a sum. */
static void add_part(struct sim_cell *sum, const struct sim_cell *before, const struct sim_cell *after, double factor)
{
    uint64_t *s = (uint64_t *)sum;

    for (size_t i = 0; i < sizeof *sum / sizeof *s; i++)
        s[i] += (uint64_t)llround(factor * (double)(((const uint64_t *)after)[i] - ((const uint64_t *)before)[i]));
}

/*
 * A clock takes a long step as a whole, and the pace of the step holds for the next step of the phase. So the clock gets
 * the whole, estimated by the simulated pieces, in place of the pieces. was: the clock before the step.
 */
static void clock_long_step(const struct sampler *x, size_t view, const struct sim_clock *was, double step_accesses)
{
    static const struct sim_cell none[TAGS];
    const struct sim_work w = exp_replay_work(x->r, x->step, x->replay.work);
    struct sim_clock *clock = x->s->view[view].clock;
    struct sim_cell after[TAGS] = { 0 };
    double accesses = 0;

    for (size_t i = 0; i < x->n_pending; i++)
        accesses += x->pending[i].accesses;
    for (size_t i = 0; i < x->n_pending; i++) {
        for (size_t t = 0; t < TAGS; t++)
            add_part(&after[t], &x->pending[i].before[view].cell[t], &x->pending[i].after[view].cell[t],
                     step_accesses / accesses);
    }
    *clock = *was;
    cycles_between(clock, conv_step_phase(x->step->kind), none, after, &w);
}

static void take_pieces(struct sampler *x, double step_accesses, bool is_long)
{
    struct sim_clock was[EXP_SAMPLE_VIEWS];

    for (size_t v = 0; v < x->s->n_views && is_long; v++) {
        if (has_clock(x, v))
            was[v] = *x->s->view[v].clock;
    }
    for (size_t i = 0; i < x->n_pending; i++)
        take_piece(x, &x->pending[i], step_accesses);
    for (size_t v = 0; v < x->s->n_views && is_long && x->n_pending; v++) {
        if (has_clock(x, v))
            clock_long_step(x, v, &was[v], step_accesses);
    }
}

/* Takes a finished step, whose first piece is given. */
static void take_step(struct sampler *x, size_t first)
{
    const struct exp_piece_class *class;
    double accesses = 0;
    bool is_long;

    if (first == x->at) /* without accesses */
        return;
    class = &x->pieces.class[x->pieces.group[x->pieces.piece[first].class].class];
    is_long = exp_piece_is_long(class);
    if (x->r->stack && is_long) {
        const struct sim_work w = exp_replay_work(x->r, x->step, x->replay.work);

        exp_sample_drawn_add_long(&x->drawn, class->step, &w);
    }
    for (size_t i = first; i < x->at; i++)
        accesses += (double)x->pieces.piece[i].accesses;
    take_pieces(x, accesses, is_long);
}

/* Makes a step that is not simulated from its form. Returns false if the step has to be emitted. */
static bool step_by_form(struct sampler *x, const struct conv_step *s)
{
    const unsigned phase = conv_step_phase(s->kind);
    const struct exp_form *f;

    if (s->kind != CONV_STEP_UKR || (!x->is_listing && x->pieces.piece[x->at].mode != EXP_PIECE_SKIPPED))
        return false;
    f = x->form = exp_forms_find(&x->forms, x->r->plan, &x->replay.bind, s, &x->lines, x->place);
    if (!f)
        return false;
    begin_piece(x);
    x->in_piece = f->n_accesses;
    if (!x->is_listing)
        exp_forms_touch(&x->forms, x->at, f, x->place, &x->lines);
    for (size_t i = 0; i < f->n_kinds; i++)
        sim_count_accesses(&x->exact[f->accesses[i].tag % TAGS][f->accesses[i].phase], f->accesses[i].kind,
                           f->accesses[i].n, f->accesses[i].bytes);
    if (x->replay.stack.stack)
        conv_stack_emit(&x->replay.stack, phase, f->work, &x->sink);
    end_piece(x);
    return true;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct sampler *x = (struct sampler *)self;
    const size_t first = x->at;
    int err = 0;

    if (x->r->pool && exp_pool_stopped(x->r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    x->step = s;
    x->may_split = s->kind == CONV_STEP_IM2COL || s->kind == CONV_STEP_ZERO || s->kind == CONV_STEP_DIRECT;
    x->goes_on = false;
    x->is_away = false;
    x->n_pending = 0;
    x->form = NULL;
    if (!step_by_form(x, s)) {
        err = x->replay.base.step(&x->replay.base, s);
        if (x->is_open)
            end_piece(x);
    }
    if (x->is_listing || err)
        return err;
    x->mac_instructions += exp_replay_mac_instructions(x->r, s);
    if (x->r->report && conv_step_computes(s))
        x->r->report(x->r->ctx, (double)s->n_k * (double)s->n_win * (double)s->n_f);
    if (x->n_pending || x->may_split)
        take_step(x, first);
    return 0;
}

/* ---- runs ---- */

static int run(struct sampler *x, bool is_listing)
{
    x->is_listing = is_listing;
    x->at = 0;
    x->mode = EXP_PIECE_DRAWN;
    x->mac_instructions = 0;
    memset(x->exact, 0, sizeof x->exact);
    conv_replay_init(&x->replay, x->r->plan, &x->sink);
    if (x->r->bind)
        x->replay.bind = *x->r->bind;
    if (!is_listing)
        conv_replay_set_stack(&x->replay, x->r->stack);
    return conv_nest_run(x->r->plan, &x->base);
}

/* Tells whether the lowered input is larger than the caches: packing waits for memory, here more, there less. */
static bool packs_from_memory(const struct sampler *x)
{
    return x->r->plan->layout.bytes[CONV_IM2COL] >> x->lines.line_shift > lines_of(x, SIM_MAX_LEVELS);
}

static void first_wishes(const struct sampler *x, size_t *wanted)
{
    const struct exp_pieces *p = &x->pieces;
    const double units[] = { USUAL_UNITS, packs_from_memory(x) ? UNEVEN_UNITS : USUAL_UNITS };

    for (size_t i = 0; i < p->n_strata; i++) {
        const double share = (double)p->stratum[i].accesses / (double)p->accesses;
        const size_t n = (size_t)(units[p->stratum[i].packs] * share + 1);

        wanted[i] = x->s->draws_all || (p->stratum[i].reads_new && p->stratum[i].n_units <= ALL_NEW)
                        ? p->stratum[i].n_units
                    : n >= LEAST_UNITS ? n
                    : n > 1            ? LEAST_UNITS
                                       : FEWEST_UNITS;
    }
}

static void clear(struct sampler *x)
{
    for (size_t v = 0; v < x->s->n_views; v++) {
        sim_hierarchy_clear_stats(x->s->view[v].h);
        if (x->s->view[v].clock)
            sim_clock_init(x->s->view[v].clock, x->s->view[v].machine, x->s->view[v].h);
    }
    if (x->drawn.longs)
        memset(x->drawn.longs, 0, x->pieces.n_classes * sizeof *x->drawn.longs);
}

static int simulate(struct sampler *x)
{
    int err;

    clear(x);
    exp_forms_choose(&x->forms, x->pieces.piece);
    err = run(x, false);
    for (size_t v = 0; !err && v < x->s->n_views; v++) {
        err = sim_hierarchy_error(x->s->view[v].h);
        if (!err)
            exp_sample_estimate(&x->drawn, v, &x->s->view[v], &x->exact[0][0], sim_hierarchy_stats(x->s->view[v].h));
    }
    return err;
}

/* Draws more units where intervals are too wide, as many as a second run may simulate. Returns whether there are any. */
static bool draw_more(struct sampler *x, size_t *wanted)
{
    bool grew = false;

    for (size_t i = 0; i < x->pieces.n_strata; i++)
        wanted[i] = x->pieces.stratum[i].n_drawn;
    for (size_t v = 0; v < x->s->n_views; v++)
        grew |= exp_sample_want(&x->drawn, v, &x->s->view[v], x->s->how->target, wanted);
    if (!grew)
        return false;
    exp_sample_limit(&x->pieces, wanted, most_second);
    return exp_pieces_draw(&x->pieces, wanted) > 0;
}

/* Simulates twice, if the first run's intervals are too wide and the caches can be emptied. */
static int simulate_all(struct sampler *x, size_t *wanted)
{
    int err = simulate(x);

    if (err || !x->s->may_repeat || !draw_more(x, wanted))
        return err;
    for (size_t v = 0; v < x->s->n_views; v++)
        sim_hierarchy_clear(x->s->view[v].h);
    exp_sample_lines_clear(&x->lines);
    exp_forms_clear(&x->forms);
    return simulate(x);
}

/* Draws the first run's units. Returns the share of the accesses that will be simulated. */
static double draw_first(struct sampler *x, size_t *wanted)
{
    first_wishes(x, wanted);
    return (double)exp_pieces_draw(&x->pieces, wanted) / (double)x->pieces.accesses;
}

static int sample(struct sampler *x)
{
    const double part = unit_part * accesses_of_mac * conv_macs(&x->r->plan->problem);
    size_t *wanted;
    int err;

    x->pieces.unit_accesses = (uint64_t)fmin(fmax(part, least_unit), longest_unit);
    err = run(x, true);
    if (err)
        return err;
    if (!x->pieces.n)
        return -ERANGE;
    exp_pieces_end(&x->pieces, x->s->how->seed);
    wanted = exp_new(x->pieces.n_strata, sizeof *wanted);
    if (!x->s->is_warming && draw_first(x, wanted) > most_first && !x->s->draws_all)
        err = -ERANGE;
    if (!err) {
        exp_sample_drawn_init(&x->drawn, &x->pieces, x->s->n_views);
        x->drawn.is_sconv = x->r->plan->algorithm == CONV_SCONV;
        err = simulate_all(x, wanted);
        x->s->share = x->simulated / (double)x->pieces.accesses;
    }
    free(wanted);
    return err;
}

int exp_sample_plan(const struct exp_replay_plan *r, struct exp_sample *s, uint64_t *mac_instructions)
{
    struct sampler *x = exp_new(1, sizeof *x);
    const struct sim_level *first = &s->view[0].machine->level[0];
    unsigned line_shift = 0;
    int err;

    assert(r->plan->algorithm != CONV_PLUGIN && s->n_views && s->n_views <= EXP_SAMPLE_VIEWS);
    x->base.step = step;
    x->sink.accept = accept;
    x->r = r;
    x->s = s;
    while (first->line_bytes >> line_shift != 1)
        line_shift++;
    exp_sample_lines_init(&x->lines, line_shift, lines_of(x, 0), touch, x);
    exp_forms_init(&x->forms, lines_of(x, 0), lines_of(x, 1), s->view[0].machine->has_software_prefetch);
    err = sample(x);
    *mac_instructions = x->mac_instructions;
    exp_pieces_release(&x->pieces);
    exp_sample_drawn_release(&x->drawn);
    exp_sample_lines_release(&x->lines);
    exp_forms_release(&x->forms);
    for (size_t t = 0; t < TAGS; t++)
        free(x->read[t]);
    free(x->pending);
    free(x);
    return err;
}
