/* Hierarchies of the full engine that share their first level, as enum sim_full_event describes. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/full/engine_full.h"
#include "sim/prefetch/prefetch.h"

enum { FIRST_ROOM = 4096, HANDED_OVER = 3072 }; /* notes */

/*
 * Tells whether the first level of a machine sees nothing of the levels behind, and these levels see only events of the
 * first.
 */
static bool has_blind_first(const struct sim_machine *m)
{
    if (m->n_levels < 2 || m->combining_buffers || m->level[0].no_write_allocate ||
        m->level[1].inclusion == SIM_EXCLUSIVE || !sim_full_holds_all(m))
        return false;
    for (size_t k = 1; k < m->n_levels; k++) {
        if (m->level[k].inclusion == SIM_INCLUSIVE)
            return false;
    }
    return true;
}

static bool is_same_first(const struct sim_level *a, const struct sim_level *b)
{
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && (a->prefetch[i].kind || b->prefetch[i].kind); i++) {
        struct sim_prefetch x, y;

        if (!a->prefetch[i].kind || !b->prefetch[i].kind)
            return false;
        x = sim_prefetch_resolve(&a->prefetch[i]);
        y = sim_prefetch_resolve(&b->prefetch[i]);
        if (memcmp(&x, &y, sizeof x))
            return false;
    }
    return !strcmp(a->policy, b->policy) && a->n_sets == b->n_sets && a->n_ways == b->n_ways &&
           a->line_bytes == b->line_bytes && a->seed == b->seed && a->n_slices == b->n_slices &&
           a->is_physically_indexed == b->is_physically_indexed && a->is_classified == b->is_classified &&
           a->no_full_store_fetch == b->no_full_store_fetch;
}

static bool is_same_core(const struct sim_machine *a, const struct sim_machine *b)
{
    for (size_t i = 0; i < a->n_tlbs && i < b->n_tlbs; i++) {
        if (a->tlb[i].n_entries != b->tlb[i].n_entries || a->tlb[i].n_ways != b->tlb[i].n_ways)
            return false;
    }
    return a->n_tlbs == b->n_tlbs && a->has_software_prefetch == b->has_software_prefetch &&
           a->page_tables == b->page_tables && a->page_seed == b->page_seed &&
           sim_machine_page_bytes(a) == sim_machine_page_bytes(b) &&
           sim_machine_frame_bytes(a) == sim_machine_frame_bytes(b);
}

bool sim_full_can_share(const struct sim_machine *a, const struct sim_machine *b)
{
    assert(a && b);
    return has_blind_first(a) && has_blind_first(b) && is_same_core(a, b) && is_same_first(&a->level[0], &b->level[0]);
}

int sim_full_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels)
{
    struct sim_full *f = (struct sim_full *)follower, *l = (struct sim_full *)leader;

    if (n_levels != 1 || f->variant != l->variant || l->leader || f->leader || f->follower ||
        !sim_full_can_share(&l->machine, &f->machine))
        return -ENOTSUP;
    if (!l->note) {
        l->note = malloc(FIRST_ROOM * sizeof *l->note);
        l->note_room = FIRST_ROOM;
    }
    if (!l->note)
        return -ENOTSUP;
    f->leader = l;
    f->next = l->follower;
    l->follower = f;
    return 0;
}

/* Makes room for more notes. Followers are in error if there is none. */
static bool make_room(struct sim_full *e)
{
    struct sim_full_note *more = realloc(e->note, 2 * e->note_room * sizeof *more);

    for (struct sim_full *f = e->follower; f && !more; f = f->next)
        f->base.err = -ENOMEM;
    if (!more)
        return false;
    e->note = more;
    e->note_room *= 2;
    return true;
}

void sim_full_hand_over(struct sim_full *e)
{
    for (struct sim_full *f = e->follower; f; f = f->next) {
        if (!f->base.err) /* else notes may be missing */
            e->variant->follow(f, e->note, e->n_notes);
        f->n_requests = e->n_requests; /* hits since the last event are none */
    }
    e->n_notes = e->n_run = 0;
}

/* Before SIM_FULL_RUNS no request is half finished, so followers can catch up there. */
void sim_full_note(struct sim_full *e, enum sim_full_event event, uint64_t line, uint32_t run, unsigned by)
{
    assert(e->note && e->n_notes <= e->note_room);
    if (event == SIM_FULL_RUNS) {
        if (e->n_notes == e->n_run)
            return;
        if (e->n_notes > HANDED_OVER)
            sim_full_hand_over(e);
    }
    if (e->n_notes == e->note_room && !make_room(e))
        return;
    e->note[e->n_notes++] = (struct sim_full_note){
        .line = line, .time = e->n_requests, .run = run, .event = (uint8_t)event, .by = (uint8_t)by
    };
    if (event == SIM_FULL_RUNS)
        e->n_run = e->n_notes;
}

