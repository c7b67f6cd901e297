/*
 * Replacement policies of the full engine: the way of a full set that makes room. A policy is a file
 * (replacement_<name>.c), found by name. (The plain engine has LRU built in.)
 *
 * A cache numbers the ways of a set from 0 and tells the policy about hits and fills. The policy has words of its own,
 * set_words() per set, and may keep more per level in struct sim_replacement_level. Filling takes the invalid way of
 * lowest index (highest for a policy that fills_last), without asking the policy.
 *
 *   name           on a hit               on a fill              victim
 *   lru            youngest               youngest               oldest
 *   fifo           nothing                youngest               oldest
 *   tree-plru      tree points away       tree points away       where the tree points; ways a power of two
 *   bit-plru       bit set (*)            bit set (*)            lowest way whose bit is clear      [Malamy 1994; NRU]
 *   random         nothing                nothing                way (r mod ways), r the next number of splitmix64,
 *                                                                seeded with the level's seed       [Steele 2014]
 *   srrip          value 0                value 2                lowest way of value 3, after adding 1 to all until
 *                                                                there is one                       [Jaleel 2010]
 *   brrip          value 0                value 3, but 2 on      as srrip
 *                                         every 32nd fill of
 *                                         the level
 *   drrip          value 0                as the set's side says as srrip
 *   QLRU_H.._M._R._U.[_UMO]               see replacement_qlru.c                                    [Abel 2020]
 *
 *   (*) if the last clear bit would be set, all further bits are cleared (a set of a single way keeps its bit).
 *
 * drrip: the sets whose index is 0 modulo p always fill as srrip, sets of index 1 modulo p always as brrip, p = max(2,
 * sets / 32). A counter of 10 bits starts at 511, goes up on a fill of the first kind and down on a fill of the second,
 * and stays within 0..1023. All further sets fill as brrip while the counter is above 511. The level's count to 32
 * counts the fills made as brrip.
 *
 * Sources: Malamy, Patel, Hayes, US patent 5,353,425 (1994); Steele, Lea, Flood, Fast splittable pseudorandom number
 * generators, OOPSLA 2014; Jaleel, Theobald, Steely, Emer, High performance cache replacement using re-reference
 * interval prediction, ISCA 2010 (2-bit values, hit priority); Abel, Reineke, nanoBench, ISPASS 2020.
 */
#ifndef SIM_REPLACEMENT_H
#define SIM_REPLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A policy's view and memory of its level as a whole. */
struct sim_replacement_level {
    uint32_t n_ways;
    uint64_t n_sets;
    uint64_t random; /* state of the generator */
    uint64_t clock;
    uint32_t n_far;    /* fills as brrip, modulo 32 */
    uint32_t selector; /* of drrip */
    uint8_t param[5];  /* of qlru: H's two digits, M, R, U */
    bool updates_on_miss_only;
};

struct sim_replacement {
    bool needs_power_of_two_ways;
    bool hit_settles; /* a second hit on a way, straight after the first, changes nothing that matters */
    bool hits_repeat; /* equal hits in equal order, made twice, leave a set as made once */

    size_t (*set_words)(uint32_t n_ways);
    void (*clear)(const struct sim_replacement_level *l, uint64_t *set); /* all ways invalid */
    void (*hit)(struct sim_replacement_level *l, uint64_t *set, uint32_t way);
    void (*fill)(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way);
    void (*miss)(struct sim_replacement_level *l, uint64_t *set);       /* before victim and fill; NULL: nothing */
    uint32_t (*victim)(struct sim_replacement_level *l, uint64_t *set); /* all ways are valid */
    void (*invalidate)(struct sim_replacement_level *l, uint64_t *set, uint32_t way); /* NULL: nothing */
};

/* All policies but qlru, which has many names: the end of the C name, and the name in files and options. */
#define SIM_REPLACEMENTS(POLICY)                                                                                       \
    POLICY(lru, "lru")                                                                                                 \
    POLICY(fifo, "fifo")                                                                                               \
    POLICY(tree_plru, "tree-plru")                                                                                     \
    POLICY(bit_plru, "bit-plru")                                                                                       \
    POLICY(random, "random")                                                                                           \
    POLICY(srrip, "srrip")                                                                                             \
    POLICY(brrip, "brrip")                                                                                             \
    POLICY(drrip, "drrip")

