#include "experiments/polydl/exp_rank_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"

#define FORMAT "polydl-rank-net 1"

/* FNV-1a. */
static uint64_t sum_of(const char *text, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}

/* ---- writing ---- */

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
    FILE *memory = open_memstream(&text, &bytes);
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

/* ---- reading ---- */

/* A text that is read line by line. */
struct reader {
    const char *path, *at;
    unsigned line;
    char *why;
    size_t why_bytes;
};

static int refuse(const struct reader *r, const char *what)
{
    return exp_fail(r->why, r->why_bytes, -EINVAL, "%s:%u: %s; remove the file, and it is trained again", r->path,
                    r->line, what);
}

/* Takes the next line if it begins with a key; *value is what follows. */
static bool take(struct reader *r, const char *key, const char **value)
{
    const size_t length = strlen(key);
    const char *end = strchr(r->at, '\n');

    r->line++;
    if (!end || strncmp(r->at, key, length) != 0)
        return false;
    *value = r->at + length;
    r->at = end + 1;
    return true;
}

static bool is_line(const char *value, const char *wanted)
{
    return !strncmp(value, wanted, strlen(wanted)) && value[strlen(wanted)] == '\n';
}

/* Reads what comes before the weights, and makes a net of it. */
static int read_head(struct reader *r, struct exp_rank_net *net)
{
    const char *format, *statistics, *shape, *seed, *count;
    char wanted[96] = "";
    uint64_t n;
    int err;

    while (*r->at == '#' && take(r, "#", &format))
        ;
    if (!take(r, "format ", &format) || !is_line(format, FORMAT))
        return refuse(r, "not of the format " FORMAT);
    if (!take(r, "statistics ", &statistics) || !take(r, "layers ", &shape) || !take(r, "seed ", &seed) ||
        !take(r, "weights ", &count))
        return refuse(r, "statistics, layers, seed and weights are wanted here");
    n = strtoull(statistics, NULL, 10);
    if (!n || n > EXP_RANK_MAX_STATISTICS)
        return refuse(r, "so many statistics are not possible");
    err = exp_rank_net_new(net, (size_t)n, strtoull(seed, NULL, 10));
    if (err)
        return exp_fail(r->why, r->why_bytes, err, "out of memory");
    for (size_t l = 0; l < EXP_RANK_LAYERS; l++)
        exp_say_more(wanted, sizeof wanted, "%s%zu", l ? " " : "", net->n_neurons[l]);
    if (!is_line(shape, wanted) || strtoull(count, NULL, 10) != net->n_weights)
        return refuse(r, "a net of another shape");
    return 0;
}

static int read_net(struct reader *r, struct exp_rank_net *net)
{
    const char *text = r->at, *value;
    char *end;
    int err = read_head(r, net);
    uint64_t sum;

    for (size_t i = 0; i < net->n_weights && !err; i++) {
        if (!take(r, "", &value))
            return refuse(r, "weights are missing");
        net->weight[i] = strtod(value, &end);
        if (end == value || *end != '\n')
            return refuse(r, "not a number");
    }
    if (err)
        return err;
    sum = sum_of(text, (size_t)(r->at - text));
    if (!take(r, "sum ", &value) || strtoull(value, &end, 16) != sum || *end != '\n' || *r->at)
        return refuse(r, "the file was cut or changed: its sum is another");
    return 0;
}

int exp_rank_file_read(struct exp_rank_net *net, const char *path, char *why, size_t why_bytes)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why, why_bytes);

    *net = (struct exp_rank_net){ 0 };
    if (err)
        return err;
    err = read_net(&(struct reader){ path, text, 0, why, why_bytes }, net);
    if (err)
        exp_rank_net_release(net);
    free(text);
    return err;
}
