//! The table of power: a row a phase and meter.

use analysis::power::{PowerFindings, PowerRow};

use crate::format::{self, MISSING};

/// Headings and rows; the meter is named only where there are several.
pub(crate) fn power_rows(found: &PowerFindings) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let several = found.meters.len() > 1;
    let mut headers = vec!["Phase"];
    if several {
        headers.push("Meter");
    }
    headers.extend([
        "Power state",
        "Mean (W)",
        "Net, 95 % interval (W)",
        "95th percentile (W)",
        "Largest second (W)",
        "Energy (J)",
        "MB/s per W",
        "IOPS per W",
        "J per GB",
        "J per GB above idle",
        "Readings",
    ]);
    let row = |row: &PowerRow| {
        let number = |value: Option<f64>, decimals: usize| {
            value.map_or_else(|| MISSING.to_owned(), |value| format!("{value:.decimals$}"))
        };
        let count = |value: Option<f64>| value.map_or_else(|| MISSING.to_owned(), format::count);
        let net = match (row.net_w, row.high_w) {
            (Some(net_w), Some(high_w)) => format!("{net_w:.2} ± {:.2}", high_w - net_w),
            (net_w, _) => number(net_w, 2),
        };
        let mut cells = vec![row.phase.clone()];
        if several {
            cells.push(row.meter.clone());
        }
        cells.extend([
            row.power_state.map_or_else(|| MISSING.to_owned(), |state| format!("PS{state}")),
            number(row.mean_w, 2),
            net,
            number(row.p95_w, 2),
            number(row.max_1s_w, 2),
            number(row.energy_j, 1),
            count(row.mb_per_s_per_w),
            count(row.iops_per_w),
            number(row.j_per_gb, 2),
            number(row.j_per_gb_above_idle, 2),
            row.readings.to_string(),
        ]);
        cells
    };
    (headers, found.rows.iter().map(row).collect())
}
