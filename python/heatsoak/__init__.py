"""heatsoak for people who analyse in Python: runs as tables, verdicts as dicts, simulated drives.

Everything is done by the `heatsoak` program that this package brings, so the answers are the command line's own. Each call
is a process of its own: other threads go on meanwhile, and nothing is left behind in this one.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Protocol, Union

__all__ = ["HeatsoakError", "Run", "Table", "Twin", "analyze", "fleet", "read_run", "twin"]

PathLike = Union[str, "os.PathLike[str]"]


class ArrowTable(Protocol):
    """A table of pyarrow, polars, pandas or DuckDB: anything that hands itself on by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...


Columns = Mapping[str, Iterable[Any]]


class HeatsoakError(Exception):
    """What could not be done and why, in the words of the command line."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        #: 2: not done; 3: stopped early by the thermal limit or a signal, what was measured is kept.
        self.exit_code = exit_code


class Table:
    """A table of a run folder: give it to polars, pandas, pyarrow or DuckDB, or read `path` yourself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface, by whichever reader of Parquet is installed."""
        return _arrow(self.path).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"heatsoak.Table({str(self.path)!r})"


class Run:
    """A run folder."""

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        try:
            text = (self.path / "manifest.json").read_text(encoding="utf-8")
        except OSError as error:
            raise HeatsoakError(
                f"{self.path} is not a run folder: {error.strerror or error}; name a folder that `heatsoak run` has written", 2
            ) from None
        #: What was run on what, and how it ended: docs/DATA.md.
        self.manifest: dict[str, Any] = json.loads(text)

    @property
    def io(self) -> Table:
        """What each operation did in each interval."""
        return self._table("io")

    @property
    def telemetry(self) -> Table:
        """One row a reading: temperatures, counters, power."""
        return self._table("telemetry")

    @property
    def smart(self) -> Table:
        """Log pages, byte for byte."""
        return self._table("smart")

    @property
    def simulated(self) -> bool:
        """Whether the numbers are a simulated drive's."""
        return bool(self.manifest["origin"]["kind"] != "device")

    def findings(self) -> dict[str, Any]:
        """The verdicts, computed anew."""
        return analyze(self.path)

    def _table(self, name: str) -> Table:
        path = self.path / f"{name}.parquet"
        if not path.is_file():
            raise HeatsoakError(f"{path} is not there: the run has not ended, or the file was lost", 2)
        return Table(path)

    def __repr__(self) -> str:
        return f"heatsoak.Run({str(self.path)!r})"


class Twin:
    """A simulated drive."""

    def __init__(self, profile: PathLike) -> None:
        self.address = f"twin:{os.fspath(profile)}"

    def run(self, plan: PathLike = "hctm-read", *, out: Optional[PathLike] = None, seed: Optional[int] = None) -> Run:
        """Runs a plan: a built-in name, a TOML file or a fio job file. Without `out` the folder is a new temporary one,
        which is the caller's to delete."""
        folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="heatsoak-")) / "run"
        more = [] if seed is None else ["--seed", str(seed)]
        _call("run", os.fspath(plan), "--drive", self.address, "--out", os.fspath(folder), "--quiet", "--no-report", *more)
        return Run(folder)


def read_run(path: PathLike) -> Run:
    """A run folder as tables and manifest."""
    return Run(path)


def analyze(source: Union[PathLike, Run, ArrowTable, Columns]) -> dict[str, Any]:
    """The findings, as `heatsoak analyze --json` prints them.

    `source` is a run folder, a log of another tool, or a table with the columns of the plain CSV (docs/FORMATS.md): `t_s`,
    `read_mb_per_s`, `temp_c` and so on. None and NaN are no reading.
    """
    if isinstance(source, Run):
        source = source.path
    if isinstance(source, (str, os.PathLike)):
        return _findings(os.fspath(source))
    with tempfile.TemporaryDirectory(prefix="heatsoak-") as folder:
        path = Path(folder) / "table.csv"
        _write_csv(_columns(source), path)
        try:
            return _findings(str(path))
        except HeatsoakError as error:
            # The file is gone when somebody reads this.
            raise HeatsoakError(str(error).replace(str(path), "the table"), error.exit_code) from None


def twin(profile: PathLike) -> Twin:
    """A simulated drive: a built-in name such as `ssd1`, or a profile that `heatsoak fit` has made."""
    return Twin(profile)


def _program() -> str:
    beside = Path(sysconfig.get_path("scripts")) / "heatsoak"
    found = os.environ.get("HEATSOAK") or (str(beside) if beside.is_file() else shutil.which("heatsoak"))
    if not found:
        raise HeatsoakError("the program heatsoak is neither beside this Python nor on PATH; HEATSOAK=FILE names it", 2)
    return found


def _findings(path: str) -> dict[str, Any]:
    findings: dict[str, Any] = json.loads(_call("analyze", "--json", "--", path))
    return findings


def _call(*arguments: str) -> str:
    done = subprocess.run(
        [_program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode not in (0, 1):
        message = done.stderr.strip().removeprefix("error:").strip()
        raise HeatsoakError(message or f"heatsoak ended with {done.returncode}", done.returncode)
    return done.stdout


def _columns(table: Any) -> Columns:
    """The columns of a table as Python's own values."""
    if isinstance(table, Mapping):
        return table
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"analyze takes a path, a run or a table, not {type(table).__name__}")
    try:
        import pyarrow

        columns: Columns = pyarrow.table(table).to_pydict()
        return columns
    except ImportError:
        pass
    try:
        import polars

        columns = polars.DataFrame(table).to_dict(as_series=False)
        return columns
    except ImportError:
        raise HeatsoakError("reading a table needs pyarrow or polars: pip install polars", 2) from None


def _write_csv(columns: Columns, path: Path) -> None:
    """The plain CSV of docs/FORMATS.md."""
    lists = {name: list(values) for name, values in columns.items()}
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        raise HeatsoakError(f"the columns of a table are equally long, and these are not: {lengths}", 2)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(lists)
        for row in zip(*lists.values()):
            # Only NaN differs from itself; an empty cell is no reading.
            writer.writerow("" if value is None or value != value else value for value in row)


def _arrow(path: Path) -> Any:
    try:
        from pyarrow import parquet

        return parquet.read_table(path)
    except ImportError:
        pass
    try:
        import polars

        return polars.read_parquet(path)
    except ImportError:
        raise HeatsoakError(f"reading {path} needs pyarrow or polars: pip install polars", 2) from None


# Last: it needs what stands above.
from . import fleet  # noqa: E402