void sim_full_note_asks(struct sim_full *e)
{
    uint64_t n = 0;

    for (uint64_t i = e->queue_first; i < e->queue_end; i++)
        n += !sim_full_asking_level(e->queue[i % SIM_FULL_QUEUE].by);
    for (; e->n_asks < n; e->n_asks++)
        sim_full_note(e, SIM_FULL_ASKS, 0, 0, 0);
}

/* Returns the core's time, brought up to date. */
static double now(struct sim_full *e, unsigned phase)
{
    e->now += (double)(e->n_requests - e->n_timed) * e->base.pace[phase].request_cycles;
    e->n_timed = e->n_requests;
    return e->now;
}

static double latency_of(const struct sim_full *e, size_t level)
{
    return level < e->n_levels ? e->machine.level[level].latency_cycles : e->machine.memory_latency_cycles;
}

/*
 * Returns the time at which the core made the access of the present request: earlier by the time of the accesses in the
 * window, waits included.
 */
static double made_at(struct sim_full *e, unsigned phase)
{
    const struct sim_pace *p = &e->base.pace[phase];
    double at = now(e, phase) - p->window_requests * p->request_cycles;

    for (uint64_t i = e->n_stalls; i-- > 0 && i + SIM_FULL_STALLS >= e->n_stalls;) {
        const struct sim_full_stall *s = &e->stall[i % SIM_FULL_STALLS];

        if ((double)(e->n_requests - s->request) >= p->window_requests)
            break;
        at -= s->cycles;
    }
    return at;
}

/* A line on its way to a further level comes no sooner. */
void sim_full_depart(struct sim_full *e, size_t level, uint64_t line, const struct sim_full_request *r)
{
    const uint32_t source = r->source > level ? r->source : (uint32_t)level + 1;
    const double due = made_at(e, r->phase) + latency_of(e, source);
    struct sim_full_flight *f = &e->flight[line % SIM_FULL_FLIGHTS];

    if (f->line != line || f->due < due)
        *f = (struct sim_full_flight){ line, due, source };
}

/* sim/core/clock.c charges the latency of a load's own miss. */
void sim_full_await(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    struct sim_full_flight *f = &e->flight[line % SIM_FULL_FLIGHTS];
    const struct sim_pace *p = &e->base.pace[r->phase];
    const double latency = r->source ? latency_of(e, r->source) : 0, hidden = p->window_requests * p->request_cycles;
    double wait;

    if (f->line != line)
        return;
    f->line = SIM_FULL_NO_LINE;
    wait = round(f->due - now(e, r->phase) - fmax(0, latency - hidden));
    if (wait > 0) {
        e->now += wait;
        e->stall[e->n_stalls++ % SIM_FULL_STALLS] = (struct sim_full_stall){ e->n_requests, wait };
        r->cell->level[f->source - 1].late_cycles += (uint64_t)wait;
    }
}

bool sim_full_is_scattered(struct sim_full *e, uint64_t line)
{
    const uint32_t n = sim_machine_recent_lines(&e->machine);
    bool is_near = false;

    for (size_t i = 0; i < n; i++)
        is_near |= line - e->read_lately[i] + SIM_NEAR_LINES <= 2 * SIM_NEAR_LINES;
    e->read_lately[e->n_read++ % n] = line;
    return !is_near;
}

static unsigned most_asked(const struct sim_prefetch *p)
{
    return p->kind == SIM_PREFETCH_PAIR ? 1 : p->first > p->degree ? p->first : p->degree;
}

/*
 * Those of a level see a request once, and those of all levels outside, and then the same happens to each line that they
 * ask for, one level further out.
 */
bool sim_full_holds_all(const struct sim_machine *m)
{
    uint64_t most = 0; /* that a read leads to from this level on */

    for (size_t k = m->n_levels; k-- > 0;) {
        const struct sim_level *l = &m->level[k];
        uint64_t n = 0;

        if (l->is_write_through || (k + 1 < m->n_levels && l->line_bytes != m->level[k + 1].line_bytes))
            return false;
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->prefetch[i].kind; i++) {
            const struct sim_prefetch p = sim_prefetch_resolve(&l->prefetch[i]);

            n += most_asked(&p);
        }
        most += n * (1 + most);
        if (most > SIM_FULL_QUEUE)
            return false;
    }
    return true;
}
