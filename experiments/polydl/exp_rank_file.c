#include "experiments/polydl/exp_rank_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/base/exp_file.h"
#include "experiments/base/exp_text.h"

#define FORMAT "polydl-rank-net 1"

struct net_file {
    const struct exp_rank_net *net;
    const char *note;
};

static void print_net(const struct net_file *f, FILE *out)
{
    const struct exp_rank_net *net = f->net;

    fprintf(out, "# %s\nformat " FORMAT "\nstatistics %zu\nlayers", f->note, net->n_statistics);
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++)
        fprintf(out, " %zu", net->n_neurons[l]);
    fprintf(out, "\nseed %" PRIu64 "\nweights %zu\n", net->seed, net->n_weights);
    for (size_t i = 0; i < net->n_weights; i++)
        fprintf(out, "%a\n", net->weight[i]);
}

/* Prints the net, and the sum of its text. */
static int print_file(void *file, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = exp_memory_open(&text, &bytes);
    int err = memory ? 0 : -ENOMEM;

    if (memory) {
        print_net(file, memory);
        err = fclose(memory) ? -ENOMEM : 0;
    }
    if (!err) {
        fwrite(text, 1, bytes, out);
        fprintf(out, "sum %016" PRIx64 "\n", exp_hash_bytes(0, text, bytes));
    }
    free(text);
    return err;
}

int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, struct exp_why *why)
{
    return exp_file_write(path, print_file, &(struct net_file){ net, note }, why);
}