#define SIM_REPLACEMENT_DECLARE(symbol, name) extern const struct sim_replacement sim_replacement_##symbol;
SIM_REPLACEMENTS(SIM_REPLACEMENT_DECLARE)
extern const struct sim_replacement sim_replacement_qlru;

/* The names as a text, for messages. */
#define SIM_REPLACEMENT_LIST(symbol, name) name ", "
#define SIM_REPLACEMENT_NAMES SIM_REPLACEMENTS(SIM_REPLACEMENT_LIST) "QLRU_H.._M._R._U.[_UMO]"

/* Returns the policy with a name, or NULL. */
const struct sim_replacement *sim_replacement_find(const char *name);

/* Fills in the level's memory for the name, seed and geometry. find() must know the name. */
void sim_replacement_level_init(struct sim_replacement_level *l, const char *name, uint32_t n_ways, uint64_t n_sets,
                                uint64_t seed);

/* Tells whether the highest invalid way is filled first. */
static inline bool sim_replacement_fills_last(const struct sim_replacement_level *l)
{
    return l->param[3] == 2;
}

/* Reads "QLRU_H11_M1_R0_U0" into l->param and l->updates_on_miss_only. Returns whether the name is valid. */
bool sim_replacement_parse_qlru(const char *name, struct sim_replacement_level *l);

/*
 * Shared by lru and fifo. Up to 16 ways: a word with the ways in order of their last use (or fill), the latest in the
 * lowest four bits. More ways: a word per way, the time of its last use.
 */
enum { SIM_REPLACEMENT_MAX_ORDERED = 16 };

#define SIM_REPLACEMENT_NIBBLES 0x1111111111111111u

size_t sim_replacement_age_words(uint32_t n_ways);
void sim_replacement_age_clear(const struct sim_replacement_level *l, uint64_t *set);
void sim_replacement_age_fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way);
uint32_t sim_replacement_age_victim(struct sim_replacement_level *l, uint64_t *set);
bool sim_replacement_age_is_older(const struct sim_replacement_level *l, const uint64_t *set, uint32_t a, uint32_t b);

/* Returns the place of a way in an order, times four: the nibble that is zero in order XOR way. */
static inline unsigned sim_replacement_order_place(uint64_t order, uint32_t way)
{
    uint64_t nibbles = order ^ way * SIM_REPLACEMENT_NIBBLES;
    uint64_t zeros = (nibbles - SIM_REPLACEMENT_NIBBLES) & ~nibbles & SIM_REPLACEMENT_NIBBLES << 3;

    return (unsigned)__builtin_ctzll(zeros) & ~3u;
}

/* Moves the way at a place to the front. */
static inline uint64_t sim_replacement_order_move(uint64_t order, unsigned place, uint32_t way)
{
    uint64_t newer = ((uint64_t)1 << place) - 1;

    return (order & ~(newer << 4 | 15)) | (order & newer) << 4 | way;
}

static inline uint64_t sim_replacement_order_use(uint64_t order, uint32_t way)
{
    return sim_replacement_order_move(order, sim_replacement_order_place(order, way), way);
}

static inline uint32_t sim_replacement_order_oldest(uint64_t order, uint32_t n_ways)
{
    return (uint32_t)(order >> 4 * (n_ways - 1) & 15);
}

/*
 * tree-plru of few ways, the tree in a word: a use makes the nodes on the way's path point away, whatever their old
 * direction, so the use is a pair of constant masks.
 */
enum { SIM_REPLACEMENT_MAX_TREE = 16 };

struct sim_replacement_tree {
    uint64_t keep[SIM_REPLACEMENT_MAX_TREE]; /* by way: nodes off the way's path */
    uint64_t set[SIM_REPLACEMENT_MAX_TREE];  /* nodes on the way's path that must point up */
};

void sim_replacement_tree_init(struct sim_replacement_tree *t, uint32_t n_ways);

static inline uint64_t sim_replacement_tree_use(const struct sim_replacement_tree *t, uint64_t tree, uint32_t way)
{
    return (tree & t->keep[way]) | t->set[way];
}

static inline uint32_t sim_replacement_tree_victim(uint64_t tree, uint32_t n_ways)
{
    uint32_t node = 1;

    while (node < n_ways)
        node = 2 * node + (uint32_t)(tree >> node & 1);
    return node - n_ways;
}

/* A hit that changes nothing. */
static inline void sim_replacement_ignore_hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    (void)l;
    (void)set;
    (void)way;
}

#endif
