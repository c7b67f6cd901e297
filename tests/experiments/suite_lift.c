/*
 * LIFT's points: no point is refused, all points allowed by brute force are reached, contradictions are named; and on
 * an OpenCL device, if there is one, random points of random layers equal plain loops.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/lift/device.h"
#include "experiments/papers/lift/study.h"
#include "tests/experiments/recorded_screen.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

static struct exp_why why;

static struct conv_problem layer_of(size_t c, size_t h, size_t w, size_t k, size_t filter)
{
    struct conv_problem p = { IMAGES(1, c, h, w), FILTERS(k, filter, filter),
                              PADDING(filter / 2, filter / 2, filter / 2, filter / 2), UNIT_STEPS, .groups = 1 };
    char line[256];

    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(&p, SIM_WHY(line)), 0);
    return p;
}

/* A small layer of any shape, with filters, strides and padding that are not square. */
static struct conv_problem random_layer(void)
{
    struct conv_problem p = { .n = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1 };
    char line[256];

    do {
        p.c = 1 + rng_below(12);
        p.h = 1 + rng_below(14);
        p.w = 1 + rng_below(14);
        p.k = 1 + rng_below(24);
        p.r = 1 + rng_below(4);
        p.stride_h = p.stride_w = 1 + rng_below(3);
        p.s = p.stride_h > 1 ? p.r : 1 + rng_below(4); /* tiles are square, and windows end with the tile */
        p.pad_top = rng_below(3);
        p.pad_left = rng_below(3);
        p.pad_bottom = rng_below(3);
        p.pad_right = rng_below(3);
    } while (conv_problem_finish(&p, SIM_WHY(line)));
    return p;
}

/* Returns a device's limits, low enough to be reached. */
static struct lift_limits random_limits(const struct conv_problem *p)
{
    struct lift_limits m = lift_usual_limits;
    const uint64_t bytes = (p->c * p->h * p->w + p->k * conv_reduction(p) + p->k * conv_windows(p)) * sizeof(float);

    m.group = (uint64_t)1 << rng_below(9);
    m.items[0] = (uint64_t)1 << rng_below(9);
    m.items[1] = (uint64_t)1 << rng_below(9);
    m.buffer_bytes = bytes * (1 + rng_below(8));
    m.memory_bytes = bytes * (2 + rng_below(8));
    m.accumulators = 1 + rng_below(64);
    return m;
}

/* ---- drawing ---- */

static void a_million_points_are_drawn_and_none_is_refused(void)
{
    const unsigned layers = 50, each = test_rounds(1000000) / layers + 1;

    for (unsigned i = 0; i < layers; i++) {
        const struct conv_problem p = i ? random_layer() : layer_of(64, 224, 224, 64, 3);
        const struct lift_limits m = i % 2 ? random_limits(&p) : lift_usual_limits;
        struct lift_space *s;
        uint64_t state = rng_u64();
        int err = lift_space_new(&s, &p, &m, "", &why);

        if (err) /* the device is too small for any point, or square tiles fit no filter of the shape */
            test_check((i % 2 || p.r != p.s) && err == -ENOTSUP && *why.text,
                       "layer %u: %zux%zux%zu, filter %zux%zu, stride %zu: %s", i, p.c, p.h, p.w, p.r, p.s, p.stride_h,
                       why.text);
        for (unsigned n = 0; n < each && !err; n++) {
            struct lift_point point;
            const char *violated;

            lift_draw(s, &state, &point);
            violated = lift_violated(&p, &m, &point);
            err = test_check(!violated, "layer %u: %s", i, violated) ? 0 : -1;
        }
        lift_space_free(s);
    }
}

/* ---- brute force ---- */

