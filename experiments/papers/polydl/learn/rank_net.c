#include "experiments/papers/polydl/learn/rank_net.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/outdir.h"
#include "experiments/base/stats.h"
#include "experiments/base/text.h"

/* ---- layers ---- */

/* Activations of a neuron's sum. */
enum activation { SAME, RELU, SOFTSIGN };

static double activated(enum activation a, double sum)
{
    if (a == RELU)
        return sum > 0 ? sum : 0;
    return a == SOFTSIGN ? sum / (1 + fabs(sum)) : sum;
}

/* Returns the derivative of an activation. */
static double slope(enum activation a, double sum)
{
    if (a == RELU)
        return sum > 0;
    return a == SOFTSIGN ? 1 / ((1 + fabs(sum)) * (1 + fabs(sum))) : 1;
}

/* The paper's activations. Softmax needs all sums of a layer: the caller applies softmax behind the last layer. */
static const struct {
    size_t n_neurons;
    enum activation activation;
} layers[EXP_RANK_LAYERS] = { { 64, RELU }, { 32, RELU }, { 16, SOFTSIGN }, { 8, RELU }, { EXP_RANK_OUTPUTS, SAME } };

enum { MAX_NEURONS = 64 };

static size_t inputs_of(const struct exp_rank_net *net, size_t layer)
{
    return layer ? net->n_neurons[layer - 1] : 2 * net->n_statistics;
}

static size_t weights_of(const struct exp_rank_net *net, size_t layer)
{
    return net->n_neurons[layer] * (inputs_of(net, layer) + 1);
}

/* ---- making ---- */

/* Returns a random number between -1 and 1. */
static double random_number(uint64_t *state)
{
    return (double)(exp_random_next(state) >> 11) * 0x1p-52 - 1;
}

/* Draws the first weights as He et al. (2015) do, so that sums neither grow nor shrink from layer to layer. */
void exp_rank_net_new(struct exp_rank_net *net, size_t n_statistics, uint64_t seed)
{
    uint64_t state = seed;
    double *w;

    assert(n_statistics > 0 && n_statistics <= EXP_RANK_MAX_STATISTICS);
    *net = (struct exp_rank_net){ .seed = seed, .n_statistics = n_statistics };
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++) {
        net->n_neurons[l] = layers[l].n_neurons;
        net->n_weights += weights_of(net, l);
    }
    w = net->weight = exp_new(net->n_weights, sizeof *net->weight);
    for (size_t l = 0; l < EXP_RANK_LAYERS; w += weights_of(net, l++)) {
        const double scale = sqrt(6. / (double)inputs_of(net, l));

        for (size_t i = 0; i < net->n_neurons[l] * inputs_of(net, l); i++)
            w[i] = scale * random_number(&state);
    }
}

void exp_rank_net_release(struct exp_rank_net *net)
{
    free(net->weight);
    *net = (struct exp_rank_net){ 0 };
}

/* ---- forwards ---- */

/* Sums and outputs of the neurons of each layer, the net's input first. */
struct signals {
    double sum[EXP_RANK_LAYERS][MAX_NEURONS], out[EXP_RANK_LAYERS + 1][MAX_NEURONS];
};

static void softmax(double *x, size_t n)
{
    double highest = x[0], total = 0;

    for (size_t i = 1; i < n; i++)
        highest = x[i] > highest ? x[i] : highest;
    for (size_t i = 0; i < n; i++)
        total += x[i] = exp(x[i] - highest);
    for (size_t i = 0; i < n; i++)
        x[i] /= total;
}

static void pass_layer(const struct exp_rank_net *net, size_t layer, const double *w, struct signals *s)
{
    const size_t n_in = inputs_of(net, layer), n = net->n_neurons[layer];

    for (size_t i = 0; i < n; i++) {
        double sum = w[n * n_in + i];

        for (size_t k = 0; k < n_in; k++)
            sum += w[i * n_in + k] * s->out[layer][k];
        s->sum[layer][i] = sum;
        s->out[layer + 1][i] = activated(layers[layer].activation, sum);
    }
}

