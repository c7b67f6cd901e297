/* States a plan as a flat record (plan_keys.def), and makes a plan of a record. */
#ifndef KERNELS_EMIT_PLAN_FACTS_H
#define KERNELS_EMIT_PLAN_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/plan/plan.h"

#define CONV_FACT_TEXT const char *
#define CONV_FACT_SIZE size_t
#define CONV_FACT_REAL double
#define CONV_FACT_FLAG bool

enum conv_fact_type { CONV_FACT_IS_TEXT, CONV_FACT_IS_SIZE, CONV_FACT_IS_REAL, CONV_FACT_IS_FLAG };

struct conv_plan_facts {
    struct conv_problem problem; /* the fields of the section `layer` */
#define KEY(section, key, type, ...) CONV_FACT_##type section##_##key;
#include "kernels/emit/plan_keys.def"
#include "sim/base/why.h"
};

struct conv_plan_key {
    const char *section, *key, *meaning;
    enum conv_fact_type type;
    bool is_decided;
    size_t offset; /* of the member of struct conv_plan_facts */
};

/* Returns the address of a key's value: of a const char *, size_t, double or bool, as the key's type says. */
static inline void *conv_fact_at(struct conv_plan_facts *f, const struct conv_plan_key *k)
{
    return (char *)f + k->offset;
}

size_t conv_plan_key_count(void);
const struct conv_plan_key *conv_plan_key_at(size_t i);

/* States the facts of an SConv plan. Texts belong to the arguments, or are constant. */
struct conv_plan_facts conv_plan_facts_of(const struct conv_plan *plan, const struct csa_caches *caches,
                                          const char *layer, const char *machine);

/* Returns the caches of the facts. */
struct csa_caches conv_plan_facts_caches(const struct conv_plan_facts *f);

/*
 * Plans by the decided keys, for a problem that is finished. other (may be NULL) is a micro-kernel outside the
 * registry. Returns 0, -EINVAL with one line in why that names the key and its value, or -EOVERFLOW.
 */
int conv_plan_of_facts(struct conv_plan *plan, const struct conv_plan_facts *f, const struct conv_ukr *other,
                       struct sim_why why);

#endif
