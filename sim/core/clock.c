#include "sim/core/clock.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *sim_clock_why_not(const struct sim_machine *m)
{
    const struct sim_issue *i = &m->issue;

    assert(m && m->n_levels && m->n_levels <= SIM_MAX_LEVELS);
    if (!m->core.width)
        return "has no [core]";
    if (!(i->mac_instructions_per_cycle > 0) || !(i->loads_per_cycle > 0) || !(i->stores_per_cycle > 0))
        return "does not state mac_instructions_per_cycle, loads_per_cycle and stores_per_cycle";
    if (!(m->memory_bandwidth_bytes_per_cycle > 0))
        return "does not state memory_bandwidth_bytes_per_cycle";
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!m->level[k].miss_buffers || (k && !(m->level[k].bandwidth_bytes_per_cycle > 0)))
            return "does not state miss_buffers of every cache, and bandwidth_bytes_per_cycle of all but the first";
    }
    return NULL;
}

const char *sim_clock_choice(size_t i)
{
    static const char *const choices[] = {
        "how missing stores wait (a Zen 3's counts of five models)",
        "which lines from memory are out of order, one of five rules (likewise)",
        "4 bytes a cycle from memory (likewise)",
        "4.3 operations a cycle in loops (likewise)",
        "1.7 operations a cycle in serial code (likewise)",
        "the prefetcher of L1's streams sees all accesses, not misses alone (likewise)",
        "the same prefetcher asks 8 lines ahead, not 7 (likewise)",
        "a prefetch instruction does not pay for a line out of order (a Sapphire Rapids' times)",
        NULL,
    };

    assert(i < sizeof choices / sizeof choices[0]);
    return choices[i];
}

void sim_clock_init(struct sim_clock *c, const struct sim_machine *m, struct sim_hierarchy *h)
{
    assert(c && m && h);
    *c = (struct sim_clock){ .machine = m, .hierarchy = h };
    for (unsigned phase = 0; phase < SIM_MAX_PHASES && !sim_clock_why_not(m);
         phase++) /* a guess, until the first step */
        sim_hierarchy_set_pace(h, phase, 1 / m->issue.loads_per_cycle, m->core.load_buffers);
}

/* Counts of a step. */
struct step {
    double loads, stores, load_bytes, store_bytes;
    double sum_bytes;                  /* of wide stores to tensors that the step does not load */
    double served[SIM_MAX_LEVELS + 1]; /* [k]: loads that level k > 0, or memory, served */
    double stored[SIM_MAX_LEVELS + 1]; /* [k]: missed lines of stores that level k, or memory, served */
    double lines[SIM_MAX_LEVELS + 1];  /* [k]: lines that passed between level k and the level inside */
    double store_lines;                /* lines from memory of tensors that the step only stores to */
    double scattered;                  /* lines from memory that are far from all lines read before, */
    double scattered_stores;           /* and of tensors that the step only stores to */
    double late[SIM_MAX_LEVELS + 1];   /* [k]: cycles for prefetched lines on their way from level k */
    double requests;                   /* lines of loads and stores */
    double walks;
};

static double since(uint64_t now, uint64_t before)
{
    return (double)(now - before);
}

/*
 * Spreads the store misses of a tag over the outer levels. Of the read misses of a level, stores caused the misses beside
 * those of loads, prefetches and page walks.
 */
static void add_stored(size_t n_levels, const struct sim_cell *now, const struct sim_cell *before, struct step *s)
{
    double left = since(now->level[0].write_misses, before->level[0].write_misses);

    for (size_t k = 1; k < n_levels && left > 0; k++) {
        const struct sim_level_counts *l = &now->level[k], *was = &before->level[k];
        const double others = since(l->ahead_misses, was->ahead_misses) + since(l->load_misses, was->load_misses);
        const double further = fmin(left, fmax(0, since(l->read_misses, was->read_misses) - others));

        s->stored[k] += left - further;
        left = further;
    }
    s->stored[n_levels] += left;
}

static double wide_bytes(const struct sim_machine *m)
{
    return m->issue.mac_columns * sizeof(float);
}

/* Tells whether most stores of a tag are as wide as multiply-adds. */
static bool is_wide(const struct sim_machine *m, const struct sim_cell *now, const struct sim_cell *before)
{
    return 2 * since(now->store_bytes, before->store_bytes) > wide_bytes(m) * since(now->stores, before->stores);
}