static void pass(const struct exp_rank_net *net, const double *input, struct signals *s)
{
    const double *w = net->weight;

    memcpy(s->out[0], input, inputs_of(net, 0) * sizeof *input);
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++) {
        pass_layer(net, l, w, s);
        w += weights_of(net, l);
    }
    softmax(s->out[EXP_RANK_LAYERS], EXP_RANK_OUTPUTS);
}

void exp_rank_net_input(double *input, const double *a, const double *b, size_t n_statistics)
{
    double sum = 0;

    for (size_t i = 0; i < n_statistics; i++)
        sum += a[i] + b[i];
    for (size_t i = 0; i < n_statistics; i++) {
        input[i] = sum > 0 ? a[i] / sum : 0;
        input[n_statistics + i] = sum > 0 ? b[i] / sum : 0;
    }
}

void exp_rank_net_output(const struct exp_rank_net *net, const double *input, double output[EXP_RANK_OUTPUTS])
{
    struct signals s;

    pass(net, input, &s);
    memcpy(output, s.out[EXP_RANK_LAYERS], EXP_RANK_OUTPUTS * sizeof *output);
}

/* Returns the cross entropy of a single pair. */
static double cross_entropy(const struct signals *s, unsigned winner)
{
    const double likely = s->out[EXP_RANK_LAYERS][winner];

    return -log(likely > 1e-300 ? likely : 1e-300);
}

double exp_rank_net_loss(const struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n)
{
    struct signals s;
    double loss = 0;

    for (size_t i = 0; i < n; i++) {
        pass(net, pair[i].input, &s);
        loss += cross_entropy(&s, pair[i].winner);
    }
    return loss / (double)n;
}

/* ---- backwards ---- */

/*
 * Adds the loss's derivatives by the weights of a layer. by_sum[] has the derivatives by the sums of the layer's
 * neurons, and gets the derivatives of the layer before.
 */
static void return_layer(const struct exp_rank_net *net, size_t layer, const double *w, const struct signals *s,
                         double *by_sum, double *gradient)
{
    const size_t n_in = inputs_of(net, layer), n = net->n_neurons[layer];
    double by_input[MAX_NEURONS] = { 0 };

    for (size_t i = 0; i < n; i++) {
        gradient[n * n_in + i] += by_sum[i];
        for (size_t k = 0; k < n_in; k++) {
            gradient[i * n_in + k] += by_sum[i] * s->out[layer][k];
            by_input[k] += by_sum[i] * w[i * n_in + k];
        }
    }
    for (size_t k = 0; k < n_in && layer; k++)
        by_sum[k] = by_input[k] * slope(layers[layer - 1].activation, s->sum[layer - 1][k]);
}

/*
 * Adds the derivatives of a pair's loss, times a share. Of softmax and cross entropy the derivative is output - wanted.
 */
static void return_pair(const struct exp_rank_net *net, const struct signals *s, unsigned winner, double share,
                        double *gradient)
{
    size_t at = net->n_weights;
    double by_sum[MAX_NEURONS];

    for (size_t i = 0; i < EXP_RANK_OUTPUTS; i++)
        by_sum[i] = share * (s->out[EXP_RANK_LAYERS][i] - (i == winner));
    for (size_t l = EXP_RANK_LAYERS; l-- > 0;) {
        at -= weights_of(net, l);
        return_layer(net, l, net->weight + at, s, by_sum, gradient + at);
    }
}

double exp_rank_net_gradient(const struct exp_rank_net *net, const struct exp_rank_pair *const *pair, size_t n,
                             double *gradient)
{
    struct signals s;
    double loss = 0;

    memset(gradient, 0, net->n_weights * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        pass(net, pair[i]->input, &s);
        loss += cross_entropy(&s, pair[i]->winner);
        return_pair(net, &s, pair[i]->winner, 1 / (double)n, gradient);
    }
    return loss / (double)n;
}

/* ---- training ---- */

/* Adam (Kingma and Ba, 2015) with the usual constants. */
struct adam {
    double *mean, *square, *gradient; /* [n_weights] */
    double decayed_mean, decayed_square;
};

#define MEAN_DECAY 0.9
#define SQUARE_DECAY 0.999

