"""Jacobians that fill row by row, and walks over contours: what their documents say."""

import json

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.bundle import script, style
from autodiff_edu.player.descend import descend
from autodiff_edu.player.sweep import sweep
from autodiff_edu.player.unpacking import unpack_script


def document_of(player):
    return player._content["trace"]


def products(x):
    return x[1:] * x[:-1]


def quartic(p):
    return p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2


def test_a_sweep_ends_with_the_jacobian():
    part = document_of(sweep(products, [1.0, 2.0, 3.0]))["sweep"]
    assert part["jacobian"]["data"] == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
    assert part["columns"] == ["x[0]", "x[1]", "x[2]"]
    assert part["rows"] == [f"{part['target']}[0]", f"{part['target']}[1]"]


def test_each_row_is_what_its_own_backward_pass_accumulates():
    document = document_of(sweep(products, [1.0, 2.0, 3.0]))
    part, steps = document["sweep"], document["steps"]
    source = next(step["tensor"] for step in steps if step["kind"] == "watch")
    for one in part["passes"]:
        seed = np.array(steps[one["first"]]["cotangent"]["data"])
        assert steps[one["first"]]["kind"] == "seed"
        assert np.array_equal(seed, np.eye(2) if one["stack"] else np.eye(2)[one["rows"][0]])
        arrived = [
            s for s in steps[one["first"] : one["last"] + 1] if s["kind"] == "accumulate" and s["tensor"] == source
        ]
        rows = np.array(part["jacobian"]["data"])[one["rows"]]
        assert np.array_equal(np.reshape(arrived[-1]["after"]["data"], rows.shape), rows)


def test_the_passes_take_the_rows_in_order_and_then_all_at_once():
    passes = document_of(sweep(np.cumsum, np.arange(3.0)))["sweep"]["passes"]
    assert [(one["rows"], one["stack"]) for one in passes] == [
        ([0], False), ([1], False), ([2], False), ([0, 1, 2], True),
    ]  # fmt: skip
    ends = [number for one in passes for number in (one["first"], one["last"])]
    assert ends == sorted(ends)
    assert passes[-1]["last"] - passes[-1]["first"] == passes[0]["last"] - passes[0]["first"]  # as long as one row


def test_each_column_is_what_its_own_forward_pass_brings():
    document = document_of(sweep(products, [1.0, 2.0, 3.0], mode="forward"))
    part, steps = document["sweep"], document["steps"]
    assert part["jacobian"]["data"] == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
    assert [(one["columns"], one["stack"]) for one in part["passes"]] == [
        ([0], False), ([1], False), ([2], False), ([0, 1, 2], True),
    ]  # fmt: skip
    for one in part["passes"]:
        first, last = steps[one["first"]], steps[one["last"]]
        tangent = np.array(first["tangent"]["data"])
        assert (first["kind"], last["kind"]) == ("move", "push forward")
        assert np.array_equal(tangent, np.eye(3) if one["stack"] else np.eye(3)[one["columns"][0]])
        columns = np.array(part["jacobian"]["data"])[:, one["columns"]]
        assert np.array_equal(np.reshape(last["tangent"]["data"], columns.T.shape), columns.T)


def test_both_ways_take_turns_until_the_shorter_is_done():
    part = document_of(sweep(products, [1.0, 2.0, 3.0], mode="both"))["sweep"]
    order = [("rows" if "rows" in one else "columns", one.get("rows") or one["columns"]) for one in part["passes"]]
    assert order == [
        ("rows", [0]),
        ("columns", [0]),
        ("rows", [1]),
        ("columns", [1]),
        ("columns", [2]),
        ("rows", [0, 1]),
        ("columns", [0, 1, 2]),
    ]
    assert [one["stack"] for one in part["passes"]] == [False] * 5 + [True] * 2


@pytest.mark.parametrize("mode", ["forward", "both"])
def test_a_tape_around_a_forward_sweep_does_not_disturb(mode):
    w = ad.Variable(2.0)
    with ad.GradientTape():
        document = document_of(sweep(lambda x: w * np.sin(x), [1.0, 2.0], mode=mode))
    assert len(document["tapes"]) == 1
    assert document["sweep"]["target"] != document["sweep"]["source"]


def test_what_is_its_own_argument_is_swept_forward_too():
    part = document_of(sweep(lambda x: x, [1.0, 2.0], mode="forward"))["sweep"]
    assert part["jacobian"]["data"] == [[1.0, 0.0], [0.0, 1.0]]
    assert part["target"] == part["source"]


def test_a_mode_that_there_is_not_is_refused_in_words():
    with pytest.raises(ValueError, match="mode is 'sideways'; it must be 'reverse', 'forward' or 'both'"):
        sweep(products, [1.0, 2.0], mode="sideways")


