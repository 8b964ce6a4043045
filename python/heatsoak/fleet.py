"""Which drives of a fleet throttle, inside the engine that has the rows: Spark, Ray, DuckDB, Polars.

`partial` turns rows in any order into one state a drive, `merge` puts states of one drive together, `finish` makes the
table of drives of them: the same numbers as `heatsoak fleet scan`. States are some hundred bytes a drive, so only they
travel. docs/FLEET.md has examples.

Needs pyarrow. Each call of `partial` and `finish` is a process of the `heatsoak` program, fed by an Arrow stream.
"""

from __future__ import annotations

import subprocess
import tempfile
import warnings
from typing import Any, Iterable, Iterator, Union

# Rows without one of these are rows in which it is not known.
LABELS = ("model", "firmware", "host", "slot")
COUNTERS = (
    "tmt1_s", "tmt1_n", "tmt2_s", "tmt2_n", "warn_min", "crit_min", "poh_h", "read_bytes", "written_bytes", "busy_ms",
)  # fmt: skip

#: A table (pyarrow, polars, pandas, DuckDB: anything with `__arrow_c_stream__`), or record batches one after the other.
ArrowBatches = Union[Any, Iterable[Any]]


def partial(rows: ArrowBatches, every: str, *, simulated: bool = False) -> Iterator[Any]:
    """Record batches of states, one state a drive: `serial`, `cadence_ms`, `simulated`, `state`.

    `rows` has `serial`, `ts` (a timestamp; without a zone it is UTC) and any of `model`, `firmware`, `host`, `slot`,
    `temp_c` and the counters `tmt1_s`, `tmt1_n`, `tmt2_s`, `tmt2_n`, `warn_min`, `crit_min`, `poh_h`, `read_bytes`,
    `written_bytes`, `busy_ms`. `every` is how often rows of a drive come ("60s"); all states of a fleet need the same.
    """
    more = ["--simulated"] if simulated else []
    yield from _through(_row_schema(), map(_row_batch, _batches(rows)), "partial", "--every", every, *more)


