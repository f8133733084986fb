"""Modules find their variables; layers build themselves; activations and losses are right, stable and of any order."""

import copy
import pickle

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad
from autodiff_edu import nn

EXTREMES = np.array([-1000.0, -100.0, 0.0, 100.0, 1000.0])
ELEMENTWISE = [nn.relu, nn.elu, nn.softplus, nn.sigmoid]
ALONG_AN_AXIS = [nn.softmax, nn.log_softmax]


class Block(nn.Module):
    def __init__(self):
        self.kernel = ad.Variable([1.0, 2.0], name="mine")
        self.scale = ad.Variable(3.0, trainable=False)


class Model(nn.Module):
    def __init__(self):
        self.zeta = ad.Variable(0.0)
        self.encoder = [Block(), Block()]
        self.heads = {"left": ad.Variable(1.0), "right": (ad.Variable(2.0), Block())}
        self.alpha = ad.Variable(5.0)
        self.unrelated = ["text", 7, None, np.ones(3), ad.constant(1.0)]


def first_and_second(f, x):
    """The value, the gradient of the sum, and the gradient of its sum: None where a tape says None."""
    x = ad.Variable(x)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = f(x)
        slope = inner.gradient(y, x)
    curvature = outer.gradient(slope, x)
    return y.tolist(), slope.tolist(), curvature if curvature is None else curvature.tolist()


def test_a_module_names_its_variables_by_the_path_that_leads_to_them():
    assert list(Model().named_variables) == [
        "zeta",
        "encoder/0/kernel",
        "encoder/0/scale",
        "encoder/1/kernel",
        "encoder/1/scale",
        "heads/left",
        "heads/right/0",
        "heads/right/1/kernel",
        "heads/right/1/scale",
        "alpha",
    ]


def test_a_module_gives_its_variables_as_tuples_in_the_same_order():
    model = Model()
    assert isinstance(model.variables, tuple)
    assert list(map(id, model.variables)) == list(map(id, model.named_variables.values()))
    assert model.named_variables["encoder/1/kernel"] is model.encoder[1].kernel
    assert isinstance(model.trainable_variables, tuple)
    assert [id(v) for v in model.trainable_variables] == [id(v) for v in model.variables if v.trainable]
    assert len(model.trainable_variables) == len(model.variables) - 3


def test_setting_an_attribute_again_keeps_its_place():
    model = Model()
    model.zeta = replaced = ad.Variable(9.0)
    assert model.variables[0] is replaced
    assert len(model.variables) == 10


def test_a_variable_keeps_the_name_its_maker_gave_it():
    model = Model()
    assert list(model.named_variables)[1] == "encoder/0/kernel"
    assert model.encoder[0].kernel.name == "mine"
    assert model.zeta.name is None


def test_what_is_shared_counts_once():
    model = nn.Module()
    model.first = model.second = block = Block()
    model.again = [block.kernel, block]
    assert list(model.named_variables) == ["first/kernel", "first/scale"]


def test_cycles_end():
    parent, child, ring = nn.Module(), Block(), []
    parent.child, child.parent = child, parent
    parent.itself, parent.ring = parent, ring
    ring += [ring, {"ring": ring}, ad.Variable(1.0)]
    assert list(parent.named_variables) == ["child/kernel", "child/scale", "ring/2"]


def test_a_module_need_not_call_the_initialiser_of_its_base():
    class Bare(nn.Module):
        pass

    assert Bare().variables == ()
    assert Bare().named_variables == {}


def test_two_variables_of_one_path_are_an_error_and_neither_is_lost():
    model = nn.Module()
    model.parts = {1: ad.Variable(1.0), "1": ad.Variable(2.0)}
    assert len(model.variables) == 2
    with pytest.raises(ValueError, match="parts/1"):
        _ = model.named_variables


def test_a_copy_of_a_module_has_variables_of_its_own():
    model = Model()
    twin = copy.deepcopy(model)
    twin.zeta.assign(4.0)
    assert float(model.zeta) == 0.0
    assert list(twin.named_variables) == list(model.named_variables)
    assert {id(v) for v in twin.variables}.isdisjoint(map(id, model.variables))


