#include "experiments/base/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"

void exp_workdir_remove(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0); /* unlinkat refuses folders: "." and ".." */
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void remove_own(void *workdir)
{
    exp_workdir_remove(((struct exp_workdir *)workdir)->path);
}

static int make_own(void *workdir)
{
    char *path = ((struct exp_workdir *)workdir)->path;

    if (exp_name_ends_in(path, "XXXXXX"))
        return mkdtemp(path) ? 0 : -errno;
    return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

int exp_workdir_open(struct exp_workdir *w, char *path, struct exp_why *why)
{
    int err;

    *w = (struct exp_workdir){ .path = path, .guard = { .undo = remove_own, .ctx = w } };
    err = exp_guard_begin(&w->guard, make_own, w);
    if (!err)
        return 0;
    exp_fail(why, err, "cannot make a folder '%s': %s", path, strerror(-err));
    free(path);
    w->path = NULL;
    return err;
}

void exp_workdir_close(struct exp_workdir *w)
{
    if (!w->path)
        return;
    exp_guard_end(&w->guard, NULL, NULL);
    remove_own(w);
    free(w->path);
    w->path = NULL;
}

char *exp_workdir_temporary(void)
{
    const char *tmp = getenv("TMPDIR");

    return exp_format("%s/sconv-XXXXXX", tmp && *tmp ? tmp : "/tmp");
}
