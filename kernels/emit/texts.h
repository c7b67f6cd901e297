/* Texts that generated code begins with: the files in text/, as they are. */
#ifndef KERNELS_EMIT_TEXTS_H
#define KERNELS_EMIT_TEXTS_H

extern const char conv_text_common[], conv_text_portable[], conv_text_avx2[], conv_text_avx512[];

#endif
