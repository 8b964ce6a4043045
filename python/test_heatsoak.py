"""The package against the command line: the same answers, the same sentences."""

import gc
import json
import math
import os
import subprocess
import threading
from pathlib import Path

import pytest

import heatsoak


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return heatsoak.twin("ssd1").run(out=tmp_path_factory.mktemp("runs") / "example", seed=1)


def test_findings_are_those_of_the_command_line(run):
    line = [os.environ["HEATSOAK"], "analyze", "--json", str(run.path)]
    told = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    assert heatsoak.analyze(run) == told == run.findings()
    assert run.simulated and told["simulated"]


def test_the_same_seed_gives_the_same_bytes(run, tmp_path):
    again = heatsoak.twin("ssd1").run("hctm-read", out=tmp_path / "again", seed=1)
    assert again.io.path.read_bytes() == run.io.path.read_bytes()


def test_tables_are_taken_by_polars_pandas_and_duckdb(run):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = pyarrow.table(run.io)
    assert polars.DataFrame(run.io).height == table.num_rows > 1000
    assert table.to_pandas()["bytes"].sum() > 10**11
    duckdb = pytest.importorskip("duckdb")
    hottest = duckdb.sql(f"select max(composite_k) from '{run.telemetry.path}'").fetchall()
    assert 350 < hottest[0][0] < 360


def test_errors_are_the_sentences_of_the_command_line(tmp_path):
    with pytest.raises(heatsoak.HeatsoakError, match="not a run folder") as refused:
        heatsoak.read_run(tmp_path)
    assert refused.value.exit_code == 2
    with pytest.raises(heatsoak.HeatsoakError, match="no such profile|no profile|unknown|ssd1"):
        heatsoak.twin("ssd9").run(out=tmp_path / "x")
    with pytest.raises(heatsoak.HeatsoakError):
        heatsoak.analyze("--help-me")


def corpus():
    """Logs of other tools, good and bad, and folders of them."""
    folder = Path(__file__).parent.parent / "fixtures" / "import"
    return sorted(path for part in ("good", "bad") for path in (folder / part).iterdir())


@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name)
def test_the_corpus_gives_what_the_command_line_gives(path):
    line = [os.environ["HEATSOAK"], "analyze", "--json", "--", str(path)]
    told = subprocess.run(line, capture_output=True, text=True)
    if told.returncode in (0, 1):
        assert heatsoak.analyze(path) == json.loads(told.stdout)
    else:
        with pytest.raises(heatsoak.HeatsoakError) as refused:
            heatsoak.analyze(path)
        assert told.stderr.strip() == f"error: {refused.value}"
        assert refused.value.exit_code == told.returncode


def columns():
    """Two hours of a relay: full speed until 80 °C, a third of it until 70 °C, and a reading lost now and then."""
    t_s, speed, temp_c, degrees, throttled = [], [], [], 40.0, False
    for second in range(7200):
        throttled = degrees > 80 or throttled and degrees > 70
        rate = 1000.0 if throttled else 3000.0
        degrees += (30 + rate * 0.02 - degrees) / 120
        t_s.append(second)
        speed.append(rate)
        temp_c.append(None if second % 50 == 7 else round(degrees))
    return {"t_s": t_s, "read_mb_per_s": speed, "temp_c": temp_c}


def test_tables_are_analysed_wherever_they_come_from(tmp_path):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    table = columns()
    found = heatsoak.analyze(table)
    assert found["policy"]["class"] == "relay" and abs(found["policy"]["onset_k"] - 353) <= 2
    assert heatsoak.analyze(polars.DataFrame(table)) == found
    assert heatsoak.analyze(pyarrow.table(table)) == found
    # pandas makes numbers with a fraction of columns with gaps, and NaN of the gaps.
    assert heatsoak.analyze(pandas.DataFrame(table)) == found
    with_nan = dict(table, temp_c=[math.nan if value is None else value for value in table["temp_c"]])
    assert heatsoak.analyze(with_nan) == found


def test_tables_that_cannot_be_read_say_why():
    with pytest.raises(heatsoak.HeatsoakError, match="t_s") as refused:
        heatsoak.analyze({"temp_c": [40, 41]})
    assert "the table" in str(refused.value) and "table.csv" not in str(refused.value)
    with pytest.raises(heatsoak.HeatsoakError, match="equally long"):
        heatsoak.analyze({"t_s": [0, 1], "temp_c": [40]})
    with pytest.raises(TypeError, match="not int"):
        heatsoak.analyze(7)


def resident_bytes():
    """What this process holds in memory (proc(5), statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_analyses_leave_nothing_behind():
    """Twenty here; HEATSOAK_CASES=10000 for the long form."""
    table = {"t_s": [0, 1, 2, 3], "read_mb_per_s": [100] * 4, "temp_c": [40] * 4}
    cases = int(os.environ.get("HEATSOAK_CASES", "20"))
    for _ in range(10):
        heatsoak.analyze(table)
    gc.collect()
    objects, files, bytes_ = len(gc.get_objects()), len(os.listdir("/proc/self/fd")), resident_bytes()
    for _ in range(cases):
        heatsoak.analyze(table)
    gc.collect()
    grown = resident_bytes() - bytes_
    print(f"{cases} analyses: {grown} B more in memory, {len(gc.get_objects()) - objects} objects")
    assert len(gc.get_objects()) - objects < 1000
    assert len(os.listdir("/proc/self/fd")) == files
    assert grown < 8 << 20


def test_other_threads_go_on(run):
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    heatsoak.analyze(run)
    done.set()
    thread.join()
    assert counted[0] > 100
