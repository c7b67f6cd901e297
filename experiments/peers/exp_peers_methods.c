#include "experiments/peers/exp_peers_methods.h"

#include <assert.h>

#include "experiments/setup/exp_algo.h"

#define RECORD(number, kind_, name_, head_, note, title_, colour_)                                                     \
    [number] = { .kind = EXP_PEER_KIND_##kind_, .name = name_, .head = head_, .title = title_, .colour = colour_ },

static const struct {
    enum exp_peer_kind kind;
    const char *name, *head;
    const char *title, *colour; /* NULL: the algorithm's */
} peers[EXP_N_PEERS] = { EXP_EACH_PEER(RECORD) };

const char *exp_peer_name(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return peers[m].name;
}

const char *exp_peer_head(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return peers[m].head;
}

const char *exp_peer_title(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return exp_peer_is_algo(m) ? exp_algo_find(peers[m].name)->title : peers[m].title;
}

const char *exp_peer_colour(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return exp_peer_is_algo(m) ? exp_algo_find(peers[m].name)->colour : peers[m].colour;
}

enum exp_peer_kind exp_peer_kind(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return peers[m].kind;
}

bool exp_peer_is_algo(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return !peers[m].title;
}

bool exp_peer_is_sconv(enum exp_peer m)
{
    return peers[m].kind == EXP_PEER_KIND_SCONV;
}

bool exp_peer_is_planned(enum exp_peer m)
{
    return exp_peer_is_sconv(m) || peers[m].kind == EXP_PEER_KIND_CODE;
}

bool exp_peer_is_onednn(enum exp_peer m)
{
    return peers[m].kind == EXP_PEER_KIND_ONEDNN;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    static const char *const names[EXP_N_PEERS_CACHES] = { "sweep", "hot" };

    assert(c < EXP_N_PEERS_CACHES);
    return names[c];
}
