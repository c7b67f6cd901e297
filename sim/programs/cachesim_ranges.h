/*
 * Named ranges of addresses: the range of an access's first byte gives the access a tag, which replaces the trace's
 * tag.
 *
 *     # name  begin  end          (or +bytes in place of the end; decimal, or hexadecimal behind 0x)
 *     matrix  0x404080  0x804080
 *     vector  0x804080  +4096
 *
 * A name may have several ranges; ranges may not overlap. Tag 0 is all other memory; names have the tags from 1 in file
 * order, without the tag of instruction fetches, which keep their tag.
 */
#ifndef SIM_CACHESIM_RANGES_H
#define SIM_CACHESIM_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/base/why.h"

enum { CACHESIM_MAX_NAMES = SIM_MAX_TAGS - 2 }; /* all but elsewhere and fetches */

struct cachesim_range {
    uint64_t begin, end; /* end > begin; exclusive */
    unsigned line;       /* of the file */
    uint8_t tag;
};

struct cachesim_ranges {
    struct sim_sink sink; /* takes accesses, and passes the accesses on with their tags */
    struct sim_sink *next;
    bool has_fetches;
    uint8_t fetch_tag;
    unsigned n_tags;              /* all tags are below */
    struct cachesim_range *range; /* [n_ranges], by address */
    size_t n_ranges;
    char *name[SIM_MAX_TAGS]; /* by tag, "elsewhere" included; NULL: nothing has this tag */
};

/*
 * Reads a file. fetch_tag: the tag of instruction fetches, if there are any. Returns 0, or -errno with a line in why,
 * "path:line: what, 'value'", and nothing to release.
 */
int cachesim_ranges_read(struct cachesim_ranges *r, const char *path, bool has_fetches, uint8_t fetch_tag,
                         struct sim_why why);

void cachesim_ranges_release(struct cachesim_ranges *r);

#endif
