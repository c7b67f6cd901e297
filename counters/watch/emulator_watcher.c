#include "counters/watch/marker.h"
#include "counters/watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* The plugin's file holds the process number of the emulator, and the emulator is this process. */
int watch_find(const struct watch_files *f, struct sim_why why)
{
    char path[4096];
    FILE *in;
    long pid = 0;

    if (snprintf(path, sizeof path, "%s.watched", f->out) >= (int)sizeof path)
        return -ENAMETOOLONG;
    in = fopen(path, "r");
    if (in) {
        if (fscanf(in, "%ld", &pid) != 1)
            pid = 0;
        fclose(in);
    }
    return pid == (long)getpid()
               ? 0
               : sim_fail(why, -ENOTSUP, "not watched: this program is run under qemu-user with the observer plugin");
}
