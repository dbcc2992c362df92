"""Pose files read here, against the movement package, which reads them by itself."""

import subprocess
import sys

import numpy as np
import pytest

import shoal
import track_files
from shoal.errors import InputError
from shoal.tracks.readers.pose import quiet_movement

MAKERS = {
    "DeepLabCut": track_files.deeplabcut_csv,
    "LightningPose": track_files.lightningpose,
    "SLEAP": track_files.sleap_analysis,
}


def places():
    found = np.random.default_rng(1).uniform(0, 100, (track_files.FRAMES, track_files.ANIMALS, 2))
    found[3, 1] = np.nan
    return found


@pytest.mark.parametrize("software", MAKERS)
def test_every_point_is_where_the_movement_package_has_it(software, tmp_path):
    path = MAKERS[software](tmp_path, places())
    with quiet_movement(path) as poses:
        theirs = poses.from_file(path, source_software=software)
    for point in theirs["keypoints"].values.tolist():
        ours = shoal.read_tracks(path, keypoint=point)
        wanted = theirs["position"].sel(keypoints=point).transpose("time", "individuals", "space")
        np.testing.assert_allclose(ours.positions, wanted.values, rtol=1e-6)  # theirs are singles
        assert list(ours.members) == theirs["individuals"].values.tolist()


def test_points_that_only_some_animals_have_leave_the_others_as_they_are(tmp_path):
    """movement takes columns by their number; here each has the name it says."""
    path = tmp_path / "mixed.csv"
    lines = [
        "scorer,a,a,a,a,a,a,a,a,a",
        "individuals,one,one,one,one,one,one,two,two,two",
        "bodyparts,nose,nose,nose,tail,tail,tail,tail,tail,tail",
        "coords,x,y,likelihood,x,y,likelihood,x,y,likelihood",
        "0,1,2,1,3,4,1,5,6,1",
        "1,2,3,1,4,5,1,6,7,1",
    ]
    path.write_text("\n".join(lines) + "\n")
    tracks = shoal.read_tracks(path, keypoint="tail")
    np.testing.assert_array_equal(tracks.positions[0], [[3, 4], [5, 6]])
    nose = shoal.read_tracks(path, keypoint="nose")
    np.testing.assert_array_equal(nose.positions[1], [[2, 3], [np.nan, np.nan]])


def test_scores_of_another_shape_are_refused(tmp_path):
    import h5py  # noqa: PLC0415

    path = track_files.sleap_analysis(tmp_path, places())
    with h5py.File(path, "a") as file:
        del file["point_scores"]
        file["point_scores"] = np.ones((2, 2, 2))
    with pytest.raises(InputError, match="do not fit tracks of"):
        shoal.read_tracks(path)


WITHOUT = """
import sys
sys.modules["movement"] = sys.modules["movement.io"] = None
import shoal
print(shoal.read_tracks(sys.argv[1]))
try:
    shoal.read_tracks(sys.argv[2])
except shoal.InputError as error:
    print(error)
"""


def test_the_commonest_files_need_no_other_package_and_the_others_say_which(tmp_path):
    analysis = track_files.sleap_analysis(tmp_path, places())
    labels = track_files.sleap_labels(tmp_path, places())
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(analysis), str(labels)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "3 animals" in told
    assert "pip install 'shoal[poses]'" in told
