#include "experiments/papers/polydl/variants.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/papers/polydl/space.h"

/* PolyDL has 5 to 21 variants of a convolution. */
enum { LEAST = 5, MOST = 21, TEXT_BYTES = 128, N_ORDERED = 5, MAX_CUTS = 128, DRAWS_PER_VARIANT = 100 };

/*
 * PolyDL's orders without tiles, Figure 8 first; and orders with varied tile sizes: T is a tile, U the micro-kernel's.
 */
static const char *const conv_orders[] = { "img ofm ifm oj kj ki", "img oj kj ki ofm ifm", "img ofm kj ki ifm oj",
                                           "img ifm kj ki oj ofm" };
static const char *const conv_tiled[] = { "img ofm.T ifm.T oj.T ofm ifm oj oi.T kj ki",
                                          "img ofm.T oj.T oj oi.T ofm ifm.T ifm kj ki" };
static const char *const gemm_tiled[] = { "i.T* j.T k.T i.U j.U k.U", "i.T j.T* k.T i.U j.U k.U" };
static const char *const gemm_parallel[] = { "i", "j" };

enum { N_CONV_ORDERS = 4, N_CONV_TILED = 2, N_GEMM_TILED = 2 };

/* The micro-kernel's shares of a GEMM's dimension (the paper's M1, N1, K1), if they divide the dimension. */
static const uint64_t gemm_units[] = { 64, 32, 16 };

enum { N_UNITS = sizeof gemm_units / sizeof gemm_units[0] };

/* ---- a list without repetitions ---- */

struct list {
    const struct exp_space *space;
    struct exp_variants found;
    int err;
};

static bool is_known(const struct list *l, const char *name)
{
    for (size_t i = 0; i < l->found.n; i++) {
        if (!strcmp(l->found.variant[i].name, name))
            return true;
    }
    return false;
}

/* Adds the variant of a text unless the variant is there. */
static void add(struct list *l, const char *text, struct exp_why *why)
{
    struct exp_variant v;

    if (!l->err)
        l->err = exp_space_parse(&v, l->space, text, why);
    if (!l->err && !is_known(l, v.name))
        *(struct exp_variant *)exp_append(&l->found.variant, &l->found.n, sizeof v) = v;
}

/* ---- tile sizes ---- */

/* The tile of each dimension, and the micro-kernel's share. */
struct tiling {
    uint64_t tile[EXP_MAX_SPACE_DIMS], unit[EXP_MAX_SPACE_DIMS];
};

/*
 * Adds an order with the tiles of the dimensions. A tile of a whole dimension is no loop: if the tile was to be
 * parallel, the loop in steps of the micro-kernel's share is.
 */
static void add_tiled(struct list *l, const char *order, const struct tiling *t)
{
    char text[TEXT_BYTES] = "";
    size_t moved = l->space->n_dims; /* the dimension whose star moves inwards */

    for (const char *word = order; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        const size_t length = strcspn(word, " "), name = strcspn(word, ". "), d = exp_space_dim(l->space, word, name);
        const bool is_unit = word[name] == '.' && word[name + 1] == 'U';
        const bool is_star = word[length - 1] == '*', is_whole = !is_unit && t->tile[d] == l->space->dim[d].extent;

        exp_say_more(text, sizeof text, "%s%.*s", *text ? " " : "", (int)name, word);
        if (word[name] == '.')
            exp_say_more(text, sizeof text, ".%" PRIu64, is_unit ? t->unit[d] : t->tile[d]);
        if (is_unit ? moved == d : is_star && !is_whole)
            exp_say_more(text, sizeof text, "*");
        if (is_star && is_whole)
            moved = d;
    }
    add(l, text, NULL);
}

static struct tiling whole_tiles(const struct exp_space *s)
{
    struct tiling t = { .tile = { 0 } };

    for (size_t d = 0; d < s->n_dims; d++)
        t.tile[d] = t.unit[d] = s->dim[d].extent;
    return t;
}

