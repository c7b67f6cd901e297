#include "experiments/peers/exp_peers_methods.h"

#define NAME(number, name, head, note) [number] = name,
#define HEAD(number, name, head, note) [number] = head,

const char *exp_peer_name(enum exp_peer m)
{
    static const char *const names[EXP_N_PEERS] = { [EXP_PEER_BASE] = "base", EXP_EACH_PEER_OF_BASE(NAME) };

    return names[m];
}

const char *exp_peer_head(enum exp_peer m)
{
    static const char *const heads[EXP_N_PEERS] = { [EXP_PEER_BASE] = "base", EXP_EACH_PEER_OF_BASE(HEAD) };

    return heads[m];
}

bool exp_peer_is_sconv(enum exp_peer m)
{
    return m >= EXP_PEER_SCONV && m < EXP_PEER_NCHW;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    static const char *const names[EXP_N_PEERS_CACHES] = { "sweep", "hot" };

    return names[c];
}
