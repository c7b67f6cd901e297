/* The screen of an experiment: the verdict in 25 lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/run/verdict_numbers.h"

enum { MOST_VARIANTS_SHOWN = 4, MOST_NAME = 28 };

/* ---- the subject of the screen: times, or simulated cycles, or simulated misses ---- */

/* The compared quantity. */
struct subject {
    const struct exp_verdict *v;
    enum measure measure; /* less is better */
    double unit;          /* a 1 in the table */
    const char *unit_name;
    const struct exp_verdict_variant *best;
    const struct exp_verdict_variant *shown[MOST_VARIANTS_SHOWN];
    size_t n_shown;
};

/* Returns a variant's speed-up by the subject, over the layers of both the variant and the reference. */
static struct exp_ratio ratio_of(const struct subject *s, const struct exp_verdict_variant *x)
{
    if (s->measure == M_measured_time_ns)
        return verdict_speedup(x);
    if (s->measure == M_simulated_cycles)
        return verdict_by_cycles(s->v, x);
    return (struct exp_ratio){ verdict_estimate(s->v, x, s->measure), (double)NAN, (double)NAN, (double)NAN };
}

static bool is_whole(const struct subject *s, const struct exp_verdict_variant *x)
{
    return s->measure != M_measured_time_ns ? verdict_count_known(s->v, x, s->measure) == s->v->n_layers
                                            : verdict_is_compared(x);
}

/* Says in how many layers a variant has the subject, unless in all layers. */
static void say_part(const struct subject *s, const struct exp_verdict_variant *x, char *text, size_t bytes)
{
    if (!is_whole(s, x))
        exp_say_more(text, bytes, ", in the %zu of %zu layers that it does",
                     s->measure == M_measured_time_ns ? verdict_count_compared(s->v, x)
                                                      : verdict_count_known(s->v, x, s->measure),
                     s->v->n_layers);
}

static bool has_any(const struct exp_verdict *v, enum measure m)
{
    for (size_t i = 0; i < v->n_variants; i++) {
        if (m == M_measured_time_ns ? verdict_count_compared(v, &v->variant[i]) > 0
                                    : !isnan(verdict_to_reference(v, &v->variant[i], m)))
            return true;
    }
    return false;
}

/* Chooses the best variants for the columns: the fastest first, and whole models before parts of models. */
static void choose_variants(struct subject *s)
{
    const struct exp_verdict *v = s->v;
    bool is_taken[EXP_MAX_ALGO_RECORDS] = { false };

    for (s->n_shown = 0; s->n_shown < MOST_VARIANTS_SHOWN; s->n_shown++) {
        size_t best = v->n_variants;
        double best_value = 0;

        for (size_t i = 0; i < v->n_variants; i++) {
            const double value = ratio_of(s, &v->variant[i]).value * (is_whole(s, &v->variant[i]) ? 1 : 1e-6);

            if (!is_taken[i] && value > best_value) {
                best = i;
                best_value = value;
            }
        }
        if (best == v->n_variants)
            break;
        is_taken[best] = true;
        s->shown[s->n_shown] = &v->variant[best];
    }
    s->best = s->n_shown ? s->shown[0] : NULL;
}

static struct subject subject_of(const struct exp_verdict *v)
{
    struct subject s = { .v = v, .measure = M_measured_time_ns, .unit = 1e6, .unit_name = "ms" };

    if (!has_any(v, s.measure))
        s = (struct subject){ v, M_simulated_cycles, 1e6, "million cycles", NULL, { 0 }, 0 };
    if (!has_any(v, s.measure))
        s = (struct subject){ v, M_simulated_misses_at, 1e3, "thousand misses", NULL, { 0 }, 0 };
    choose_variants(&s);
    return s;
}

/* ---- headlines ---- */

static enum exp_tone tone_of(const struct exp_ratio *r)
{
    const int side = exp_ratio_side(r);

    return side > 0 ? EXP_GOOD : side < 0 ? EXP_BAD : EXP_PLAIN;
}

