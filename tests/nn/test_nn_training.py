"""Optimizers step as they should, networks learn, and the course's numbers about layers hold."""

import copy

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad
from autodiff_edu import nn


class Network(nn.Module):
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x, training=True):
        for layer in self.layers:
            x = layer(x, training=training) if isinstance(layer, nn.BatchNormalization) else layer(x)
        return x


@pytest.fixture(autouse=True)
def same_kernels():
    nn.seed(0)
    yield
    nn.seed(0)


def train(network, optimizer, loss_of, steps):
    for _ in range(steps):
        with ad.GradientTape() as tape:
            loss = loss_of(network)
        variables = network.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
    return float(loss_of(network))


def slope(w):
    """The gradient of a function with a valley, by hand."""
    return np.array([w[0] ** 3 - w[1], 20 * w[1] - w[0] + np.sin(w[1])])


def test_adam_takes_the_steps_of_the_paper():
    v, optimizer = ad.Variable([1.5, -2.0]), nn.Adam(0.1, beta_1=0.8, beta_2=0.99, epsilon=1e-7)
    w, m, s = np.array([1.5, -2.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 51):
        optimizer.apply(slope(v.numpy()), v)
        g = slope(w)
        m, s = 0.8 * m + 0.2 * g, 0.99 * s + 0.01 * g * g
        w = w - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(s / (1 - 0.99**t)) + 1e-7)
        np.testing.assert_allclose(v.numpy(), w, rtol=1e-12, atol=1e-12)


def test_adam_has_the_settings_of_the_paper_and_a_first_step_of_the_learning_rate():
    optimizer, v = nn.Adam(), ad.Variable([1.0, 1.0, 1.0])
    assert (optimizer.learning_rate, optimizer.beta_1, optimizer.beta_2) == (0.001, 0.9, 0.999)
    assert optimizer.epsilon == 1e-8
    optimizer.apply([1000.0, -1e-3, 0.0], v)
    np.testing.assert_allclose(v.numpy(), [0.999, 1.001, 1.0], rtol=1e-7)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_takes_the_steps_of_a_loop_by_hand(momentum):
    v, optimizer = ad.Variable([1.5, -2.0]), nn.SGD(0.02, momentum=momentum)
    w, velocity = np.array([1.5, -2.0]), np.zeros(2)
    for _ in range(50):
        optimizer.apply(slope(v.numpy()), v)
        velocity = momentum * velocity + slope(w)
        w = w - 0.02 * velocity
        np.testing.assert_allclose(v.numpy(), w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [lambda: nn.SGD(0.1, momentum=0.9), lambda: nn.Adam(0.1)], ids=["SGD", "Adam"])
