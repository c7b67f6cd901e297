/* Replacement policies of the full engine, worked by hand. Every test runs the naive model as well. */
#include "tests/rng.h"
#include "tests/sim/sim_pair.h"

/* Loads the lines named by letters, all in set `set` of n_sets; each must hit (h) or miss (m) as said. */
static void check_letters(struct pair *p, const char *name, const char *letters, const char *expected, uint64_t set,
                          uint64_t n_sets)
{
    CU_ASSERT_FATAL(strlen(letters) == strlen(expected));
    for (size_t i = 0; letters[i]; i++) {
        char got = misses(p, (uint64_t)(letters[i] - 'A') * n_sets + set) ? 'm' : 'h';

        if (!test_check(got == expected[i], "%s: %c, the %zuth of %s: %c", name, letters[i], i + 1, letters, got))
            return;
    }
}

/* Policies of a set, and the loads that hit or miss. */
static const struct {
    const char *name, *policy;
    uint32_t n_ways;
    const char *letters, *expected;
} worked[] = {
    /* A B, A again, so C replaces B; A is still there; B replaces C. */
    { "lru replaces what was used longest ago", "lru", 2, "ABACAB", "mmhmhm" },
    /* The hit on A does not help A: C replaces A, A replaces B, B replaces C. */
    { "fifo replaces what came first", "fifo", 2, "ABACAB", "mmhmmm" },
    /* Twelve references miss 9 times with 3 ways and 10 times with 4 (Belady, Nelson, Shedler, CACM 12, 1969). */
    { "fifo may miss more with more ways", "fifo", 3, "ABCDABEABCDE", "mmmmmmmhhmmh" },
    { "fifo may miss more with more ways", "fifo", 4, "ABCDABEABCDE", "mmmmhhmmmmmm" },
    /*
     * Root and the two nodes below after each: A (way 0) 1,1,0; B (1) 1,0,0; C (2) 0,0,1; D (3) 0,0,0; hit A 1,1,0. E
     * goes where the root points: upper half, lower way of the half: way 2, C leaves (LRU would take B): 0,1,1. Hit B
     * 1,0,1. C: upper half, upper way: way 3, D leaves: 0,0,0. E hits. D misses.
     */
    { "tree-plru follows its tree", "tree-plru", 4, "ABCDAEBCED", "mmmmhmhmhm" },
    /*
     * Bits of ways 0..3: A 1000, B 1100, C 1110, D would set the last: 0001. E takes way 0 (A leaves): 1001. Hit B
     * 1101. F takes way 2 (C leaves), the last again: 0010. A takes way 0 (E leaves) 1010. D hits.
     */
    { "bit-plru replaces the first clear bit", "bit-plru", 4, "ABCDEBFAD", "mmmmmhmmh" },
    { "bit-plru replaces the first clear bit", "bit-plru", 1, "AABBA", "mhmhm" },
    /*
     * splitmix64 from seed 0 begins e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f, f88bb8a8724c81ec: ways 3, 0,
     * 3, 0. So E replaces D, F replaces A, G replaces E, E replaces F.
     */
    { "random draws from its seed", "random", 4, "ABCDEFBCEGEGB", "mmmmmmhhhmmhh" },
    /*
     * Values: A 2, B 2; hit A 0. C: nothing at 3, so add 1: A 1, B 3; B leaves, C 2. B: add 1: A 2, C 3; C leaves, B 2.
     * A is still there (LRU would have dropped A).
     */
    { "srrip keeps what was used twice", "srrip", 2, "ABACBA", "mmhmmh" },
    /* All come in at 3, so way 0 is replaced over and over and B stays. */
    { "brrip keeps a part of what does not fit", "brrip", 2, "ABCDBEB", "mmmmhmh" },
    /*
     * Ages of ways 0..3: A B C come in at 1 while an invalid way has 3; D makes 1111, and 1111 grows to 3333. E takes
     * way 0 (A leaves): 1333. Hit B 1133. F takes way 2 (C leaves): 1113. Hit D: 1111, grows to 3333. Hit B 3133. G
     * takes way 0.
     */
    { "qlru of Intel's L3 ages all lines", "QLRU_H11_M1_R0_U0", 4, "ABCDEBFDBGE", "mmmmmhmhhmm" },
    /*
     * Filled from the last way: A 3, B 2, C 1, D 0. D comes in at 1 and all but D grow from 1 to 3: 1333. E takes way 1
     * (C leaves): 1133. Hit B (way 2): 1103. F takes way 3 (A leaves) at 1, all but F grow by 2: 3321. Hit B 3301. G
     * takes way 0 (D leaves): 1301. D takes way 1 (E leaves).
     */
    { "qlru of Intel's L2 spares the line just used", "QLRU_H00_M1_R2_U1", 4, "ABCDEBFBGDE", "mmmmmhmhmmm" },
    /*
     * Ages: A 1, B 1, nothing grows after a fill. C: no 3 anywhere, so before the victim is sought all grow to 33; way
     * 0 (A) leaves: 13. A takes way 1 (B leaves): 11. Hit C: 01. B: grow by 2: 23, way 1 (A leaves). C hits.
     */
    { "qlru may age on misses only", "QLRU_H00_M1_R0_U0_UMO", 2, "ABCACBC", "mmmmhmh" },
    /*
     * U2 adds 1, once, if no way has age 3. A comes in at 0 beside an invalid way; B makes 00, grows to 11. C: no age
     * 3, so R1 takes way 0 (A): 01, grows to 12. D takes way 0 (C): 02, grows to 13. E takes way 1 (B).
     */
    { "qlru R1 takes the first way if none is old", "QLRU_H00_M0_R1_U2", 2, "ABCDED", "mmmmmh" },
};

