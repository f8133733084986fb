"""Pictures of Jacobians and of functions of two variables."""

import sys

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import plots

pytest.importorskip("matplotlib")


def images(figure):
    return [image for axes in figure.axes for image in axes.images]


def test_a_heatmap_shows_the_matrix_in_colours_around_zero():
    jacobian = ad.jacobian(lambda x: x**3 - x)(np.array([0.0, 2.0]))
    (image,) = images(plots.heatmap(jacobian))
    assert np.array_equal(image.get_array(), [[-1.0, 0.0], [0.0, 11.0]])
    assert image.get_clim() == (-11.0, 11.0)
    middle = image.cmap(image.norm(0.0))[:3]
    assert max(middle) - min(middle) < 0.05  # zero has no colour


def test_the_two_sides_of_zero_differ_in_blue_and_not_in_red_against_green_alone():
    (image,) = images(plots.heatmap([[-1.0, 1.0]]))
    low, high = (np.array(image.cmap(image.norm(value))) for value in (-1.0, 1.0))
    assert low[2] - high[2] > 0.5


def test_a_vector_is_one_row():
    (image,) = images(plots.heatmap([1.0, 2.0, 3.0]))
    assert image.get_array().shape == (1, 3)


def test_the_scale_can_be_given_so_that_two_heatmaps_compare():
    (image,) = images(plots.heatmap([[1.0]], limit=10.0))
    assert image.get_clim() == (-10.0, 10.0)


def test_zeros_and_odd_numbers_have_a_scale_too():
    (image,) = images(plots.heatmap([[0.0, np.nan], [np.inf, 0.0]]))
    assert image.get_clim() == (-1.0, 1.0)
    (image,) = images(plots.heatmap([[2.0, np.nan], [np.inf, 0.0]]))
    assert image.get_clim() == (-2.0, 2.0)


def test_a_block_matrix_is_drawn_as_the_matrix_it_is():
    hessian = ad.hessian(lambda p: p["x"] * p["y"] ** 2)({"x": 3.0, "y": 2.0})
    (image,) = images(plots.heatmap(hessian))
    assert np.array_equal(image.get_array(), [[0.0, 4.0], [4.0, 6.0]])


def test_a_jacobian_of_higher_rank_is_refused_with_the_reshape_to_write():
    with pytest.raises(ValueError, match=r"np\.reshape\(jacobian, \(6, 20\)\)"):
        plots.heatmap(np.zeros((2, 3, 4, 5)))


def test_what_holds_no_real_numbers_is_refused():
    with pytest.raises(TypeError, match=r"np\.real or np\.abs"):
        plots.heatmap(np.array([[1j]]))
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.heatmap(np.zeros((0, 3)))


def test_each_sample_of_a_batch_is_a_patch_with_the_scale_of_all():
    batch = np.arange(30.0).reshape(10, 1, 3)
    drawn = images(plots.batch_patches(batch))
    assert [image.get_array().tolist() for image in drawn[:10]] == batch.tolist()
    assert {image.get_clim() for image in drawn[:10]} == {(-29.0, 29.0)}


def test_a_full_jacobian_of_a_batch_has_a_patch_for_each_output_and_input():
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    full = ad.jacobian(lambda x: x * x)(x)
    drawn = images(plots.batch_patches(full))
    assert len(drawn) >= 4
    for index, patch in enumerate(drawn[:4]):
        i, j = divmod(index, 2)
        assert np.array_equal(patch.get_array(), np.diag(2 * x[:, i]) if i == j else np.zeros((3, 3)))


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 4, 2)])
def test_what_is_not_a_batch_jacobian_is_refused(shape):
    with pytest.raises(ValueError, match="samples, outputs, inputs"):
        plots.batch_patches(np.ones(shape))


def test_more_patches_than_can_be_seen_are_refused():
    with pytest.raises(ValueError, match="500 patches"):
        plots.batch_patches(np.ones((2, 20, 2, 25)))


def test_contours_are_those_of_the_function():
    figure = plots.contours(lambda p: p[0] ** 2 + 4 * p[1] ** 2, x=(-2, 2), y=(-1, 1))
    (lines,) = [part for part in figure.axes[0].collections if hasattr(part, "levels")]
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        heights = path.vertices[:, 0] ** 2 + 4 * path.vertices[:, 1] ** 2
        assert heights == pytest.approx(level, rel=0.02, abs=0.01)


def test_a_function_may_take_its_two_numbers_one_by_one():
    one, two = (plots.contours(f, (-1, 1), (0, 1)) for f in (lambda p: p[0] * p[1], lambda x, y: x * y))
    first, second = (figure.axes[0].collections[0].get_paths() for figure in (one, two))
    assert all(np.array_equal(a.vertices, b.vertices) for a, b in zip(first, second, strict=True))


def test_a_path_is_drawn_over_the_contours():
    path = [(1.0, 1.0), (0.5, 0.2), (0.0, 0.0)]
    figure = plots.contours(lambda p: np.sum(p**2), (-2, 2), (-2, 2), path=path)
    line = figure.axes[0].lines[0]
    assert np.array_equal(line.get_xydata(), path)


def test_outside_its_domain_a_function_has_no_contours():
    figure = plots.contours(lambda p: np.log(p[0]) + p[1], (-1, 1), (0, 1))
    for path in figure.axes[0].collections[0].get_paths():
        assert (path.vertices[:, 0] > 0).all()
    with pytest.raises(ValueError, match="finite nowhere"):
        plots.contours(lambda p: np.log(p[0]), (-2, -1), (0, 1))


def test_a_plain_function_has_a_picture():
    figure = plots.contours(lambda p: 1.0, (-1, 1), (-1, 1))
    assert figure.axes[0].get_xlim() == (-1.0, 1.0)


@pytest.mark.parametrize("given", [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), 3.0, (1, 2, 3), "ab", None])
def test_a_range_that_is_none_is_refused(given):
    with pytest.raises(ValueError, match=r"y=\(-3\.0, 3\.0\)"):
        plots.contours(lambda p: p[0], (0, 1), given)


def test_a_path_of_another_shape_and_a_result_of_several_numbers_are_refused():
    with pytest.raises(ValueError, match=r"shape \(points, 2\)"):
        plots.contours(lambda p: p[0], (0, 1), (0, 1), path=[1.0, 2.0])
    with pytest.raises(ValueError, match="one number"):
        plots.contours(lambda p: p, (0, 1), (0, 1))


def test_a_figure_is_closed_so_that_a_notebook_shows_it_once():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    plots.heatmap([[1.0]])
    assert pyplot.get_fignums() == before


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: plots.heatmap([[1.0]]),
        lambda: plots.batch_patches(np.ones((2, 1, 1))),
        lambda: plots.contours(lambda p: p[0], (0, 1), (0, 1)),
    ):
        with pytest.raises(ImportError, match="pip install matplotlib"):
            draw()