class TestEveryOptimizer:
    def test_remembers_each_variable_by_itself(self, make):
        together, apart = make(), make()
        a, b, c = ad.Variable(1.0), ad.Variable([1.0, 2.0]), ad.Variable(1.0)
        for k in range(5):
            together.apply([float(k), [1.0, k]], [a, b])
            apart.apply(float(k), c)
        late, fresh, first = ad.Variable(1.0), ad.Variable(1.0), make()
        together.apply(3.0, late)
        first.apply(3.0, fresh)
        assert float(a) == float(c)
        assert float(late) == float(fresh), "a variable that joins later starts afresh"

    def test_takes_gradients_in_the_structure_of_the_variables(self, make):
        w = {"layers": [ad.Variable([1.0, 2.0]), (ad.Variable(3.0),)], "b": ad.Variable(4.0)}
        with ad.GradientTape() as tape:
            loss = np.sum(w["layers"][0] ** 2) * w["layers"][1][0] + w["b"] ** 2
        make().apply(tape.gradient(loss, w), w)
        assert w["layers"][0].tolist() < [1.0, 2.0]
        assert float(w["layers"][1][0]) < 3.0
        assert float(w["b"]) < 4.0

    def test_keeps_the_dtype(self, make):
        v, optimizer = ad.Variable([1.0, 2.0], dtype="float32"), make()
        for _ in range(3):
            optimizer.apply(ad.constant([1.0, 1.0], dtype="float32"), v)
        assert v.dtype == np.float32
        _, parts = optimizer._memory[v._id]
        assert {np.asarray(p).dtype for p in (parts if isinstance(parts, tuple) else (parts,))} >= {np.dtype("float32")}

    def test_writes_nothing_on_a_tape(self, make):
        v = ad.Variable([1.0, 2.0])
        with ad.GradientTape(persistent=True) as tape:
            loss = np.sum(v * v)
            with tape.stop_recording():
                gradient = tape.gradient(loss, v)
            count = len(tape.entries)
            make().apply(gradient, v)
        assert len(tape.entries) == count
        assert tape.gradient(loss, v).tolist() == [2.0, 4.0]

    def test_leaves_the_gradient_it_was_given_alone(self, make):
        gradient, v, optimizer = np.array([1.0, 2.0]), ad.Variable([0.0, 0.0]), make()
        optimizer.apply(gradient, v)
        gradient[:] = 100.0
        same, other = make(), ad.Variable([0.0, 0.0])
        same.apply([1.0, 2.0], other)
        optimizer.apply([1.0, 2.0], v)
        same.apply([1.0, 2.0], other)
        assert v.tolist() == other.tolist()

    @pytest.mark.parametrize(
        ("gradients", "error", "message"),
        [
            ([[1.0, 1.0], None], ValueError, r"gradients\[1\] is None.*'bias'.*tape\.explain"),
            ([[1.0, 1.0]], ValueError, "gradients must be a list of 2"),
            ([[1.0, 1.0], 1.0, 2.0], ValueError, "gradients must be a list of 2"),
            ({"w": [1.0, 1.0], "b": 1.0}, ValueError, "gradients must be a list of 2"),
            ([[1.0, 1.0], [1.0]], ValueError, r"gradients\[1\] must have the shape \(\) of .*'bias'; .*\(1,\)"),
            ([[1.0, 1.0], 1j], TypeError, r"gradients\[1\] has dtype complex128.*'bias'"),
        ],
    )
    def test_changes_nothing_where_a_gradient_is_wrong(self, make, gradients, error, message):
        variables, optimizer = [ad.Variable([1.0, 2.0]), ad.Variable(3.0, name="bias")], make()
        with pytest.raises(error, match=message):
            optimizer.apply(gradients, variables)
        assert [v.tolist() for v in variables] == [[1.0, 2.0], 3.0]
        assert optimizer._memory == {}

    def test_changes_each_variable_once(self, make):
        v = ad.Variable(1.0)
        with pytest.raises(ValueError, match=r"variables\['b'\] is the same variable as variables\['a'\]"):
            make().apply({"a": 1.0, "b": 1.0}, {"a": v, "b": v})
        assert float(v) == 1.0

    def test_changes_only_variables(self, make):
        v = ad.Variable(1.0)
        with pytest.raises(TypeError, match=r"variables\[1\] .* only Variables.*apply\(gradients, variables\)"):
            make().apply([1.0, 1.0], [v, ad.constant(1.0)])
        assert float(v) == 1.0

    def test_may_change_its_learning_rate(self, make):
        v, optimizer = ad.Variable(1.0), make()
        optimizer.learning_rate = 0.0
        optimizer.apply(1.0, v)
        assert float(v) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.SGD(-0.1), "learning rate"),
        (lambda: nn.SGD(np.nan), "learning rate"),
        (lambda: nn.SGD(0.1, momentum=1.0), "momentum"),
        (lambda: nn.Adam(-1.0), "learning rate"),
        (lambda: nn.Adam(beta_1=1.0), "beta_1"),
        (lambda: nn.Adam(beta_2=-0.5), "beta_2"),
        (lambda: nn.Adam(epsilon=-1e-8), "epsilon"),
    ],
)
def test_settings_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_network_learns_a_parabola():
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    network = Network(nn.Dense(8, np.tanh), nn.Dense(1))
    before = float(nn.mse(network(x), x**2))
    after = train(network, nn.Adam(0.05), lambda network: nn.mse(network(x), x**2), 300)
    assert before > 0.2
    assert after < 1e-3


@pytest.mark.parametrize("make", [lambda: nn.SGD(0.5), lambda: nn.SGD(0.1, momentum=0.9), lambda: nn.Adam(0.03)])
def test_a_network_learns_exclusive_or(make):
    x, labels = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    network = Network(nn.Dense(16, nn.elu), nn.Dense(2))
    after = train(network, make(), lambda network: nn.softmax_cross_entropy(network(x), labels), 400)
    assert after < 0.05
    assert np.argmax(network(x), axis=1).tolist() == labels


def test_a_network_with_batch_normalization_learns_and_then_uses_its_moving_statistics():
    rng = np.random.default_rng(1)
    x = rng.normal(5.0, 3.0, (64, 4))
    labels = (x[:, 0] > x[:, 1]).astype(int)
    network = Network(nn.Dense(8, nn.relu), nn.BatchNormalization(momentum=0.9), nn.Dense(2))
    after = train(network, nn.Adam(0.03), lambda network: nn.softmax_cross_entropy(network(x), labels), 150)
    assert after < 0.1
    assert np.mean(np.argmax(network(x, training=False), axis=1).numpy() == labels) > 0.95
    together, alone = network(x, training=False).numpy(), network(x[:1], training=False).numpy()
    np.testing.assert_allclose(alone[0], together[0], rtol=1e-12)


