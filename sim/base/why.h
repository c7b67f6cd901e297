/* The reason of a failure: one line of text that the failing function writes. */
#ifndef SIM_WHY_H
#define SIM_WHY_H

#include <stddef.h>

struct sim_why {
    char *text; /* [bytes]; the caller owns the text. NULL with 0 bytes: no reason is wanted */
    size_t bytes;
};

/* Makes a sim_why of an array. */
#define SIM_WHY(array) ((struct sim_why){ (array), sizeof(array) })

/* Nobody wants the reason. */
#define SIM_NO_WHY ((struct sim_why){ NULL, 0 })

/* Writes the reason like printf, cut to the room there is. Returns err. */
int sim_fail(struct sim_why why, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends to the reason, cut to the room there is. */
void sim_why_add(struct sim_why why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
