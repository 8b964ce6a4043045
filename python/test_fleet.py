"""heatsoak.fleet: the state of a drive over Arrow batches, whatever their order, types and engine."""

import datetime
import random

import pytest

import heatsoak
import heatsoak.fleet

pa = pytest.importorskip("pyarrow")

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def fleet_rows(drives=12, minutes=90):
    """Rows of drives a minute apart; every third one throttles for 20 s a minute from the 40th minute on."""
    rows = []
    for drive in range(drives):
        for minute in range(minutes):
            throttled = 20 * max(0, minute - 40) if drive % 3 == 0 else 0
            rows.append(
                {
                    "serial": f"S{drive:03}",
                    "ts": BEGIN + datetime.timedelta(minutes=minute),
                    "model": "M1",
                    "firmware": "F",
                    "host": f"h{drive // 4}",
                    "slot": drive % 4,
                    "temp_c": 72.5 if throttled else 55.0,
                    "tmt1_s": throttled,
                    "tmt1_n": int(throttled > 0),
                }
            )
    return rows


def drives_of(*parts):
    states = [batch for part in parts for batch in heatsoak.fleet.partial(part, every="60s")]
    return heatsoak.fleet.finish(states)


@pytest.fixture(scope="module")
def rows():
    return pa.Table.from_pylist(fleet_rows())


def test_verdicts_are_those_of_the_rows(rows):
    drives = drives_of(rows).to_pylist()
    assert [drive["serial"] for drive in drives] == [f"S{number:03}" for number in range(12)]
    for number, drive in enumerate(drives):
        assert drive["verdict"] == ("throttled" if number % 3 == 0 else "not_throttled")
        assert drive["tmt1_s"] == (49 * 20 if number % 3 == 0 else 0)
        assert (drive["rows"], drive["slot"], drive["duplicates"]) == (90, str(number % 4), 0)
    assert drives[0]["throttled_first_ms"] == (BEGIN + datetime.timedelta(minutes=41)).timestamp() * 1000
    assert drives[0]["temp_highest_reading_c"] == 72.5


def test_batches_files_and_merging_change_nothing(rows):
    expected = drives_of(rows)
    assert drives_of(rows.to_batches(max_chunksize=7)) == expected
    by_time = rows.sort_by("ts")
    pieces = [by_time.slice(start, 250) for start in range(0, len(by_time), 250)]
    random.Random(4).shuffle(pieces)
    assert drives_of(*pieces) == expected
    states = [batch for piece in pieces for batch in heatsoak.fleet.partial(piece, every="60s")]
    merged = list(heatsoak.fleet.merge(states))
    assert sum(len(batch) for batch in merged) == 12 < sum(len(batch) for batch in states)
    assert heatsoak.fleet.finish(merged) == expected


def test_types_of_other_engines_are_the_same_rows(rows):
    expected = drives_of(rows)
    naive = rows.set_column(1, "ts", rows["ts"].cast(pa.timestamp("us")))
    assert drives_of(naive) == expected
    floats = rows.set_column(7, "tmt1_s", rows["tmt1_s"].cast(pa.float64()))
    assert drives_of(floats) == expected
    encoded = rows.set_column(0, "serial", rows["serial"].dictionary_encode())
    assert drives_of(encoded) == expected
    polars = pytest.importorskip("polars")
    assert drives_of(polars.DataFrame(rows)) == expected


def test_rows_that_overlap_are_not_guessed_at(rows):
    shuffled = fleet_rows()
    random.Random(1).shuffle(shuffled)
    drives = drives_of(pa.Table.from_pylist(shuffled)).to_pylist()
    assert {drive["verdict"] for drive in drives} == {"not_known"}
    assert all("overlap in time" in drive["verdict_reason"] for drive in drives)


def test_simulated_rows_say_so(rows):
    states = heatsoak.fleet.partial(rows, every="60s", simulated=True)
    assert heatsoak.fleet.finish(states).schema.metadata[b"heatsoak.simulated"] == b"true"


def test_what_is_wrong_is_said(rows):
    def refused(table, every="60s"):
        with pytest.raises(heatsoak.HeatsoakError) as error:
            list(heatsoak.fleet.partial(table, every=every))
        assert error.value.exit_code == 2
        return str(error.value)

    assert "'ts'" in refused(rows.drop_columns(["ts"]))
    assert "must be a timestamp" in refused(rows.set_column(1, "ts", rows["tmt1_s"]))
    assert "neither temp_c nor a counter" in refused(rows.select(["serial", "ts"]))
    assert "often" in refused(rows, every="often")
    with pytest.raises(heatsoak.HeatsoakError, match="'cadence_ms'"):
        heatsoak.fleet.finish(rows)
    other = [batch for every in ("60s", "30s") for batch in heatsoak.fleet.partial(rows, every=every)]
    with pytest.raises(heatsoak.HeatsoakError, match="60000 ms and every 30000 ms"):
        heatsoak.fleet.finish(other)
    states = pa.Table.from_batches(heatsoak.fleet.partial(rows, every="60s"))
    spoilt = [b"\xff" + state[1:] for state in states["state"].to_pylist()]
    with pytest.raises(heatsoak.HeatsoakError, match="version 255"):
        heatsoak.fleet.finish(states.set_column(3, "state", pa.array(spoilt, pa.binary())))


def test_rows_without_a_serial_number_are_told(rows):
    nameless = rows.slice(0, 3).set_column(0, "serial", pa.nulls(3, pa.string()))
    with pytest.warns(UserWarning, match="3 rows have no serial number"):
        drives = drives_of(rows, nameless)
    assert drives == drives_of(rows)