def test_training_is_the_same_every_time():
    def run():
        nn.seed(3)
        x = np.linspace(-1.0, 1.0, 10)[:, None]
        network = Network(nn.Dense(4, nn.sigmoid), nn.Dense(1))
        train(network, nn.Adam(0.1), lambda network: nn.mse(network(x), x**2), 20)
        return [v.tolist() for v in network.variables]

    assert run() == run()


def test_gradients_vanish_through_a_stack_of_sigmoids():
    x = draw((6, 10), "stack")
    network = Network(*(nn.Dense(10, nn.sigmoid) for _ in range(8)))
    with ad.GradientTape() as tape:
        loss = np.sum(network(x) ** 2)
    sizes = [np.linalg.norm(g.numpy()) for g in tape.gradient(loss, [layer.kernel for layer in network.layers])]
    assert sizes == sorted(sizes)
    assert sizes[0] < 1e-3 * sizes[-1]


# The numbers of course.md


def test_a_dense_relu_layer_has_gradients_shaped_like_its_variables():
    layer, x = nn.Dense(10, activation=nn.relu), draw((7, 5), "course")
    with ad.GradientTape() as tape:
        loss = np.sum(layer(x) ** 2)
    gradients = tape.gradient(loss, layer.named_variables)
    assert {name: g.shape for name, g in gradients.items()} == {"kernel": (5, 10), "bias": (10,)}


def test_the_jacobian_of_a_dense_layer_by_its_kernel_sums_to_the_gradient():
    layer, x = nn.Dense(10, activation=nn.relu), draw((7, 5), "course")
    with ad.GradientTape(persistent=True) as tape:
        y = layer(x)
    jacobian = tape.jacobian(y, layer.kernel)
    assert jacobian.shape == (7, 10, 5, 10)
    np.testing.assert_allclose(
        np.sum(jacobian.numpy(), axis=(0, 1)), tape.gradient(y, layer.kernel).numpy(), rtol=1e-12
    )
    active = y.numpy() > 0
    expected = np.einsum("nj,ni,jk->njik", active, x, np.eye(10))
    np.testing.assert_allclose(jacobian.numpy(), expected, atol=1e-15)


def test_the_norm_of_an_input_gradient_can_be_differentiated_by_a_layers_variables():
    layer, x = nn.Dense(10, activation=nn.relu), ad.constant(draw((7, 5), "course"))
    layer(x)

    def norm(kernel, bias):
        layer.kernel.assign(kernel)
        layer.bias.assign(bias)
        with ad.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            output = np.sum(layer(x) ** 2)
        return np.linalg.norm(tape.gradient(output, x))

    start = layer.kernel.numpy(), draw((10,), "bias") / 10
    layer.bias.assign(start[1])
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            inner.watch(x)
            output = np.sum(layer(x) ** 2)
        penalty = np.linalg.norm(inner.gradient(output, x))
    by_kernel, by_bias = outer.gradient(penalty, [layer.kernel, layer.bias])
    assert (by_kernel.shape, by_bias.shape) == ((5, 10), (10,))
    step = 1e-6
    for k, found in enumerate((by_kernel, by_bias)):
        direction = draw(found.shape, "direction")
        ends = [[p + sign * step * direction if j == k else p for j, p in enumerate(start)] for sign in (1, -1)]
        difference = (float(norm(*ends[0])) - float(norm(*ends[1]))) / (2 * step)
        assert np.sum(found.numpy() * direction) == pytest.approx(difference, rel=1e-6)


def test_the_hessian_by_a_first_kernel_takes_a_newton_step_that_lowers_the_loss():
    first, second, x = nn.Dense(8, nn.relu), nn.Dense(6, nn.relu), draw((7, 5), "newton")
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            loss = np.mean(second(first(x)) ** 2)
        gradient = inner.gradient(loss, first.kernel)
    hessian = outer.jacobian(gradient, first.kernel).numpy()
    assert hessian.shape == (5, 8, 5, 8)
    matrix = hessian.reshape(40, 40)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    step = np.linalg.solve(matrix + 1e-3 * np.eye(40), gradient.numpy().ravel())
    first.kernel.assign_sub(step.reshape(5, 8))
    assert float(np.mean(second(first(x)) ** 2)) < 0.2 * float(loss)