/* Returns the bytes of all buffers: windows, or elements of the padded input, one by one. */
static size_t bytes_of(const struct conv_problem *p, const uint32_t *v, size_t wide, size_t tiles_x)
{
    const size_t side = v[LIFT_TILE] - p->r + 1, chunks = p->c * p->r * p->s / v[LIFT_ELEMENTS];
    size_t floats = p->c * p->h * p->w + p->k * p->c * p->r * p->s + p->k * p->p * p->q, rows = v[LIFT_TILE];

    for (size_t row = 1; row < v[LIFT_BAND]; row++)
        rows += side;
    for (size_t row = 0; row < rows; row++)
        floats += wide * p->c;
    for (size_t tile = 0; tile < v[LIFT_BAND] * tiles_x; tile++) {
        floats += v[LIFT_JOINED] ? 0 : side * side * chunks * p->k;
        floats += chunks > 1 ? side * side * p->k : 0;
    }
    return floats * sizeof(float);
}

/* The constraints once more, by loops over their meaning, for a square layer with stride 1. */
static bool fits(const struct conv_problem *p, const uint32_t *v, const struct lift_limits *m)
{
    const size_t tile = v[LIFT_TILE], wide = p->w + p->pad_left + p->pad_right + v[LIFT_PAD_X];
    const size_t high = p->h + p->pad_top + p->pad_bottom + v[LIFT_PAD_Y], side = tile - p->r + 1,
                 all = p->c * p->r * p->s;
    const size_t chunks = all / v[LIFT_ELEMENTS], vector = v[LIFT_VECTOR];
    size_t tiles_y = 0, tiles_x = 0, y = 0, x = 0;

    for (; y + tile <= high; y += side)
        tiles_y++;
    for (; x + tile <= wide; x += side)
        tiles_x++;
    if (!tiles_y || !tiles_x || y - side + tile != high || x - side + tile != wide)
        return false;
    return tiles_y / v[LIFT_BAND] * v[LIFT_BAND] == tiles_y &&
           side * side / v[LIFT_WINDOWS] * v[LIFT_WINDOWS] == side * side &&
           v[LIFT_KERNELS] / v[LIFT_LANES] * v[LIFT_LANES] == v[LIFT_KERNELS] &&
           v[LIFT_ELEMENTS] / vector * vector == v[LIFT_ELEMENTS] && p->s * p->c / vector * vector == p->s * p->c &&
           (chunks > 1 || !v[LIFT_COALESCED]) && (chunks == 1 || !v[LIFT_JOINED]) &&
           v[LIFT_KERNELS] / v[LIFT_LANES] * v[LIFT_WINDOWS] <= 64 &&
           chunks * (side * side / v[LIFT_WINDOWS]) <= m->group && 8 * v[LIFT_PAD_Y] <= high - v[LIFT_PAD_Y] &&
           8 * v[LIFT_PAD_X] <= wide - v[LIFT_PAD_X] && bytes_of(p, v, wide, tiles_x) <= m->memory_bytes;
}

/* Returns where a point stands in the enumeration; n gets how many there are in all. */
struct axis {
    enum lift_parameter which;
    const uint32_t *value;
    size_t n;
};

static const uint32_t tiles[] = { 3, 4, 5, 6, 7, 8, 9 }, zeros[] = { 0, 1 }, bands[] = { 1, 2, 3, 4, 5, 6, 7 };
static const uint32_t kernels[] = { 1, 2, 4 }, windows[] = { 1, 2, 3, 4, 6, 7, 9, 12, 18, 36, 49 };
static const uint32_t elements[] = { 1, 2, 3, 6, 9, 18 }, vectors[] = { 1, 2 }, flag[] = { 0, 1 };

#define AXIS(which, values)                                                                                            \
    {                                                                                                                  \
        which, values, sizeof(values) / sizeof(values)[0]                                                              \
    }
static const struct axis axes[] = {
    AXIS(LIFT_TILE, tiles),      AXIS(LIFT_PAD_Y, zeros),    AXIS(LIFT_PAD_X, zeros),     AXIS(LIFT_BAND, bands),
    AXIS(LIFT_KERNELS, kernels), AXIS(LIFT_LANES, kernels),  AXIS(LIFT_WINDOWS, windows), AXIS(LIFT_ELEMENTS, elements),
    AXIS(LIFT_VECTOR, vectors),  AXIS(LIFT_COALESCED, flag), AXIS(LIFT_JOINED, flag)
};

