/* The records of all operators, by file. A record has the name that ONNX gives to the operator. */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_RECORDS_H
#define EXPERIMENTS_NETWORK_OPERATORS_RECORDS_H

#include "experiments/network/operator.h"

/* clang-format off */
#define OP_RECORDS(X)                                                                                                  \
    /* unary.c */                                                                                                      \
    X(Relu) X(LeakyRelu) X(HardSigmoid) X(HardSwish) X(Sigmoid) X(Exp) X(Abs) X(Neg) X(Sqrt) X(Reciprocal) X(Elu)      \
    X(Selu) X(Celu) X(Softplus) X(Shrink) X(Log) X(Floor) X(Ceil) X(Round) X(Erf) X(Sign) X(Tanh) X(Gelu) X(Swish)     \
    X(Mish) X(Clip)                                                                                                    \
    /* binary.c */                                                                                                     \
    X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(PRelu) X(Sum) X(Mean) X(Min) X(Max)                                           \
    /* moves.c, joins.c */                                                                                             \
    X(Transpose) X(DepthToSpace) X(SpaceToDepth) X(Expand) X(Tile) X(Slice) X(Pad) X(Gather) X(Concat) X(Split)        \
    X(Identity) X(Reshape) X(Flatten) X(Squeeze) X(Unsqueeze) X(Dropout)                                               \
    /* pooling.c, normalize.c */                                                                                       \
    X(MaxPool) X(AveragePool) X(GlobalMaxPool) X(GlobalAveragePool) X(BatchNormalization) X(InstanceNormalization)     \
    X(LayerNormalization) X(LRN)                                                                                       \
    /* softmax.c, reduce.c, matmul.c */                                                                                \
    X(Softmax) X(LogSoftmax) X(ReduceSum) X(ReduceMean) X(ReduceMax) X(ReduceMin) X(ReduceL2) X(ReduceSumSquare)       \
    X(Gemm) X(MatMul)                                                                                                  \
    /* convolve.c, resize.c, logic.c */                                                                                \
    X(Conv) X(ConvTranspose) X(Resize) X(Upsample) X(Greater) X(GreaterOrEqual) X(Less) X(LessOrEqual) X(Equal)        \
    X(And) X(Or) X(Not) X(Where) X(Cast)                                                                               \
    /* quantize.c, integers.c */                                                                                       \
    X(QuantizeLinear) X(DequantizeLinear) X(DynamicQuantizeLinear) X(ConvInteger) X(QLinearConv) X(MatMulInteger)      \
    X(QLinearMatMul)
/* clang-format on */

#define OP_DECLARE(name) extern const struct op op_##name;
OP_RECORDS(OP_DECLARE)

#endif
