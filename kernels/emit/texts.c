#include "kernels/emit/texts.h"

/* The assembler takes a file as it is; a zero ends it. */
#define TEXT(name)                                                                                                     \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".globl conv_text_" #name "\n"                                                                             \
            "conv_text_" #name ":\n"                                                                                   \
            ".incbin \"kernels/emit/text/" #name ".inc\"\n"                                                            \
            ".byte 0\n"                                                                                                \
            ".popsection\n");

TEXT(common)
TEXT(portable)
TEXT(avx2)
TEXT(avx512)
