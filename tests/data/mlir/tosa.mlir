// As TensorFlow Lite's importer writes a model: TOSA, which mlir-opt lowers to linalg (prefer-conv2d-kernel-layout-hwcf): padding, bias, clamp.
// lower: builtin.module(func.func(tosa-to-linalg-named{prefer-conv2d-kernel-layout-hwcf=true},tosa-to-linalg,tosa-to-arith),canonicalize)
// run: main 1470 720 16 512 32 -> 1120
module {
  func.func @main(%x: tensor<2x7x21x5xf32>, %w0: tensor<16x3x3x5xf32>, %b0: tensor<16xf32>, %w1: tensor<32x1x1x16xf32>, %b1: tensor<32xf32>) -> tensor<1x5x7x32xf32> {
    %one = tensor.extract_slice %x[1, 0, 0, 0] [1, 7, 21, 5] [1, 1, 1, 1] : tensor<2x7x21x5xf32> to tensor<1x7x21x5xf32>
    %0 = tosa.conv2d %one, %w0, %b0 {dilation = array<i64: 2, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 3>} : (tensor<1x7x21x5xf32>, tensor<16x3x3x5xf32>, tensor<16xf32>) -> tensor<1x5x7x16xf32>
    %1 = tosa.clamp %0 {max_fp = 6.0 : f32, min_fp = 0.0 : f32, max_int = 6 : i64, min_int = 0 : i64} : (tensor<1x5x7x16xf32>) -> tensor<1x5x7x16xf32>
    %2 = tosa.conv2d %1, %w1, %b1 {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x7x16xf32>, tensor<32x1x1x16xf32>, tensor<32xf32>) -> tensor<1x5x7x32xf32>
    return %2 : tensor<1x5x7x32xf32>
  }
}
