#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/stats.h"
#include "experiments/compare/compare.h"

/* A round, and its side. */
struct sample {
    uint64_t ns;
    bool is_b;
};

/* Puts both samples together, sorted, into s[n_a + n_b]. */
static void pool(struct sample *s, const struct exp_rank_pair *of)
{
    for (size_t i = 0; i < of->n_a; i++)
        s[i] = (struct sample){ of->a[i], false };
    for (size_t i = 0; i < of->n_b; i++)
        s[of->n_a + i] = (struct sample){ of->b[i], true };
    qsort(s, of->n_a + of->n_b, sizeof *s, exp_by_first_member);
}

/* ---- Mann and Whitney ---- */

struct ranks {
    double sum_a; /* of the first sample's ranks, from 1; equal values share their mean rank */
    double tied;  /* sum of t^3 - t over groups of t equal values */
};

static struct ranks rank(const struct sample *s, size_t n)
{
    struct ranks r = { 0, 0 };

    for (size_t i = 0, end; i < n; i = end) {
        double t;

        for (end = i + 1; end < n && s[end].ns == s[i].ns;)
            end++;
        t = (double)(end - i);
        for (size_t k = i; k < end; k++)
            r.sum_a += s[k].is_b ? 0 : (double)(i + end + 1) / 2;
        r.tied += t * t * t - t;
    }
    return r;
}

enum { MOST_EXACT = 16, MOST_SUM = MOST_EXACT * (MOST_EXACT + 1) / 2 };

/* Returns the share of all choices of n_a ranks out of 1 to n with a sum at least as far from the mean. */
static double exact(double sum_a, size_t n_a, size_t n)
{
    double ways[MOST_EXACT + 1][MOST_SUM + 1] = { { 1 } }, all = 0, as_far = 0;
    const double mean = (double)(n_a * (n + 1)) / 2, far = fabs(sum_a - mean);

    for (size_t r = 1; r <= n; r++) {
        for (size_t k = r < n_a ? r : n_a; k > 0; k--) {
            for (size_t sum = MOST_SUM; sum >= r; sum--)
                ways[k][sum] += ways[k - 1][sum - r];
        }
    }
    for (size_t sum = 0; sum <= MOST_SUM; sum++) {
        all += ways[n_a][sum];
        as_far += fabs((double)sum - mean) >= far - 1e-9 ? ways[n_a][sum] : 0;
    }
    return as_far / all;
}

static double approximate(const struct ranks *r, double n_a, double n_b)
{
    const double n = n_a + n_b, far = fabs(r->sum_a - n_a * (n + 1) / 2);
    const double variance = n_a * n_b / 12 * (n + 1 - r->tied / (n * (n - 1)));

    if (variance <= 0)
        return 1;
    return erfc(fmax(far - 0.5, 0) / sqrt(2 * variance));
}

double exp_rank_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    struct sample *s;
    struct ranks r;
    double p;

    if (!n_a || !n_b)
        return (double)NAN;
    s = exp_new(n_a + n_b, sizeof *s);
    pool(s, &(struct exp_rank_pair){ a, b, n_a, n_b });
    r = rank(s, n_a + n_b);
    if (n_a + n_b <= MOST_EXACT && r.tied <= 0)
        p = exact(r.sum_a, n_a, n_a + n_b);
    else
        p = approximate(&r, (double)n_a, (double)n_b);
    free(s);
    return p;
}

/* ---- permutations ---- */

/* Gives n_b of n rounds to the second side, all choices equally likely. */
static void shuffle(struct sample *s, size_t n, size_t n_b, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        s[i].is_b = exp_random_next(random) % (n - i) < n_b;
        n_b -= s[i].is_b;
    }
}

/* Returns the mean of the fastest quarter of one side's rounds, sorted among n rounds of both sides. */
static double low_mean(const struct sample *s, bool is_b, size_t n)
{
    const size_t n_low = (n + 3) / 4;
    double sum = 0;

    for (size_t taken = 0; taken < n_low; s++) {
        if (s->is_b == is_b) {
            sum += (double)s->ns;
            taken++;
        }
    }
    return sum / (double)n_low;
}

/* Returns the distance of both sides' sums. */
static double distance(const struct sample *s, const struct exp_rank_pair *layer, size_t n_layers)
{
    double a = 0, b = 0;

    for (size_t i = 0; i < n_layers; i++) {
        a += low_mean(s, false, layer[i].n_a);
        b += low_mean(s, true, layer[i].n_b);
        s += layer[i].n_a + layer[i].n_b;
    }
    return fabs(log(a / b));
}

static double count_as_far(struct sample *s, const struct exp_rank_pair *layer, size_t n_layers)
{
    const double found = distance(s, layer, n_layers);
    uint64_t random = 0;
    size_t as_far = 1;

    for (size_t i = 0; i < EXP_RANK_DRAWS; i++) {
        struct sample *at = s;

        for (size_t l = 0; l < n_layers; l++) {
            shuffle(at, layer[l].n_a + layer[l].n_b, layer[l].n_b, &random);
            at += layer[l].n_a + layer[l].n_b;
        }
        as_far += distance(s, layer, n_layers) >= found - 1e-12;
    }
    return (double)as_far / (EXP_RANK_DRAWS + 1);
}

double exp_rank_test_sum(const struct exp_rank_pair *layer, size_t n_layers)
{
    struct sample *all = NULL;
    size_t n = 0;
    double p = (double)NAN;

    assert(layer || !n_layers);
    for (size_t i = 0; i < n_layers; i++) {
        if (!layer[i].n_a || !layer[i].n_b)
            n_layers = 0;
        all = exp_resize(all, n + layer[i].n_a + layer[i].n_b, sizeof *all);
        pool(all + n, &layer[i]);
        n += layer[i].n_a + layer[i].n_b;
    }
    if (n_layers)
        p = count_as_far(all, layer, n_layers);
    free(all);
    return p;
}

/* ---- many tests ---- */

void exp_rank_adjust(double *p, size_t n)
{
    bool *done = exp_new(n, sizeof *done);
    size_t left = 0;
    double least = 0;

    assert(p || !n);
    for (size_t i = 0; i < n; i++)
        left += isnan(p[i]) ? 0 : 1;
    /*
     * The smallest p is multiplied by the number of tests, each next p by one less, and no p falls below the p before.
     */
    for (; left; left--) {
        size_t next = n;

        for (size_t i = 0; i < n; i++) {
            if (!done[i] && !isnan(p[i]) && (next == n || p[i] < p[next]))
                next = i;
        }
        done[next] = true;
        least = fmax(least, fmin(1, p[next] * (double)left));
        p[next] = least;
    }
    free(done);
}