enum { N_AXES = COUNT(axes), MOST_GROUP = 24 };

/* Sets the point of a number; returns false behind the last point. */
static bool number_to_point(size_t number, struct lift_point *p)
{
    *p = (struct lift_point){ .value[LIFT_UNROLL] = 1 };
    for (size_t a = 0; a < N_AXES; a++) {
        p->value[axes[a].which] = axes[a].value[number % axes[a].n];
        number /= axes[a].n;
    }
    return number == 0;
}

static size_t point_to_number(const struct lift_point *p)
{
    size_t number = 0;

    for (size_t a = N_AXES; a--;) {
        size_t i = 0;

        while (i < axes[a].n && axes[a].value[i] != p->value[axes[a].which])
            i++;
        if (i == axes[a].n)
            return SIZE_MAX;
        number = number * axes[a].n + i;
    }
    return number;
}

/* Compares draws with brute force, on a device with given memory. Returns the number of points. */
static size_t check_reached(uint64_t memory_bytes)
{
    const struct conv_problem p = layer_of(2, 6, 6, 4, 3);
    struct lift_limits m = lift_usual_limits;
    struct lift_space *s;
    struct lift_point point;
    size_t n = 0, n_valid = 0, n_left;
    uint64_t state = rng_u64();
    bool *is_left;

    m.group = MOST_GROUP;
    m.memory_bytes = memory_bytes;
    CU_ASSERT_EQUAL_FATAL(lift_space_new(&s, &p, &m, "flags=0,unroll=1", &why), 0);
    while (number_to_point(n, &point))
        n++;
    is_left = exp_new(n, sizeof *is_left);
    for (size_t i = 0; i < n; i++) {
        number_to_point(i, &point);
        is_left[i] = fits(&p, point.value, &m);
        n_valid += is_left[i];
        if (!test_check(is_left[i] == !lift_violated(&p, &m, &point), "brute force says %d: %s", is_left[i],
                        lift_violated(&p, &m, &point)))
            break;
    }
    n_left = n_valid;
    for (size_t draws = 0; n_left && draws < 2000 * n_valid; draws++) {
        size_t number;

        lift_draw(s, &state, &point);
        number = point_to_number(&point);
        if (!test_check(number < n, "a point was drawn that is not in the enumeration"))
            break;
        n_left -= is_left[number];
        is_left[number] = false;
    }
    test_check(n_valid > 100 && n_left == 0, "%zu of %zu points were not reached", n_left, n_valid);
    free(is_left);
    lift_space_free(s);
    return n_valid;
}

static void every_point_that_brute_force_allows_is_reached(void)
{
    const size_t all = check_reached(lift_usual_limits.memory_bytes);

    test_check(check_reached(2000) < all / 2, "less memory leaves as many points"); /* the tensors need 1,152 bytes */
}

/* ---- words ---- */

static void contradictions_are_named_in_one_line(void)
{
    static const struct {
        int err;
        const char *only, *words;
    } cases[] = {
        { -ENOTSUP, "tile=5,windows=4", "a work-item has as many windows as the others" },
        { -ENOTSUP, "kernels=2,lanes=4", "lanes divide the filters" },
        { -ENOTSUP, "elements=9,joined=1", "what writes the output has all chunks" },
        { -ENOTSUP, "elements=18,coalesced=1", "a single chunk has no other order" },
        { -ENOTSUP, "vector=4", "nor all but one" },
        { -ENOTSUP, "tile=4,pad_y=1", "tiles end where the padded input does, downwards" },
        { -EINVAL, "speed=3", "'speed' is no parameter" },
        { -EINVAL, "tile=", "tile must be a number" },
        { -ENOTSUP, "kernels=3", "kernels cannot have such values" },
        { -EINVAL, "tile=4+x", "tile must be numbers" },
        { -EINVAL, "tile=4+5;lanes=2", "';lanes=2' stands where a comma is expected" },
    };
    const struct conv_problem p = layer_of(2, 6, 6, 4, 3);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lift_space *s;

        CU_ASSERT_EQUAL(lift_space_new(&s, &p, &lift_usual_limits, cases[i].only, &why), cases[i].err);
        test_check(!s && strstr(why.text, cases[i].words) && !strchr(why.text, '\n'), "%s: %s", cases[i].only,
                   why.text);
    }
}

