# Copies networks into a folder, without the shapes that they state; prints what python3-onnx infers of the copies: file, value, type and
# shape of every value whose shape it knows, tabs between.   onnx_infer.py FOLDER NETWORK...
import sys

import onnx
import onnx.shape_inference

for number, source in enumerate(sys.argv[2:]):
    path = f"{sys.argv[1]}/{number:04d}.onnx"
    model = onnx.load(source)
    del model.graph.value_info[:]
    for o in model.graph.output:
        if o.type.HasField("tensor_type"):
            o.type.tensor_type.ClearField("shape")
    onnx.save(model, path)
    try:
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # of values that are no tensors
        continue
    for v in list(model.graph.value_info) + list(model.graph.output):
        t = v.type.tensor_type
        if not v.type.HasField("tensor_type") or not t.HasField("shape"):
            continue
        dims = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
        if None not in dims:
            name = onnx.TensorProto.DataType.Name(t.elem_type).lower()
            print(path, v.name, name, "x".join(map(str, dims)) or "scalar", sep="\t")