static void add_tag(const struct sim_machine *m, const struct sim_cell *now, const struct sim_cell *before,
                    struct step *s)
{
    const size_t n = m->n_levels;

    s->loads += since(now->loads, before->loads);
    s->stores += since(now->stores, before->stores);
    s->load_bytes += since(now->load_bytes, before->load_bytes);
    s->store_bytes += since(now->store_bytes, before->store_bytes);
    if (now->loads == before->loads && is_wide(m, now, before))
        s->sum_bytes += since(now->store_bytes, before->store_bytes);
    s->requests += since(now->level[0].reads, before->level[0].reads);
    s->requests += since(now->level[0].writes, before->level[0].writes);
    for (size_t k = 0; k < n; k++) {
        const double misses = since(now->level[k].load_misses, before->level[k].load_misses);

        s->served[k + 1] += misses;
        s->served[k] -= misses;
        s->late[k + 1] += since(now->level[k].late_cycles, before->level[k].late_cycles);
        s->lines[k + 1] += k + 1 < n ? since(now->level[k].lines_in, before->level[k].lines_in) : 0;
    }
    add_stored(n, now, before, s);
    s->store_lines += now->loads == before->loads ? since(now->memory_read_lines, before->memory_read_lines) : 0;
    s->lines[n] += since(now->memory_read_lines, before->memory_read_lines) +
                   since(now->memory_written_lines, before->memory_written_lines);
    *(m->core.hides_far_stores && now->loads == before->loads ? &s->scattered_stores : &s->scattered) +=
        since(now->memory_scattered_lines, before->memory_scattered_lines) -
        (m->core.hides_far_prefetches ? since(now->memory_scattered_ahead, before->memory_scattered_ahead) : 0);
    if (m->n_tlbs)
        s->walks += since(now->tlb[m->n_tlbs - 1].misses, before->tlb[m->n_tlbs - 1].misses);
}

/*
 * Multiply-adds of a loop wait for one another where the loop has few sums. The window reaches into the next loops: their
 * chains pass side by side.
 */
static double mac_cycles(const struct sim_machine *m, const struct sim_work *w)
{
    const double loops = w->loops * m->core.window / fmax(1, w->operations);

    return fmax(w->macs / m->issue.mac_instructions_per_cycle,
                w->chained_macs * m->core.mac_latency_cycles / fmax(1, loops));
}

static double operation_cycles(const struct sim_machine *m, const struct sim_work *w)
{
    return w->operations / m->core.sustained_operations_per_cycle;
}

/* Returns the cycles of following work that overlap with multiply-adds still in the window when a loop ends. */
static double hidden_by_macs(const struct sim_machine *m, const struct sim_work *w)
{
    const double macs = mac_cycles(m, w), ahead = macs - operation_cycles(m, w);

    if (!(ahead > 0))
        return 0;
    return fmin(ahead, w->loops * m->core.window * macs / w->operations);
}

static double cycles_of_line(const struct sim_machine *m, size_t level)
{
    const double bandwidth =
        level < m->n_levels ? m->level[level].bandwidth_bytes_per_cycle : m->memory_bandwidth_bytes_per_cycle;

    return m->level[level - 1].line_bytes / bandwidth;
}

/* Returns the cycles of accesses: narrow accesses may pass faster than accesses of a multiply-add's width. */
static double access_cycles(const struct sim_machine *m, double n, double bytes, double wide_per_cycle,
                            double narrow_per_cycle)
{
    if (!(narrow_per_cycle > wide_per_cycle))
        return n / wide_per_cycle;
    return fmax(n / narrow_per_cycle, bytes / wide_bytes(m) / wide_per_cycle);
}

/* Returns the first level whose lines pass beside loads. */
static size_t levels_that_stop_loads(const struct sim_machine *m)
{
    const size_t end[] = { [SIM_TRANSFERS_OVERLAP] = 1, [SIM_TRANSFERS_STOP] = m->n_levels, [SIM_TRANSFERS_OUTER] = 2 };

    return m->n_levels > 1 ? end[m->core.transfers] : 1;
}

