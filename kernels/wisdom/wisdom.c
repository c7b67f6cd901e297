#include "kernels/wisdom/wisdom.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernels/ukr/dispatch.h"
#include "kernels/wisdom/choice.h"
#include "kernels/wisdom/wisdom_lines.h"

enum { PATH_BYTES = 4096 };

struct conv_wisdom {
    pthread_mutex_t mutex;
    struct wisdom_lines lines;
    char path[PATH_BYTES]; /* kept up to date; "" = none */
};

struct conv_wisdom *conv_wisdom_create(void)
{
    struct conv_wisdom *w = calloc(1, sizeof *w);

    if (w)
        pthread_mutex_init(&w->mutex, NULL);
    return w;
}

void conv_wisdom_release(struct conv_wisdom *w)
{
    if (!w)
        return;
    wisdom_lines_release(&w->lines);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

void conv_wisdom_forget(struct conv_wisdom *w)
{
    pthread_mutex_lock(&w->mutex);
    wisdom_lines_release(&w->lines);
    pthread_mutex_unlock(&w->mutex);
}

size_t conv_wisdom_count(struct conv_wisdom *w)
{
    size_t n;

    pthread_mutex_lock(&w->mutex);
    n = w->lines.n;
    pthread_mutex_unlock(&w->mutex);
    return n;
}

static int put_all(struct wisdom_lines *to, const struct wisdom_lines *from)
{
    int err = 0;

    for (size_t i = 0; i < from->n && !err; i++)
        err = wisdom_lines_put(to, from->line[i].key, &from->line[i].value);
    return err;
}

int conv_wisdom_import(struct conv_wisdom *w, const char *path, struct sim_why why)
{
    struct wisdom_lines file = { 0 };
    int err = wisdom_lines_read(&file, path, why);

    assert(path);
    if (err)
        return err;
    pthread_mutex_lock(&w->mutex);
    err = put_all(&w->lines, &file);
    pthread_mutex_unlock(&w->mutex);
    wisdom_lines_release(&file);
    return err;
}

/* Locks a file against writers until the lock is closed. Returns a file descriptor, or -errno. */
static int lock_file(const char *path)
{
    char name[PATH_BYTES + 8];
    int fd;

    snprintf(name, sizeof name, "%s.lock", path);
    fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    flock(fd, LOCK_EX);
    return fd;
}

static int merge_and_write(struct conv_wisdom *w, const char *path, struct sim_why why)
{
    struct wisdom_lines all = { 0 };
    int err = access(path, F_OK) ? 0 : wisdom_lines_read(&all, path, why);

    if (!err)
        err = put_all(&all, &w->lines);
    if (!err)
        err = wisdom_lines_write(&all, path, why);
    wisdom_lines_release(&all);
    return err;
}

int conv_wisdom_export(struct conv_wisdom *w, const char *path, struct sim_why why)
{
    int fd = lock_file(path), err;

    assert(path);
    if (fd < 0)
        return sim_fail(why, fd, "%s.lock: %s", path, strerror(-fd));
    pthread_mutex_lock(&w->mutex);
    err = merge_and_write(w, path, why);
    pthread_mutex_unlock(&w->mutex);
    close(fd);
    return err;
}

static int read_tune(const char *tune, bool *measures, struct sim_why why)
{
    *measures = tune && !strcmp(tune, CONV_TUNE_MEASURE);
    if (!tune || !*tune || *measures || !strcmp(tune, "model"))
        return 0;
    return sim_fail(why, -EINVAL, CONV_TUNE_VARIABLE " is '%s', must be model or " CONV_TUNE_MEASURE, tune);
}

static int start_file(struct conv_wisdom *w, const char *path, struct sim_why why)
{
    if (!path || !*path)
        return 0;
    if (strlen(path) >= sizeof w->path)
        return sim_fail(why, -EINVAL, CONV_WISDOM_VARIABLE " is longer than a path can be");
    snprintf(w->path, sizeof w->path, "%s", path);
    return access(path, F_OK) ? 0 : conv_wisdom_import(w, path, why);
}

int conv_wisdom_start(struct conv_wisdom **w, const char *tune, const char *path, bool *measures, struct sim_why why)
{
    int err = read_tune(tune ? tune : getenv(CONV_TUNE_VARIABLE), measures, why);

    *w = NULL;
    if (err)
        return err;
    *w = conv_wisdom_create();
    if (!*w)
        return sim_fail(why, -ENOMEM, "out of memory");
    err = start_file(*w, path ? path : getenv(CONV_WISDOM_VARIABLE), why);
    if (err) {
        conv_wisdom_release(*w);
        *w = NULL;
    }
    return err;
}

/* Finds a remembered choice. Returns whether there is a choice that these kernels can execute. */
static bool recall(struct conv_wisdom *w, const char *key, struct conv_choice *choice)
{
    const struct wisdom_value *found;

    pthread_mutex_lock(&w->mutex);
    found = wisdom_lines_find(&w->lines, key);
    *choice = (struct conv_choice){ 0 };
    if (found)
        *choice = (struct conv_choice){
            conv_ukr_find(found->ukr), found->in_place, found->is_ws ? CSA_WS : CSA_IS, found->n_c, found->k2, found->k3
        };
    pthread_mutex_unlock(&w->mutex);
    return choice->ukr && conv_ukr_runs(choice->ukr);
}

/* Remembers a choice, and writes the file. A choice that could not be written is measured again another time. */
static void remember(struct conv_wisdom *w, const char *key, const struct conv_choice *c)
{
    struct wisdom_value value = {
        .in_place = c->reads_in_place, .is_ws = c->schedule == CSA_WS, .n_c = c->n_c, .k2 = c->k2, .k3 = c->k3
    };

    snprintf(value.ukr, sizeof value.ukr, "%s", c->ukr->name);
    pthread_mutex_lock(&w->mutex);
    wisdom_lines_put(&w->lines, key, &value);
    pthread_mutex_unlock(&w->mutex);
    if (*w->path)
        conv_wisdom_export(w, w->path, SIM_NO_WHY);
}

/* Times the choices and the model's choice, which comes first. */
static int measure(const struct conv_plan *model, const struct csa_caches *caches, struct conv_choice *best)
{
    struct conv_choice choice[CONV_MAX_CHOICES + 1] = { conv_choice_of(model) };
    size_t n = conv_choices(&model->problem, caches, model->ukr->isa, choice + 1), kept = 1;

    for (size_t i = 1; i <= n; i++) {
        if (!conv_choice_equal(&choice[i], &choice[0]))
            choice[kept++] = choice[i];
    }
    return conv_choice_measure(&model->problem, caches, choice, kept, best);
}

int conv_plan_measured(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                       const struct conv_tune_options *tune, struct conv_wisdom *w, bool measures)
{
    int err = conv_plan_tuned(plan, p, caches, tune);
    char key[WISDOM_KEY_BYTES];
    struct conv_choice choice;

    if (err || !w || tune->keeps_ukr || plan->algorithm != CONV_SCONV || !conv_plan_runs(plan))
        return err;
    wisdom_key(p, caches, plan->ukr->isa, key, sizeof key);
    if (recall(w, key, &choice))
        return conv_choice_plan(&choice, p, tune->packs_filters, plan);
    if (!measures || measure(plan, caches, &choice))
        return 0;
    remember(w, key, &choice);
    return conv_choice_plan(&choice, p, tune->packs_filters, plan);
}
