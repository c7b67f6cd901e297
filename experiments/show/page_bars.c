#include "experiments/show/page_bars.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/page.h"

/* ---- making ---- */

struct exp_page_bar_group *exp_page_bars_group(struct exp_page_bars *c, const char *name)
{
    struct exp_page_bar_group *g;

    assert(c && name);
    g = exp_append(&c->group, &c->n_groups, sizeof *g);
    *g = (struct exp_page_bar_group){ .name = name };
    return g;
}

struct exp_page_bar *exp_page_bars_bar(struct exp_page_bar_group *g, const char *algo)
{
    const double none = (double)NAN;
    struct exp_page_bar *b;

    assert(g && algo);
    b = exp_append(&g->bar, &g->n_bars, sizeof *b);
    *b = (struct exp_page_bar){
        .algo = algo, .value = none, .low = none, .high = none, .rate = none, .simulated = none
    };
    b->speedup = exp_ratio_none();
    return b;
}

const struct exp_page_bar *exp_page_bars_find(const struct exp_page_bar_group *g, const char *algo)
{
    for (size_t i = 0; i < g->n_bars; i++) {
        if (!strcmp(g->bar[i].algo, algo))
            return &g->bar[i];
    }
    return NULL;
}

void exp_page_bars_release(struct exp_page_bars *c)
{
    for (size_t i = 0; i < c->n_groups; i++) {
        for (size_t k = 0; k < c->group[i].n_bars; k++)
            free(c->group[i].bar[k].at);
        free(c->group[i].bar);
    }
    free(c->group);
    c->group = NULL;
    c->n_groups = 0;
}

/* ---- sizes ---- */

/* Returns the length of a bar at all points. */
static double largest_point(const struct exp_page_bars *c, const struct exp_page_bar *b)
{
    double most = b->value;

    for (size_t i = 0; c->points && b->at && i < c->points->n_points; i++)
        most = fmax(most, b->at[i]);
    return most;
}

/* Returns the length that shows a group's bars, their intervals, and simulated times that are not far longer. */
static double largest_bar(const struct exp_page_bars *c, const struct exp_page_bar_group *g)
{
    double most = 0;

    for (size_t i = 0; i < g->n_bars; i++) {
        const struct exp_page_bar *b = &g->bar[i];

        most = fmax(most, fmax(largest_point(c, b), b->high));
        most = fmax(most, b->simulated <= 2 * b->value ? b->simulated : 0);
    }
    return most;
}

/*
 * Returns the length of the scale for groups of one kind. Bars of more than EXP_PAGE_BARS_OVER times the largest bar of
 * Base are cut, so that a slow algorithm does not hide the rest.
 */
static double scale_of(const struct exp_page_bars *c, bool is_total)
{
    double most = 0, base = 0;

    for (size_t i = 0; i < c->n_groups; i++) {
        const struct exp_page_bar_group *g = &c->group[i];
        const struct exp_page_bar *its = exp_page_bars_find(g, exp_algo_base()->name);

        if (g->is_total != is_total)
            continue;
        most = fmax(most, largest_bar(c, g));
        base = its ? fmax(base, its->value) : base;
    }
    return base > 0 && !c->points ? fmin(most, EXP_PAGE_BARS_OVER * base) : most;
}

static double sum_of_parts(const struct exp_page_bar *b)
{
    double sum = 0;

    for (size_t i = 0; i < EXP_PAGE_BAR_PARTS; i++)
        sum += b->part[i];
    return sum;
}

static bool has_parts(const struct exp_page_bars *c)
{
    for (size_t i = 0; i < c->n_groups; i++) {
        for (size_t k = 0; k < c->group[i].n_bars; k++) {
            if (sum_of_parts(&c->group[i].bar[k]) > 0)
                return true;
        }
    }
    return false;
}

/* Returns the largest bar of the groups behind the n_shown largest groups; 0: there are no more groups. */
static double limit_of(const struct exp_page_bars *c, size_t n_shown)
{
    double *most = exp_new(c->n_groups + 1, sizeof *most), limit = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->n_groups; i++) {
        if (!c->group[i].is_total)
            most[n++] = largest_bar(c, &c->group[i]);
    }
    exp_stats_sort_up(most, n);
    if (n > n_shown)
        limit = most[n - n_shown - 1];
    free(most);
    return limit;
}

/* ---- keys ---- */

static const char *colour_of(const char *algo)
{
    const struct exp_algo *a = exp_algo_find(algo);

    return !a ? "#8c6d31" : a->colour ? a->colour : "#7f7f7f";
}

static void put_text(struct exp_page_writer *w, const char *text)
{
    exp_page_escape(text, w->body);
}