def test_a_dense_layer_builds_itself_at_the_first_call():
    layer = nn.Dense(10, activation=nn.relu)
    assert layer.variables == ()
    y = layer(draw((7, 5), "dense"))
    assert y.shape == (7, 10)
    assert {name: v.shape for name, v in layer.named_variables.items()} == {"kernel": (5, 10), "bias": (10,)}
    kernel = layer.kernel
    layer(draw((3, 5), "dense"))
    assert layer.kernel is kernel


def test_a_dense_layer_multiplies_adds_and_activates():
    layer, x = nn.Dense(3, np.tanh), draw((4, 2), "dense")
    layer(x)
    layer.kernel.assign([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    layer.bias.assign([0.1, 0.2, 0.3])
    np.testing.assert_allclose(layer(x).numpy(), np.tanh(x @ layer.kernel.numpy() + [0.1, 0.2, 0.3]), rtol=1e-15)


@pytest.mark.parametrize("shape", [(5,), (7, 5), (2, 7, 5)])
def test_a_dense_layer_takes_any_axes_before_the_last(shape):
    layer, x = nn.Dense(10), ad.constant(draw(shape, "axes"))
    assert layer(x).shape == (*shape[:-1], 10)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_variables_of_a_layer_have_the_dtype_of_the_first_input(dtype):
    model = nn.Module()
    model.layers = [nn.Dense(3, nn.elu), nn.BatchNormalization()]
    x = np.ones((4, 2), dtype)
    for training in (True, False):
        assert model.layers[1](model.layers[0](x), training=training).dtype == dtype
    assert {v.dtype for v in model.variables} == {np.dtype(dtype)}


def test_a_kernel_starts_uniform_within_the_bounds_of_glorot_and_bengio():
    layer = nn.Dense(200)
    layer(np.zeros((1, 100)))
    kernel, limit = layer.kernel.numpy(), np.sqrt(6 / 300)
    assert 0.99 * limit < np.abs(kernel).max() < limit
    assert kernel.std() == pytest.approx(limit / np.sqrt(3), rel=0.02)
    assert abs(kernel.mean()) < 0.02 * limit
    assert not layer.bias.numpy().any()


def test_a_seed_gives_the_same_kernels_again():
    def kernel():
        layer = nn.Dense(3)
        layer(np.ones((1, 2)))
        return layer.kernel.tolist()

    nn.seed(7)
    first, second = kernel(), kernel()
    assert first != second
    nn.seed(7)
    assert [kernel(), kernel()] == [first, second]
    nn.seed(8)
    assert kernel() != first
    nn.seed(0)


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (None, TypeError), (1.5, TypeError), (True, TypeError)])
def test_a_seed_that_is_not_a_seed_is_refused(n, error):
    with pytest.raises(error, match="integer"):
        nn.seed(n)


@pytest.mark.parametrize("units", [0, -3, 2.0, "10", None, True])
def test_units_must_be_a_positive_integer(units):
    with pytest.raises(ValueError, match=r"Dense\(10\)"):
        nn.Dense(units)


def test_an_activation_must_be_a_function():
    with pytest.raises(TypeError, match=r"Dense\(10, nn.relu\)"):
        nn.Dense(10, 3)


@pytest.mark.parametrize("name", ["relu", "elu", "sigmoid", "softplus", "softmax", "tanh"])
def test_an_activation_may_be_given_by_its_name(name):
    layer = nn.Dense(3, name)
    function = getattr(nn, name, None) or getattr(np, name)
    assert layer.activation is function
    x = np.array([[1.0, -2.0]])
    np.testing.assert_array_equal(layer(x).numpy(), function(x @ layer.kernel + layer.bias).numpy())


@pytest.mark.parametrize("name", ["ReLU", "", "mse", "log_softmax"])
def test_an_unknown_name_of_an_activation_is_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match=f"^'{name}' is not the name .*'relu', 'elu', 'sigmoid', .*'tanh'"):
        nn.Dense(10, name)


