/*
 * A follower does at its levels behind the first what its leader noted (enum sim_full_event). Part of engine_full_tmpl.h.
 */

/* Fills in who asks; what a load's reads before have found stays. */
static inline void request_noted(struct sim_full_request *r, struct sim_full *f, const struct sim_full_note *n)
{
    const uint32_t source = r->source;

    sim_full_request_by(r, f, sim_full_run_tag(n->run), sim_full_run_phase(n->run), n->run % SIM_MAX_BURST_RUNS);
    r->source = source;
    r->is_prefetch = n->by & SIM_FULL_BY_PREFETCH;
    r->is_instructed = n->by & SIM_FULL_BY_INSTRUCTION;
    r->is_walk = n->by & SIM_FULL_BY_WALK;
}

static void read_noted(struct sim_full *f, const struct sim_full_note *n)
{
    struct sim_full_request other = { .source = 0 }, *r = n->by ? &other : &f->load;

    request_noted(r, f, n);
    go_past(r, 0);
    read_second(f, n->line, r);
}

static void write_noted(struct sim_full *f, const struct sim_full_note *n)
{
    const struct write w = {
        .addr = n->line << f->level[0].line_shift,
        .bytes = f->level[0].line_bytes,
        .is_eviction = !n->by,
    };

    write_like(f, 1, &w, sim_full_run_tag(n->run), sim_full_run_phase(n->run));
}

/* Has a line wait that a prefetcher of the first level asks for. */
static void ask_noted(struct sim_full *f)
{
    f->queue[f->queue_end++ % SIM_FULL_QUEUE].by = 0; /* of the first level, whoever it is */
}

/* Counts a load that is through; the first level's misses are the leader's. */
static void end_noted_load(struct sim_full_request *load)
{
    for (size_t k = 1; k < load->source; k++)
        load->cell->level[k].load_misses++;
    load->source = 0;
}

static const struct sim_full_note *run_noted(struct sim_full *f, const struct sim_full_note *n);

/* Does one event, and the lines of the queue if they come in. Returns the last event that was done. */
static inline const struct sim_full_note *do_noted(struct sim_full *f, const struct sim_full_note *n)
{
    f->n_requests = n->time;
    if (n->event == SIM_FULL_READS)
        read_noted(f, n);
    else if (n->event == SIM_FULL_WRITES)
        write_noted(f, n);
    else if (n->event == SIM_FULL_ASKS)
        ask_noted(f);
    else if (n->event == SIM_FULL_RUNS)
        return run_noted(f, n);
    else if (n->event == SIM_FULL_LOAD_MISSED)
        end_noted_load(&f->load);
    return n;
}

/* Brings in what waits: lines of the first level as noted, others as in run_waiting(). */
static const struct sim_full_note *run_noted(struct sim_full *f, const struct sim_full_note *n)
{
    while (f->queue_first != f->queue_end) {
        const struct sim_full_wanted *w = &f->queue[f->queue_first++ % SIM_FULL_QUEUE];

        if (sim_full_asking_level(w->by))
            bring_waiting(f, w);
        else
            while ((++n)->event != SIM_FULL_HAS_COME)
                do_noted(f, n);
    }
    return n;
}

static void follow(struct sim_full *f, const struct sim_full_note *note, size_t n)
{
    for (const struct sim_full_note *at = note; at < note + n; at++)
        at = do_noted(f, at);
}
