"""Any bytes, any table, any damage: tracks come out, or one line that says what is wrong."""

import csv
import io
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import shoal
from mutations import mutated
from shoal.system import quarantine
from specimens import HOW, specimens

KEPT = quarantine._new_process
BUSY = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
STARTS = {
    "hdf5": b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00",
    "npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (",
    "parquet": b"PAR1",
    "mat": b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM",
    "zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff",
    "netcdf3": b"CDF\x01\x00\x00\x00\x00\x00\x00\x00\x0a",
    "text": b"frame,id,x,y\n",
    "deeplabcut": b"scorer,a,a\nbodyparts,n,n\ncoords,x,y\n",
    "nothing": b"",
}
HEADERS = (
    "frame,id,x,y", "seconds,x1,y1,x2,y2", "X1\tY1\tProbId1",
    "frame,X#wcentroid (cm),Y#wcentroid (cm)",
    "fish0_x;fish0_y;fish0_ori;time in ms", "Frame;Time;X_Arena0_Ind0;Y_Arena0_Ind0",
    "Frame;Time;Arena;Ind;X;Y", "Item1.Centroid.X,Item1.Centroid.Y,Timestamp",
    "timestamp,location-long,location-lat,individual-local-identifier,visible",
    "time,animal,x,y,group,sex,role,arena_walls,fps,length_unit,heading_deg",
    "date,time,id,lon,lat",
    "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,"
    "region_attributes",
)  # fmt: skip
CELLS = st.one_of(
    st.integers(-3, 12).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(str),
    st.sampled_from(
        ["", "NaN", "1e999", "2020-01-01 10:00:00", "12:30", "31/02/2020", "=1+1", "'", "\x00",
         "true", "landmark", "Circle(x=0, y=0, radius=1)", "{}", '{"track": "1"}', "9" * 30,
         "\ufeff", "é"]
    ),
    st.text(max_size=6),
)  # fmt: skip


def survives(read, path):
    """Reading ends with a result or with a line of ours that names the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except (shoal.InputError, shoal.OutputError) as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
            assert len(str(error)) < 1500


@pytest.mark.slow
@pytest.mark.parametrize("kind", STARTS)
def test_any_bytes_after_any_beginning(kind, tmp_path):
    path = tmp_path / "bytes.bin"

    @BUSY
    @given(st.binary(max_size=600))
    def law(rest):
        path.write_bytes(STARTS[kind] + rest)
        survives(shoal.read_tracks, path)

    law()


@pytest.mark.slow
def test_any_bytes_as_a_fit_or_as_choices(tmp_path):
    path = tmp_path / "bytes.bin"

    @BUSY
    @given(st.binary(max_size=400), st.sampled_from([b"", STARTS["hdf5"], b"tracks = ", b"fps = "]))
    def law(rest, start):
        path.write_bytes(start + rest)
        survives(HOW["fit"], path)
        survives(HOW["config"], path)

    law()


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS)
def test_any_table_under_any_header(header, tmp_path):
    path = tmp_path / "table.csv"
    delimiter = max(",;\t", key=header.count)
    width = header.count(delimiter) + 1
    rows = st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=8)

    @BUSY
    @given(rows, st.booleans())
    def law(cells, repeated):
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter).writerows(cells * (3 if repeated else 1))
        path.write_bytes(f"{header}\n{text.getvalue()}".encode())
        survives(shoal.read_tracks, path)
        survives(HOW["store"], path)

    law()


COLUMNS = st.one_of(
    st.lists(st.floats(), min_size=4, max_size=4),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.datetimes()), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=4, max_size=4),
    st.lists(st.binary(max_size=3), min_size=4, max_size=4),
)


@pytest.mark.slow
def test_any_parquet_table(tmp_path):
    path = tmp_path / "table.parquet"
    names = ("frame", "time", "id", "group", "x", "y", "sex", "fps", "visible")
    tables = st.dictionaries(st.sampled_from(names), COLUMNS, min_size=3)

    @BUSY
    @given(tables)
    def law(columns):
        parquet.write_table(
            pa.table({name: pa.array(part) for name, part in columns.items()}), path
        )
        survives(shoal.read_tracks, path)
        survives(HOW["store"], path)

    law()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return specimens(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_damaged_files_of_every_kind_are_read_or_refused(whole, tmp_path):
    """Ten of each kind; ``bench/fuzz.py`` does the same with ten thousand."""
    for number in range(10 * len(whole)):
        one = whole[number % len(whole)]
        place = tmp_path / str(number)
        place.mkdir()
        rng = np.random.default_rng([2, number])
        path = one.laid_out(place, mutated(rng, one.path.read_bytes()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                HOW[one.how](path)
            except (shoal.InputError, shoal.OutputError) as error:
                assert str(place) in str(error), one.name
                assert "\n" not in str(error), one.name


@pytest.mark.parametrize("ending", ["while True: pass", "import os; os.abort()"])
def test_a_trial_that_hangs_or_dies_is_a_refusal_and_the_next_file_is_read(
    ending, whole, monkeypatch
):
    """HDF5 loops for ever in some damaged files, and SciPy ends the process in others."""
    good = next(one for one in whole if one.name == "fit").path
    program = f"print('ready', flush=True); input(); exec({ending!r})"

    def process():
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, "-c", program], **pipes)

    walker = quarantine.Walker()
    with monkeypatch.context() as broken:
        broken.setattr(quarantine, "_WALKER", walker)
        broken.setattr(quarantine, "_new_process", process)
        broken.setattr(quarantine, "SECONDS", 0.5)
        with pytest.raises(shoal.InputError, match="hung or broke off"):
            quarantine.check_hdf5(good)
        assert walker.process is None
        broken.setattr(quarantine, "_new_process", KEPT)
        quarantine.check_hdf5(good)
        walker.stop()