static void layers_that_do_not_fit_are_refused(void)
{
    struct conv_problem p = layer_of(2, 6, 6, 4, 3);
    struct lift_limits m = lift_usual_limits;
    struct lift_space *s;

    m.buffer_bytes = 100;
    CU_ASSERT_EQUAL(lift_space_new(&s, &p, &m, "", &why), -ENOTSUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "the input needs 288 bytes; a buffer has at most 100"));
    m = lift_usual_limits;
    m.memory_bytes = 300;
    CU_ASSERT_EQUAL(lift_space_new(&s, &p, &m, "", &why), -ENOTSUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "the memory has 300"));
    p.groups = 2;
    CU_ASSERT_EQUAL(lift_space_new(&s, &p, &lift_usual_limits, "", &why), -ENOTSUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "without groups"));
}

static void points_are_read_as_they_are_said(void)
{
    const struct conv_problem p = layer_of(4, 10, 10, 8, 3);
    struct lift_space *s;
    uint64_t state = rng_u64();

    CU_ASSERT_EQUAL_FATAL(lift_space_new(&s, &p, &lift_usual_limits, "", &why), 0);
    for (unsigned i = 0; i < 100; i++) {
        struct lift_point drawn, read, near;
        char text[256];
        unsigned same = 0;

        lift_draw(s, &state, &drawn);
        lift_point_say(&drawn, text, sizeof text);
        CU_ASSERT_EQUAL_FATAL(lift_point_parse(&read, text, &why), 0);
        CU_ASSERT(!memcmp(&drawn, &read, sizeof read));
        lift_draw_near(s, &state, &drawn, &near);
        CU_ASSERT_PTR_NULL(lift_violated(&p, &lift_usual_limits, &near));
        for (unsigned v = 0; v < LIFT_N_PARAMETERS; v++)
            same += near.value[v] == drawn.value[v];
        CU_ASSERT(same > 0);
    }
    CU_ASSERT_EQUAL(lift_point_parse(&(struct lift_point){ { 0 } }, "tile=3", &why), -EINVAL);
    lift_space_free(s);
}

/* ---- on a device ---- */

static void check_run(struct lift_device *d, const struct lift_point *p, unsigned flags, const char *what)
{
    struct lift_run run;

    lift_device_run(d, p, flags, 1, 0, 120, 0, &run);
    if (run.end == LIFT_HUNG)
        test_skip("%s: the computer is too busy", what);
    else
        test_check(run.end == LIFT_RAN && run.n_rounds == 1, "%s: %s", what, run.why);
}

static void random_points_equal_plain_loops(void)
{
    const unsigned rounds = test_rounds(2);
    struct lift_device *d;

    if (lift_device_open(&d, 0, 1, &why)) {
        test_skip("%s", why.text);
        return;
    }
    for (unsigned i = 0; i < rounds; i++) {
        const struct conv_problem p = random_layer();
        struct lift_task t;
        struct lift_space *s;
        struct lift_point point;
        uint64_t state = rng_u64();
        char what[256];

        /* unrolled code takes long to compile */
        CU_ASSERT_EQUAL_FATAL(lift_space_new(&s, &p, &lift_device_about(d)->limits, "unroll=1", &why), 0);
        CU_ASSERT_EQUAL(lift_task_init(&t, &p, i % 2, 1), 0);
        lift_device_take(d, &t);
        lift_draw(s, &state, &point);
        lift_point_say(&point, what, sizeof what);
        check_run(d, &point, 0, what);
        if (i == 0)
            check_run(d, NULL, i % LIFT_N_FLAGS, "one output of each work-item");
        lift_device_take(d, NULL);
        lift_task_release(&t);
        lift_space_free(s);
    }
    lift_device_close(d);
}