@pytest.mark.parametrize("layer", [nn.Dense(3), nn.BatchNormalization()], ids=["dense", "normalization"])
@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (1.0, ValueError, "shape"),
        (np.ones((2, 4), int), TypeError, r"astype\(float\)"),
        (np.ones((2, 4), complex), TypeError, "real"),
        (ad.constant([[True, False]]), TypeError, "bool"),
        ([np.ones(2), np.ones(2)], TypeError, r"got list.*np\.stack"),
    ],
)
def test_a_layer_says_which_inputs_it_takes(layer, x, error, message):
    with pytest.raises(error, match=message):
        layer(x)
    assert layer.variables == (), "a call that failed has built nothing"


@pytest.mark.parametrize("layer", [nn.Dense(3), nn.BatchNormalization()], ids=["dense", "normalization"])
def test_a_built_layer_refuses_another_last_axis(layer):
    layer(np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"last axis of 4.*\(2, 5\)"):
        layer(np.ones((2, 5)))


def test_a_layer_takes_lists_of_numbers():
    assert nn.Dense(3)([[1, 2], [3, 4]]).shape == (2, 3)


def test_batch_normalization_in_training_uses_the_batch():
    layer, x = nn.BatchNormalization(epsilon=1e-3), draw((6, 3, 4), "bn")
    y = layer(x, training=True).numpy()
    expected = (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + 1e-3)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    layer.gamma.assign([1.0, 2.0, 3.0, 4.0])
    layer.beta.assign_add(0.5)
    np.testing.assert_allclose(layer(x, training=True).numpy(), expected * [1, 2, 3, 4] + 0.5, rtol=1e-12)


def test_batch_normalization_moves_its_statistics_in_training_alone():
    layer, x = nn.BatchNormalization(momentum=0.9), draw((6, 2), "moving")
    layer(x)
    assert layer.moving_mean.tolist() == [0.0, 0.0]
    assert layer.moving_variance.tolist() == [1.0, 1.0]
    mean, variance = np.zeros(2), np.ones(2)
    for k in range(5):
        layer(x + k, training=True)
        mean, variance = 0.9 * mean + 0.1 * (x + k).mean(0), 0.9 * variance + 0.1 * x.var(0)
    np.testing.assert_allclose(layer.moving_mean.numpy(), mean, rtol=1e-12)
    np.testing.assert_allclose(layer.moving_variance.numpy(), variance, rtol=1e-12)
    np.testing.assert_allclose(layer(x).numpy(), (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-12)
    np.testing.assert_allclose(layer.moving_mean.numpy(), mean, rtol=1e-12)


def test_only_gamma_and_beta_are_trained():
    layer = nn.BatchNormalization()
    layer(np.ones((2, 3)))
    assert list(layer.named_variables) == ["gamma", "beta", "moving_mean", "moving_variance"]
    assert list(map(id, layer.trainable_variables)) == [id(layer.gamma), id(layer.beta)]


def test_moving_the_statistics_leaves_no_trace_on_a_tape():
    layer, x, events = nn.BatchNormalization(), ad.Variable(draw((4, 3), "trace")), []
    layer(x)
    with ad.GradientTape() as tape, ad.hook(events.append):
        y = layer(x, training=True)
    assert list(map(id, tape.watched_variables())) == list(map(id, (x, layer.gamma, layer.beta)))
    names = [entry.name for entry in tape.entries]
    assert names == ["mean", "subtract", "square", "mean", "add", "sqrt", "divide", "multiply", "add"]
    assert [type(event).__name__ for event in events].count("Assign") == 2
    assert "Leave" not in {type(event).__name__ for event in events}
    assert np.abs(tape.gradient(y, x).numpy()).max() < 1e-12, "shifting or scaling a batch changes next to nothing"


@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 2)])
def test_batch_normalization_has_the_right_derivatives_to_second_order(shape):
    layer, weights = nn.BatchNormalization(), draw(shape, "weights")
    layer(np.ones(shape))
    ad.check_gradients(lambda x: np.sum(layer(x, training=True) ** 2 * weights), draw(shape, "bn"))
    ad.check_gradients(lambda x: np.sum(layer(x) ** 2 * weights), draw(shape, "bn"))