/* Returns the cycles in which the first level serves loads, or receives lines where transfers stop loads. */
static double load_cycles(const struct sim_machine *m, const struct step *s)
{
    double cycles = access_cycles(m, s->loads, s->load_bytes, m->issue.loads_per_cycle, m->core.narrow_loads_per_cycle);

    for (size_t k = 1; k < levels_that_stop_loads(m); k++)
        cycles += s->lines[k] * cycles_of_line(m, k);
    return cycles;
}

/* Returns how many ends of loops the core does not foresee; all loops have about as many passes. */
static double mispredictions(const struct sim_machine *m, const struct sim_work *w)
{
    const bool is_foreseen = w->chained_macs > 0 && w->chained_macs <= m->core.foreseen_passes * w->loops;

    return is_foreseen ? 0 : w->loops;
}

/* Adds the cycles of the core alone, without waits. */
static void issue(const struct sim_machine *m, const struct step *s, const struct sim_work *w, struct sim_cycles *c)
{
    const double serial = w->serial_operations / m->core.serial_operations_per_cycle;
    const double calls = serial + mispredictions(m, w) * m->core.misprediction_cycles;

    c->computing = fmax(fmax(mac_cycles(m, w), load_cycles(m, s)), operation_cycles(m, w));
    c->storing =
        access_cycles(m, s->stores, s->store_bytes, m->issue.stores_per_cycle, m->core.narrow_stores_per_cycle);
    c->storing = fmax(0, c->storing - c->computing);
    if (w->loops > 0 && m->issue.stores_per_cycle < 1)
        c->storing += s->sum_bytes / wide_bytes(m) / m->issue.stores_per_cycle;
    c->calls = fmax(0, calls - hidden_by_macs(m, w));
}

/* How many lines stores wait for at once, at most. */
static double stores_at_once(const struct sim_machine *m)
{
    return m->core.store_misses ? m->core.store_misses : m->level[0].miss_buffers;
}

/* share: of the step's work, the part that fits into the window. busy: cycles of all the work. */
struct work_in_window {
    double share, busy;
};

/* Returns the stall cycles of n events spread over the work, at most at_once of them in flight. */
static double wait(const struct work_in_window *w, double n, double latency, double at_once)
{
    if (!(n > 0))
        return 0;
    return n / fmin(fmax(1, w->share * n), at_once) * fmax(0, latency - w->busy * fmin(w->share, at_once / n));
}

static double latency_of(const struct sim_machine *m, size_t level)
{
    return level < m->n_levels ? m->level[level].latency_cycles : m->memory_latency_cycles;
}

static struct work_in_window window_of(const struct sim_machine *m, const struct step *s, const struct sim_work *w,
                                       const struct sim_cycles *c)
{
    const double operations = fmax(1, w->operations + w->serial_operations);

    return (struct work_in_window){
        .share = fmin(m->core.window / operations, m->core.load_buffers / fmax(1, s->loads)),
        .busy = sim_cycles_sum(c),
    };
}

static void wait_for_loads(const struct sim_machine *m, const struct step *s, const struct work_in_window *in,
                           struct sim_cycles *c)
{
    const double walk = m->n_levels > 1 ? m->page_tables * latency_of(m, 1) : 0;

    for (size_t k = 1; k <= m->n_levels; k++)
        c->waiting[k] = wait(in, s->served[k], latency_of(m, k), m->level[0].miss_buffers);
    c->translating = wait(in, s->walks, walk, m->core.walkers);
}

/*
 * Stores leave in order: a store that misses delays the stores behind. Buffered stores leave beside all other work of
 * the step; further stores wait until the buffers have room.
 */
static void wait_for_stores(const struct sim_machine *m, const struct step *s, struct sim_cycles *c)
{
    const double busy = sim_cycles_sum(c), buffered = fmin(1, m->core.store_buffers / fmax(1, s->stores));

    for (size_t k = 1; k <= m->n_levels && s->stores > 0; k++) {
        const double at_once = fmin(fmax(1, buffered * s->stored[k]), stores_at_once(m));
        const double uncovered = fmax(0, latency_of(m, k) - busy);
        const double for_room = fmax(0, latency_of(m, k) - c->calls * buffered);

        c->storing += s->stored[k] / at_once * (buffered * uncovered + (1 - buffered) * for_room);
    }
}

