from collections.abc import Sequence
from itertools import combinations
from math import hypot

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.pictures.packing import Circle, apart, enclosing, huddled, packed
from commonplace.pictures.semantic import laid_out
from commonplace.pictures.terrain import Terrain, names
from commonplace.pictures.treemap import divided


def stand_apart(circles: Sequence[Circle], gap: float) -> bool:
    return all(
        hypot(x - ox, y - oy) >= r + other + gap - 1e-4 for (x, y, r), (ox, oy, other) in combinations(circles, 2)
    )


@given(st.lists(st.floats(0.5, 40.0), min_size=1, max_size=14))
def test_packed_circles_do_not_overlap(radii: list[float]) -> None:
    circles = packed(radii, 1.0)
    assert [r for _, _, r in circles] == radii
    assert stand_apart(circles, 1.0)
    cx, cy, reach = enclosing(circles)
    assert all(hypot(x - cx, y - cy) + r <= reach + 1e-6 for x, y, r in circles)


@given(st.lists(st.floats(0.5, 40.0), min_size=1, max_size=10))
def test_huddled_circles_do_not_overlap_and_need_no_more_room(radii: list[float]) -> None:
    circles = huddled(radii, 1.0)
    assert [r for _, _, r in circles] == radii
    assert stand_apart(circles, 1.0)
    assert enclosing(circles)[2] <= enclosing(packed(radii, 1.0))[2] + 1e-3


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30))
def test_the_parts_of_a_treemap_fill_it_by_size(sizes: list[int]) -> None:
    sizes.sort(reverse=True)
    parts = divided(sizes, (0.0, 0.0, 320.0, 480.0))
    total = sum(sizes)
    for size, (x, y, wide, high) in zip(sizes, parts, strict=True):
        assert abs(wide * high - 320 * 480 * size / total) < 0.5
        assert x >= -1e-6
        assert y >= -1e-6
        assert x + wide <= 320 + 1e-3
        assert y + high <= 480 + 1e-3


def test_a_crowd_is_pushed_apart() -> None:
    places = apart([(100.0, 100.0)] * 200, [3.0] * 200, (600.0, 400.0))
    far = np.hypot(*(np.array(places)[:, None] - np.array(places)[None]).transpose(2, 0, 1))
    np.fill_diagonal(far, np.inf)
    assert np.median(far.min(axis=1)) > 4.5


def test_groups_of_vectors_become_groups_on_the_map() -> None:
    random = np.random.default_rng(5)
    middles = random.standard_normal((4, 96))
    rows = np.concatenate([middle + 0.4 * random.standard_normal((80, 96)) for middle in middles])
    places = laid_out(rows.astype(np.float32))
    groups = places.reshape(4, 80, 2)
    inner = max(float(np.linalg.norm(group - group.mean(axis=0), axis=1).mean()) for group in groups)
    centres = groups.mean(axis=1)
    outer = min(float(np.linalg.norm(centres[a] - centres[b])) for a in range(4) for b in range(a))
    assert outer > 1.5 * inner


@given(st.integers(1, 9), st.integers(2, 5), st.sampled_from([0.0, 1.0, float("nan"), float("inf")]))
def test_vectors_without_any_difference_have_places(count: int, size: int, value: float) -> None:
    places = laid_out(np.full((count, size), value, np.float32))
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


def test_hills_are_named_by_what_is_rare_elsewhere() -> None:
    left = [(100.0 + at % 7, 100.0 + at // 7) for at in range(40)]
    right = [(700.0 + at % 7, 400.0 + at // 7) for at in range(40)]
    hills = Terrain([*left, *right], 1088.0, 680.0).hills()
    terms = [["all", "tea"]] * 40 + [["all", "rain"]] * 40
    assert sorted(names(hills, terms)) == ["rain", "tea"]
