"""Throttled drives of a fleet on Ray Data: python ray_data.py ROWS OUT [EVERY]

Rows (Parquet: serial, ts, model, firmware, host, slot, temp_c, counters) become states where they lie. Blocks are taken as
they come: rows of one drive must be in order of time within a block.
"""

import sys

import pyarrow
import pyarrow.parquet
import ray

import heatsoak.fleet


def main(rows, out, every="60s"):
    def partial(batch):
        return pyarrow.Table.from_batches(heatsoak.fleet.partial(batch, every=every))

    states = ray.data.read_parquet(rows).map_batches(partial, batch_format="pyarrow", batch_size=None)
    # States of one drive from many blocks: some hundred bytes each, so they are finished in one place.
    drives = heatsoak.fleet.finish(states.iter_batches(batch_format="pyarrow", batch_size=None))
    pyarrow.parquet.write_table(drives, out)
    throttled = sum(verdict == "throttled" for verdict in drives["verdict"].to_pylist())
    print(f"{drives.num_rows} rows of drives in {out}, {throttled} throttled")


if __name__ == "__main__":
    main(*sys.argv[1:])