/* Writes the algorithms of all groups in the order of their first bars. */
static void put_algos(struct exp_page_writer *w, const struct exp_page_bars *c)
{
    struct exp_page_bar_group met = { .name = "" };

    fputs("<ul class=\"key algos\">", w->body);
    for (size_t i = 0; i < c->n_groups; i++) {
        for (size_t k = 0; k < c->group[i].n_bars; k++) {
            const char *algo = c->group[i].bar[k].algo;

            if (exp_page_bars_find(&met, algo))
                continue;
            exp_page_bars_bar(&met, algo);
            fprintf(w->body, "<li data-a=\"");
            put_text(w, algo);
            fprintf(w->body, "\"><i style=\"--k:%s\"></i>", colour_of(algo));
            put_text(w, exp_page_algo_title(algo));
        }
    }
    fputs("</ul>\n", w->body);
    free(met.bar);
}

static void put_parts_key(struct exp_page_writer *w, const struct exp_page_bars *c)
{
    fputs("<ul class=\"key parts\">", w->body);
    for (size_t i = 0; i < EXP_PAGE_BAR_PARTS; i++) {
        if (!c->part_title[i])
            continue;
        fprintf(w->body, "<li data-p=%zu><i class=p%zu></i>", i, i);
        put_text(w, c->part_title[i]);
    }
    fputs("</ul>\n", w->body);
}

static void put_list(struct exp_page_writer *w, const char *const *text, size_t n)
{
    fputs("<li>", w->body);
    for (size_t i = 0; i < n; i++) {
        fputs("<b>", w->body);
        put_text(w, text[i]);
        fputs("</b>", w->body);
    }
    fputs("</li>", w->body);
}

/* Writes the lists behind sliders and switch: settings, numbers, units, points. */
static void put_points(struct exp_page_writer *w, const struct exp_page_points *p)
{
    fputs("<ul class=points hidden>", w->body);
    put_list(w, p->key, p->n_keys);
    put_list(w, p->view, p->n_views);
    put_list(w, p->unit, p->n_views);
    for (size_t i = 0; i < p->n_points; i++)
        put_list(w, &p->value[i * p->n_keys], p->n_keys);
    fputs("</ul>\n<noscript><p class=note>Drawn: ", w->body);
    put_text(w, p->view[0]);
    for (size_t k = 0; k < p->n_keys; k++) {
        fputs(k ? ", " : " at ", w->body);
        put_text(w, p->key[k]);
        fputs("=", w->body);
        put_text(w, *p->value[k] ? p->value[k] : "default");
    }
    fputs("</p></noscript>\n", w->body);
}

/* ---- bars ---- */

enum { SHORT_UNIT = 8 }; /* letters; a longer unit stands in the switch of views only */

/* A scale for bars. */
struct rail {
    FILE *out;
    double most;  /* 100 % of the width */
    double minor; /* groups without a larger bar are of less interest */
    bool has_parts;
};

/* Writes an element's position in percent of the width. */
static void put_at(const struct rail *r, const char *attribute, double value)
{
    fprintf(r->out, " %s=%.4g%%", attribute, 100 * value / r->most);
}

static void put_shapes(const struct rail *r, const struct exp_page_bar *b)
{
    const double sum = sum_of_parts(b);
    const bool is_over = b->value > r->most;
    double from = 0;

    fprintf(r->out, "<rect class=k y=2 height=12");
    put_at(r, "width", fmin(b->value, r->most));
    fputs(" />", r->out);
    if (is_over)
        fputs("<rect class=cut x=96% width=1% y=1 height=14 />", r->out);
    if (b->high > b->low && !is_over) {
        fputs("<line class=i y1=8 y2=8", r->out);
        put_at(r, "x1", b->low);
        put_at(r, "x2", b->high);
        fputs(" />", r->out);
    }
    for (size_t i = 0; i < EXP_PAGE_BAR_PARTS && sum > 0; i++) {
        const double length = fmin(b->value, r->most) * b->part[i] / sum;

        if (length / r->most > 0.0005) {
            fprintf(r->out, "<rect class=p%zu y=15 height=6", i);
            put_at(r, "x", from);
            put_at(r, "width", length);
            fputs(" />", r->out);
        }
        from += length;
    }
    if (b->simulated <= r->most && !is_over) {
        fputs("<line class=m y1=13 y2=23", r->out);
        put_at(r, "x1", b->simulated);
        put_at(r, "x2", b->simulated);
        fputs(" />", r->out);
    }
}

/* Writes a list of numbers, separated by commas; "" for NaN. */
static void put_numbers(FILE *out, const char *attribute, const double *number, size_t n)
{
    fprintf(out, " data-%s=\"", attribute);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", out);
        if (isfinite(number[i]))
            fprintf(out, "%.4g", number[i]);
    }
    fputs("\"", out);
}

