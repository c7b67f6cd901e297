/*
 * The way of a trace out of a process whose descriptors a watched program shares. Some programs close all descriptors but
 * their own, so the trace moves to a descriptor above the program's limit. Before each block is written, the outlet
 * checks the descriptor: the descriptor still belongs to the original file.
 */
#ifndef COUNTERS_WATCH_OUTLET_H
#define COUNTERS_WATCH_OUTLET_H

#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * Returns a duplicate that exec closes, or -errno. The duplicate's number is beyond the reach of the emulated program,
 * which takes a higher limit for a moment; if no higher limit is allowed, the number is one of the program's last two.
 */
int watch_descriptor_move_up(int fd);

struct watch_outlet {
    int fd;
    struct stat is;        /* the file at the start */
    int err;               /* of the first unwritten block, as -errno */
    atomic_bool is_closed; /* bytes are forgotten */
};

/* Takes over a descriptor, and makes *file, whose bytes leave by the outlet, which must not move. Returns 0 or -errno. */
int watch_outlet_open(struct watch_outlet *o, int fd, FILE **file);

/* Closes the descriptor unless the program did; unwritten bytes are forgotten. Also of a forked child's copy. */
void watch_outlet_close(struct watch_outlet *o);

#endif
