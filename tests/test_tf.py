"""TensorFlow's names: its numbers, no others than promised, and the reader's names in the player."""

import ast
import functools
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from tf_programs import PROGRAMS, TENSORFLOW, described, run

import autodiff_edu as ad
import autodiff_edu.tf as tf
from autodiff_edu import nn, saving
from autodiff_edu.player.unpacking import content_of

NAMES = [
    *["GradientTape", "Module", "TensorSpec", "UnconnectedGradients", "Variable", "abs", "add", "argmax", "cast"],
    *["clip_by_norm", "clip_by_value", "concat", "constant", "convert_to_tensor", "cos", "custom_gradient", "divide"],
    *["einsum", "equal", "exp", "expand_dims", "eye", "float32", "float64", "function", "image", "int32", "int64"],
    *["keras", "linalg", "linspace", "math", "matmul", "maximum", "minimum", "multiply", "nest", "newaxis", "nn"],
    *["norm", "ones", "ones_like", "pad", "pow", "print", "random", "recompute_grad", "reduce_max", "reduce_mean"],
    *["reduce_min", "reduce_prod", "reduce_sum", "reshape", "saved_model", "sin", "sqrt", "square", "squeeze"],
    *["stack", "stop_gradient", "subtract", "tanh", "transpose", "where", "zeros", "zeros_like"],
]
ALSO_IN_MATH = [
    *["abs", "add", "argmax", "cos", "divide", "equal", "exp", "maximum", "minimum", "multiply", "pow", "reduce_max"],
    *["reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "sin", "sqrt", "square", "subtract", "tanh"],
]
PARTS = {
    "math": ["log", "reduce_euclidean_norm", "reduce_std"],
    "nn": ["elu", "relu", "sigmoid", "softmax", "softplus", "tanh"],
    "linalg": ["det", "inv", "matmul", "norm", "solve"],
    "random": ["normal", "set_seed"],
    "image": ["adjust_contrast"],
    "nest": ["map_structure"],
    "keras": ["Sequential"],
    "keras.layers": ["BatchNormalization", "Dense"],
    "keras.losses": ["CategoricalCrossentropy", "MeanSquaredError", "SparseCategoricalCrossentropy"],
    "keras.optimizers": ["Adam", "SGD"],
    "keras.utils": ["set_random_seed"],
    "saved_model": ["SaveOptions", "load", "save"],
}


def part(path):
    """Return what a path such as "keras.layers" stands for."""
    return functools.reduce(getattr, path.split("."), tf)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore:a tape cannot watch int64")
def test_the_answers_are_those_of_tensorflow(program, tmp_path):
    answers = list(map(described, run(program, tf, str(tmp_path))["answers"]))
    wanted = TENSORFLOW[program]
    assert len(answers) == len(wanted)
    for answer, expected in zip(answers, wanted, strict=True):
        if isinstance(expected, tuple):
            shape, dtype, numbers = answer
            assert shape == expected[0]
            assert dtype == expected[1].replace("int32", "int64")  # whole numbers are NumPy's
            assert numbers == pytest.approx(expected[2], rel=1e-6, abs=1e-7)
        else:
            assert answer == expected


def test_the_names_are_frozen():
    assert dir(tf) == sorted(NAMES)
    for path, names in PARTS.items():
        inner = [other.rpartition(".")[2] for other in PARTS if other.rpartition(".")[0] == path]
        assert sorted(dir(part(path))) == sorted([*names, *inner, *(ALSO_IN_MATH if path == "math" else [])])
    assert all(getattr(tf.math, name) is getattr(tf, name) for name in ALSO_IN_MATH)


def test_every_name_is_used_by_a_program():
    programs = "\n".join(PROGRAMS.values())
    used = set(re.findall(r"\btf\.([\w.]+)", programs))
    paths = [name for name in NAMES if name not in PARTS]
    paths += [f"{path}.{name}" for path, names in PARTS.items() for name in names]
    found = {name for name in paths if any(one == name or one.startswith(f"{name}.") for one in used)}
    assert found == set(paths)


def test_the_dictionary_lists_every_name_and_no_other():
    page = Path(__file__).parents[1] / "book" / "dictionary.md"
    listed = (
        page.read_text(encoding="utf-8").partition("TensorFlow's names, here")[2].partition("There is no `tf.data`")[0]
    )
    paths = [name for name in NAMES if name not in PARTS]
    paths += [f"{path}.{name}" for path, names in PARTS.items() for name in names]
    assert sorted(re.findall(r"`tf\.([\w.]+)`", listed)) == sorted([*paths, "math", "math"])  # the last two are hints


def test_the_files_stay_small_and_nothing_else_imports_them():
    for path in Path(tf.__file__).parent.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250
    script = (
        "import sys, autodiff_edu as ad\n"
        "[getattr(ad, name) for name in ad.__all__]\n"
        "assert 'autodiff_edu.tf' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (lambda: tf.gather, r"tf\.gather .*write x\[indices\]"),
        (lambda: tf.math.log1p, r"tf\.math\.log1p .*write np\.log1p"),
        (lambda: tf.reduce_all, r"tf\.reduce_all .*write np\.all"),
        (lambda: tf.linalg.cholesky, r"tf\.linalg\.cholesky .*write np\.linalg\.cholesky"),
        (lambda: tf.nn.log_softmax, r"tf\.nn\.log_softmax .*write autodiff_edu\.nn\.log_softmax"),
        (lambda: tf.keras.layers.Conv2D, r"tf\.keras\.layers\.Conv2D .*dictionary"),
        (lambda: tf.data, r"tf\.data .*dictionary"),
        (lambda: tf.identity, r"tf\.identity .*write np\.positive\(x\)"),  # np.identity is something else
        (lambda: tf.image.resize, r"tf\.image\.resize .*dictionary"),  # so is np.resize
        (lambda: tf.test, r"tf\.test .*dictionary"),  # and np.test runs NumPy's tests
        (lambda: tf.strings, r"tf\.strings .*dictionary"),
        (lambda: tf.__version__, r"tf\.__version__ .*dictionary"),
        (lambda: tf.range, r"tf\.range .*write np\.arange\(n\)"),
        (lambda: tf.random.uniform, r"tf\.random\.uniform .*write np\.random\.default_rng\(0\)\.uniform"),
        (lambda: tf.keras.losses.BinaryCrossentropy, r"BinaryCrossentropy .*write np\.mean\(np\.logaddexp"),
        (lambda: tf.keras.optimizers.RMSprop, r"RMSprop .*write tf\.keras\.optimizers\.Adam"),
        (lambda: tf.keras.metrics, r"tf\.keras\.metrics .*dictionary"),
        (lambda: tf.nest.flatten, r"tf\.nest\.flatten .*dictionary"),
        (lambda: tf.math.reduce_variance, r"tf\.math\.reduce_variance .*write np\.var\(x\)"),
    ],
)
def test_a_missing_name_is_an_error_that_says_what_to_write(read, written):
    with pytest.raises(AttributeError, match=written):
        read()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.Variable(1.0, validate_shape=False),
        lambda: tf.constant(1.0, shape=[2]),
        lambda: tf.reduce_sum([1.0], name="s"),
        lambda: tf.square(1.0, name="s"),
        lambda: tf.norm([1.0], 1),
        lambda: tf.GradientTape(name="t"),
        lambda: tf.keras.layers.BatchNormalization(axis=0),
        lambda: tf.keras.layers.Dense(1, use_bias=False),
        lambda: tf.random.normal([1], seed=0),
        lambda: tf.saved_model.SaveOptions(save_debug_info=True),
        lambda: tf.function(jit_compile=True),
        lambda: tf.pad([1.0], [[1, 1]], name="p"),
    ],
)
def test_unknown_arguments_are_errors(call):
    with pytest.raises(TypeError):
        call()


