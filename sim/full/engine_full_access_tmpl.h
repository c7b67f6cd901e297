/*
 * An access to the full engine, or the access's part in a line of the first level, with all consequences. Part of
 * engine_full_tmpl.h.
 */

/* ---- prefetches ---- */

/* Brings a line into level k for the prefetcher with index `place`. The line has come after `late` further requests. */
static inline EACH_LEVEL void prefetch(struct sim_full *e, size_t k, uint64_t line, uint64_t *row,
                                       struct sim_full_request *r, unsigned place, unsigned late)
{
    struct sim_full_place p;

    r->is_prefetch = true;
    r->source = 0;
    r->cell->level[k].prefetch_fills++;
    e->base.stats->prefetcher[k][place].brought++;
    p = bring(e, k, line, row, r, (uint16_t)((place + 1) << SIM_FULL_PLACE_AT | r->tag << SIM_FULL_ASKER_SHIFT));
    if (e->level[k].is_late)
        *sim_full_level_due(&e->level[k], p) = e->n_requests + late;
    if (sim_full_has_pace(e, r))
        sim_full_depart(e, k, line << e->level[k].line_shift >> e->level[0].line_shift, r);
}

/* A load uses a prefetched line of the first level for the first time. */
static inline void load_first(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    if (!sim_full_has_pace(e, r))
        return;
    sim_full_await(e, line, r);
    if (e->follower)
        sim_full_note(e, SIM_FULL_LOADS_FIRST, line, r->run, 0);
}

/*
 * Brings an absent line that a prefetcher of level k asked for, unless a buffer has the line. Returns whether the line
 * came.
 */
static inline EACH_LEVEL bool bring_wanted(struct sim_full *e, size_t k, const struct sim_full_wanted *wanted,
                                           uint64_t *row)
{
    const struct sim_full_wanted w = *wanted; /* a copy, because the queue may reuse the place */
    struct sim_full_request r;

    if (e->n_buffers && is_buffered(e, w.line << e->level[k].line_shift >> e->unit_shift))
        return false;
    sim_full_request_in(&r, w.cell, sim_full_asking_tag(w.by), sim_full_asking_phase(w.by), 0);
    prefetch(e, k, w.line, row, &r, sim_full_asking_place(w.by), sim_full_asking_late(w.by));
    return true;
}

static __attribute__((noinline)) bool bring_wanted_further(struct sim_full *e, size_t k,
                                                           const struct sim_full_wanted *w, uint64_t *row)
{
    return bring_wanted(e, k, w, row);
}

/* Brings in a queued line unless the line is present now. Returns whether the line came. */
static inline bool bring_waiting(struct sim_full *e, const struct sim_full_wanted *w)
{
    const size_t k = sim_full_asking_level(w->by);
    struct sim_full_place p;

    if (w->row)
        return bring_wanted(e, 0, w, w->row);
    p = sim_full_level_find(&e->level[k], w->line);
    return !sim_full_is_hit(p) && bring_wanted_further(e, k, w, p.row);
}

/* Brings in queued lines until the queue is empty. Returns whether a line came. */
static __attribute__((noinline)) bool run_waiting(struct sim_full *e)
{
    bool has_brought = false;

    while (e->queue_first != e->queue_end)
        has_brought |= bring_waiting(e, &e->queue[e->queue_first++ % SIM_FULL_QUEUE]);
    return has_brought;
}

/* Does the same, with events for followers: a follower's queue may hold lines when this queue is empty. */
static __attribute__((noinline)) bool run_and_note(struct sim_full *e)
{
    bool has_brought = false;

    sim_full_note_asks(e);
    sim_full_note(e, SIM_FULL_RUNS, 0, 0, 0);
    while (e->queue_first != e->queue_end) {
        const struct sim_full_wanted *w = &e->queue[e->queue_first++ % SIM_FULL_QUEUE];
        const bool is_noted = !sim_full_asking_level(w->by);

        has_brought |= bring_waiting(e, w);
        if (is_noted)
            sim_full_note(e, SIM_FULL_HAS_COME, 0, 0, 0);
    }
    e->n_asks = 0;
    return has_brought;
}

static inline bool run_queue(struct sim_full *e)
{
    if (e->follower)
        return run_and_note(e);
    return e->queue_first != e->queue_end && run_waiting(e);
}

static inline void prefetch_software(struct sim_full *e, uint64_t line, struct sim_full_place p,
                                     struct sim_full_request *r)
{
    if (sim_full_is_hit(p)) {
        sim_full_level_touch(&e->level[0], p);
        return;
    }
    r->cell->level[0].software_fills++;
    r->is_instructed = true;
    prefetch(e, 0, line, p.row, r, SIM_SOFTWARE_PREFETCHER, 0);
}

/* ---- pages ---- */

/* Reads the entries of a page in the tables, for a page that no TLB has. */
static void walk_tables(struct sim_full *e, uint64_t page, const struct sim_full_request *of)
{
    struct sim_full_request r;
    uint64_t before;

    sim_full_request_of(&r, e, of->tag, of->phase);
    before = r.cell->level[0].lines_in;
    r.is_walk = true;
    for (unsigned table = 0; table < e->machine.page_tables; table++)
        read_line(e, 0, sim_page_table_entry(table, page) >> e->level[0].line_shift, &r);
    r.cell->tlb[e->machine.n_tlbs - 1].walk_fills += r.cell->level[0].lines_in - before;
}