static void move(struct exp_rank_net *net, struct adam *a, double rate)
{
    a->decayed_mean *= MEAN_DECAY;
    a->decayed_square *= SQUARE_DECAY;
    for (size_t i = 0; i < net->n_weights; i++) {
        const double g = a->gradient[i];

        a->mean[i] += (1 - MEAN_DECAY) * (g - a->mean[i]);
        a->square[i] += (1 - SQUARE_DECAY) * (g * g - a->square[i]);
        net->weight[i] -=
            rate * a->mean[i] / (1 - a->decayed_mean) / (sqrt(a->square[i] / (1 - a->decayed_square)) + 1e-8);
    }
}

static void shuffle(const struct exp_rank_pair **order, size_t n, uint64_t *state)
{
    for (size_t i = n; i-- > 1;) {
        const size_t other = (size_t)(exp_random_next(state) % (i + 1));
        const struct exp_rank_pair *moved = order[i];

        order[i] = order[other];
        order[other] = moved;
    }
}

/* Goes through all pairs once. Returns their mean loss on the way. */
static double train_epoch(struct exp_rank_net *net, struct adam *a, const struct exp_rank_pair **order, size_t n,
                          const struct exp_rank_training *how)
{
    double loss = 0;

    for (size_t i = 0; i < n; i += how->batch) {
        const size_t batch = n - i < how->batch ? n - i : how->batch;

        loss += (double)batch * exp_rank_net_gradient(net, order + i, batch, a->gradient);
        move(net, a, how->rate);
    }
    return loss / (double)n;
}

int exp_rank_net_train(struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n,
                       const struct exp_rank_training *how, int (*told)(void *ctx, size_t epoch, double loss),
                       void *ctx)
{
    double *moments = exp_new(3 * net->n_weights, sizeof *moments);
    const struct exp_rank_pair **order = exp_new(n, sizeof *order);
    struct adam a = { moments, moments + net->n_weights, moments + 2 * net->n_weights, 1, 1 };
    uint64_t state = net->seed + 1;
    int err = n ? 0 : -EINVAL;

    assert(net->weight);
    for (size_t i = 0; i < n; i++)
        order[i] = &pair[i];
    for (size_t e = 0; e < how->n_epochs && !err; e++) {
        double loss;

        shuffle(order, n, &state);
        loss = train_epoch(net, &a, order, n, how);
        err = told ? told(ctx, e, loss) : 0;
    }
    free(moments);
    free(order);
    return err;
}

/* ---- tournament ---- */

void exp_rank_net_tournament(const struct exp_rank_net *net, const double *statistics, size_t n, unsigned *wins)
{
    double input[2 * EXP_RANK_MAX_STATISTICS], output[EXP_RANK_OUTPUTS];

    memset(wins, 0, n * sizeof *wins);
    for (size_t i = 0; i < n * n; i++) {
        const size_t a = i / n, b = i % n;

        if (a == b)
            continue;
        exp_rank_net_input(input, statistics + a * net->n_statistics, statistics + b * net->n_statistics,
                           net->n_statistics);
        exp_rank_net_output(net, input, output);
        wins[a] += output[0] > EXP_RANK_THRESHOLD;
        wins[b] += output[1] > EXP_RANK_THRESHOLD;
    }
}

/* ---- a net in a file ---- */

struct net_file {
    const struct exp_rank_net *net;
    const char *note;
};

/* Prints the net, and the checksum of the text. */
static int print_file(void *file, FILE *out)
{
    const struct net_file *f = file;
    const struct exp_rank_net *net = f->net;
    char *text;
    size_t bytes;
    FILE *memory = exp_memory_open(&text, &bytes);

    fprintf(memory, "# %s\nformat polydl-rank-net 1\nstatistics %zu\nlayers", f->note, net->n_statistics);
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++)
        fprintf(memory, " %zu", net->n_neurons[l]);
    fprintf(memory, "\nseed %" PRIu64 "\nweights %zu\n", net->seed, net->n_weights);
    for (size_t i = 0; i < net->n_weights; i++)
        fprintf(memory, "%a\n", net->weight[i]);
    fclose(memory);
    fwrite(text, 1, bytes, out);
    fprintf(out, "sum %016" PRIx64 "\n", exp_hash_bytes(0, text, bytes));
    free(text);
    return 0;
}

int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, struct exp_why *why)
{
    return exp_file_write(path, print_file, &(struct net_file){ net, note }, why);
}