static double total_of(const struct subject *s, const struct exp_verdict_variant *x,
                       const struct exp_verdict_variant *beside)
{
    double sum = 0;

    for (size_t l = 0; l < s->v->n_layers; l++) {
        const double number = x->layer[l].of[s->measure].number;

        if (!isnan(beside->layer[l].of[s->measure].number) && !isnan(number))
            sum += number;
    }
    return sum / s->unit;
}

/* Says in how many layers a timed variant is faster, slower and open. */
static void say_layers(const struct exp_verdict *v, const struct exp_verdict_variant *x, char *text, size_t bytes)
{
    const size_t n = verdict_count_compared(v, x), slower = verdict_count_side(v, x, -1),
                 open = verdict_count_side(v, x, 0);

    exp_say_more(text, bytes, "faster in %zu of %zu layers", verdict_count_side(v, x, 1), n);
    if (slower)
        exp_say_more(text, bytes, ", slower in %zu", slower);
    if (open)
        exp_say_more(text, bytes, ", open in %zu", open);
}

/* Says "292 ms instead of 364 ms". */
static void say_totals(const struct subject *s, const struct exp_verdict_variant *x, char *text, size_t bytes)
{
    const double own = total_of(s, x, &s->v->reference), its = total_of(s, &s->v->reference, x);

    exp_say_more(text, bytes, "%.*f %s instead of %.*f", exp_screen_digits(own), own, s->unit_name,
                 exp_screen_digits(its), its);
}

/* Tells whether times are a busy computer's. */
static bool is_busy(const struct exp_verdict *v)
{
    return v->busy && *v->busy;
}

/* The answer about the best variant. */
static void say_best(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    const struct exp_ratio r = ratio_of(s, s->best);
    const bool is_timed = s->measure == M_measured_time_ns;
    char text[512] = "", before[256] = "", interval[40] = "";

    if (is_busy(v))
        exp_say(interval, sizeof interval, " [%.2f, %.2f]", r.low, r.high);
    if (!is_timed)
        exp_say(before, sizeof before, "By simulated %s alone, ",
                s->measure == M_simulated_cycles ? "cycles" : "misses of the first level");
    if (exp_ratio_side(&r) < 0)
        exp_say_more(before, sizeof before, "%sothing is as fast as %s: ", is_timed ? "N" : "n", v->reference.label);
    exp_say_more(before, sizeof before, "%s ", s->best->label);
    if (s->measure == M_simulated_misses_at)
        exp_say_more(text, sizeof text, "has %.2f times the misses of %s: ", 1 / r.value, v->reference.label);
    else
        exp_say_more(text, sizeof text, "is %.2f%s times as fast%s%s: ", r.value, is_timed ? interval : "",
                     exp_ratio_side(&r) < 0 ? "" : " as ", exp_ratio_side(&r) < 0 ? "" : v->reference.label);
    say_totals(s, s->best, text, sizeof text);
    say_part(s, s->best, text, sizeof text);
    exp_say_more(text, sizeof text, ". ");
    if (is_timed && exp_ratio_side(&r) == 0)
        exp_say_more(text, sizeof text, "The spread of the times holds 1: the difference is not certain. ");
    if (is_timed) {
        exp_say_more(text, sizeof text, "It is ");
        say_layers(v, s->best, text, sizeof text);
        exp_say_more(text, sizeof text, ".");
    } else {
        exp_say_more(text, sizeof text, "No time has confirmed this.");
    }
    exp_screen_say(screen, EXP_STRONG, "%s%s", before, text);
}

/* A line for each further variant. */
static void say_others(const struct subject *s, struct exp_screen *screen)
{
    for (size_t i = 1; i < s->n_shown; i++) {
        const struct exp_verdict_variant *x = s->shown[i];
        const struct exp_ratio r = ratio_of(s, x);
        char text[320] = "";

        exp_say(text, sizeof text, "%s: %.2fx, ", x->label,
                s->measure == M_simulated_misses_at ? 1 / r.value : r.value);
        say_totals(s, x, text, sizeof text);
        say_part(s, x, text, sizeof text);
        if (s->measure == M_measured_time_ns) {
            exp_say_more(text, sizeof text, "; ");
            say_layers(s->v, x, text, sizeof text);
        }
        exp_screen_say(screen, tone_of(&r), "%s", text);
    }
}