static void put_bar(struct exp_page_writer *w, const struct exp_page_bars *c, const struct rail *r,
                    const struct exp_page_bar *b)
{
    const double numbers[] = { b->value,         b->low,         b->high,         b->rate,
                               b->speedup.value, b->speedup.low, b->speedup.high, b->simulated };
    char text[64];

    fprintf(w->body, "<div class=%s data-a=\"", b->is_pale ? "\"bar pale\"" : "bar");
    put_text(w, b->algo);
    fprintf(w->body, "\" style=\"--k:%s\"", colour_of(b->algo));
    if (b->value > 0)
        put_numbers(w->body, "v", numbers, sizeof numbers / sizeof numbers[0]);
    for (size_t i = 0; b->at && i < c->points->n_views; i++) {
        snprintf(text, sizeof text, "m%zu", i);
        put_numbers(w->body, text, &b->at[i * c->points->n_points], c->points->n_points);
    }
    if (b->value > 0 && sum_of_parts(b) > 0)
        put_numbers(w->body, "s", b->part, EXP_PAGE_BAR_PARTS);
    fputs("><b>", w->body);
    if (b->run)
        fprintf(w->body, "%s: ", b->run);
    put_text(w, exp_page_algo_title(b->algo));
    if (b->value > 0) {
        fprintf(w->body, "</b><svg width=100%% height=%d>", r->has_parts ? 24 : 16);
        put_shapes(r, b);
        exp_page_print_number(text, sizeof text, b->value, EXP_PAGE_DECIMAL);
        fprintf(w->body, "</svg><span>%s%s%s", text, strlen(c->unit) <= SHORT_UNIT ? " " : "",
                strlen(c->unit) <= SHORT_UNIT ? c->unit : "");
    } else {
        fputs("</b><small>", w->body);
        put_text(w, b->why ? b->why : "");
        fputs("</small><span>\xe2\x80\x93", w->body);
    }
    fputs("</span></div>\n", w->body);
}

static void put_group(struct exp_page_writer *w, const struct exp_page_bars *c, struct rail *r,
                      const struct exp_page_bar_group *g)
{
    fprintf(w->body, "<div class=\"group%s\"", g->is_total ? " total" : largest_bar(c, g) <= r->minor ? " minor" : "");
    put_numbers(w->body, "saves", &g->saves, 1);
    fputs("><h5>", w->body);
    if (g->target)
        fprintf(w->body, "<a href=\"#%s\">", g->target);
    put_text(w, g->name);
    fputs(g->target ? "</a> <small>" : " <small>", w->body);
    put_text(w, g->note);
    fputs("</small></h5>\n", w->body);
    for (size_t i = 0; i < g->n_bars; i++)
        put_bar(w, c, r, &g->bar[i]);
    fputs("</div>\n", w->body);
}

static void put_groups(struct exp_page_writer *w, const struct exp_page_bars *c, double most, double limit)
{
    struct rail r = { .out = w->body, .minor = limit_of(c, EXP_PAGE_BARS_MAIN), .has_parts = has_parts(c) };
    size_t n_hidden = 0;

    for (size_t i = 0; i < c->n_groups; i++) {
        const struct exp_page_bar_group *g = &c->group[i];
        const double its = largest_bar(c, g);

        r.most = g->is_total ? scale_of(c, true) : most;
        if ((limit > 0 && !g->is_total && its <= limit) || !(its > 0))
            n_hidden++;
        else
            put_group(w, c, &r, g);
    }
    if (n_hidden)
        exp_page_say(w, EXP_PAGE_NOTE, "%zu more %s not drawn: the tables have them.", n_hidden,
                     n_hidden > 1 ? "are" : "is");
}

void exp_page_bars_write(struct exp_page_writer *w, const struct exp_page_bars *c)
{
    const double limit = limit_of(c, EXP_PAGE_BARS_MOST);
    const double most = scale_of(c, false);

    assert(w && c);
    if (!(most > 0))
        return;
    fprintf(w->body, "<figure class=bars data-unit=\"%s\" data-rate=\"%s\" data-order=\"%s\"", c->unit, c->rate_unit,
            c->saves_title);
    if (c->roof > 0)
        fprintf(w->body, " data-roof=\"%.4g\" data-top=\"%s\"", c->roof, c->roof_title);
    if (c->over)
        fprintf(w->body, " data-over=\"%s\" data-means=\"%s\"", c->over, c->means);
    fputs("><h4>", w->body);
    put_text(w, c->title);
    fputs("</h4>\n", w->body);
    put_algos(w, c);
    if (has_parts(c))
        put_parts_key(w, c);
    if (c->points)
        put_points(w, c->points);
    put_groups(w, c, most, limit);
    fputs("<figcaption>", w->body);
    put_text(w, c->caption);
    fputs("</figcaption></figure>\n", w->body);
}