/* Looks up a page that the first TLB lacks. */
static __attribute__((noinline)) void look_further(struct sim_full *e, uint64_t page, const struct sim_full_request *r)
{
    e->n_changes++;
    r->cell->tlb[0].misses++;
    for (size_t i = 1; i < e->machine.n_tlbs; i++) {
        r->cell->tlb[i].uses++;
        if (sim_full_tlb_use(&e->tlb[i], page))
            return;
        r->cell->tlb[i].misses++;
    }
    walk_tables(e, page, r);
}

/*
 * Looks a page up in the TLBs of a machine with TLBs. The caller counts the use of the first TLB. The page of the
 * access before is the most recently used page of the first TLB: another use changes nothing.
 */
static inline void look_up(struct sim_full *e, uint64_t page, const struct sim_full_request *r)
{
    if (page == e->last_page)
        return;
    e->last_page = page;
    if (!sim_full_tlb_use(&e->tlb[0], page))
        look_further(e, page, r);
}

/* ---- accesses ---- */

/* Makes an access's part in a line. Pages and buffers are finished, and the line is counted. */
static inline void access_found(struct sim_full *e, unsigned kind, uint64_t addr, uint64_t bytes,
                                struct sim_full_place p, struct sim_full_request *r)
{
    uint64_t line = addr >> e->level[0].line_shift;

    e->n_requests += kind != SIM_PREFETCH;
    if (kind == SIM_LOAD) {
        if (sim_full_is_hit(p) && *sim_full_level_flags(&e->level[0], p) & SIM_FULL_PREFETCHED)
            load_first(e, line, r);
        read_found(e, 0, line, p, r);
        if (!sim_full_is_hit(p) && sim_full_has_pace(e, r))
            sim_full_await(e, line, r);
    } else if (kind == SIM_PREFETCH) {
        prefetch_software(e, line, p, r);
    } else {
        struct write w = { .addr = addr, .bytes = bytes, .is_store = true };

        write_found(e, 0, line, p, &w, r);
    }
    run_queue(e);
}

/* Calls f for every aligned piece of 2^shift bytes that an access touches, in address order. */
static void for_each_piece(struct sim_full *e, uint64_t addr, uint32_t bytes, unsigned shift,
                           const struct sim_full_request *r,
                           void (*f)(struct sim_full *e, uint64_t piece, const struct sim_full_request *r))
{
    uint64_t size = (uint64_t)1 << shift;
    uint64_t n = ((addr & (size - 1)) + bytes - 1) / size + 1;

    for (uint64_t i = 0; i < n; i++)
        f(e, ((addr + i * size) & SIM_FULL_ADDRESS_MASK) >> shift, r);
}

static void translate(struct sim_full *e, uint64_t page, const struct sim_full_request *r)
{
    r->cell->tlb[0].uses++;
    look_up(e, page, r);
}

/* Finishes pages and buffered units before the lines. */
static void use_pages_and_buffers(struct sim_full *e, unsigned kind, uint64_t addr, uint32_t bytes,
                                  const struct sim_full_request *r)
{
    if (e->machine.n_tlbs)
        for_each_piece(e, addr, bytes, e->page_shift, r, translate);
    if (e->n_buffers && kind != SIM_STORE_NT)
        for_each_piece(e, addr, bytes, e->unit_shift, r, drain_unit);
}

static void count_line(struct sim_cell *cell, unsigned kind)
{
    cell->level[0].reads += kind == SIM_LOAD;
    cell->level[0].writes += kind == SIM_STORE;
}

/* Counts the misses of a finished load. */
static inline void count_load_misses(struct sim_full *e, struct sim_full_request *r)
{
    if (e->follower && r->source)
        sim_full_note(e, SIM_FULL_LOAD_MISSED, 0, 0, 0);
    for (size_t k = 0; k < r->source; k++)
        r->cell->level[k].load_misses++;
    r->source = 0;
}

/*
 * Makes an access of a run; place: the run's place in its burst. `kind` is the machine's view: no ignored prefetch
 * instruction, and no non-temporal store without buffers.
 */
static void make_access(struct sim_full *e, const struct sim_run *run, unsigned kind, uint64_t addr, unsigned place)
{
    struct sim_full_request r;
    uint64_t line_bytes = e->level[0].line_bytes;
    uint64_t left = run->access_bytes;

    sim_full_request_by(&r, e, run->tag, run->phase, place);
    addr &= SIM_FULL_ADDRESS_MASK;
    use_pages_and_buffers(e, kind, addr, run->access_bytes, &r);
    if (kind == SIM_STORE_NT) {
        for_each_piece(e, addr, run->access_bytes, e->unit_shift, &r, combine);
        return;
    }
    for (uint64_t n; left; left -= n, addr = (addr + n) & SIM_FULL_ADDRESS_MASK) {
        struct sim_full_place p = sim_full_level_find(&e->level[0], addr >> e->level[0].line_shift);

        n = line_bytes - (addr & (line_bytes - 1));
        n = n < left ? n : left;
        count_line(r.cell, kind);
        access_found(e, kind, addr, n, p, &r);
    }
    if (kind == SIM_LOAD)
        count_load_misses(e, &r);
}
