"""The package against the command line: the same answers, the same sentences."""

import gc
import json
import os
import subprocess
import threading

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


def test_many_analyses_leave_nothing_behind(run):
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        heatsoak.analyze(run)
    gc.collect()
    assert len(gc.get_objects()) - before < 1000


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
