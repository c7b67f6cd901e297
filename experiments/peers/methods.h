/* The methods that are compared, and the states of the caches in which they are timed. */
#ifndef EXPERIMENTS_PEERS_METHODS_H
#define EXPERIMENTS_PEERS_METHODS_H

#include <stdbool.h>

/*
 * The methods, each once: options, columns, tables and figures are made of these lines, in their order. One record
 * each:
 *
 *     PEER(number, kind, name in files, head of its column on the terminal, note behind the name, title and colour in
 *     figures)
 *
 * kind: BASE, which all are compared with, or BASE_BY with another im2col; SCONV; CODE, an SConv that is generated and
 * not run step by step; ONEDNN. A method without title and
 * colour is the algorithm of that name, and has those of setup/algos.def. Base comes first, the SConvs stand side by
 * side, and oneDNN's are last, in the order of enum exp_dnnl_layout.
 */
/* clang-format off */
#define EXP_EACH_PEER(PEER)                                                                                            \
    PEER(EXP_PEER_BASE,      BASE,    "base",           "base",     "",                         NULL, NULL)            \
    PEER(EXP_PEER_BASE_ROWS, BASE_BY, "base_rows",      "rows",     " (im2col by rows)",        "im2col by rows", "#56b4e9") \
    PEER(EXP_PEER_SCONV,     SCONV,   "sconv",          "sconv",    " (as in the paper)",       NULL, NULL)            \
    PEER(EXP_PEER_AHEAD,     SCONV,   "sconv_ahead",    "ahead",    " (prefetching)",          NULL, NULL)            \
    PEER(EXP_PEER_OPENBLAS,  SCONV,   "sconv_openblas", "blas ukr", " (with its micro-kernel)", NULL, NULL)            \
    PEER(EXP_PEER_TUNED,     SCONV,   "sconv_tuned",    "tuned",    "",                         NULL, NULL)            \
    PEER(EXP_PEER_GEN,       CODE,    "sconv_gen",      "gen",      " (generated)",             NULL, NULL)            \
    PEER(EXP_PEER_NCHW,      ONEDNN,  "onednn_nchw",    "nchw",     "",                         "oneDNN, NCHW", "#e69f00") \
    PEER(EXP_PEER_REORDER,   ONEDNN,  "onednn_reorder", "reorder",  " (conversions timed)",     "oneDNN, reorders timed", "#d55e00") \
    PEER(EXP_PEER_BLOCKED,   ONEDNN,  "onednn_blocked", "blocked",  "",                         "oneDNN, no reorders", "#0072b2")
/* clang-format on */

#define EXP_PEER_NUMBER(number, ...) number,
enum exp_peer { EXP_EACH_PEER(EXP_PEER_NUMBER) EXP_N_PEERS };
#undef EXP_PEER_NUMBER

enum exp_peer_kind {
    EXP_PEER_KIND_BASE,
    EXP_PEER_KIND_BASE_BY,
    EXP_PEER_KIND_SCONV,
    EXP_PEER_KIND_CODE,
    EXP_PEER_KIND_ONEDNN
};

enum {
    EXP_N_PEERS_SCONVS = EXP_PEER_GEN - EXP_PEER_SCONV,
    EXP_N_PEERS_PLANNED = EXP_PEER_NCHW - EXP_PEER_SCONV, /* generated ones, too */
    EXP_N_PEERS_ONEDNN = EXP_N_PEERS - EXP_PEER_NCHW,
};

enum exp_peers_cache { EXP_PEERS_SWEEP, EXP_PEERS_HOT, EXP_N_PEERS_CACHES };

const char *exp_peer_name(enum exp_peer m);
const char *exp_peer_head(enum exp_peer m);
const char *exp_peer_title(enum exp_peer m);
const char *exp_peer_colour(enum exp_peer m); /* "#rrggbb" */
enum exp_peer_kind exp_peer_kind(enum exp_peer m);

bool exp_peer_is_algo(enum exp_peer m);    /* of setup/algos.def, and planned as there */
bool exp_peer_is_sconv(enum exp_peer m);   /* which can be run step by step */
bool exp_peer_is_planned(enum exp_peer m); /* an SConv, generated or not */
bool exp_peer_is_onednn(enum exp_peer m);

const char *exp_peers_cache_name(enum exp_peers_cache c);

#endif
