#define _GNU_SOURCE /* tee */
#include "sim/programs/cachesim_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/foreign.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_signal.h"
#include "sim/programs/cachesim_tracers.h"

enum { MAX_PATH = 4096 };

static int fail(struct sim_why why, int err, const char *name)
{
    return sim_fail(why, err, "%s, %s", name, strerror(-err));
}

/* ---- compressed files ---- */

static const struct packer {
    const char *ending;
    const char *program, *package; /* the program takes -dc */
} packers[] = {
    { ".gz", "gzip", "gzip" },   { ".Z", "gzip", "gzip" },      { ".zst", "zstd", "zstd" },
    { ".xz", "xz", "xz-utils" }, { ".lzma", "xz", "xz-utils" }, { ".bz2", "bzip2", "bzip2" },
    { ".lz4", "lz4", "lz4" },    { ".lz", "lzip", "lzip" },
};

/* User settings of the unpackers, which must not change their output. */
static const char *const without_settings[] = { "GZIP",   "ZSTD_CLEVEL", "ZSTD_NBTHREADS", "XZ_DEFAULTS",
                                                "XZ_OPT", "BZIP",        "BZIP2",          NULL };

enum { N_PACKERS = sizeof packers / sizeof packers[0] };

size_t cachesim_source_unpacked(const char *path)
{
    const size_t length = strlen(path);

    for (size_t i = 0; i < N_PACKERS; i++) {
        size_t ending = strlen(packers[i].ending);

        if (length > ending && !strcmp(path + length - ending, packers[i].ending))
            return length - ending;
    }
    return length;
}

/* Reads the first bytes of a file or pipe without consuming them. Returns their number. */
static size_t peek(int fd, char *head, size_t bytes)
{
    struct stat s;
    int copy[2];
    ssize_t n = 0;

    if (fstat(fd, &s))
        return 0;
    if (S_ISREG(s.st_mode)) {
        n = pread(fd, head, bytes, lseek(fd, 0, SEEK_CUR));
    } else if (S_ISSOCK(s.st_mode)) {
        n = recv(fd, head, bytes, MSG_PEEK);
    } else if (S_ISFIFO(s.st_mode) && !pipe(copy)) {
        n = tee(fd, copy[1], bytes, 0);
        n = n > 0 ? read(copy[0], head, (size_t)n) : 0;
        close(copy[0]);
        close(copy[1]);
    }
    return n > 0 ? (size_t)n : 0;
}

bool cachesim_source_is_packed(const char *path)
{
    char head[SIM_FOREIGN_HEAD_BYTES];
    const struct sim_foreign *f = NULL;
    struct stat s;
    const int fd = !stat(path, &s) && S_ISREG(s.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return false;
    f = sim_foreign_find(head, peek(fd, head, sizeof head));
    close(fd);
    return f && f->packer;
}

static int start(struct cachesim_source *s, const struct cachesim_start *what, struct sim_why why)
{
    int err = cachesim_child_start(&s->child, what);

    if (err)
        return fail(why, err, what->argv[0]);
    s->in = s->child.in;
    s->child_name = what->argv[0];
    return 0;
}

static int unpack(struct cachesim_source *s, const char *program, int fd, struct sim_why why)
{
    const char *argv[] = { program, "-dc", NULL }, *package = program;
    char where[MAX_PATH];
    int err;

    for (size_t i = 0; i < N_PACKERS; i++) {
        if (!strcmp(packers[i].program, program))
            package = packers[i].package;
    }
    if (!cachesim_place_program(program, where, sizeof where))
        return sim_fail(why, -ENOENT, "%s, it is compressed and %s is not installed (package %s)", s->name, program,
                        package);
    err = cachesim_child_open(&s->child);
    return err ? fail(why, err, s->name)
               : start(s, &(struct cachesim_start){ (char *const *)argv, CACHESIM_INTO_PIPE, fd, without_settings },
                       why);
}

/* Reads a file or standard input, through an unpacker if the data are compressed. */
static int open_stream(struct cachesim_source *s, FILE *in, struct sim_why why)
{
    char head[SIM_FOREIGN_HEAD_BYTES];
    const struct sim_foreign *f = sim_foreign_find(head, peek(fileno(in), head, sizeof head));
    int err;

    s->in = in;
    if (!f || !f->packer)
        return 0;
    err = unpack(s, f->packer, fileno(in), why);
    if (in != stdin)
        fclose(in);
    return err;
}

static int open_file(struct cachesim_source *s, const char *path, struct sim_why why)
{
    FILE *in = fopen(path, "rbe");

    return in ? open_stream(s, in, why) : fail(why, -errno, path);
}

/* ---- of whatever kind ---- */

int cachesim_source_open(struct cachesim_source *s, const struct cachesim_options *o, struct sim_why why)
{
    *s = (struct cachesim_source){ .name = o->trace, .reader = o->reader, .library = { -1, -1 }, .notes_fd = -1 };
    if (o->program)
        return cachesim_tracers_run(s, o, why);
    if (strcmp(o->trace, "-") != 0)
        return open_file(s, o->trace, why);
    s->name = "stdin";
    return open_stream(s, stdin, why);
}

int cachesim_source_close(struct cachesim_source *s, const struct cachesim_end *e, struct sim_why why)
{
    int status, err = e->err;

    if (!s->child_name) {
        if (s->in != stdin)
            fclose(s->in);
        return err;
    }
    status = cachesim_child_end(&s->child, cachesim_signal_is_over());
    if (!cachesim_signal_is_over() && s->tracer)
        err = cachesim_tracers_judge(s, status, e, why);
    else if (!cachesim_signal_is_over() && WIFEXITED(status) && WEXITSTATUS(status))
        err = sim_fail(why, -EINVAL, "%s, %s cannot unpack it: it is damaged or cut short", s->name, s->child_name);
    cachesim_tracers_release(s);
    return err;
}
