#include "experiments/store/exp_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct exp_result *r)
{
    size_t room = r->room ? 2 * r->room : 16;
    char **name = realloc(r->name, room * sizeof *name);
    uint64_t *value;

    if (!name)
        return -ENOMEM;
    r->name = name;
    value = realloc(r->value, room * sizeof *value);
    if (!value)
        return -ENOMEM;
    r->value = value;
    r->room = room;
    return 0;
}

void exp_result_put(struct exp_result *r, const char *name, uint64_t value)
{
    char *copy;

    if (!r->err && value > INT64_MAX)
        r->err = -ERANGE;
    if (!r->err && r->n == r->room)
        r->err = make_room(r);
    if (r->err)
        return;
    copy = strdup(name);
    if (!copy) {
        r->err = -ENOMEM;
        return;
    }
    r->name[r->n] = copy;
    r->value[r->n++] = value;
}

int exp_result_get(const struct exp_result *r, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!strcmp(r->name[i], name)) {
            *value = r->value[i];
            return 0;
        }
    }
    *value = 0;
    return -ENOENT;
}

void exp_result_release(struct exp_result *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->name[i]);
    free(r->name);
    free(r->value);
    *r = (struct exp_result){ 0 };
}