/* Adds the tiled orders of a convolution with a single dimension tiled at a time: by halves, as long as they divide. */
static void add_conv_tiles(struct list *l)
{
    for (size_t order = 0; order < N_CONV_TILED; order++) {
        for (size_t d = 0; d < l->space->n_dims; d++) {
            struct tiling t = whole_tiles(l->space);
            char tiled[24];

            exp_say(tiled, sizeof tiled, "%s.T", l->space->dim[d].name);
            while (*l->space->dim[d].name && strstr(conv_tiled[order], tiled) && t.tile[d] % 2 == 0 && t.tile[d] > 2) {
                t.tile[d] /= 2;
                add_tiled(l, conv_tiled[order], &t);
            }
        }
    }
}

/*
 * The ways to cut a dimension of a GEMM: shares of the micro-kernel, and tiles: doubles of the shares that divide, and
 * the whole dimension.
 */
struct cuts {
    uint64_t unit[MAX_CUTS], tile[MAX_CUTS];
    size_t n;
};

static void add_cut(struct cuts *c, uint64_t unit, uint64_t tile)
{
    if (c->n == MAX_CUTS)
        return;
    c->unit[c->n] = unit;
    c->tile[c->n++] = tile;
}

/*
 * Lists the cuts, the largest shares first; where no usual share divides the dimension, the micro-kernel has the whole
 * dimension.
 */
static struct cuts cuts_of(uint64_t extent)
{
    struct cuts c = { .n = 0 };

    for (size_t i = 0; i < N_UNITS; i++) {
        for (uint64_t tile = gemm_units[i]; tile < extent && extent % gemm_units[i] == 0; tile *= 2) {
            if (extent % tile == 0)
                add_cut(&c, gemm_units[i], tile);
        }
        if (extent % gemm_units[i] == 0)
            add_cut(&c, gemm_units[i], extent);
    }
    if (!c.n)
        add_cut(&c, extent, extent);
    return c;
}

/* Adds a GEMM's order unless the parallel loop would have a single iteration. */
static void add_gemm(struct list *l, size_t order, const struct tiling *t)
{
    const size_t d = exp_space_dim(l->space, gemm_parallel[order], 1);

    if (t->unit[d] < l->space->dim[d].extent)
        add_tiled(l, gemm_tiled[order], t);
}

/* Adds both orders of a GEMM in all tilings of the dimensions from d on. */
static void add_gemm_tiles(struct list *l, size_t d, struct tiling *t)
{
    struct cuts c;

    for (size_t order = 0; order < N_GEMM_TILED && d == l->space->n_dims; order++)
        add_gemm(l, order, t);
    if (d == l->space->n_dims)
        return;
    c = cuts_of(l->space->dim[d].extent);
    for (size_t i = 0; i < c.n; i++) {
        t->unit[d] = c.unit[i];
        t->tile[d] = c.tile[i];
        add_gemm_tiles(l, d + 1, t);
    }
}

/* Adds both orders of a GEMM without tiles but the micro-kernel's, the largest and the smallest. */
static void add_untiled_gemms(struct list *l)
{
    struct tiling t = whole_tiles(l->space);

    for (size_t is_small = 0; is_small < 2; is_small++) {
        for (size_t d = 0; d < l->space->n_dims; d++) {
            const struct cuts c = cuts_of(l->space->dim[d].extent);

            t.unit[d] = c.unit[is_small ? c.n - 1 : 0];
        }
        for (size_t order = 0; order < N_GEMM_TILED; order++)
            add_gemm(l, order, &t);
    }
}

/* Draws tilings until there are enough variants: equal tilings every time. */
static void draw_gemm_tiles(struct list *l, size_t most)
{
    uint64_t state = 18;

    for (size_t draws = 0; draws < DRAWS_PER_VARIANT * most && l->found.n < most && !l->err; draws++) {
        struct tiling t = { .tile = { 0 } };

        for (size_t d = 0; d < l->space->n_dims; d++) {
            const struct cuts c = cuts_of(l->space->dim[d].extent);
            const size_t i = exp_random_next(&state) % c.n;

            t.unit[d] = c.unit[i];
            t.tile[d] = c.tile[i];
        }
        add_gemm(l, exp_random_next(&state) % N_GEMM_TILED, &t);
    }
}

/* ---- orders ---- */

