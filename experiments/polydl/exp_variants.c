#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_random.h"
#include "experiments/polydl/exp_space.h"

/* PolyDL has 5 to 21 variants of a convolution. */
enum { LEAST = 5, MOST = 21, TEXT_BYTES = 128, N_ORDERED = 5 };

/* Its orders without tiles, Figure 8 first; and those whose tile sizes it varies: T is a tile, U the micro-kernel's. */
static const char *const conv_orders[] = { "img ofm ifm oj kj ki", "img oj kj ki ofm ifm", "img ofm kj ki ifm oj",
                                           "img ifm kj ki oj ofm" };
static const char *const conv_tiled[] = { "img ofm.T ifm.T oj.T ofm ifm oj oi.T kj ki",
                                          "img ofm.T oj.T oj oi.T ofm ifm.T ifm kj ki" };
static const char *const gemm_tiled[] = { "i.T* j.T k.T i.U j.U k.U", "i.T j.T* k.T i.U j.U k.U" };

enum { N_CONV_ORDERS = 4, N_CONV_TILED = 2, N_GEMM_TILED = 2 };

/* ---- a list without repetitions ---- */

struct list {
    const struct exp_space *space;
    struct exp_variants found;
    size_t room;
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

static int make_room(struct list *l)
{
    size_t room = l->room ? 2 * l->room : 32;
    struct exp_variant *more;

    if (l->found.n < l->room)
        return 0;
    more = realloc(l->found.variant, room * sizeof *more);
    if (!more)
        return -ENOMEM;
    l->found.variant = more;
    l->room = room;
    return 0;
}

/* Adds the variant of a text unless it is there. */
static void add(struct list *l, const char *text, char *why, size_t why_bytes)
{
    if (!l->err)
        l->err = make_room(l);
    if (!l->err)
        l->err = exp_space_parse(&l->found.variant[l->found.n], l->space, text, why, why_bytes);
    if (!l->err && !is_known(l, l->found.variant[l->found.n].name))
        l->found.n++;
}

/* ---- tile sizes ---- */

static size_t dim_named(const struct exp_space *s, const char *name, size_t length)
{
    size_t d = 0;

    while (strncmp(s->dim[d].name, name, length) != 0 || s->dim[d].name[length])
        d++;
    return d;
}

/* The micro-kernel's share of a GEMM's dimension: the largest of 64, 32 and 16 that divides it. */
static uint64_t unit_of(uint64_t extent)
{
    uint64_t unit = 64;

    while (unit > 16 && extent % unit)
        unit /= 2;
    return extent % unit ? extent : unit;
}

/* Adds a tiled order, with the tile of each of its dimensions. */
static void add_tiled(struct list *l, const char *order, const uint64_t tile[EXP_MAX_SPACE_DIMS])
{
    char text[TEXT_BYTES] = "";

    for (const char *word = order; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        size_t length = strcspn(word, " "), name = strcspn(word, ". ");
        size_t d = dim_named(l->space, word, name);

        exp_say_more(text, sizeof text, "%s%.*s", *text ? " " : "", (int)name, word);
        if (name == length)
            continue;
        exp_say_more(text, sizeof text, ".%" PRIu64 "%.*s",
                     word[name + 1] == 'T' ? tile[d] : unit_of(l->space->dim[d].extent), (int)(length - name - 2),
                     word + name + 2);
    }
    add(l, text, NULL, 0);
}

static void whole_tiles(const struct exp_space *s, uint64_t tile[EXP_MAX_SPACE_DIMS])
{
    for (size_t d = 0; d < s->n_dims; d++)
        tile[d] = s->dim[d].extent;
}

/* Adds the tiled orders of a convolution with one dimension tiled at a time: by halves, as long as they divide. */
static void add_conv_tiles(struct list *l)
{
    for (size_t order = 0; order < N_CONV_TILED; order++) {
        for (size_t d = 0; d < l->space->n_dims; d++) {
            char tiled[24];
            uint64_t tile[EXP_MAX_SPACE_DIMS];

            exp_say(tiled, sizeof tiled, "%s.T", l->space->dim[d].name);
            whole_tiles(l->space, tile);
            while (*l->space->dim[d].name && strstr(conv_tiled[order], tiled) && tile[d] % 2 == 0 && tile[d] > 2) {
                tile[d] /= 2;
                add_tiled(l, conv_tiled[order], tile);
            }
        }
    }
}

/* Adds the tiled orders of a GEMM with all tile sizes of all dimensions: doubles of the micro-kernel's. */
static void add_gemm_tiles(struct list *l, size_t d, uint64_t tile[EXP_MAX_SPACE_DIMS])
{
    const uint64_t extent = l->space->dim[d].extent;

    if (d == l->space->n_dims) {
        for (size_t order = 0; order < N_GEMM_TILED; order++)
            add_tiled(l, gemm_tiled[order], tile);
        return;
    }
    for (tile[d] = unit_of(extent); tile[d] <= extent; tile[d] *= 2) {
        if (extent % tile[d] == 0)
            add_gemm_tiles(l, d + 1, tile);
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
        add(l, text, NULL, 0);
}

static void add_all_orders(struct list *l)
{
    const char *word[N_ORDERED] = { "ofm", "ifm", "oj", "kj", "ki" };

    add_orders(l, word, 0);
}

/* ---- choices ---- */

/* How many are wanted: fewer than least are made up for by other orders, of more than most a sample is taken. */
struct choice {
    size_t least, most;
};

/* Keeps the first `first` variants, and of the others a sample that makes n: the same one every time, in their order. */
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
    size_t n_orders, n_paper;

    for (size_t i = 0; i < N_CONV_ORDERS; i++)
        add(l, conv_orders[i], NULL, 0);
    n_orders = l->found.n;
    add_conv_tiles(l);
    n_paper = l->found.n;
    if (n_paper > c->most)
        sample(&l->found, n_orders, c->most);
    if (n_paper >= c->least)
        return;
    add_all_orders(l);
    if (l->found.n > c->least)
        sample(&l->found, n_paper, c->least);
}

static void list_gemm(struct list *l, const struct choice *c)
{
    uint64_t tile[EXP_MAX_SPACE_DIMS];

    add_gemm_tiles(l, 0, tile);
    if (l->found.n > c->most)
        sample(&l->found, 0, c->most);
}

/* Adds the variants of a list of texts. */
static void list_texts(struct list *l, const char *wanted, char *why, size_t why_bytes)
{
    char *texts = strdup(wanted), *rest = texts, *text;

    l->err = texts ? 0 : -ENOMEM;
    while (!l->err && (text = strtok_r(rest, ",", &rest)))
        add(l, text, why, why_bytes);
    free(texts);
}

/* Reads how many are wanted. Returns whether the text says so, and not which. */
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

int exp_variants_make(struct exp_variants *v, const struct exp_variant_source *s, const char *wanted, char *why,
                      size_t why_bytes)
{
    const struct exp_space space = exp_space_of(s);
    struct list l = { .space = &space };
    struct choice c;

    if (!read_choice(wanted, &c))
        list_texts(&l, wanted, why, why_bytes);
    else if (s->problem)
        list_conv(&l, &c);
    else
        list_gemm(&l, &c);
    for (size_t i = 0; i < l.found.n && !l.err; i++)
        l.err = exp_variant_check(&l.found.variant[i], why, why_bytes);
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
