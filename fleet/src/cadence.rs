//! How often rows of one drive come, from a sample: the median time between two rows.
//!
//! The sample is the same every time - the first files in order, read by one thread - because what is a gap follows
//! from it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use datafusion::arrow::array::{Array as _, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use futures::StreamExt as _;

use crate::engine::{self, AlikeFiles, EngineLimits, FleetRows};
use crate::projection;

/// Rows of a sample.
const SAMPLE_ROWS: usize = 400_000;
/// Files of it.
const SAMPLE_FILES: usize = 24;
/// Drives that are followed through the files where a file has one row a drive.
const SAMPLE_DRIVES: usize = 64;
/// Where nothing tells: rows stand alone, and nothing may be said but what one reading says.
const ONCE_A_DAY_MS: i64 = 86_400_000;

/// What a sample shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSample {
    pub(crate) rows: usize,
    pub(crate) drives: usize,
    /// Median time between rows of one drive; none where no drive has two.
    pub(crate) cadence_ms: Option<i64>,
    pub(crate) first_ms: Option<i64>,
    pub(crate) last_ms: Option<i64>,
    /// Rows with the time of another row of the drive.
    pub(crate) doubled: usize,
    /// Rows before the one that came before them.
    pub(crate) late: usize,
}

/// Looks at a sample of the largest group of files.
pub(crate) async fn sample(rows: &FleetRows, memory: usize) -> Result<RowSample> {
    let Some(group) = rows.groups.iter().max_by_key(|group| group.files.len()) else {
        return Ok(RowSample::default());
    };
    let context = engine::session(EngineLimits { memory, partitions: 1 })?;
    let files: Vec<_> = group.files.iter().take(SAMPLE_FILES).cloned().collect();
    engine::table_of(&context, "fleet_sample", &files)?;
    let first = look(&context, group, &files[0], "").await?;
    if first.cadence_ms.is_some() {
        return Ok(first);
    }
    let serials = some_serials(&context, group, &files[0]).await?;
    if serials.is_empty() {
        return Ok(first);
    }
    let list: Vec<String> = serials.iter().map(|serial| projection::text_literal(serial)).collect();
    let chosen = format!("WHERE serial IN ({})", list.join(", "));
    let followed = look(&context, group, &files[0], &chosen).await?;
    Ok(RowSample { cadence_ms: followed.cadence_ms, ..first })
}

/// The cadence, as stated or from a sample.
pub(crate) async fn cadence_ms(rows: &FleetRows, stated: Option<i64>, memory: usize) -> Result<i64> {
    if let Some(stated) = stated {
        return Ok(stated);
    }
    if let Some(mapped) = rows.groups.iter().find_map(|group| group.map.cadence_ms().ok().flatten()) {
        return Ok(mapped);
    }
    Ok(sample(rows, memory).await?.cadence_ms.unwrap_or(ONCE_A_DAY_MS))
}

async fn look(
    context: &SessionContext,
    group: &AlikeFiles,
    like: &crate::source::FleetFile,
    filter: &str,
) -> Result<RowSample> {
    let select = projection::select(&group.map, like, "fleet_sample")?;
    let sql = format!("SELECT serial, time_ms FROM ({select}) {filter} LIMIT {SAMPLE_ROWS}");
    let mut stream = context.sql(&sql).await?.execute_stream().await?;
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let mut steps = Vec::new();
    let mut seen = RowSample::default();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let serials = batch.column(0).as_string_view_opt().context("serial numbers are texts")?;
        let times = batch.column(1).as_primitive_opt::<Int64Type>().context("times are numbers")?;
        for row in 0..batch.num_rows() {
            seen.rows += 1;
            if serials.is_null(row) || times.is_null(row) {
                continue;
            }
            let time = times.value(row);
            seen.first_ms = Some(seen.first_ms.map_or(time, |first| first.min(time)));
            seen.last_ms = seen.last_ms.max(Some(time));
            match last.get_mut(serials.value(row)) {
                Some(before) => {
                    match time.cmp(before) {
                        std::cmp::Ordering::Greater => steps.push(time - *before),
                        std::cmp::Ordering::Equal => seen.doubled += 1,
                        std::cmp::Ordering::Less => seen.late += 1,
                    }
                    *before = time.max(*before);
                }
                None => {
                    last.insert(serials.value(row).to_owned(), time);
                }
            }
        }
    }
    seen.drives = last.len();
    steps.sort_unstable();
    seen.cadence_ms = steps.get(steps.len() / 2).copied();
    Ok(seen)
}

async fn some_serials(
    context: &SessionContext,
    group: &AlikeFiles,
    like: &crate::source::FleetFile,
) -> Result<BTreeSet<String>> {
    let select = projection::select(&group.map, like, "fleet_sample")?;
    let sql = format!("SELECT serial FROM ({select}) WHERE serial IS NOT NULL LIMIT {SAMPLE_DRIVES}");
    let mut serials = BTreeSet::new();
    for batch in context.sql(&sql).await?.collect().await? {
        let column = batch.column(0).as_string_view_opt().context("serial numbers are texts")?;
        serials.extend(column.iter().flatten().map(str::to_owned));
    }
    Ok(serials)
}