/* A line for each variant without any number, and its reason. */
static void say_missing(const struct subject *s, struct exp_screen *screen)
{
    for (size_t i = 0; i < s->v->n_variants; i++) {
        const struct exp_verdict_variant *x = &s->v->variant[i];
        const char *why = s->measure == M_measured_time_ns ? x->why_not_timed
                          : x->why_not_simulated           ? x->why_not_simulated
                                                           : x->why_no_cycles;

        if (isnan(ratio_of(s, x).value))
            exp_screen_say(screen, EXP_BAD, "%s: %s", x->label, why ? why : "not available");
    }
}

/* ---- notes ---- */

/* Says the largest difference between the simulated cycles of a variant and of the reference. */
static void say_simulated_why(const struct subject *s, const struct exp_verdict_variant *x, char *text, size_t bytes)
{
    static const char *const names[EXP_N_CLOCK_PARTS] = {
        "computing",        "packing instructions", "calls", "waiting for L2", "waiting for L3", "waiting for memory",
        "waiting for TLBs", "waiting for stores"
    };
    const struct exp_verdict *v = s->v;
    const double whole = verdict_sum_where(v, x, M_simulated_cycles, &v->reference, M_simulated_cycles);
    size_t most = 0;
    double largest = 0;

    for (size_t i = 0; i < EXP_N_CLOCK_PARTS; i++) {
        const enum measure part = (enum measure)(M_simulated_computing_cycles + i);
        const double saved = 100 *
                             (verdict_sum_where(v, x, M_simulated_cycles, &v->reference, part) -
                              verdict_sum_where(v, x, M_simulated_cycles, x, part)) /
                             whole;

        if (fabs(saved) > fabs(largest)) {
            largest = saved;
            most = i;
        }
    }
    if (fabs(largest) >= 1)
        exp_say(text, bytes, "by simulation, %s cost%s %s %s than %s: %.0f %% of %s's cycles", names[most],
                most == EXP_PART_CALLS || most == EXP_PART_PACKING ? "" : "s", x->name, largest > 0 ? "less" : "more",
                v->reference.name, fabs(largest), v->reference.name);
}

/* Says why of the fastest plug-in, unless the plug-in is the best variant. */
static void say_plugin_why(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict_variant *x = NULL;
    char text[512] = "";

    for (size_t i = s->n_shown; i-- > 0;)
        x = s->shown[i]->is_plugin && verdict_has_cycles(s->v, s->shown[i]) ? s->shown[i] : x;
    if (!x || x == s->best)
        return;
    say_simulated_why(s, x, text, sizeof text);
    exp_screen_note(screen, "why", "%s", text);
}

static void say_why(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    const double packing = verdict_percent(v, s->best, M_measured_lowering_ns),
                 its_packing = verdict_percent(v, &v->reference, M_measured_lowering_ns),
                 kernels = verdict_to_reference(v, s->best, M_measured_kernel_ns);
    char text[512] = "";

    if (!isnan(packing) && !isnan(its_packing))
        exp_say(
            text, sizeof text,
            "%s spends %.0f %% of its time on im2col and packing, %s %.0f %%; its micro-kernels take %.2f of the time "
            "of %s's",
            v->reference.name, its_packing, s->best->name, packing, kernels, v->reference.name);
    else if (verdict_has_cycles(v, s->best))
        say_simulated_why(s, s->best, text, sizeof text);
    exp_screen_note(screen, "why", "%s", text);
    say_plugin_why(s, screen);
}

