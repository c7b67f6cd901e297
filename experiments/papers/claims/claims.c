#include "experiments/papers/claims/claims.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

#define PRINTED struct claim_printed

static const struct rec_field fields[] = {
    { { "paper", "", "", "" }, REC_AT(PRINTED, paper) },
    { { "figure_or_table", "", "", "" }, REC_AT(PRINTED, figure) },
    { { "workload", "", "", "" }, REC_AT(PRINTED, workload) },
    { { "metric", "", "", "" }, REC_AT(PRINTED, metric) },
    { { "value", "", "", "" }, REC_AT(PRINTED, value) },
};

static const struct rec_table others_table = REC_TABLE("others.csv", fields, PRINTED);

int claims_read(struct claims *c, const char *experiments_dir, const char *paper, struct exp_why *why)
{
    char *path = exp_format("%s/published/%s", experiments_dir, others_table.file.name);
    int err;

    *c = (struct claims){ .n = 0 };
    err = rec_read_some(&c->table, &others_table, path, NULL, REC_ALL, why);
    for (size_t i = 0; i < c->table.n && !err; i++) {
        const PRINTED *row = (const PRINTED *)c->table.row + i;

        if (!paper || !strcmp(row->paper, paper))
            ((struct claim *)exp_append(&c->claim, &c->n, sizeof *c->claim))->printed = *row;
    }
    free(path);
    return err;
}

void claims_release(struct claims *c)
{
    rec_release(&c->table);
    free(c->claim);
    *c = (struct claims){ .n = 0 };
}

const char *claims_printed(const struct claims *c, const char *figure, const char *workload, const char *metric)
{
    assert(metric);
    for (size_t i = 0; i < c->n; i++) {
        const PRINTED *p = &c->claim[i].printed;

        if ((!figure || !strcmp(p->figure, figure)) && (!workload || !strcmp(p->workload, workload)) &&
            !strcmp(p->metric, metric))
            return p->value;
    }
    return NULL;
}

/* Returns the difference in percent; none where a number is a word, or missing. */
static struct value difference(const char *printed, struct value ours)
{
    char *end;
    const double percent = 100 * (ours.number / strtod(printed, &end) - 1);

    return *end ? value_none(REC_DOES_NOT_APPLY) : value_if_finite(percent, REC_DOES_NOT_APPLY);
}

bool claim_take(struct claim *c, const struct claim_ours *ours, size_t n)
{
    size_t i = 0;

    while (i < n && ((ours[i].figure && strcmp(ours[i].figure, c->printed.figure) != 0) ||
                     strncmp(ours[i].metric, c->printed.metric, strlen(ours[i].metric)) != 0))
        i++;
    if (i == n)
        return false;
    c->kind = ours[i].kind;
    c->ours = ours[i].ours;
    c->note = c->ours.why ? c->ours.why : ours[i].note;
    c->difference = difference(c->printed.value, c->ours);
    return true;
}

int claims_compare(struct claims *c, bool (*find)(const void *work, struct claim *c), const void *work,
                   struct exp_why *why)
{
    assert(find);
    for (size_t i = 0; i < c->n; i++) {
        const PRINTED *p = &c->claim[i].printed;

        if (!find(work, &c->claim[i]))
            return exp_fail(why, -EINVAL, "%s: nothing of ours stands beside %s, %s", c->table.table.path, p->figure,
                            p->metric);
    }
    return 0;
}