def jacobians(network, x):
    """The diagonal blocks of the full Jacobian, its sum over the duplicate axis, and the batch Jacobian.

    The batch Jacobian takes as many cotangents as a sample has outputs: it is the sum over the samples of the target.
    """
    x = ad.constant(x)
    network(x)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = network(x)
    full, batch = tape.jacobian(y, x).numpy(), tape.batch_jacobian(y, x).numpy()
    assert full.shape == (7, 6, 7, 5)
    assert batch.shape == (7, 6, 5)
    np.testing.assert_allclose(batch, np.swapaxes(full.sum(axis=0), 0, 1), rtol=1e-9, atol=1e-12)
    return np.einsum("bxby->bxy", full), full.sum(axis=2), batch


def test_two_elu_layers_keep_samples_apart():
    network = Network(nn.Dense(8, nn.elu), nn.Dense(6, nn.elu))
    diagonal, total, batch = jacobians(network, draw((7, 5), "batch"))
    np.testing.assert_array_equal(diagonal, total)
    np.testing.assert_allclose(batch, diagonal, rtol=1e-12, atol=1e-15)


def test_batch_normalization_between_two_elu_layers_mixes_samples():
    layers = nn.Dense(8, nn.elu), nn.BatchNormalization(), nn.Dense(6, nn.elu)
    diagonal, total, batch = jacobians(Network(*layers), draw((7, 5), "batch"))
    assert np.abs(diagonal - total).max() > 0.01
    assert np.abs(batch).max() > 0.01, "the batch Jacobian is something,"
    assert np.abs(batch - diagonal).max() > 0.01, "and that is wrong"


def test_batch_normalization_last_leaves_a_batch_jacobian_of_almost_zero():
    network = Network(nn.Dense(6, nn.elu), nn.BatchNormalization(epsilon=0.0))
    diagonal, _, batch = jacobians(network, draw((7, 5), "batch"))
    assert np.abs(batch).max() < 1e-8
    assert np.abs(diagonal).max() > 0.1


def test_batch_normalization_in_inference_keeps_samples_apart():
    network = Network(nn.Dense(8, nn.elu), nn.BatchNormalization(), nn.Dense(6, nn.elu))
    network(draw((7, 5), "batch"))
    diagonal, total, batch = jacobians(lambda x: network(x, training=False), draw((7, 5), "batch"))
    np.testing.assert_array_equal(diagonal, total)
    np.testing.assert_allclose(batch, diagonal, rtol=1e-12, atol=1e-15)


def test_the_jacobian_of_sigmoid_by_a_shift_has_one_number_per_point():
    x, shift = np.linspace(-10.0, 10.0, 201), ad.Variable(0.0)
    with ad.GradientTape() as tape:
        y = nn.sigmoid(x + shift)
    jacobian = tape.jacobian(y, shift).numpy()
    assert jacobian.shape == (201,)
    np.testing.assert_allclose(jacobian, y.numpy() * (1 - y.numpy()), atol=1e-15)
    assert jacobian[100] == 0.25


def test_a_layer_is_on_the_tape_with_the_names_of_its_variables():
    layer = nn.Dense(2, nn.relu)
    with ad.GradientTape() as tape:
        layer(np.ones((1, 3)))
    text = str(tape)
    assert "kernel" in text
    assert "bias" in text
    assert [entry.name for entry in tape.entries] == ["matmul", "add", "less_equal", "where"]


@pytest.mark.parametrize("optimizer", [nn.SGD, nn.Adam])
def test_a_learning_rate_is_a_number(optimizer):
    for rate in ("fast", None, [0.1, 0.2]):
        with pytest.raises(TypeError, match="the learning rate must be a number"):
            optimizer(rate)


def test_an_optimizer_changes_nothing_if_one_variable_holds_integers():
    a, n = ad.Variable(1.0, name="a"), ad.Variable(1, name="n")
    with pytest.raises(TypeError):
        nn.SGD(0.1).apply([1.0, 1], [a, n])
    assert float(a) == 1.0


def test_a_model_and_its_optimizer_are_copied_with_their_memory():
    model, optimizer = nn.Dense(1), nn.SGD(0.1, momentum=0.9)
    model(np.ones((1, 1)))
    optimizer.apply([np.ones((1, 1))], [model.kernel])
    again, its = copy.deepcopy((model, optimizer))
    optimizer.apply([np.ones((1, 1))], [model.kernel])
    its.apply([np.ones((1, 1))], [again.kernel])
    assert np.array_equal(again.kernel.numpy(), model.kernel.numpy())


def test_gradients_in_a_list_are_applied_to_variables_in_a_tuple():
    layer = nn.Dense(1)
    with ad.GradientTape() as tape:
        y = np.sum(layer(np.ones((1, 2))))
    before = layer.bias.numpy()
    variables = layer.trainable_variables
    nn.SGD(0.5).apply([g * 2.0 for g in tape.gradient(y, variables)], variables)
    assert layer.bias.numpy() == before - 1.0