def test_a_batch_without_samples_cannot_be_trained_on():
    layer = nn.BatchNormalization()
    with pytest.raises(ValueError, match="empty"):
        layer(np.ones((0, 3)), training=True)
    assert layer(np.ones((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("arguments", [{"momentum": -0.1}, {"momentum": 1.5}, {"epsilon": -1.0}, {"epsilon": np.nan}])
def test_batch_normalization_refuses_settings_out_of_range(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        nn.BatchNormalization(**arguments)


# TensorFlow's values and gradients at the extremes (book/contributing/tensorflow-semantics.md, section 11); what
# float32 rounds to 0 or 1 there is here as close to it as float64 can tell.
MEASURED = {
    nn.sigmoid: ([0, 0, 0.5, 1, 1], [0, 0, 0.25, 0, 0]),
    nn.softplus: ([0, 0, np.log(2), 100, 1000], [0, 0, 0.5, 1, 1]),
    nn.elu: ([-1, -1, 0, 100, 1000], [0, 0, 1, 1, 1]),
    nn.relu: ([0, 0, 0, 100, 1000], [0, 0, 0, 1, 1]),
    nn.softmax: ([0, 0, 0, 0, 1], [0, 0, 0, 0, 0]),
    nn.log_softmax: ([-2000, -1100, -1000, -900, 0], [1, 1, 1, 1, -4]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("f", MEASURED, ids=lambda f: f.__name__)
def test_activations_are_stable_at_the_extremes(f, dtype):
    # exp(-1000) is 0 to any float: an underflow that is meant, and that NumPy is silent about unless asked
    with np.errstate(all="raise", under="ignore"):
        value, slope, curvature = first_and_second(f, EXTREMES.astype(dtype))
    expected_value, expected_slope = MEASURED[f]
    np.testing.assert_allclose(value, expected_value, rtol=1e-7, atol=1e-40)
    np.testing.assert_allclose(slope, expected_slope, rtol=1e-7, atol=1e-40)
    expected = [0, 0, 0.25 if f is nn.softplus else 0, 0, 0]
    assert curvature is None if f is nn.relu else np.allclose(curvature, expected, rtol=0, atol=1e-40)


@pytest.mark.parametrize(
    ("f", "at_zero", "at_one", "at_minus_one"),
    [
        (nn.elu, 0.0, 0.0, np.exp(-1)),
        (nn.sigmoid, 0.0, -0.09085774767294842, 0.09085774767294842),
        (nn.softplus, 0.25, 0.19661193324148185, 0.19661193324148185),
    ],
)
def test_second_derivatives_are_those_of_tensorflow(f, at_zero, at_one, at_minus_one):
    found = first_and_second(f, [0.0, 1.0, -1.0])[2]
    np.testing.assert_allclose(found, [at_zero, at_one, at_minus_one], rtol=1e-14, atol=1e-17)


def test_the_second_derivative_of_relu_is_unconnected_as_that_of_any_straight_line():
    # TensorFlow says 0 for relu and None for maximum(x, 0); both are functions made of straight lines
    assert first_and_second(nn.relu, [0.0, 1.0, -1.0]) == ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0], None)
    assert ad.grad(ad.grad(nn.relu))([0.0, 1.0, -1.0]).tolist() == [0.0, 0.0, 0.0]


def test_sigmoid_is_accurate_in_both_tails():
    x = np.array([-700.0, -40.0, 40.0])
    np.testing.assert_allclose(nn.sigmoid(x), [np.exp(-700), np.exp(-40) / (1 + np.exp(-40)), 1.0], rtol=1e-12)
    np.testing.assert_allclose(ad.grad(nn.sigmoid)(-x).numpy(), ad.grad(nn.sigmoid)(x).numpy(), rtol=1e-12)


@pytest.mark.parametrize("f", [*ELEMENTWISE, *ALONG_AN_AXIS], ids=lambda f: f.__name__)
def test_nan_stays_nan(f):
    with np.errstate(invalid="ignore"):  # np.logaddexp warns of it
        assert np.isnan(f(np.array([np.nan, 1.0]))[0])


@pytest.mark.parametrize("f", [*ELEMENTWISE, *ALONG_AN_AXIS], ids=lambda f: f.__name__)
class TestEveryActivation:
    def test_has_the_right_derivatives_to_second_order(self, f):
        weights = draw((2, 3), "weights")
        ad.check_gradients(lambda x: weights * f(x) ** 2, draw((2, 3), "x"))

    def test_gives_on_a_plain_array_what_it_gives_on_a_tensor(self, f):
        x = draw((2, 3), "plain")
        found = f(x)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, f(ad.constant(x)).numpy())

    def test_has_the_same_jacobian_backward_and_forward(self, f):
        x = draw((2, 3), "jacobian")
        backward = ad.jacobian(f, mode="reverse")(x).numpy()
        np.testing.assert_allclose(backward, ad.jacobian(f, mode="forward")(x).numpy(), rtol=1e-12, atol=1e-15)
        rows = [ad.grad(lambda x, i=i: f(x)[i])(x).numpy() for i in np.ndindex(2, 3)]
        np.testing.assert_allclose(backward, np.reshape(rows, (2, 3, 2, 3)), rtol=1e-12, atol=1e-15)

    def test_has_the_hessian_that_differences_of_the_gradient_give(self, f):
        x, weights = draw((3,), "hessian"), draw((3,), "weights")
        gradient = ad.grad(lambda x: np.sum(weights * f(x)))
        step = 1e-5 * np.eye(3)
        columns = [(gradient(x + h).numpy() - gradient(x - h).numpy()) / 2e-5 for h in step]
        found = ad.hessian(lambda x: np.sum(weights * f(x)))(x).numpy()
        np.testing.assert_allclose(found, np.transpose(columns), atol=1e-8)


def test_softmax_works_along_any_axis():
    x = draw((2, 3, 4), "axis")
    for axis in (0, 1, 2, -1):
        np.testing.assert_allclose(nn.softmax(x, axis=axis).sum(axis), 1.0, rtol=1e-12)
        np.testing.assert_allclose(np.exp(nn.log_softmax(x, axis=axis)), nn.softmax(x, axis=axis), rtol=1e-12)
        ad.check_gradients(lambda x, axis=axis: nn.log_softmax(x, axis=axis) ** 2, x)


def test_mse_averages_squares():
    prediction, target = draw((3, 2), "prediction"), draw((3, 2), "target")
    assert float(nn.mse(ad.constant(prediction), target)) == pytest.approx(np.mean((prediction - target) ** 2))
    assert nn.mse(prediction, target) == pytest.approx(np.mean((prediction - target) ** 2))
    assert float(nn.mse(ad.constant([1.0, 3.0]), 0.0)) == 5.0
    ad.check_gradients(nn.mse, prediction, target)


@pytest.mark.parametrize(("shape", "wanted"), [((4, 1), (4,)), ((4,), (4, 1)), ((4, 2), (2,)), ((1,), (3,))])
def test_mse_refuses_to_broadcast(shape, wanted):
    with pytest.raises(ValueError, match="reshape"):
        nn.mse(ad.constant(np.ones(shape)), np.ones(wanted))


CLASSES = np.array([0, 2, 1, 2])
ONE_HOT = np.eye(3)[CLASSES]


@pytest.mark.parametrize("labels", [CLASSES, CLASSES.tolist(), ONE_HOT, ONE_HOT.astype(int), ONE_HOT.astype(bool)])
@pytest.mark.parametrize("make", [np.array, ad.constant])
def test_cross_entropy_takes_numbers_of_classes_and_one_hot_labels(labels, make):
    logits = draw((4, 3), "logits")
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.mean(np.log(probabilities[np.arange(4), CLASSES]))
    labels = labels if isinstance(labels, list) else make(labels)
    assert float(nn.softmax_cross_entropy(make(logits), labels)) == pytest.approx(expected, rel=1e-14)
    gradient = ad.grad(lambda logits: nn.softmax_cross_entropy(logits, labels))(logits).numpy()
    np.testing.assert_allclose(gradient, (probabilities - ONE_HOT) / 4, rtol=1e-12, atol=1e-16)


def test_cross_entropy_takes_any_axes_before_the_classes():
    logits = draw((2, 2, 3), "logits")
    flat = nn.softmax_cross_entropy(logits.reshape(4, 3), CLASSES)
    assert nn.softmax_cross_entropy(logits, CLASSES.reshape(2, 2)) == pytest.approx(flat)
    assert nn.softmax_cross_entropy(np.array([0.0, 0.0]), 1) == pytest.approx(np.log(2))
    assert nn.softmax_cross_entropy([0, 0], 1) == pytest.approx(np.log(2))


def test_cross_entropy_has_the_right_derivatives_to_second_order():
    logits, probabilities = draw((4, 3), "logits"), nn.softmax(draw((4, 3), "probabilities"))
    ad.check_gradients(lambda logits: nn.softmax_cross_entropy(logits, CLASSES), logits)
    ad.check_gradients(nn.softmax_cross_entropy, logits, probabilities)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cross_entropy_is_stable_at_the_extremes(dtype):
    with np.errstate(all="raise", under="ignore"):
        for label, value, gradient in [(4, 0.0, [0, 0, 0, 0, 0]), (0, 2000.0, [-1, 0, 0, 0, 1])]:
            for labels in (label, np.eye(5, dtype=dtype)[label]):
                found = first_and_second(lambda x, y=labels: nn.softmax_cross_entropy(x, y), EXTREMES.astype(dtype))
                assert found == (value, gradient, [0.0] * 5)


def test_a_class_that_is_ruled_out_costs_nothing():
    logits = np.array([[0.0, 0.0, -np.inf]])
    value, gradient = ad.value_and_grad(lambda logits: nn.softmax_cross_entropy(logits, [1]))(logits)
    assert float(value) == pytest.approx(np.log(2))
    assert gradient.tolist() == [[0.5, -0.5, 0.0]]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 2, 3, 1], ValueError, r"labels\[2\] is 3.*classes 0 to 2"),
        ([0, -1, 2, 1], ValueError, r"labels\[1\] is -1"),
        (ad.constant([0, 2, 3, 1]), ValueError, r"labels\[2\] is 3"),
        ([0, 1, 2], ValueError, r"shape \(3,\).*shape \(4,\).*shape \(4, 3\)"),
        (np.ones((4, 1)), ValueError, r"labels of shape \(4, 1\)"),
        (np.ones((4, 1), int), ValueError, r"labels of shape \(4, 1\)"),
        ([0.0, 1.0, 2.0, 1.0], TypeError, r"astype\(int\)"),
        ([True, False, True, True], TypeError, "bool"),
    ],
)
def test_labels_that_fit_no_logits_are_refused(labels, error, message):
    with pytest.raises(error, match=message):
        nn.softmax_cross_entropy(np.zeros((4, 3)), labels)


