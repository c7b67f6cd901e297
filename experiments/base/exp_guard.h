/*
 * What must not stay behind when the program is ended in the middle of other work: half-written results, other
 * programs.
 *
 * Every such thing has a guard, which lives from its beginning to its end. Beginnings and ends are short, and the
 * program is not ended within one (exp_signal.h); in between, the guard's undo takes the thing away. Thread-safe; the
 * list of guards is global, as the end of a program is.
 */
#ifndef EXPERIMENTS_EXP_GUARD_H
#define EXPERIMENTS_EXP_GUARD_H

struct exp_guard {
    void (*undo)(void *ctx); /* called while other threads go on; what it calls must not begin or end guards */
    void *ctx;
    struct exp_guard *next; /* internal */
};

/*
 * Calls begin(arg), unless NULL. If that returns 0, the guard holds until exp_guard_end. Returns what begin returned.
 */
int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg);

/* Calls end(arg), unless NULL. If that returns 0, the guard, if it held, holds no longer. Returns what end returned. */
int exp_guard_end(struct exp_guard *g, int (*end)(void *arg), void *arg);

/* Undoes everything, the youngest first. Afterwards, who begins or ends a guard waits for ever: the program ends. */
void exp_guard_undo_all(void);

#endif
