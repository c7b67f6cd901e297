/*
 * Lines that a skipped part of a stream touches (sim_hierarchy_touch), at the levels behind the first: without the first
 * level's prefetchers, and without counts but read misses and lines to and from memory. Part of engine_full_tmpl.h.
 */

enum { TOUCHES_AHEAD = 8 }; /* lines whose rows are on their way from the host's memory */

/* Reads a line at level k. Returns the dirty flag and owner of a line from an exclusive level. */
static uint16_t touch_level(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p;
    uint16_t flags;

    if (k == e->n_levels)
        return fetch_lines(e, k, line << e->level[k - 1].line_shift, e->level[k - 1].line_bytes, r);
    p = sim_full_level_find(l, line);
    if (k == 1)
        show(e, 1, line, p, r);
    if (sim_full_is_hit(p) && l->is_exclusive)
        return take_out(e, k, p, r->phase) & SIM_FULL_DATA;
    if (sim_full_is_hit(p)) {
        use(e, k, p, r);
        return 0;
    }
    r->cell->level[k].read_misses++;
    if (l->is_exclusive)
        return touch_level(e, k + 1, line, r);
    p.way = put(e, k, line, p.row, r);
    flags = touch_level(e, k + 1, line, r);
    *sim_full_level_flags(l, p) = flags;
    send_victim(e, k, r);
    return 0;
}

/* Makes a line of the second level dirty. */
static void soil(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[1];
    const struct sim_full_place p = sim_full_level_find(l, line);
    uint16_t *flags = sim_full_level_flags(l, p);

    assert(sim_full_is_hit(p));
    *flags = (uint16_t)((*flags & ~(unsigned)SIM_FULL_OWNER) | SIM_FULL_DIRTY | r->tag);
}

static bool is_in_memory(struct sim_full *e, uint64_t line)
{
    for (size_t k = e->n_levels; k-- > 0;) {
        if (sim_full_is_hit(sim_full_level_find(&e->level[k], line)))
            return false;
    }
    return true;
}

/* Tells whether prefetchers may bring lines from memory: a box's first line, or the line behind the box, is in no cache. */
static bool reads_ahead_of(struct sim_hierarchy *h, const struct sim_run *lines)
{
    struct sim_full *e = (struct sim_full *)h;
    const uint64_t first = lines->addr >> e->level[0].line_shift,
                   mask = SIM_FULL_ADDRESS_MASK >> e->level[0].line_shift;

    return is_in_memory(e, first & mask) || is_in_memory(e, (first + lines->count) & mask);
}

static void touch_lines_behind(struct sim_hierarchy *h, const struct sim_run *run)
{
    struct sim_full *e = (struct sim_full *)h;
    const uint64_t first = run->addr >> e->level[0].line_shift, mask = SIM_FULL_ADDRESS_MASK >> e->level[0].line_shift;
    const bool is_store = run->kind == SIM_STORE;
    struct sim_full_request r;

    if (e->n_buffers || reads_ahead_of(h, run)) {
        accept(&h->sink, run, 1, 1);
        return;
    }
    sim_full_request_by(&r, e, run->tag, run->phase, 0);
    for (uint64_t i = 0; i < run->count; i++) {
        const uint64_t line = (first + i) & mask;

        if (e->machine.n_tlbs)
            look_up(e, line >> e->page_lines_shift, &r);
        for (size_t k = 1; k < e->n_levels && i + TOUCHES_AHEAD < run->count; k++)
            sim_full_level_expect(&e->level[k], (line + TOUCHES_AHEAD) & mask);
        touch_level(e, 1, line, &r);
        if (is_store)
            soil(e, line, &r);
        run_queue(e);
    }
}