/* Points are built beside running points: in order, no more than there is room for, and with right results. */
static void points_are_built_ahead(void)
{
    const struct conv_problem p = layer_of(4, 6, 6, 4, 3);
    struct lift_point point[LIFT_MOST_AHEAD + 1];
    struct lift_device *d;
    struct lift_space *s;
    struct lift_task t;
    uint64_t state = rng_u64();
    size_t tag;

    if (lift_device_open(&d, 0, 1, &why)) {
        test_skip("%s", why.text);
        return;
    }
    CU_ASSERT_EQUAL(lift_task_init(&t, &p, false, 1), 0);
    CU_ASSERT_EQUAL_FATAL(lift_space_new(&s, &p, &lift_device_about(d)->limits, "unroll=1,elements=36", &why), 0);
    for (size_t i = 0; i <= LIFT_MOST_AHEAD; i++)
        lift_draw(s, &state, &point[i]);
    lift_device_take(d, &t);
    CU_ASSERT_FALSE(lift_device_built(d, 1, &tag));
    if (lift_device_ahead(d, &point[0], 10)) {
        for (size_t i = 1; i <= LIFT_MOST_AHEAD; i++)
            CU_ASSERT_EQUAL(lift_device_ahead(d, &point[i], 10 + i), i < LIFT_MOST_AHEAD);
        for (size_t i = 0; i < LIFT_MOST_AHEAD; i++) {
            test_check(lift_device_built(d, 120, &tag) && tag == 10 + i, "%zu was built, not %zu", tag, 10 + i);
            check_run(d, &point[i], 0, "a point that was built before");
        }
        CU_ASSERT_FALSE(lift_device_built(d, 0, &tag));
    } else {
        test_skip("nothing is built ahead on this device, or with one processor");
    }
    lift_device_close(d);
    lift_space_free(s);
    lift_task_release(&t);
}

static void another_output_is_found(void)
{
    const struct conv_problem p = layer_of(2, 6, 6, 4, 3);
    struct lift_device *d;
    struct lift_task t;
    struct lift_run run;

    if (lift_device_open(&d, 0, 1, &why)) {
        test_skip("%s", why.text);
        return;
    }
    CU_ASSERT_EQUAL(lift_task_init(&t, &p, true, 1), 0);
    t.want[17] += 1e-3F;
    lift_device_take(d, &t);
    lift_device_run(d, NULL, 0, 1, 0, 120, 0, &run);
    test_check(run.end == LIFT_WRONG && strstr(run.why, "element 17 is"), "%s", run.why);
    lift_device_close(d);
    lift_task_release(&t);
}

/* The search that results/reference/emr/lift keeps: layers of 3x3 filters. */
static void the_screen_of_recorded_layers(void)
{
    struct lift_work w = { .n_layers = 0 };
    struct exp_screen s = { .title = NULL };
    struct exp_page_csv csv;

    recorded_rows(&csv, "results/reference/emr/lift", &lift_layers_table);
    w.layer = csv.row;
    w.n_layers = csv.table.n_rows;
    for (size_t i = 0; i < w.n_layers; i++) {
        struct conv_problem *p = &w.layer[i].problem;

        *p = layer_of(p->c, p->h, p->w, p->k, 3);
    }
    lift_screen(&w, &s);
    recorded_screen_is(&s, "lift");
    exp_page_csv_release(&csv);
}

static const struct test_case cases[] = {
    { "the screen of recorded layers", the_screen_of_recorded_layers },
    { "a million points are drawn, and none is refused", a_million_points_are_drawn_and_none_is_refused },
    { "every point that brute force allows is reached", every_point_that_brute_force_allows_is_reached },
    { "contradictions are named in one line", contradictions_are_named_in_one_line },
    { "layers that do not fit are refused", layers_that_do_not_fit_are_refused },
    { "points are read as they are said", points_are_read_as_they_are_said },
    { "random points equal plain loops on a device", random_points_equal_plain_loops },
    { "points are built beside those that run", points_are_built_ahead },
    { "another output is found", another_output_is_found },
    { NULL, NULL },
};

const struct test_suite suite_lift = { "lift", cases };
