#include "experiments/polydl/exp_rank_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_memory.h"

#define FORMAT "polydl-rank-net 1"

/* FNV-1a. */
static uint64_t sum_of(const char *text, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}

static void print_net(const struct exp_rank_net *net, const char *note, FILE *out)
{
    fprintf(out, "# %s\nformat " FORMAT "\nstatistics %zu\nlayers", note, net->n_statistics);
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++)
        fprintf(out, " %zu", net->n_neurons[l]);
    fprintf(out, "\nseed %" PRIu64 "\nweights %zu\n", net->seed, net->n_weights);
    for (size_t i = 0; i < net->n_weights; i++)
        fprintf(out, "%a\n", net->weight[i]);
}

/* Writes text and its sum, to the disk. */
static int write_text(const char *path, const char *text, size_t bytes)
{
    FILE *out = fopen(path, "w");
    int err;

    if (!out)
        return -errno;
    errno = 0;
    fwrite(text, 1, bytes, out);
    fprintf(out, "sum %016" PRIx64 "\n", sum_of(text, bytes));
    err = fflush(out) || ferror(out) || fsync(fileno(out)) ? (errno ? -errno : -EIO) : 0;
    if (fclose(out) && !err)
        err = -EIO;
    return err;
}

int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, char *why, size_t why_bytes)
{
    char *text = NULL, *partial = exp_format("%s.partial.%ld", path, (long)getpid());
    size_t bytes = 0;
    FILE *memory = exp_memory_open(&text, &bytes);
    int err = memory && partial ? 0 : -ENOMEM;

    if (memory) {
        print_net(net, note, memory);
        if (fclose(memory))
            err = -ENOMEM;
    }
    if (!err)
        err = write_text(partial, text, bytes);
    if (!err && rename(partial, path))
        err = -errno;
    if (err && partial)
        unlink(partial);
    free(partial);
    free(text);
    return err ? exp_fail(why, why_bytes, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}
