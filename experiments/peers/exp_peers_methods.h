/* The methods that are compared, and the states of the caches in which they are timed. */
#ifndef EXPERIMENTS_EXP_PEERS_METHODS_H
#define EXPERIMENTS_EXP_PEERS_METHODS_H

#include <stdbool.h>

/*
 * One line each, but for Base, which all are compared with: its number, its name in files, the head of its column on
 * the terminal, a note behind the name. The SConvs stand side by side, and oneDNN's last, in the order of enum
 * exp_dnnl_layout.
 */
/* clang-format off */
#define EXP_EACH_PEER_OF_BASE(PEER)                                                                                    \
    PEER(EXP_PEER_BASE_ROWS, "base_rows",      "rows",     " (im2col by rows)")         /* + OpenBLAS */               \
    PEER(EXP_PEER_SCONV,     "sconv",          "sconv",    " (as in the paper)")        /* as CSA chose */             \
    PEER(EXP_PEER_OPENBLAS,  "sconv_openblas", "blas ukr", " (with its micro-kernel)")  /* as Base has it */           \
    PEER(EXP_PEER_TUNED,     "sconv_tuned",    "tuned",    "")                          /* for speed: kernels/tune.h */ \
    PEER(EXP_PEER_NCHW,      "onednn_nchw",    "nchw",     "")                          /* NCHW in and out */          \
    PEER(EXP_PEER_REORDER,   "onednn_reorder", "reorder",  " (conversions timed)")      /* from and to NCHW */         \
    PEER(EXP_PEER_BLOCKED,   "onednn_blocked", "blocked",  "")                          /* a whole network in blocked layouts */
/* clang-format on */

#define EXP_PEER_NUMBER(number, name, head, note) number,

enum exp_peer {
    EXP_PEER_BASE, /* im2col as Caffe's + OpenBLAS */
    EXP_EACH_PEER_OF_BASE(EXP_PEER_NUMBER) EXP_N_PEERS,
};

#undef EXP_PEER_NUMBER

enum { EXP_N_PEERS_SCONVS = EXP_PEER_NCHW - EXP_PEER_SCONV };

enum exp_peers_cache { EXP_PEERS_SWEEP, EXP_PEERS_HOT, EXP_N_PEERS_CACHES };

const char *exp_peer_name(enum exp_peer m);
const char *exp_peer_head(enum exp_peer m);
bool exp_peer_is_sconv(enum exp_peer m);

const char *exp_peers_cache_name(enum exp_peers_cache c);

#endif