def test_arguments_have_tensorflows_names():
    x = tf.Variable(initial_value=[[3.0, 4.0]])
    assert np.array_equal(tf.eye(num_rows=1, num_columns=2), [[1.0, 0.0]])
    assert float(tf.nn.sigmoid(x=0.0)) == 0.5
    assert tf.convert_to_tensor(value=x, dtype=tf.float32).shape == (1, 2)
    assert float(tf.reduce_sum(input_tensor=x)) == 7.0
    assert tf.reshape(tensor=x, shape=[2]).shape == tf.nn.relu(features=[1.0, 2.0]).shape == (2,)
    with pytest.raises(TypeError, match="BatchNormalization"):
        tf.keras.layers.BatchNormalization(0.9)


def test_a_constant_of_a_variable_keeps_its_numbers():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.constant(x) * 3.0
    x.assign(5.0)
    assert float(y) == 6.0
    assert tape.gradient(y, x) is None  # as in TensorFlow 2.21


def test_floats_become_float32_where_python_wrote_them_and_nowhere_else():
    assert tf.constant([1.0, 2]).dtype == tf.Variable(1.0).dtype == tf.constant([]).dtype == tf.float32
    assert tf.constant(np.float64(1.0)).dtype == tf.Variable(np.ones(2)).dtype == np.float64
    assert tf.constant([np.float64(1.0)]).dtype == np.float64
    assert tf.constant([1, 2]).dtype == np.int64
    assert tf.constant(True).dtype == bool
    assert tf.constant(1.0, "float64").dtype == np.float64
    assert tf.linspace([0.0, 1.0], [1.0, 2.0], 3).dtype == tf.linspace(tf.constant(0.0), 1, 3).dtype == tf.float32
    assert tf.linspace(0, 1, 3).dtype == tf.linspace(np.float64(0), 1, 3).dtype == np.float64


