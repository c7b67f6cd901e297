// Three convolutions, one of them NHWC with dilation, behind each other with a ReLU, a pooling and a padding; the machine is in the module.
// run: net 3468 864 8640 -> 2880
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU": #dlti.target_device_spec<#dlti.dl_entry<"L1_cache_size_in_bytes", 32768 : i32>, #dlti.dl_entry<"L2_cache_size_in_bytes", 524288 : i32>, #dlti.dl_entry<"max_vector_op_width", 256 : i32>>>} {
  func.func @net(%x: tensor<1x3x34x34xf32>, %w0: tensor<32x3x3x3xf32>, %w2: tensor<3x3x48x20xf32>) -> tensor<1x12x12x20xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %w1 = arith.constant dense<0.25> : tensor<48x32x1x1xf32>
    %e0 = tensor.empty() : tensor<1x32x32x32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32>
    %c0 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w0 : tensor<1x3x34x34xf32>, tensor<32x3x3x3xf32>) outs(%f0 : tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a,b,c,d)->(a,b,c,d)>, affine_map<(a,b,c,d)->(a,b,c,d)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%c0 : tensor<1x32x32x32xf32>) outs(%e0 : tensor<1x32x32x32xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %zero : f32
      linalg.yield %m : f32 } -> tensor<1x32x32x32xf32>
    %e1 = tensor.empty() : tensor<1x32x15x15xf32>
    %win = tensor.empty() : tensor<3x3xf32>
    %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x32x15x15xf32>) -> tensor<1x32x15x15xf32>
    %p = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%r, %win : tensor<1x32x32x32xf32>, tensor<3x3xf32>) outs(%f1 : tensor<1x32x15x15xf32>) -> tensor<1x32x15x15xf32>
    %e2 = tensor.empty() : tensor<1x48x15x15xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x48x15x15xf32>) -> tensor<1x48x15x15xf32>
    %c1 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w1 : tensor<1x32x15x15xf32>, tensor<48x32x1x1xf32>) outs(%f2 : tensor<1x48x15x15xf32>) -> tensor<1x48x15x15xf32>
    %et = tensor.empty() : tensor<1x15x15x48xf32>
    %t = linalg.transpose ins(%c1 : tensor<1x48x15x15xf32>) outs(%et : tensor<1x15x15x48xf32>) permutation = [0, 2, 3, 1]
    %e3 = tensor.empty() : tensor<1x13x13x20xf32>
    %e4 = tensor.empty() : tensor<1x12x12x20xf32>
    %f3 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x12x12x20xf32>) -> tensor<1x12x12x20xf32>
    %pt = tensor.pad %t low[0,0,0,0] high[0,1,1,0] { ^bb0(%i: index, %j: index, %k: index, %l: index):
       tensor.yield %zero : f32 } : tensor<1x15x15x48xf32> to tensor<1x16x16x48xf32>
    %c2 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%pt, %w2 : tensor<1x16x16x48xf32>, tensor<3x3x48x20xf32>) outs(%f3 : tensor<1x12x12x20xf32>) -> tensor<1x12x12x20xf32>
    return %c2 : tensor<1x12x12x20xf32>
  }
}