/* Adds all orders of the words from number `first` on, behind the words before. */
static void add_orders(struct list *l, const char *word[N_ORDERED], size_t first)
{
    char text[TEXT_BYTES] = "img";

    for (size_t i = first; i < N_ORDERED; i++) {
        const char *chosen = word[i];

        memmove(&word[first + 1], &word[first], (i - first) * sizeof *word);
        word[first] = chosen;
        add_orders(l, word, first + 1);
        memmove(&word[first], &word[first + 1], (i - first) * sizeof *word);
        word[i] = chosen;
    }
    for (size_t i = 0; i < N_ORDERED && first == N_ORDERED; i++)
        exp_say_more(text, sizeof text, " %s", word[i]);
    if (first == N_ORDERED)
        add(l, text, NULL);
}

/* ---- choices ---- */

/*
 * Says how many variants are wanted: fewer than least are made up for by further orders, of more than most a sample is
 * taken.
 */
struct choice {
    size_t least, most;
};

/* Keeps the first `first` variants, and a sample of the rest, n in all: the same sample every time, in order. */
static void sample(struct exp_variants *v, size_t first, size_t n)
{
    uint64_t state = 18;
    size_t kept = first < n ? first : n;

    for (size_t i = kept; i < v->n; i++) {
        if (exp_random_next(&state) % (v->n - i) < n - kept)
            v->variant[kept++] = v->variant[i];
    }
    v->n = kept;
}

static void list_conv(struct list *l, const struct choice *c)
{
    const char *word[N_ORDERED] = { "ofm", "ifm", "oj", "kj", "ki" };
    size_t n_orders, n_paper;

    for (size_t i = 0; i < N_CONV_ORDERS; i++)
        add(l, conv_orders[i], NULL);
    n_orders = l->found.n;
    add_conv_tiles(l);
    n_paper = l->found.n;
    if (n_paper > c->most)
        sample(&l->found, n_orders, c->most);
    if (n_paper >= c->least)
        return;
    add_orders(l, word, 0);
    if (l->found.n > c->least)
        sample(&l->found, n_paper, c->least);
}

/* A GEMM has thousands of tilings: of fewer a sample is drawn, and not listed first. */
static void list_gemm(struct list *l, const struct choice *c)
{
    struct tiling t = whole_tiles(l->space);

    add_untiled_gemms(l);
    if (c->most == SIZE_MAX)
        add_gemm_tiles(l, 0, &t);
    else
        draw_gemm_tiles(l, c->most);
    if (l->found.n > c->most)
        l->found.n = c->most;
    if (!l->found.n && !l->err)
        add(l, EXP_NO_LOOPS, NULL);
}

/* Adds the variants of a list of texts. */
static void list_texts(struct list *l, const char *wanted, struct exp_why *why)
{
    char *texts = exp_copy_text(wanted), *rest = texts, *text;

    while (!l->err && (text = strtok_r(rest, ",", &rest)))
        add(l, text, why);
    free(texts);
}

/* Reads how many variants are wanted. Returns whether the text is a number of variants. */
static bool read_choice(const char *wanted, struct choice *c)
{
    *c = (struct choice){ LEAST, MOST };
    if (!*wanted || !strcmp(wanted, "paper"))
        return true;
    *c = (struct choice){ SIZE_MAX, SIZE_MAX };
    if (!strcmp(wanted, "all"))
        return true;
    c->least = c->most = strtoull(wanted, NULL, 10);
    return strspn(wanted, "0123456789") == strlen(wanted) && c->most;
}

int exp_variants_make(struct exp_variants *v, const struct exp_variant_source *s, const char *wanted,
                      struct exp_why *why)
{
    const struct exp_space space = exp_space_of(s);
    struct list l = { .space = &space };
    struct choice c;

    assert(v && wanted);
    if (!read_choice(wanted, &c))
        list_texts(&l, wanted, why);
    else if (s->problem)
        list_conv(&l, &c);
    else
        list_gemm(&l, &c);
    for (size_t i = 0; i < l.found.n && !l.err; i++)
        l.err = exp_variant_check(&l.found.variant[i], why);
    *v = l.found;
    if (l.err)
        exp_variants_release(v);
    return l.err;
}

void exp_variants_release(struct exp_variants *v)
{
    free(v->variant);
    *v = (struct exp_variants){ 0 };
}