static void policies_do_what_was_worked_by_hand(void)
{
    for (size_t i = 0; i < COUNT(worked); i++) {
        struct sim_machine m = { .n_levels = 1, .level = { level(worked[i].policy, 1, worked[i].n_ways) } };
        struct pair p = build(&m);

        check_letters(&p, worked[i].name, worked[i].letters, worked[i].expected, 0, 1);
        release(&p);
    }
}

/* Trees of many ways have more bits than a word. */
static void large_trees_are_those_of_the_naive_model(void)
{
    struct sim_machine m = { .n_levels = 1, .level = { level("tree-plru", 2, 128) } };
    struct pair p = build(&m);
    size_t n_missed = 0;

    for (unsigned i = 0; i < 4000; i++)
        n_missed += misses(&p, rng_below(320));
    test_check(n_missed > 320 && n_missed < 2000, "%zu misses", n_missed);
    release(&p);
}

/* Fills 1 to 31 come in at 3, the last 30 fills into way 0; fill 32 at 2, so fill 33 takes way 1. */
static void every_32nd_fill_of_brrip_stays_longer(void)
{
    struct sim_machine m = { .n_levels = 1, .level = { level("brrip", 1, 2) } };
    struct pair p = build(&m);

    for (uint64_t line = 1; line <= 33; line++)
        EXPECT(misses(&p, line), true);
    EXPECT(misses(&p, 32), false);
    EXPECT(misses(&p, 2), true);
    release(&p);
}

/*
 * 96 sets: period 3, so sets 2, 5, ... follow. The counter starts at 511: the sets fill as srrip, and ABCDB misses
 * throughout (A 2, B 2; C replaces A, making B 3; D replaces B). A fill of set 0 gives 512: set 5 fills as brrip, B
 * stays. Two fills of set 1 give 510: set 8 fills as srrip again, and so does set 11 after one more fill of set 0
 * (511).
 */
static void drrip_follows_the_better_side(void)
{
    struct sim_machine m = { .n_levels = 1, .level = { level("drrip", 96, 2) } };
    struct pair p = build(&m);

    check_letters(&p, "drrip", "ABCDB", "mmmmm", 2, 96);
    check_letters(&p, "drrip", "A", "m", 0, 96);
    check_letters(&p, "drrip", "ABCDB", "mmmmh", 5, 96);
    check_letters(&p, "drrip", "AB", "mm", 1, 96);
    check_letters(&p, "drrip", "ABCDB", "mmmmm", 8, 96);
    check_letters(&p, "drrip", "B", "m", 0, 96);
    check_letters(&p, "drrip", "ABCDB", "mmmmm", 11, 96);
    release(&p);
}

static const struct test_case cases[] = {
    { "policies do what was worked by hand", policies_do_what_was_worked_by_hand },
    { "large trees are those of the naive model", large_trees_are_those_of_the_naive_model },
    { "every 32nd fill of brrip stays longer", every_32nd_fill_of_brrip_stays_longer },
    { "drrip follows the better side", drrip_follows_the_better_side },
    { NULL, NULL },
};

const struct test_suite suite_sim_policy = { "sim_policy", cases };
