/*
 * A user's module of MLIR, in memory: sconv-opt reads it, finds its convolutions, and writes it. Through MLIR's C API;
 * built where Debian's libmlir-19-dev is installed.
 */
#ifndef EXPERIMENTS_EMIT_OPT_MODULE_H
#define EXPERIMENTS_EMIT_OPT_MODULE_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdio.h>

#include "experiments/base/error.h"

struct opt_module {
    MlirContext context;
    MlirModule module;
    const char *path;
    bool is_read;        /* there is a context; else the struct is empty */
    struct exp_why said; /* the first error that MLIR reported since `said` was emptied: "path:line:column: text" */
};

/*
 * Reads and verifies a file; *m must not move. Returns 0; -errno of reading; -EINVAL with MLIR's first error in why. An
 * empty module, filled with zeros, may be released.
 */
int opt_module_read(struct opt_module *m, const char *path, struct exp_why *why);
void opt_module_release(struct opt_module *m);

/* Reads a module that was made here. Returns it, or a null module with MLIR's message in m->said. */
MlirModule opt_module_parse(struct opt_module *m, const char *text);

/* Tells whether the module verifies; else m->said has the reason. */
bool opt_module_verifies(struct opt_module *m);

void opt_module_print(const struct opt_module *m, FILE *out);

/* Prints "path:line:column: remark: ..." about an operation, on standard error. */
void opt_module_remark(const struct opt_module *m, MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Return texts from malloc: an operation's name, and the texts of attributes, types and places. */
char *opt_name_of(MlirOperation op);
char *opt_text_of_attribute(MlirAttribute a);
char *opt_text_of_type(MlirType t);
char *opt_place_of(const struct opt_module *m, MlirLocation l);

/* Tells whether an operation has the name, such as arith.constant. */
bool opt_is_called(MlirOperation op, const char *name);

/* Returns an attribute of an operation, null without an attribute of the name. */
MlirAttribute opt_attribute_of(MlirOperation op, const char *name);

#endif
