"""HOW do the weights of e5-small become one fused graph? Token ids in; the text's vector and its tokens' states out.

The graph takes one text at a time. Dynamic int8 shares a scale over everything that runs together, so a text
in a batch would depend on its neighbours; alone, it needs no mask either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[np.float32]]

_FUSED = "com.microsoft"
_HEADS = 12
_EPSILON = 1e-12


class _Graph:
    """Nodes and constants in the order in which they were asked for; each call gives the name of its result."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **settings: Any) -> str:
        # This one kind must also name a result that only masks have use for.
        outputs = [output, f"{output}.mask"] if kind == "EmbedLayerNormalization" else [output]
        name = f"{kind}:{output}"
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, domain=domain, **settings))
        return output

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def product(self, left: str, name: str, output: str) -> str:
        """Times a weight matrix, without its bias: the fused node that follows adds it."""
        return self.node("MatMul", [left, self.constant(name, self.weights[name].T)], output)

    def added_and_normed(self, branch: str, trunk: str, dense: str, norm: str, output: str) -> str:
        inputs = [branch, trunk, self.weight(f"{norm}.weight"), self.weight(f"{norm}.bias")]
        inputs.append(self.weight(f"{dense}.bias"))
        return self.node("SkipLayerNormalization", inputs, output, _FUSED, epsilon=_EPSILON)


def fused(weights: Weights) -> ModelProto:
    graph = _Graph(weights)
    states = _embedded(graph)
    for layer in range(_layers(weights)):
        states = _layer(graph, states, f"encoder.layer.{layer}")
    graph.node("Identity", [states], "tokens")
    _pooled(graph, states)
    width = weights["embeddings.word_embeddings.weight"].shape[1]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "e5-small",
            [helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "length"])],
            [
                helper.make_tensor_value_info("text", TensorProto.FLOAT, [1, width]),
                helper.make_tensor_value_info("tokens", TensorProto.FLOAT, [1, "length", width]),
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)],
        ir_version=8,
        producer_name="onrecord",
    )


def _layers(weights: Weights) -> int:
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))


def _embedded(graph: _Graph) -> str:
    """Every token belongs to segment 0, so that its vector is folded into the positions."""
    positions = graph.weights["embeddings.position_embeddings.weight"]
    positions = positions + graph.weights["embeddings.token_type_embeddings.weight"][0]
    inputs = ["ids", "", graph.weight("embeddings.word_embeddings.weight")]
    inputs += [graph.constant("positions", positions), ""]
    inputs += [graph.weight("embeddings.LayerNorm.weight"), graph.weight("embeddings.LayerNorm.bias")]
    return graph.node("EmbedLayerNormalization", inputs, "embedded", _FUSED, epsilon=_EPSILON)


def _layer(graph: _Graph, states: str, name: str) -> str:
    attention, middle, output = f"{name}.attention", f"{name}.intermediate.dense", f"{name}.output"
    own = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([graph.weights[f"{part}.weight"].T for part in own], axis=1)
    bias = np.concatenate([graph.weights[f"{part}.bias"] for part in own])
    inputs = [states, graph.constant(f"{name}.qkv", matrix), graph.constant(f"{name}.qkv.bias", bias)]
    seen = graph.node("Attention", inputs, f"{name}.seen", _FUSED, num_heads=_HEADS)
    mixed = graph.product(seen, f"{attention}.output.dense.weight", f"{name}.mixed")
    settled = graph.added_and_normed(
        mixed,
        states,
        f"{attention}.output.dense",
        f"{attention}.output.LayerNorm",
        f"{name}.settled",
    )
    wide = graph.product(settled, f"{middle}.weight", f"{name}.wide")
    bent = graph.node("BiasGelu", [wide, graph.weight(f"{middle}.bias")], f"{name}.bent", _FUSED)
    narrow = graph.product(bent, f"{output}.dense.weight", f"{name}.narrow")
    return graph.added_and_normed(narrow, settled, f"{output}.dense", f"{output}.LayerNorm", f"{name}.states")


def _pooled(graph: _Graph, states: str) -> None:
    """The mean of the states at unit length, which is their sum at unit length."""
    along = graph.constant("along", np.array([1], np.int64))
    total = graph.node("ReduceSum", [states, along], "total", keepdims=0)
    length = graph.node("ReduceL2", [total], "total.length", axes=[1], keepdims=1)
    graph.node("Div", [total, length], "text")
