#include "sim/programs/bench_peers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/record.h"

static int fail(struct sim_why why, int err, const char *path, const char *what)
{
    return sim_fail(why, err, "peer %s: %s", path, what);
}

/* dlopen() looks for names without a slash elsewhere. */
static void *open_object(const char *path)
{
    char here[4096];

    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    return dlopen(here, RTLD_NOW | RTLD_LOCAL);
}

static int load(struct bench_peers *p, const char *path, struct sim_why why)
{
    const struct sim_bench_peer *peer;
    const char *fault;

    if (p->n == BENCH_MAX_PEERS)
        return fail(why, -EINVAL, path, "there is room for 8");
    p->loaded[p->n].object = open_object(path);
    if (!p->loaded[p->n].object) {
        fault = dlerror();
        return fail(why, -ENOENT, path, fault ? fault : "cannot be loaded");
    }
    peer = dlsym(p->loaded[p->n++].object, "sim_bench_peer");
    if (!peer)
        return fail(why, -EINVAL, path, "it exports no sim_bench_peer, see sim/programs/bench_peer.h");
    if (peer->version != SIM_BENCH_PEER_VERSION)
        return fail(why, -EINVAL, path, "it was built with another version of sim/programs/bench_peer.h");
    p->loaded[p->n - 1].peer = peer;
    if (!bench_peers_clear(p, p->n - 1))
        return fail(why, -ENOTSUP, path, "it cannot simulate these caches");
    return 0;
}

/* Tells whether a machine counts like plain caches: classes of misses change no count. */
static bool counts_as_plain(const struct sim_machine *m)
{
    struct sim_machine plain = *m;

    for (size_t k = 0; k < m->n_levels; k++)
        plain.level[k].is_classified = false;
    return sim_machine_is_plain(&plain);
}

int bench_peers_load(struct bench_peers *p, const char *paths, const struct sim_machine *m, struct sim_why why)
{
    int err = 0;

    *p = (struct bench_peers){ .n_levels = m->n_levels };
    if (paths && *paths && !counts_as_plain(m))
        return fail(why, -EINVAL, paths, "peers simulate plain caches, and this machine has more");
    for (size_t k = 0; k < m->n_levels; k++)
        p->level[k] = (struct sim_bench_peer_level){ m->level[k].n_sets, m->level[k].n_ways, m->level[k].line_bytes };
    for (const char *at = paths; !err && at && *at; at += strcspn(at, ","), at += *at == ',') {
        char *path = strndup(at, strcspn(at, ","));

        err = path ? load(p, path, why) : fail(why, -ENOMEM, at, strerror(ENOMEM));
        free(path);
    }
    return err;
}

void bench_peers_release(struct bench_peers *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->loaded[i].caches)
            p->loaded[i].peer->release(p->loaded[i].caches);
        dlclose(p->loaded[i].object);
    }
    free(p->access);
}

int bench_peers_fill(struct bench_peers *p, const struct bench_stream *s)
{
    if (!p->n)
        return 0;
    free(p->access);
    p->n_accesses = s->n_records;
    p->access = malloc(s->n_records * sizeof *p->access);
    for (size_t i = 0; p->access && i < s->n_records; i++)
        p->access[i] = (struct sim_bench_peer_access){
            .addr = sim_record_addr(s->record[i]),
            .bytes = sim_record_bytes(s->record[i]),
            .is_store = sim_record_kind(s->record[i]) == SIM_STORE,
        };
    return p->access ? 0 : -ENOMEM;
}

bool bench_peers_clear(struct bench_peers *p, size_t i)
{
    const struct sim_bench_peer *peer = p->loaded[i].peer;

    if (p->loaded[i].caches)
        peer->release(p->loaded[i].caches);
    p->loaded[i].caches = peer->create(p->level, p->n_levels);
    return p->loaded[i].caches != NULL;
}

void bench_peers_feed(struct bench_peers *p, size_t i)
{
    p->loaded[i].peer->feed(p->loaded[i].caches, p->access, p->n_accesses);
}

bool bench_peers_agree(const struct bench_peers *p, size_t i, const struct sim_stats *s)
{
    const struct sim_cell sum = sim_stats_total(s);

    return p->loaded[i].peer->l1_misses(p->loaded[i].caches) == sum.level[0].read_misses + sum.level[0].write_misses;
}
