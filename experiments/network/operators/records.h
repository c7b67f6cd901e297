/* The records of all operators, a line for each file that has some. What is written in ONNX is named as there. */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_RECORDS_H
#define EXPERIMENTS_NETWORK_OPERATORS_RECORDS_H

#include "experiments/network/operator.h"

/* clang-format off */
#define OP_RECORDS(X)                                                                                                  \
    /* unary.c */                                                                                                      \
    X(Relu) X(LeakyRelu) X(ThresholdedRelu) X(HardSigmoid) X(HardSwish) X(Sigmoid) X(Softsign) X(Exp) X(Abs) X(Neg)    \
    X(Sqrt) X(Reciprocal) X(Elu) X(Selu) X(Celu) X(Softplus) X(Shrink) X(Log) X(Floor) X(Ceil) X(Round) X(Erf) X(Sign) \
    X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Tanh) X(Asinh) X(Acosh) X(Atanh) X(Gelu) X(Swish)   \
    X(Mish) X(Clip)                                                                                                    \
    /* binary.c */                                                                                                     \
    X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Mod) X(PRelu) X(Sum) X(Mean) X(Min) X(Max)                                    \
    /* moves.c, joins.c */                                                                                             \
    X(Transpose) X(DepthToSpace) X(SpaceToDepth) X(Expand) X(Tile) X(Slice) X(Pad) X(Gather) X(Concat) X(Split)        \
    X(Identity) X(Reshape) X(Flatten) X(Squeeze) X(Unsqueeze) X(Dropout)                                               \
    /* pooling.c, normalize.c */                                                                                       \
    X(MaxPool) X(AveragePool) X(LpPool) X(GlobalMaxPool) X(GlobalAveragePool) X(GlobalLpPool) X(BatchNormalization)    \
    X(InstanceNormalization) X(LayerNormalization) X(LRN)                                                              \
    /* softmax.c, reduce.c, matmul.c */                                                                                \
    X(Softmax) X(LogSoftmax) X(Hardmax) X(ReduceSum) X(ReduceMean) X(ReduceMax) X(ReduceMin) X(ReduceProd) X(ReduceL1) \
    X(ReduceL2) X(ReduceSumSquare) X(ReduceLogSum) X(ReduceLogSumExp) X(ArgMax) X(ArgMin) X(Gemm) X(MatMul)              \
    /* convolve.c, resize.c, logic.c */                                                                                \
    X(Conv) X(ConvTranspose) X(Resize) X(Upsample) X(Greater) X(GreaterOrEqual) X(Less) X(LessOrEqual) X(Equal)        \
    X(And) X(Or) X(Xor) X(Not) X(IsNaN) X(IsInf) X(Where) X(Cast) X(CastLike)
/* clang-format on */

#define OP_DECLARE(name) extern const struct op op_##name;
OP_RECORDS(OP_DECLARE)

#endif
