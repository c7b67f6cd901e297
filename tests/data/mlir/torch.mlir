// As torch-mlir lowers Conv2d with a bias, ReLU, Conv2d, and the sum with the first: sums begin with the bias, a result is used twice.
// run: forward 1200 216 8 576 -> 1152
#pair = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#bias = affine_map<(d0, d1, d2, d3) -> (d1)>
module attributes {torch.debug_module_name = "Residual"} {
  func.func @forward(%arg0: tensor<2x3x10x20xf32>, %w0: tensor<8x3x3x3xf32>, %b0: tensor<8xf32>, %w1: tensor<8x8x3x3xf32>) -> tensor<2x8x4x9x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 0, 0, 0] high[0, 0, 0, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %cst : f32
    } : tensor<2x3x10x20xf32> to tensor<2x3x10x20xf32>
    %0 = tensor.empty() : tensor<2x8x8x18xf32>
    %1 = linalg.generic {indexing_maps = [#bias, #pair], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b0 : tensor<8xf32>) outs(%0 : tensor<2x8x8x18xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x8x8x18xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %w0 : tensor<2x3x10x20xf32>, tensor<8x3x3x3xf32>) outs(%1 : tensor<2x8x8x18xf32>) -> tensor<2x8x8x18xf32>
    %3 = linalg.generic {indexing_maps = [#pair, #pair], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x8x8x18xf32>) outs(%0 : tensor<2x8x8x18xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c = arith.cmpf ugt, %in, %cst : f32
      %s = arith.select %c, %in, %cst : f32
      linalg.yield %s : f32
    } -> tensor<2x8x8x18xf32>
    %framed = tensor.pad %3 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %cst : f32
    } : tensor<2x8x8x18xf32> to tensor<2x8x10x20xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x8x8x18xf32>) -> tensor<2x8x8x18xf32>
    %5 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%framed, %w1 : tensor<2x8x10x20xf32>, tensor<8x8x3x3xf32>) outs(%4 : tensor<2x8x8x18xf32>) -> tensor<2x8x8x18xf32>
    %6 = linalg.generic {indexing_maps = [#pair, #pair, #pair], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %5 : tensor<2x8x8x18xf32>, tensor<2x8x8x18xf32>) outs(%0 : tensor<2x8x8x18xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<2x8x8x18xf32>
    %even = tensor.extract_slice %6[0, 0, 0, 0] [2, 8, 4, 18] [1, 1, 2, 1] : tensor<2x8x8x18xf32> to tensor<2x8x4x18xf32>
    %out = tensor.expand_shape %even [[0], [1], [2], [3, 4]] output_shape [2, 8, 4, 9, 2] : tensor<2x8x4x18xf32> into tensor<2x8x4x9x2xf32>
    return %out : tensor<2x8x4x9x2xf32>
  }
}