/* Says each level's misses beside the reference's. */
static void say_caches(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    char text[512] = "";

    if (!s->best || !verdict_is_simulated(v, s->best))
        return;
    for (size_t i = 0; i < v->n_levels; i++) {
        const double own = verdict_percent_of_loads(v, s->best, s->best, &verdict_as_it_is, i),
                     its = verdict_percent_of_loads(v, s->best, &v->reference, &verdict_as_it_is, i);
        const enum measure misses = verdict_misses_of(&verdict_as_it_is, i),
                           alone = verdict_misses_of(&verdict_alone, i);

        exp_say_more(text, sizeof text, "%s%s ", i ? "; " : "", v->level[i]);
        if (exp_misses_are_few(own, its)) {
            exp_say_more(text, sizeof text, "almost none in either");
            continue;
        }
        exp_say_more(text, sizeof text, "%.2f",
                     verdict_sum_beside(v, s->best, s->best, misses) /
                         verdict_sum_beside(v, s->best, &v->reference, misses));
        if (v->has_two_views)
            exp_say_more(text, sizeof text, " (caches alone: %.2f)",
                         verdict_sum_beside(v, s->best, s->best, alone) /
                             verdict_sum_beside(v, s->best, &v->reference, alone));
    }
    exp_screen_note(screen, "caches", "simulated misses of %s over those of %s: %s", s->best->name, v->reference.name,
                    text);
}

/* Returns the widest interval of a layer's speed-up, in % of the speed-up to either side. */
static double widest_percent(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    double widest = 0;

    for (size_t l = 0; l < v->n_layers; l++) {
        const struct exp_ratio *r = &x->layer[l].speedup;
        const double width = 50 * (r->high - r->low) / r->value;

        widest = width > widest ? width : widest;
    }
    return widest;
}

static void say_trust(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    char text[512] = "";

    if (s->measure != M_measured_time_ns) {
        if (v->is_never_timed)
            exp_screen_note(screen, "cycles", "never timed: no machine such as %s has confirmed them", v->machine);
        exp_screen_note(screen, "trust", "not measured: %s",
                        v->why_not_timed             ? v->why_not_timed
                        : v->reference.why_not_timed ? v->reference.why_not_timed
                                                     : "");
        return;
    }
    if (is_busy(v))
        exp_say(text, sizeof text, "%s; ", v->busy);
    else if (v->disturbance)
        exp_say(text, sizeof text, "the computer was %.*s; ", (int)strcspn(v->disturbance, ":"), v->disturbance);
    exp_say_more(text, sizeof text, "%zu round%s, 95 %% intervals within %.1f %% a layer", v->n_rounds,
                 v->n_rounds == 1 ? "" : "s", widest_percent(v, s->best));
    if (v->ended)
        exp_say_more(text, sizeof text, "; %s", v->ended);
    exp_screen_note(screen, "trust", "%s", text);
}

/* Says how far the simulated cycles are from the measured ratio. */
static void say_simulation(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    char text[512] = "";

    if (s->measure == M_measured_time_ns && verdict_has_cycles(v, s->best)) {
        const struct exp_ratio by_cycles = verdict_by_cycles(v, s->best);
        const double simulated = by_cycles.value, measured = verdict_speedup(s->best).value;

        exp_say(text, sizeof text, "cycles say %.2f", simulated);
        if (by_cycles.high > by_cycles.value)
            exp_say_more(text, sizeof text, " +- %.2f", verdict_half_width(&by_cycles));
        exp_say_more(text, sizeof text, "x");
        if (!isnan(measured) && (simulated - 1) * (measured - 1) < 0)
            exp_say_more(text, sizeof text, ", the measurement says %.2fx: do not use the simulated cycles here",
                         measured);
        else if (!isnan(measured))
            exp_say_more(text, sizeof text, ", %.0f %% %s", fabs(100 * (simulated / measured - 1)),
                         simulated < measured ? "too low" : "too high");
    }
    if (verdict_sampled_percent(v) < 100)
        exp_say_more(text, sizeof text, "%s%s", *text ? "; " : "", "replays are samples (SAMPLE=exact: all accesses)");
    exp_screen_note(screen, "model", "%s", text);
}

