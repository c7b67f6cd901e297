/*
 * A follower replays its leader's events (enum sim_full_event) at the follower's levels behind the first. Part of
 * engine_full_tmpl.h.
 */

/* Fills in the request's account; the source of a load's earlier reads stays. */
static inline void request_of_event(struct sim_full_request *r, struct sim_full *f, const struct sim_full_note *n)
{
    const uint32_t source = r->source;

    sim_full_request_by(r, f, sim_full_run_tag(n->run), sim_full_run_phase(n->run), n->run % SIM_MAX_BURST_RUNS);
    r->source = source;
    r->is_prefetch = n->by & SIM_FULL_BY_PREFETCH;
    r->is_instructed = n->by & SIM_FULL_BY_INSTRUCTION;
    r->is_walk = n->by & SIM_FULL_BY_WALK;
}

static void replay_read(struct sim_full *f, const struct sim_full_note *n)
{
    struct sim_full_request other = { .source = 0 }, *r = n->by ? &other : &f->load;

    request_of_event(r, f, n);
    go_past(r, 0);
    read_second(f, n->line, r);
    if (!sim_full_has_pace(f, r))
        return;
    if (r->is_prefetch)
        sim_full_depart(f, 0, n->line, r);
    else if (!n->by)
        sim_full_await(f, n->line, r);
}

static void replay_first_use(struct sim_full *f, const struct sim_full_note *n)
{
    struct sim_full_request r = { .source = 0 };

    request_of_event(&r, f, n);
    if (sim_full_has_pace(f, &r))
        sim_full_await(f, n->line, &r);
}

static void replay_write(struct sim_full *f, const struct sim_full_note *n)
{
    const struct write w = {
        .addr = n->line << f->level[0].line_shift,
        .bytes = f->level[0].line_bytes,
        .is_eviction = !n->by,
    };

    write_like(f, 1, &w, sim_full_run_tag(n->run), sim_full_run_phase(n->run));
}

/* Queues a line that a prefetcher of the first level asks for. */
static void replay_ask(struct sim_full *f)
{
    f->queue[f->queue_end++ % SIM_FULL_QUEUE].by = 0; /* of the first level, whichever prefetcher asked */
}

/* Counts a finished load; the leader counts the first level's misses. */
static void end_replayed_load(struct sim_full_request *load)
{
    for (size_t k = 1; k < load->source; k++)
        load->cell->level[k].load_misses++;
    load->source = 0;
}

static const struct sim_full_note *replay_queue(struct sim_full *f, const struct sim_full_note *n);

/* Replays an event, and the queue's lines if the queue comes in. Returns the last replayed event. */
static inline const struct sim_full_note *replay_event(struct sim_full *f, const struct sim_full_note *n)
{
    f->n_requests = n->time;
    if (n->event == SIM_FULL_READS)
        replay_read(f, n);
    else if (n->event == SIM_FULL_WRITES)
        replay_write(f, n);
    else if (n->event == SIM_FULL_ASKS)
        replay_ask(f);
    else if (n->event == SIM_FULL_RUNS)
        return replay_queue(f, n);
    else if (n->event == SIM_FULL_LOADS_FIRST)
        replay_first_use(f, n);
    else if (n->event == SIM_FULL_LOAD_MISSED)
        end_replayed_load(&f->load);
    return n;
}

/* Brings in queued lines: lines of the first level by events, further lines as run_waiting() does. */
static const struct sim_full_note *replay_queue(struct sim_full *f, const struct sim_full_note *n)
{
    while (f->queue_first != f->queue_end) {
        const struct sim_full_wanted *w = &f->queue[f->queue_first++ % SIM_FULL_QUEUE];

        if (sim_full_asking_level(w->by))
            bring_waiting(f, w);
        else
            while ((++n)->event != SIM_FULL_HAS_COME)
                replay_event(f, n);
    }
    return n;
}

static void follow(struct sim_full *f, const struct sim_full_note *note, size_t n)
{
    for (const struct sim_full_note *at = note; at < note + n; at++)
        at = replay_event(f, at);
}