def test_arrays_of_any_rank_and_scalars_and_variables_are_swept():
    part = document_of(sweep(lambda w: w @ w, ad.Variable(np.eye(2), name="w")))["sweep"]
    assert part["columns"] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]
    assert np.array_equal(part["jacobian"]["data"], 2 * np.eye(4))
    part = document_of(sweep(lambda x: np.sin(x) * 2, 0))["sweep"]
    assert part["rows"] == [part["target"]]
    assert part["jacobian"]["data"] == [[2.0]]
    assert document_of(sweep(lambda x: x, [1.0, 2.0]))["sweep"]["jacobian"]["data"] == [[1.0, 0.0], [0.0, 1.0]]


def test_a_tape_around_a_sweep_is_not_a_part_of_it():
    with ad.GradientTape(persistent=True):
        document = document_of(sweep(products, [1.0, 2.0, 3.0]))
    assert len(document["tapes"]) == 1
    for one in document["sweep"]["passes"]:
        assert document["steps"][one["first"]]["kind"] == "seed"


@pytest.mark.parametrize(
    ("f", "x", "error", "words"),
    [
        (lambda x: np.outer(x, x), np.ones(4), ValueError, "16 elements"),
        (np.sum, np.ones(21), ValueError, "21 elements"),
        (lambda x: x[:0], np.ones(3), ValueError, "0 elements"),
        (lambda x: ad.constant([1.0]), np.ones(3), ValueError, "does not depend on x"),
        (lambda x: np.sign(x), np.ones(3), ValueError, "does not depend on x"),
        (lambda x: 3.0, np.ones(3), TypeError, "must be one Tensor"),
        (lambda x: (x, x), np.ones(3), TypeError, "must be one Tensor"),
        (lambda x: x, np.arange(3), TypeError, "floating-point numbers"),
        (lambda x: x, 1j, TypeError, "floating-point numbers"),
        (lambda x: x, {"a": 1.0}, TypeError, "floating-point numbers"),
        (3.0, 1.0, TypeError, "not a function"),
        (lambda x, y: x, [1.0], TypeError, "calls <lambda> with one array, .* Write a lambda around it"),
        (lambda: 1, [1.0], TypeError, "calls <lambda> with one array, .* Write a lambda around it"),
        (lambda x: x, [], ValueError, "0 elements"),
        (lambda x: x, [[], []], ValueError, "0 elements"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_words(f, x, error, words):
    with pytest.raises(error, match=words):
        sweep(f, x)


# Rows that share no column --------------------------------------------------------------------------------------------

CHAIN = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1


def pulls(x):
    return 2 * x - np.pad(x[1:], (0, 1)) ** 2 - np.pad(x[:-1], (1, 0)) ** 3


@pytest.mark.parametrize(("mode", "way"), [("reverse", "rows"), ("forward", "columns")])
def test_one_seed_fills_the_rows_or_columns_of_a_colour(mode, way):
    document = document_of(sweep(pulls, np.linspace(1.0, 2.0, 6), mode=mode, sparsity=CHAIN))
    part, steps = document["sweep"], document["steps"]
    assert [(one[way], one["stack"]) for one in part["passes"]] == [
        ([0, 3], False), ([1, 4], False), ([2, 5], False), ([0, 1, 2, 3, 4, 5], True),
    ]  # fmt: skip
    seeds = np.zeros((3, 6))
    seeds[[0, 1, 2, 0, 1, 2], range(6)] = 1.0
    kind = "cotangent" if mode == "reverse" else "tangent"
    for one, wanted in zip(part["passes"], [*seeds, seeds], strict=True):
        assert np.array_equal(steps[one["first"]][kind]["data"], wanted)
    jacobian = ad.jacobian(pulls)(np.linspace(1.0, 2.0, 6)).numpy()
    assert np.allclose(np.array(part["jacobian"]["data"], dtype=float), jacobian, rtol=1e-5)


def test_both_ways_take_their_own_groups():
    pattern = np.array([[True, True, True], [True, False, False]])
    part = document_of(sweep(lambda x: np.stack([np.sum(x), x[0]]), np.ones(3), mode="both", sparsity=pattern))["sweep"]
    assert [one.get("rows") or one["columns"] for one in part["passes"]] == [
        [0], [0], [1], [1], [2], [0, 1], [0, 1, 2],
    ]  # fmt: skip
    part = document_of(sweep(lambda x: x * x, np.ones(3), mode="both", sparsity=(range(3), range(3))))["sweep"]
    assert [one["stack"] for one in part["passes"]] == [False, False, True, True]


def test_a_pattern_that_misses_a_place_is_refused_with_the_place():
    pattern = CHAIN.copy()
    pattern[4, 3] = False
    with pytest.raises(ValueError, match=r"leaves out row 4, column 3, where the Jacobian is -3\. It must be"):
        sweep(pulls, np.ones(6), sparsity=pattern)
    with pytest.raises(ValueError, match="has 6 rows and 6 columns"):
        sweep(pulls, np.ones(6), sparsity=CHAIN[1:])
    with pytest.raises(ValueError, match="leave out sparsity or batch"):
        sweep(own, BATCH, batch=True, sparsity=CHAIN)


@pytest.mark.parametrize("mode", ["reverse", "forward", "both"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_from_zero_times_infinity_is_not_the_pattern_s_fault(mode):
    part = document_of(sweep(np.log, [0.0, 2.0], mode=mode, sparsity=np.eye(2)))["sweep"]
    assert np.array_equal(np.array(part["jacobian"]["data"], float), [[np.inf, 0.0], [0.0, 0.5]])
    with pytest.raises(ValueError, match=r"leaves out row 2, column 0, where the Jacobian is inf"):
        sweep(lambda x: x + np.sqrt(x[::-1]), [0.0, 1.0, 4.0], mode=mode, sparsity=[[1, 0, 1], [0, 1, 0], [0, 0, 1]])


# A batch that folds --------------------------------------------------------------------------------------------------

BATCH = [[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]


def own(x):
    return (x @ np.array([[1.0, 2.0], [3.0, -1.0]])) ** 2


def mixed(x):
    return x - np.mean(x, axis=0)


@pytest.mark.parametrize("f", [own, mixed])
def test_a_batch_folds_into_what_batch_jacobian_gives(f):
    document = document_of(sweep(f, BATCH, batch=True))
    part, x = document["patches"], ad.constant(BATCH)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(part["full"]["data"], tape.jacobian(y, x), 1e-5, 1e-12)
    np.testing.assert_allclose(part["folded"]["data"], tape.batch_jacobian(y, x), 1e-5, 1e-12)
    assert part["full"]["shape"] == [3, 2, 3, 2]


def test_a_fold_follows_the_full_jacobian_and_the_direct_way_comes_last():
    document = document_of(sweep(own, BATCH, batch=True))
    part, steps = document["patches"], document["steps"]
    remarks = [number for number, step in enumerate(steps) if step["kind"] == "remark"]
    assert remarks == [part["made"], *part["folds"], part["done"]]
    assert [steps[part["made"] - 1]["kind"], steps[part["begun"]]["kind"]] == ["outcome", "seed"]
    assert part["done"] == len(steps) - 1
    seeds = [step["cotangent"]["shape"] for step in steps if step["kind"] == "seed"]
    assert seeds == [[6, 3, 2], [2, 3, 2]]
    assert "so only the patches on the diagonal are not 0" in steps[part["made"]]["text"]
    assert "a stack of 2 seeds instead of 6" in steps[part["done"]]["text"]


def test_samples_that_mix_are_said_to():
    steps = document_of(sweep(mixed, BATCH, batch=True))["steps"]
    texts = [step["text"] for step in steps if step["kind"] == "remark"]
    assert texts[0].endswith("The samples mix: patches off the diagonal are not 0.")
    assert texts[1] == "Sample 0: all patches in its column slide together and add up."
    assert texts[-1].endswith("without a warning that they are sums: use check=True.")


@pytest.mark.parametrize(
    ("f", "x", "words"),
    [
        (own, [1.0, 2.0], "batch=True takes a batch of shape"),
        (lambda x: np.sum(x, axis=0, keepdims=True), BATCH, r"has shape \(3, 2\) and the result \(1, 2\)"),
        (own, np.ones((9, 2)), "324 numbers"),
        (lambda x: ad.constant(np.ones((3, 1))), BATCH, "does not depend on x"),
    ],
)
def test_what_is_not_a_batch_is_refused_in_words(f, x, words):
    with pytest.raises(ValueError, match=words):
        sweep(f, x, batch=True)


def test_a_batch_is_not_swept_forward():
    with pytest.raises(ValueError, match="a batch Jacobian is filled in reverse mode, but mode is 'forward'"):
        sweep(own, BATCH, mode="forward", batch=True)


def test_the_same_walk_gives_the_same_bytes():
    first, second = (descend(quartic, (0.3, 1.0)).html() for _ in range(2))
    assert first == second
    first, second = (sweep(products, [1.0, 2.0, 3.0]).html() for _ in range(2))
    assert first == second


def test_every_page_can_draw_every_kind_of_document():
    plain, swept, walked = ad.play(quartic, np.ones(2)), sweep(products, [1.0, 2.0]), descend(quartic, (0.3, 1.0))
    for player in (plain, swept, walked, sweep(own, BATCH, batch=True)):
        assert script() in unpack_script(player.html())
        assert player._content["css"] == style()
        assert len(player.html()) < 138_000, player


def test_the_documents_are_json_without_nan():
    for player in (
        sweep(products, [1.0, 2.0]),
        descend(lambda p: np.sqrt(p[0]) + p[1] ** 2, (0.5, 1.0), "gradient", rate=1.0),
    ):
        assert json.loads(json.dumps(player._content, allow_nan=False)) == player._content


def test_an_outer_tape_that_follows_something_in_the_function_does_not_disturb():
    w = ad.Variable(2.0)
    with ad.GradientTape():
        player = ad.sweep(lambda x: w * x, [1.0, 2.0])
    assert len(player) > 0
