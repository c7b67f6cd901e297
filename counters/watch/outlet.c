#define _GNU_SOURCE /* fopencookie */
#include "counters/watch/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 16,
    HIGHEST_FD = 1 << 16, /* the kernel keeps a table up to the highest descriptor */
};

int watch_descriptor_move_up(int fd)
{
    struct rlimit now, wide;
    int at, moved;

    if (getrlimit(RLIMIT_NOFILE, &now))
        return -errno;
    wide = (struct rlimit){ now.rlim_max, now.rlim_max };
    at = now.rlim_cur < HIGHEST_FD ? (int)now.rlim_cur : HIGHEST_FD;
    if (setrlimit(RLIMIT_NOFILE, &wide))
        wide = now;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, (rlim_t)at + 1 < wide.rlim_cur ? at : at - 2);
    moved = moved < 0 ? -errno : moved;
    setrlimit(RLIMIT_NOFILE, &now);
    return moved;
}

/* Tells whether the descriptor is still the original: not closed, nor a different file by now. */
static bool is_there(const struct watch_outlet *o)
{
    struct stat now;

    return !fstat(o->fd, &now) && now.st_dev == o->is.st_dev && now.st_ino == o->is.st_ino;
}

static int write_all(const struct watch_outlet *o, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(o->fd, bytes, n);

        if (done < 0 && errno != EINTR)
            return -errno;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* Is the trace's way to write; a closed outlet forgets the bytes. */
static ssize_t write_block(void *cookie, const char *bytes, size_t n)
{
    struct watch_outlet *o = cookie;

    if (o->is_closed)
        return (ssize_t)n;
    if (!o->err)
        o->err = is_there(o) ? write_all(o, bytes, n) : -EBADF;
    return o->err ? 0 : (ssize_t)n;
}

int watch_outlet_open(struct watch_outlet *o, int fd, FILE **file)
{
    const cookie_io_functions_t functions = { .write = write_block };

    o->fd = watch_descriptor_move_up(fd);
    if (o->fd < 0)
        return o->fd;
    close(fd);
    if (fstat(o->fd, &o->is))
        return -errno;
    *file = fopencookie(o, "wb", functions);
    if (!*file)
        return -ENOMEM;
    setvbuf(*file, NULL, _IOFBF, BLOCK_BYTES);
    return 0;
}

void watch_outlet_close(struct watch_outlet *o)
{
    if (is_there(o))
        close(o->fd);
    o->is_closed = true;
}
