#include "experiments/setup/exp_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

char *exp_part_text(const char *folder, const char *file)
{
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    FILE *in = path ? fopen(path, "r") : NULL;
    size_t bytes = 0;

    if (!in || getdelim(&text, &bytes, '\0', in) < 0) {
        free(text);
        text = strdup("");
    }
    if (in)
        fclose(in);
    free(path);
    return text;
}

/* Tells whether the sources are those of a commit: what was changed since has no name. */
static bool is_named(const char *commit)
{
    return *commit && !strstr(commit, "-dirty");
}

bool exp_part_is_kept(const char *folder, const char *commit, const char *key)
{
    char *there = exp_part_text(folder, EXP_PART_KEY_FILE);
    bool kept = there && is_named(commit) && !strcmp(there, key);

    free(there);
    return kept;
}

static int print_text(const void *text, FILE *out)
{
    return fputs(text, out) < 0 ? -EIO : 0;
}

int exp_part_write(const char *folder, const char *marker, const char *key,
                   int (*write)(const void *ctx, const struct exp_outdir *dir, struct exp_why *why), const void *ctx,
                   struct exp_why *why)
{
    struct exp_outdir dir;
    int err = exp_outdir_open(&dir, folder, marker, why);

    if (err)
        return err;
    err = write(ctx, &dir, why);
    if (!err)
        err = exp_outdir_write(&dir, EXP_PART_KEY_FILE, print_text, key, why);
    if (!err)
        err = exp_outdir_commit(&dir, why);
    if (err)
        exp_outdir_abort(&dir);
    return err;
}
