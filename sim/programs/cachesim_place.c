#include "sim/programs/cachesim_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cachesim_place_folder(char *folder, size_t bytes)
{
    ssize_t length = readlink("/proc/self/exe", folder, bytes - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        strcpy(folder, ".");
}

static bool is_program(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

bool cachesim_place_program(const char *name, char *path, size_t bytes)
{
    const char *list = getenv("PATH");

    if (strchr(name, '/')) {
        snprintf(path, bytes, "%s", name);
        return is_program(path);
    }
    for (list = list ? list : "/usr/bin:/bin"; *list; list += *list == ':') {
        size_t length = strcspn(list, ":");

        snprintf(path, bytes, "%.*s/%s", length ? (int)length : 1, length ? list : ".", name);
        if (is_program(path))
            return true;
        list += length;
    }
    return false;
}

void cachesim_place_of_descriptor(int fd, char path[static CACHESIM_PLACE_BYTES])
{
    static const char slashes[] = "//////////";
    char pid[16];
    const int n = snprintf(pid, sizeof pid, "%ld", (long)getpid());

    snprintf(path, CACHESIM_PLACE_BYTES, "/proc%s%s/fd/%d", slashes + (n < 10 ? n : 9), pid, fd);
}
