/*
 * Declares the interface of QEMU's user-mode emulators for plugins: the part used here, declared by hand, because no
 * package ships its header (include/qemu/qemu-plugin.h in QEMU's sources, with documentation).
 *
 * Version 1 of the interface, QEMU 4.2 to 8.x; made for and tried with 7.2. A plugin exports qemu_plugin_version. QEMU
 * refuses, and names both numbers, if QEMU does not support the plugin's number: QEMU 9 no longer knows version 1 (its
 * inline additions need a scoreboard). These functions are QEMU's: they resolve when QEMU loads the plugin.
 */
#ifndef SIM_QEMU_PLUGIN_API_H
#define SIM_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QEMU_PLUGIN_VERSION = 1 };

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;   /* a block of instructions in translation */
struct qemu_plugin_insn; /* an instruction of a block, valid while the block's callback runs */

typedef struct {
    const char *target_name; /* "x86_64", "ppc64le", ... */
    struct {
        int min, cur; /* plugin versions that this QEMU supports */
    } version;
    bool system_emulation;
    int unused[2]; /* numbers of processors of a whole machine */
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*qemu_plugin_tb_trans_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_exit_fn)(qemu_plugin_id_t id, void *userdata);
typedef void (*qemu_plugin_exec_fn)(unsigned vcpu, void *userdata);
typedef void (*qemu_plugin_mem_fn)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata);
typedef void (*qemu_plugin_syscall_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

typedef void (*qemu_plugin_syscall_ret_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans_fn fn);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_fn fn, void *userdata);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn fn);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_plugin_syscall_ret_fn fn);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn); /* the instruction's bytes */
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn); /* address in the emulator's memory */
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn); /* function of the main program, or NULL */

/* Called before the instruction. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn fn,
                                            enum qemu_plugin_cb_flags flags, void *userdata);

/* Called for every access of the instruction, in TCG's order: in pieces of at most 8 bytes. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn fn,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *userdata);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info); /* log2 of the piece's bytes */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

/* Adds to *ptr, in generated code, when the block or instruction begins. */
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *ptr,
                                              uint64_t addend);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *ptr,
                                                uint64_t addend);

#endif