/* Says the time that a log gives, and the times of the shown variants in the layers with such a time. */
static void say_log(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    double given = 0, base = 0, best = 0;
    char text[256];
    size_t n = 0;

    for (size_t l = 0; l < v->n_layers; l++) {
        const double ns = v->reference.layer[l].of[M_given_time_ns].number;

        if (!(ns > 0))
            continue;
        given += ns;
        base += v->reference.layer[l].of[M_measured_time_ns].number;
        best += s->best->layer[l].of[M_measured_time_ns].number;
        n++;
    }
    if (!n)
        return;
    exp_say(text, sizeof text, "in the log, oneDNN takes %.3g ms for %zu of %zu layers", 1e-6 * given, n, v->n_layers);
    if (base > 0)
        exp_say_more(text, sizeof text, "; here %s takes %.2f of that", v->reference.name, base / given);
    if (best > 0)
        exp_say_more(text, sizeof text, ", %s %.2f", s->best->name, best / given);
    exp_screen_note(screen, "log", "%s", text);
}

/* ---- the table ---- */

/* Layers of one row. */
struct group {
    char name[MOST_NAME + 16];
    size_t n;
    size_t first;
    double base, saved; /* of the subject */
    double own[MOST_VARIANTS_SHOWN], beside[MOST_VARIANTS_SHOWN];
    int side[MOST_VARIANTS_SHOWN]; /* the side of all layers; 0 if layers disagree or are open */
};

