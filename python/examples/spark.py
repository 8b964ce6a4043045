"""Throttled drives of a fleet on Spark: spark-submit spark.py ROWS OUT [EVERY]

Rows (Parquet: serial, ts, model, firmware, host, slot, temp_c, counters) become states where they lie. Sorting within
partitions by drive costs a shuffle, and lets rows come in any order; leave it out where files are sorted.
"""

import sys

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

import heatsoak.fleet

STATES = "serial string, cadence_ms long, simulated boolean, state binary"


def main(rows, out, every="60s"):
    def partial(batches):
        yield from heatsoak.fleet.partial(batches, every=every)

    def merge(states):
        return pyarrow.Table.from_batches(heatsoak.fleet.merge(states))

    spark = SparkSession.builder.appName("heatsoak fleet").getOrCreate()
    sorted_rows = spark.read.parquet(rows).repartition("serial").sortWithinPartitions("serial", "ts")
    states = sorted_rows.mapInArrow(partial, STATES)
    merged = states.groupBy("serial").applyInArrow(merge, STATES)
    drives = heatsoak.fleet.finish(merged.toArrow())
    pyarrow.parquet.write_table(drives, out)
    throttled = sum(verdict == "throttled" for verdict in drives["verdict"].to_pylist())
    print(f"{drives.num_rows} rows of drives in {out}, {throttled} throttled")


if __name__ == "__main__":
    main(*sys.argv[1:])