@pytest.mark.parametrize(
    "expression", ["x * [3.0, 4.0]", "[3, 4.0] - x", "[[1.0, 2.0]] @ x", "x[0] / [[3], [4]]", "(1, 2) ** x"]
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_list_beside_a_tensor_has_its_dtype_in_files_that_import_these_names(expression, dtype):
    x = tf.constant([1.0, 2.0], dtype)
    assert eval(expression, {"x": x, "tf": tf}).dtype == dtype
    assert eval(expression, {"x": x, "any_name": tf}).dtype == dtype
    plain = eval(expression, {"x": x, "nn": nn})  # NumPy's rule: NumPy converts the list first
    array = eval(expression, {"x": x.numpy()})
    assert plain.dtype == array.dtype == np.float64
    assert np.allclose(eval(expression, {"x": x, "tf": tf}), array, rtol=1e-2 if dtype == np.float16 else 1e-6)


def test_a_list_keeps_what_its_own_numbers_say():
    x, whole, double = tf.constant([1.0, 2.0]), tf.constant([1, 2]), tf.constant(1.0, "float64")
    assert (x * [np.float64(1.0), 2.0]).dtype == (x * np.ones(2)).dtype == np.float64
    assert (x * [1j, 2.0]).dtype == np.complex128
    assert (whole * [1.5, 2.0]).dtype == np.float64
    assert (tf.constant([1j], "complex64") * [2.0]).dtype == np.complex64
    assert (x * 2.5).dtype == (2.5 - x[0]).dtype == (x**2.0).dtype == np.float32
    assert tf.maximum(double, 0.1).dtype == tf.stack([double, 0.1]).dtype == np.float64
    assert float(tf.concat([tf.constant([0.0], "float64"), [0.1]], 0)[1]) == 0.1
    assert tf.add([1.0], 2).dtype == tf.multiply(2.0, x).dtype == tf.where([True, False], x, 0.0).dtype == np.float32


def test_a_compiled_and_a_saved_function_keep_the_dtype_of_a_list(tmp_path):
    def weighted(x):
        return x * [3.0, 4.0]

    x = tf.constant([1.0, 2.0])
    compiled = ad.compile(weighted)
    assert [compiled(x).dtype, compiled(x).dtype] == [np.float32, np.float32]
    ad.save(weighted, tmp_path / "weighted.ad", x)
    assert ad.load(tmp_path / "weighted.ad")(x).dtype == np.float32
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = weighted(x)
    assert tape.jacobian(y, x).dtype == np.float32


def test_a_list_of_tensors_stays_connected():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum([x * 3.0, x * x])
    assert float(tape.gradient(y, x)) == 7.0


def test_watching_whole_numbers_warns_at_the_line_and_watches_the_rest():
    whole, x = tf.constant([1, 2]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        with pytest.warns(UserWarning, match=r"cannot watch int64.*3\.0, not 3") as caught:
            tape.watch([whole, x])
        y = x * x
    assert caught[0].filename == __file__
    assert float(tape.gradient(y, x)) == 6.0


class TestFunction:
    def test_it_is_compiled_where_it_can_be(self):
        calls = []

        @tf.function
        def double(x):
            calls.append(1)
            return x * 2.0

        assert [float(double(tf.constant(value))) for value in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
        first = len(calls)
        double(tf.constant(4.0))
        assert len(calls) == first

    def test_where_it_cannot_be_compiled_it_runs_as_it_is_and_says_so_once(self):
        @tf.function
        def noisy(x):
            return float(x) + tf.random.normal([]) * 0.0

        with pytest.warns(UserWarning, match="noisy runs as it is") as caught:
            assert float(noisy(tf.constant(2.0))) == 2.0
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert float(noisy(tf.constant(3.0))) == 3.0

    def test_an_error_of_the_function_is_its_own(self):
        @tf.function
        def wrong(x):
            raise ValueError("mine")

        for _ in range(2):
            with pytest.raises(ValueError, match="mine"):
                wrong(tf.constant(1.0))

    def test_a_signature_converts_arguments(self):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def double(x):
            return x * 2.0

        assert double([1.0, 2.0]).dtype == double(x=[1, 2]).dtype == tf.float32
        with pytest.raises(TypeError, match=r"x has the shape \(1, 2\), but the input_signature says \[None\]"):
            double([[1.0, 2.0]])
        with pytest.raises(TypeError, match="'x'"):
            double()

    def test_a_method_takes_what_its_signature_says_by_position_and_by_name(self):
        class Model(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec(None)])
            def scaled(self, x, factor):
                return x * factor

        for result in (Model().scaled([1.0, 2.0], 3), Model().scaled(factor=3.0, x=[1.0, 2.0])):
            assert result.dtype == tf.float32
            assert np.array_equal(result, [3.0, 6.0])


def test_a_module_without_a_method_to_save_says_what_to_write(tmp_path):
    with pytest.raises(ValueError, match=r"Module has no method to save; write @tf\.function\(input_signature"):
        tf.saved_model.save(tf.Module(), tmp_path)
    with pytest.raises(FileNotFoundError, match="contains no saved functions"):
        tf.saved_model.load(tmp_path)


def test_a_loaded_model_is_called_as_it_was_and_takes_single_precision(tmp_path):
    class Double(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def __call__(self, x):
            return x * 2.0

    tf.saved_model.save(Double(), tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert np.array_equal(loaded([1.0, 2.0, 3.0, 4.0]), [2.0, 4.0, 6.0, 8.0])
    assert loaded([1.0]).dtype == tf.float32
    tf.saved_model.save(Double(), tmp_path)  # again is fine

    class Other(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def half(self, x):
            return x / 2.0

    with pytest.raises(FileExistsError, match=r"holds another model \(__call__\); write into an empty folder"):
        tf.saved_model.save(Other(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["__call__.ad"]


def test_whatever_a_file_of_a_model_is_called_it_loads(tmp_path):
    names = ["__init__", "__slots__", "__qualname__", "__class__", "__doc__", "__del__", "__dict__", "self", "a.b", "-"]
    for name in [*names, "__call__"]:
        saving.save(lambda x: x * 2.0, tmp_path / f"{name}.ad", np.float32(1.0))
    loaded = tf.saved_model.load(tmp_path)
    assert loaded(1.5) == loaded.self(1.5) == getattr(loaded, "a.b")(1.5) == 3.0
    (tmp_path / "__call__.ad").unlink()
    assert not callable(tf.saved_model.load(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_only_regular_files_of_a_model_are_read(tmp_path):
    saving.save(lambda x: x * 2.0, tmp_path / "b.ad", np.float32(1.0))
    os.mkfifo(tmp_path / "a.ad")
    assert tf.saved_model.load(tmp_path).b(1.5) == 3.0
    (tmp_path / "b.ad").unlink()
    for target in ("pipe", "/dev/zero", "a.ad", "nowhere", "."):
        if target != "pipe":
            (tmp_path / "a.ad").symlink_to(target)
        with pytest.raises(FileNotFoundError, match="contains no saved functions"):
            tf.saved_model.load(tmp_path)
        (tmp_path / "a.ad").unlink()


def test_without_custom_gradients_a_saved_function_cannot_be_differentiated(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def own(self, x):
            return tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 10.0))(x)

    tf.saved_model.save(Model(), tmp_path, options=tf.saved_model.SaveOptions(experimental_custom_gradients=False))
    v = tf.Variable(tf.ones([5, 2]))
    with tf.GradientTape() as tape:
        y = tf.saved_model.load(tmp_path).own(v)
    with pytest.raises(LookupError):
        tape.gradient(y, v)


def test_structures_of_another_form_are_errors():
    assert tf.nest.map_structure(lambda a, b: a + b, {"a": 1, "b": (2, 3)}, {"b": (4, 5), "a": 6}) == {
        "a": 7,
        "b": (6, 8),
    }
    with pytest.raises(ValueError, match="must be a list of 2"):
        tf.nest.map_structure(lambda a, b: a, [1, 2], [1])


def test_borders_are_those_of_tensorflow_or_errors():
    with pytest.raises(ValueError, match="supports the modes"):
        tf.pad([1.0], [[1, 1]], mode="OTHER")
    with pytest.raises(ValueError, match="constant_values"):
        tf.pad([1.0, 2.0], [[1, 1]], mode="REFLECT", constant_values=1.0)


class TestTraining:
    def test_printing_shows_numbers(self, capsys):
        tf.print("loss", tf.constant(2.5))
        assert capsys.readouterr().out == "loss Tensor(2.5, dtype=float32)\n"

    def test_defaults_are_those_of_keras(self):
        adam, sgd = tf.keras.optimizers.Adam(), tf.keras.optimizers.SGD()
        assert (adam.learning_rate, adam.beta_1, adam.beta_2, adam.epsilon) == (0.001, 0.9, 0.999, 1e-7)
        assert (sgd.learning_rate, sgd.momentum) == (0.01, 0.0)

    def test_an_optimizer_takes_pairs_and_keeps_its_memory(self):
        w, v = tf.Variable(1.0), tf.Variable([1.0, 2.0])
        optimizer, plain = tf.keras.optimizers.SGD(0.5, 0.5), nn.SGD(0.5, 0.5)
        copies = ad.Variable(w), ad.Variable(v)
        for _ in range(2):
            optimizer.apply_gradients(zip([tf.constant(1.0), tf.ones(2)], [w, v], strict=True))
            plain.apply([tf.constant(1.0), tf.ones(2)], list(copies))
        assert float(w) == float(copies[0]) == -0.25
        assert np.array_equal(v, copies[1])

    def test_a_gradient_of_none_is_an_error_with_advice(self):
        w = tf.Variable(1.0)
        with pytest.raises(ValueError, match=r"gradients\[0\] is None.*tape\.explain"):
            tf.keras.optimizers.Adam().apply_gradients([(None, w)])
        assert float(w) == 1.0

    def test_an_optimizer_survives_pickling(self):
        optimizer = pickle.loads(pickle.dumps(tf.keras.optimizers.Adam(0.25)))
        assert optimizer.learning_rate == 0.25
        optimizer.apply_gradients([(tf.constant(1.0), w := tf.Variable(1.0))])
        assert float(w) == pytest.approx(0.75)

    def test_a_loss_takes_what_is_true_first_and_its_prediction_has_the_dtype(self):
        mean = tf.keras.losses.MeanSquaredError()
        assert mean(np.array([1, 2]), tf.constant([1.0, 4.0])).dtype == np.float32
        assert float(mean([1.0, 2.0], [1.0, 4.0])) == 2.0
        sparse = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        assert float(sparse(tf.constant([1.0]), [[0.0, 0.0]])) == pytest.approx(np.log(2))
        x = tf.Variable([[2.0, 0.0]])
        with tf.GradientTape() as tape:
            loss = sparse([1], x)
        assert np.allclose(tape.gradient(loss, x), [[0.880797, -0.880797]])

    @pytest.mark.parametrize("name", ["CategoricalCrossentropy", "SparseCategoricalCrossentropy"])
    def test_a_loss_of_probabilities_says_what_to_write(self, name):
        with pytest.raises(ValueError, match="write from_logits=True"):
            getattr(tf.keras.losses, name)()

    def test_the_seed_is_that_of_the_layers(self):
        drawn = []
        for seed in (tf.random.set_seed, tf.keras.utils.set_random_seed, nn.seed):
            seed(5)
            drawn.append(tf.random.normal([2]).numpy())
        assert np.array_equal(drawn[0], drawn[1])
        assert np.array_equal(drawn[0], drawn[2])


def test_random_numbers_restart_with_the_seed():
    nn.seed(3)
    first = tf.random.normal([3], 1.0, 2.0).numpy()
    nn.seed(3)
    assert np.array_equal(tf.random.normal([3], 1.0, 2.0).numpy(), first)
    assert len(set(first)) == 3


def test_defaults_do_not_clutter_the_tape():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.transpose(x)
        tf.norm(tf.reduce_sum(tf.reshape(y, [4])))
    text = str(tape)
    assert "axis" not in text
    assert "keepdims" not in text
    assert "None" not in text


UNARY = {
    "square": np.square,
    "math.sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "nn.sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "nn.softplus": lambda x: np.log1p(np.exp(x)),
    "transpose": np.transpose,
    "stop_gradient": np.copy,
    "convert_to_tensor": np.copy,
}
COMBINING = {  # with more than one argument: how tf writes it, and how NumPy does
    "sqrt": (lambda y: tf.sqrt(tf.square(y) + 1.0), lambda y: np.sqrt(y * y + 1.0)),
    "clip_by_norm": (lambda y: tf.clip_by_norm(y, 1.5), lambda y: y * (1.5 / max(np.linalg.norm(y), 1.5))),
    "norm": (lambda y: y / (1.0 + tf.norm(y)), lambda y: y / (1.0 + np.sqrt(np.sum(y * y)))),
    "einsum": (lambda y: tf.einsum("ij,kj->ik", y, y), lambda y: y @ y.T),
    "stack": (
        lambda y: tf.reshape(tf.stack([y, 2.0 * y], axis=1), [-1, y.shape[1]]),
        lambda y: np.repeat(y, 2, 0) * turns(y),
    ),
    "concat": (lambda y: tf.concat([y, tf.ones(y.shape, y.dtype)], 1), lambda y: np.hstack([y, np.ones(y.shape)])),
    "pad": (lambda y: tf.pad(y, [[1, 0], [0, 2]]), lambda y: np.pad(y, [[1, 0], [0, 2]])),
    "pad mirrored": (
        lambda y: tf.pad(y, [[1, 0], [0, 1]], mode="SYMMETRIC"),
        lambda y: np.pad(y, [[1, 0], [0, 1]], "symmetric"),
    ),
    "pad filled": (
        lambda y: tf.pad(y, [[1, 0], [0, 1]], constant_values=tf.reduce_mean(y)),
        lambda y: np.pad(y, [[1, 0], [0, 1]], constant_values=np.mean(y)),
    ),
    "matmul": (lambda y: tf.matmul(y, tf.cos(y), transpose_b=True), lambda y: y @ np.cos(y).T),
    "matmul turned": (lambda y: tf.matmul(y, y, transpose_a=True), lambda y: y.T @ y),
    "where": (lambda y: tf.where(y > -2.0, tf.multiply(0.5, y), 0.0), lambda y: np.where(y > -2.0, 0.5 * y, 0.0)),
    "divide": (lambda y: tf.divide(y, tf.add(tf.square(y), 1)), lambda y: y / (y * y + 1)),
    "linalg.solve": (
        lambda y: tf.linalg.solve(tf.eye(len(y), dtype=y.dtype) * 2.0, y),
        lambda y: np.linalg.solve(np.eye(len(y)) * 2.0, y),
    ),
    "linspace": (lambda y: y * tf.linspace(0, 1, y.shape[1]), lambda y: y * np.linspace(0, 1, y.shape[1])),
    "function": (tf.function(lambda y: tf.math.sin(y) * y), lambda y: np.sin(y) * y),
}
REDUCING = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_prod": np.prod,
    "math.reduce_euclidean_norm": lambda x, **given: np.sqrt(np.sum(x * x, **given)),
}


def turns(y):
    """Return 1 and 2 in turn, one for each row of two copies of y."""
    return np.tile([[1.0], [2.0]], (len(y), 1))


def named(path):
    """Return what the name stands for, or the use of it that is combined here."""
    if path in COMBINING:
        return COMBINING[path][0]
    found = tf
    for part in path.split("."):
        found = getattr(found, part)
    return found


@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    names=st.lists(st.sampled_from(sorted(UNARY) + sorted(COMBINING)), max_size=3),
    last=st.sampled_from(sorted(REDUCING)),
    axis=st.sampled_from([None, 0, 1, -1, [0, 1]]),
    keepdims=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_programs_agree_with_numpy(shape, names, last, axis, keepdims, seed):
    array = np.random.default_rng(seed).uniform(-1, 1, shape)
    x = tf.Variable(array)
    with tf.GradientTape() as tape:
        y = tf.concat([tf.pad(x, [[0, 1], [0, 0]]), tf.reshape(x * 2.0, [-1, shape[1]])], axis=0)
        for name in names:
            y = named(name)(y)
        z = named(last)(y, axis=axis, keepdims=keepdims)

    def plain(array):
        found = np.concatenate([np.pad(array, [[0, 1], [0, 0]]), array * 2.0])
        for name in names:
            found = UNARY[name](found) if name in UNARY else COMBINING[name][1](found)
        return REDUCING[last](found, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)

    assert z.shape == plain(array).shape
    assert np.allclose(z.numpy(), plain(array), rtol=1e-12)
    gradient = tape.gradient(z, x)
    if "stop_gradient" in names:
        assert gradient is None
    elif last == "reduce_sum":  # the others have corners, and the table has their gradients
        direction, step = np.random.default_rng(seed).normal(size=shape), 1e-6
        slope = np.sum(plain(array + step * direction) - plain(array - step * direction)) / (2 * step)
        assert np.allclose(np.sum(gradient.numpy() * direction), slope, rtol=1e-4, atol=1e-4)


@pytest.fixture
def shell(tmp_path):
    shell = InteractiveShell.instance()
    shell.display_formatter.active_types = ["text/plain", "text/html"]
    shell.run_line_magic("colors", "nocolor")
    shell.run_cell("import numpy as np\nfrom matplotlib.figure import Figure\nimport autodiff_edu.tf as tf")
    shell.run_line_magic("load_ext", "autodiff_edu")
    shell.user_ns["folder"] = str(tmp_path)
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    shell.reset(new_session=False)
    shell.InteractiveTB.tb = sys.last_value = sys.last_traceback = None


def computed(program):
    """List the names that a program's `with` blocks give to what they compute."""
    blocks = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.With)]
    lines = [line for block in blocks for line in block.body if isinstance(line, ast.Assign)]
    named_by_calls = [line for line in lines if isinstance(line.value, ast.BinOp | ast.Call)]
    skipped = {"model", "line", "layer", "gentle", "inner", "loaded"}  # objects: what they compute has its own names
    return {
        line.targets[0].id
        for line in named_by_calls
        if not (isinstance(line.value, ast.Call) and ast.unparse(line.value.func).split(".")[0] in skipped)
    }


@pytest.mark.parametrize("program", [name for name, code in PROGRAMS.items() if "GradientTape" in code])
@pytest.mark.filterwarnings("ignore:a tape cannot watch int64")
def test_every_program_plays_with_the_readers_names(shell, program):
    with capture_output(stdout=True, stderr=True, display=True) as captured:
        result = shell.run_cell("%%play" + PROGRAMS[program])
    assert result.success
    (player,) = [output for output in captured.outputs if "text/html" in output.data]
    story = "\n".join(step["text"] for step in content_of(player.data["text/html"])["trace"]["steps"])
    unnamed = [name for name in computed(PROGRAMS[program]) if not re.search(rf"\b{name}( \([^)]*\))? is ", story)]
    assert unnamed == []
    if "self." not in PROGRAMS[program] and "keras" not in PROGRAMS[program]:  # their variables have names of their own
        assert not re.search(r"\bx1\b", story)


def test_a_module_is_known_by_what_it_is_in_a_file_and_after_another_cell(shell):
    shell.run_cell("import numpy as plain, autodiff_edu as ad\nx = ad.Variable([1.0, 2.0])")
    shell.run_cell("with ad.GradientTape() as tape:\n    s = plain.sum(x)\n    n = plain.linalg.norm(x)")
    assert re.findall(r"\w = .*?\)", str(shell.user_ns["tape"])) == ["s = sum(x)", "n = norm(x)"]


def test_a_variable_named_like_a_module_is_an_argument(shell):
    shell.run_cell("import autodiff_edu as ad\nnp = ad.Variable([1.0, 2.0])")
    shell.run_cell("with ad.GradientTape() as tape:\n    s = np.sum()")
    assert "s = sum(np)" in str(shell.user_ns["tape"])


def test_a_variable_that_two_programs_share_is_ours():
    assert isinstance(tf.Variable(1.0), ad.Variable)
    assert isinstance(tf.keras.layers.Dense(1), nn.Dense)