def merge(states: ArrowBatches) -> Iterator[Any]:
    """Record batches with one state a drive, from several: what `groupby` and `reduce` of an engine call.

    The bytes of two states one after the other are the merged state, so nothing is lost if it is never called.
    """
    import pyarrow as pa

    pieces: dict[tuple[Any, Any], list[bytes]] = {}
    simulated = False
    for batch in map(_state_batch, _batches(states)):
        simulated |= any(batch.column("simulated").to_pylist())
        columns = (batch.column(name).to_pylist() for name in ("serial", "cadence_ms", "state"))
        for serial, cadence_ms, state in zip(*columns):
            pieces.setdefault((serial, cadence_ms), []).append(state)
    merged = [(serial, cadence_ms, simulated, b"".join(states)) for (serial, cadence_ms), states in sorted(pieces.items())]
    schema = _state_schema()
    # A million states would not fit into the offsets of one batch.
    for start in range(0, len(merged), 8192):
        columns = zip(*merged[start : start + 8192])
        yield pa.record_batch([pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema)


def finish(states: ArrowBatches) -> Any:
    """The table of drives (pyarrow.Table), a row a drive and place: the columns of `drives.parquet` (docs/FLEET.md).

    The verdict of a drive needs the whole fleet: "not throttled" is said where some drive of that model and firmware
    has ever counted. So all states go into one call. For the report and all other tables, write the states to Parquet
    and call `heatsoak fleet merge STATES.parquet --out DIR`.
    """
    import pyarrow as pa

    batches = list(_through(_state_schema(), map(_state_batch, _batches(states)), "finish"))
    return pa.Table.from_batches(batches)


def _batches(table: ArrowBatches) -> Iterator[Any]:
    """Record batches of whatever hands itself on as Arrow."""
    import pyarrow as pa

    if hasattr(table, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(table)
        return
    if isinstance(table, pa.RecordBatch):
        yield table
        return
    for part in table:
        yield from [part] if isinstance(part, pa.RecordBatch) else _batches(part)


def _row_schema() -> Any:
    import pyarrow as pa

    texts = [("serial", pa.string())] + [(name, pa.string()) for name in LABELS]
    return pa.schema(texts + [(name, pa.int64()) for name in ("time_ms", "temp_mc", *COUNTERS)])


def _state_schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [("serial", pa.string()), ("cadence_ms", pa.int64()), ("simulated", pa.bool_()), ("state", pa.binary())]
    )


def _row_batch(batch: Any) -> Any:
    """Rows in the units of the program: milliseconds, millidegrees, whole counters."""
    import pyarrow as pa
    from pyarrow import compute

    from . import HeatsoakError

    names = batch.schema.names
    for needed in ("serial", "ts"):
        if needed not in names:
            raise HeatsoakError(f"rows need the column {needed!r}; there are {', '.join(names)}: rename in your query", 2)
    if "temp_c" not in names and not set(COUNTERS) & set(names):
        raise HeatsoakError(f"rows have neither temp_c nor a counter ({', '.join(COUNTERS)}); there are {', '.join(names)}", 2)
    times = batch.column("ts")
    if pa.types.is_date(times.type):
        times = times.cast(pa.timestamp("ms"))
    if not pa.types.is_timestamp(times.type):
        raise HeatsoakError(f"the column 'ts' is {times.type}, and must be a timestamp: cast it in your query", 2)

    def whole(values: Any) -> Any:
        """Whole numbers; what cannot be one is no reading."""
        if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
            fits = compute.and_(compute.is_finite(values), compute.less(compute.abs(values), 2.0**63))
            values = compute.trunc(compute.if_else(fits, values, None))
        elif pa.types.is_uint64(values.type):
            values = compute.if_else(compute.less(values, 2**63), values, None)
        return values.cast(pa.int64())

    def column(name: str, kind: Any) -> Any:
        if name == "time_ms":
            return compute.cast(times, pa.timestamp("ms", times.type.tz), safe=False).cast(pa.int64())
        if name == "temp_mc":
            if "temp_c" not in names:
                return pa.nulls(len(batch), kind)
            return whole(compute.round(compute.multiply(batch.column("temp_c").cast(pa.float64()), 1000.0)))
        if name not in names:
            return pa.nulls(len(batch), kind)
        values = batch.column(name)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        return values.cast(kind) if kind == pa.string() else whole(values)

    schema = _row_schema()
    return pa.record_batch([column(field.name, field.type) for field in schema], schema=schema)


def _state_batch(batch: Any) -> Any:
    """States, whatever the engine has made of text and bytes meanwhile."""
    import pyarrow as pa

    from . import HeatsoakError

    schema = _state_schema()
    missing = [name for name in schema.names if name not in batch.schema.names]
    if missing:
        raise HeatsoakError(f"states of heatsoak.fleet.partial have the column {missing[0]!r}, and these have not", 2)
    return pa.record_batch([batch.column(field.name).cast(field.type) for field in schema], schema=schema)


def _through(schema: Any, batches: Iterable[Any], *command: str) -> Iterator[Any]:
    """Feeds batches to `heatsoak fleet COMMAND` and hands on those that come back. It answers when all were read."""
    import pyarrow as pa

    from . import HeatsoakError, _program

    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [_program(), "fleet", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        assert process.stdin is not None and process.stdout is not None
        no_answer = None
        try:
            try:
                with pa.ipc.new_stream(process.stdin, schema) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
                process.stdin.close()
            except BrokenPipeError:
                pass  # It says why on stderr.
            try:
                reader = pa.ipc.open_stream(process.stdout)
            except pa.ArrowInvalid as error:
                no_answer = error
            else:
                yield from reader
            code = process.wait()
        finally:
            # Nobody may want the rest.
            process.kill()
            process.stdout.close()
            process.wait()
        stderr.seek(0)
        told = stderr.read().decode("utf-8", "replace").strip()
    if code != 0 or no_answer:
        raise HeatsoakError(told.removeprefix("error:").strip() or f"heatsoak ended with {code}", code)
    if told:
        warnings.warn(told.removeprefix("warning:").strip(), stacklevel=3)
