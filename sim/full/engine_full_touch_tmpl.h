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
    expect_leaving(e, k);
    flags = touch_level(e, k + 1, line, r);
    *sim_full_level_flags(l, p) = flags;
    send_victim(e, k, r);
    return 0;
}

/* Makes a present line of level k dirty. */
static void soil_at(struct sim_full *e, size_t k, struct sim_full_place p, const struct sim_full_request *r)
{
    uint16_t *flags = sim_full_level_flags(&e->level[k], p);

    assert(sim_full_is_hit(p));
    *flags = (uint16_t)((*flags & ~(unsigned)SIM_FULL_OWNER) | SIM_FULL_DIRTY | r->tag);
}

/* Prefetches, for the host, the rows that a line's touch needs further out. The second level's rows are at hand. */
static inline void expect_further(struct sim_full *e, uint64_t line)
{
    for (size_t k = 2; k < e->n_levels && (k > 2 || !sim_full_is_hit(sim_full_level_find(&e->level[1], line))); k++)
        sim_full_level_expect(&e->level[k], line);
}

static bool is_in_memory(struct sim_full *e, uint64_t line)
{
    for (size_t k = 0; k < e->n_levels; k++) { /* the host has the first levels' rows at hand */
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

/* Brings a line of memory into the exclusive level k. */
static struct sim_full_place bring_outside(struct sim_full *e, size_t k, uint64_t line, uint64_t *row,
                                           struct sim_full_request *r)
{
    const struct sim_full_place p = { row, put(e, k, line, row, r) };

    fetch_lines(e, k + 1, line << e->level[k].line_shift, e->level[k].line_bytes, r);
    send_victim(e, k, r);
    return p;
}

/*
 * Lets a line be used that the second level lacks: by the third level. A line of an exclusive level stays there, as if the
 * line had come and gone.
 */
static void touch_further(struct sim_full *e, uint64_t line, bool is_store, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[2];
    struct sim_full_place p = sim_full_level_find(l, line);

    if (!l->is_exclusive) {
        if (sim_full_is_hit(p))
            use(e, 2, p, r);
        else
            p = bring(e, 2, line, p.row, r, 0);
    } else if (sim_full_is_hit(p)) {
        sim_full_level_touch(l, p);
    } else {
        p = bring_outside(e, 2, line, p.row, r);
    }
    if (is_store)
        soil_at(e, 2, p, r);
}

/* Lets a line be used by the second level, or, far from the next simulated access, by the level that has the line. */
static inline void touch_line_behind(struct sim_full *e, uint64_t line, bool is_store, bool is_far,
                                     struct sim_full_request *r)
{
    struct sim_full_place p = { NULL, -1 };

    if (is_far)
        p = sim_full_level_find(&e->level[1], line);
    if (is_far && !sim_full_is_hit(p)) {
        touch_further(e, line, is_store, r);
        return;
    }
    if (!is_far)
        touch_level(e, 1, line, r);
    if (is_store)
        soil_at(e, 1, is_far ? p : sim_full_level_find(&e->level[1], line), r);
}

static inline void touch_box(struct sim_hierarchy *h, const struct sim_run *run, bool is_far)
{
    struct sim_full *e = (struct sim_full *)h;
    const uint64_t first = run->addr >> e->level[0].line_shift, mask = SIM_FULL_ADDRESS_MASK >> e->level[0].line_shift;
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
        if (i + TOUCHES_AHEAD < run->count)
            expect_further(e, (line + TOUCHES_AHEAD) & mask);
        touch_line_behind(e, line, run->kind == SIM_STORE, is_far, &r);
        run_queue(e);
    }
}

static void touch_lines_behind(struct sim_hierarchy *h, const struct sim_run *run)
{
    touch_box(h, run, false);
}

static void touch_lines_far(struct sim_hierarchy *h, const struct sim_run *run)
{
    touch_box(h, run, true);
}