/* Returns the length of the part of a layer's name with the stem of similar layers: up to the last '_', '/', '.' or digit. */
static size_t stem_of(const char *name)
{
    const char *last = strpbrk(name, "_/.");
    size_t n = strlen(name);

    if (!last) {
        while (n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9')
            n--;
        return n;
    }
    for (const char *next; (next = strpbrk(last + 1, "_/.")); last = next)
        ;
    return (size_t)(last - name);
}

static bool are_alike(const struct exp_verdict *v, size_t a, size_t b, bool merges)
{
    const size_t n = stem_of(v->layer[a]);

    return merges && n == stem_of(v->layer[b]) && !strncmp(v->layer[a], v->layer[b], n);
}

static void add_layer(const struct subject *s, struct group *g, size_t l)
{
    const struct exp_verdict *v = s->v;
    const double base = v->reference.layer[l].of[s->measure].number;

    g->base += isnan(base) ? 0 : base;
    for (size_t i = 0; i < s->n_shown; i++) {
        const double own = s->shown[i]->layer[l].of[s->measure].number;
        const struct exp_ratio *r = &s->shown[i]->layer[l].speedup;
        const int side = s->measure == M_measured_time_ns ? exp_ratio_side(r) : (own < base) - (own > base);

        if (isnan(own) || isnan(base))
            continue;
        g->own[i] += own;
        g->beside[i] += base;
        g->side[i] = !g->n || g->side[i] == side ? side : 0;
    }
    g->saved = g->beside[0] - g->own[0];
    g->n++;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    const double dx = fabs(x->saved), dy = fabs(y->saved);

    return dx != dy ? (dx < dy ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

/* Fills groups[n_layers], the largest saving or cost first. Returns the number of groups. */
static size_t make_groups(const struct subject *s, struct group *group)
{
    const struct exp_verdict *v = s->v;
    const bool merges = v->n_layers > EXP_SCREEN_ROWS;
    size_t n = 0;

    for (size_t l = 0; l < v->n_layers; l++) {
        size_t g = 0;

        while (g < n && !are_alike(v, group[g].first, l, merges))
            g++;
        if (g == n)
            group[n++] = (struct group){ .first = l };
        add_layer(s, &group[g], l);
    }
    for (size_t g = 0; g < n; g++) {
        const char *name = v->layer[group[g].first];

        if (group[g].n == 1)
            snprintf(group[g].name, sizeof group[g].name, "%.*s", MOST_NAME, name);
        else
            snprintf(group[g].name, sizeof group[g].name, "%.*s* (%zu)",
                     (int)(stem_of(name) < MOST_NAME ? stem_of(name) : MOST_NAME), name, group[g].n);
    }
    qsort(group, n, sizeof *group, compare_groups);
    return n;
}

static void put_group(const struct subject *s, const struct group *g, struct exp_screen *screen)
{
    const double saved = g->saved / s->unit;

    exp_screen_row(screen, "%s", g->name);
    exp_screen_cell(screen, EXP_PLAIN, "%.*f", exp_screen_digits(g->base / s->unit), g->base / s->unit);
    for (size_t i = 0; i < s->n_shown; i++) {
        const enum exp_tone tone = g->side[i] > 0 ? EXP_GOOD : g->side[i] < 0 ? EXP_BAD : EXP_PLAIN;
        const double x = g->beside[i] / g->own[i];

        if (!(g->own[i] > 0))
            exp_screen_cell(screen, EXP_PLAIN, "-");
        else
            exp_screen_cell(screen, tone, "%s%.2fx",
                            g->side[i] ? ""
                            : g->n > 1 ? "mixed "
                                       : "open ",
                            s->measure == M_simulated_misses_at ? 1 / x : x);
    }
    exp_screen_number(screen, EXP_PLAIN, saved);
}

static void put_table(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    struct group *group = exp_new(v->n_layers, sizeof *group);
    size_t n = make_groups(s, group);

    exp_screen_row(screen, "layer");
    exp_screen_cell(screen, EXP_PLAIN, "%s %s", v->reference.name, s->unit_name);
    for (size_t i = 0; i < s->n_shown; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%s", s->shown[i]->name);
    exp_screen_cell(screen, EXP_PLAIN, "saves %s", s->unit_name);
    if (n > EXP_SCREEN_ROWS) {
        struct group *rest = &group[EXP_SCREEN_ROWS - 1];

        for (size_t g = EXP_SCREEN_ROWS; g < n; g++) {
            rest->n += group[g].n;
            rest->base += group[g].base;
            rest->saved += group[g].saved;
            for (size_t i = 0; i < s->n_shown; i++) {
                rest->own[i] += group[g].own[i];
                rest->beside[i] += group[g].beside[i];
                rest->side[i] = rest->side[i] == group[g].side[i] ? rest->side[i] : 0;
            }
        }
        snprintf(rest->name, sizeof rest->name, "%zu others", rest->n);
        n = EXP_SCREEN_ROWS;
    }
    for (size_t g = 0; g < n; g++)
        put_group(s, &group[g], screen);
    free(group);
}

/* ---- the whole ---- */

static void say_title(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_verdict *v = s->v;
    const bool is_host = !strcmp(v->machine, "host"), is_timed = s->measure == M_measured_time_ns;

    exp_screen_title(screen, "%s, %zu convolution%s, one thread, %s caches, %s%s%s", v->model, v->n_layers,
                     v->n_layers == 1 ? "" : "s", v->cache, is_timed ? v->computer : "simulated machine ",
                     is_timed && !is_host ? ", plans for " : "", is_timed && is_host ? "" : v->machine);
}

void exp_verdict_screen(const struct exp_verdict *v, struct exp_screen *screen)
{
    const struct subject s = subject_of(v);

    say_title(&s, screen);
    if (!s.best) {
        exp_screen_say(screen, EXP_STRONG, "Nothing can be compared with %s.", v->reference.label);
        say_missing(&s, screen);
        return;
    }
    say_best(&s, screen);
    say_others(&s, screen);
    say_missing(&s, screen);
    if (v->notes && *v->notes)
        exp_screen_say(screen, EXP_PLAIN, "%s", v->notes);
    say_why(&s, screen);
    say_caches(&s, screen);
    say_trust(&s, screen);
    say_simulation(&s, screen);
    say_log(&s, screen);
    put_table(&s, screen);
}