def test_a_single_score_has_no_classes():
    with pytest.raises(ValueError, match=r"logits of shape \(\)"):
        nn.softmax_cross_entropy(1.0, 0)


def test_the_arrays_of_another_library_stay_what_they_are():
    da = pytest.importorskip("dask.array")
    layers = [nn.Dense(4, nn.elu), nn.BatchNormalization(), nn.Dense(3, nn.sigmoid)]
    x, labels = draw((6, 5), "dask"), np.array([0, 2, 1, 2, 0, 0])

    def gradient(x, labels):
        x = ad.constant(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = layers[2](layers[1](layers[0](x)))
            loss = nn.softmax_cross_entropy(y, labels) + nn.mse(nn.relu(y), nn.softmax(y))
        return tape.gradient(loss, x)._array

    expected = gradient(x, labels)
    found = gradient(da.from_array(x, chunks=2), da.from_array(labels, chunks=2))
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=1e-16)


def test_a_model_survives_pickling_with_variables_of_its_own():
    model = nn.Dense(2, nn.relu)
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    y = model(x)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(x).numpy(), y.numpy())
    assert list(again.named_variables) == ["kernel", "bias"]
    with ad.GradientTape() as tape:
        y = np.sum(again(x))
    assert tape.gradient(y, model.kernel) is None


def test_a_layer_made_for_float32_keeps_gradients_in_float32_for_float64_inputs():
    layer = nn.Dense(2)
    layer(np.ones((1, 2), "float32"))
    with ad.GradientTape() as tape:
        y = np.sum(layer(np.ones((1, 2))))
    assert {g.dtype.name for g in tape.gradient(y, layer.trainable_variables)} == {"float32"}


def test_a_layer_is_shown_without_an_address():
    assert "0x" not in repr(nn.Dense(2))