/* Returns the cycles in which the lines of stores come from memory, 0 if no faster than other lines. */
static double store_line_cycles(const struct sim_machine *m, const struct step *s)
{
    const double bandwidth = m->memory_store_bandwidth_bytes_per_cycle;

    return bandwidth > 0 ? s->store_lines * m->level[m->n_levels - 1].line_bytes / bandwidth : 0;
}

/* Adds the wait for lines that neither passed during the step nor have a miss buffer to wait in. */
static void wait_for_lines(struct sim_clock *clock, const struct step *s, struct sim_cycles *c)
{
    const struct sim_machine *m = clock->machine;
    double took = sim_cycles_sum(c);

    for (size_t k = 1; k <= m->n_levels; k++) {
        const double line = cycles_of_line(m, k), far = k < m->n_levels ? 0 : s->scattered_stores;
        const double lines =
            fmax(s->lines[k] * line, k < m->n_levels ? 0 : store_line_cycles(m, s)) + far * m->memory_scattered_cycles;
        const double more = clock->owed[k] + lines - took;

        clock->owed[k] += lines;
        if (more > m->level[k - 1].miss_buffers * line) {
            c->waiting[k] += more - m->level[k - 1].miss_buffers * line;
            took += more - m->level[k - 1].miss_buffers * line;
        }
    }
    for (size_t k = 1; k <= m->n_levels; k++)
        clock->owed[k] = fmax(0, clock->owed[k] - took);
}

static void step(struct sim_clock *clock, unsigned phase, const struct step *s, const struct sim_work *w)
{
    struct sim_cycles c = { 0 };
    struct work_in_window in;
    double late = 0;

    assert(phase < SIM_MAX_PHASES && w);
    issue(clock->machine, s, w, &c);
    in = window_of(clock->machine, s, w, &c);
    wait_for_loads(clock->machine, s, &in, &c);
    wait_for_stores(clock->machine, s, &c);
    for (size_t k = 1; k <= clock->machine->n_levels; k++) {
        c.waiting[k] += s->late[k];
        late += s->late[k];
    }
    wait_for_lines(clock, s, &c);
    if (s->requests > 0)
        sim_hierarchy_set_pace(clock->hierarchy, phase, (sim_cycles_sum(&c) - late) / s->requests,
                               in.share * s->requests);
    c.waiting[clock->machine->n_levels] += s->scattered * clock->machine->memory_scattered_cycles;
    sim_cycles_add(&clock->phase[phase], &c);
}

void sim_clock_step(struct sim_clock *clock, unsigned phase, const struct sim_work *w)
{
    const struct sim_stats *stats = sim_hierarchy_stats(clock->hierarchy);
    struct step s = { 0 };

    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        const struct sim_cell *now = &stats->cell[tag][phase];
        struct sim_cell *before = &clock->seen[tag][phase];

        if (!memcmp(now, before, sizeof *now))
            continue;
        add_tag(clock->machine, now, before, &s);
        *before = *now;
    }
    step(clock, phase, &s, w);
}

void sim_clock_between(struct sim_clock *clock, unsigned phase, const struct sim_cell before[SIM_USUAL_TAGS],
                       const struct sim_cell after[SIM_USUAL_TAGS], const struct sim_work *w)
{
    struct step s = { 0 };

    assert(clock && before && after);
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++)
        add_tag(clock->machine, &after[tag], &before[tag], &s);
    step(clock, phase, &s, w);
}

void sim_clock_resume(struct sim_clock *c)
{
    assert(c);
    memset(c->owed, 0, sizeof c->owed);
}

double sim_cycles_sum(const struct sim_cycles *c)
{
    double sum = c->computing + c->storing + c->calls + c->translating;

    for (size_t k = 0; k <= SIM_MAX_LEVELS; k++)
        sum += c->waiting[k];
    return sum;
}

void sim_cycles_add(struct sim_cycles *sum, const struct sim_cycles *c)
{
    assert(sum && c);
    sum->computing += c->computing;
    sum->storing += c->storing;
    sum->calls += c->calls;
    sum->translating += c->translating;
    for (size_t k = 0; k <= SIM_MAX_LEVELS; k++)
        sum->waiting[k] += c->waiting[k];
}
