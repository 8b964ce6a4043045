//! What form factors and ports allow, and whether the drive keeps it.
//!
//! A budget is held against the largest mean of a second, as ATX 3.0 and OCP's datacentre specification define
//! sustained power; peaks of microseconds need another meter than one reading a second. Start-up counts too.

use serde::{Deserialize, Serialize};

use super::{PowerFindings, PowerRow};

/// What a form factor or a port allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerBudget {
    /// Its name.
    pub form: &'static str,
    /// In watts.
    pub watts: f64,
    /// Where the figure is from.
    pub source: &'static str,
}

/// From the least to the most.
pub const BUDGETS: [PowerBudget; 14] = [
    budget("USB 2 port", 2.5, "USB 2.0: 5 V x 500 mA"),
    budget("USB 3 port", 4.5, "USB 3.2: 5 V x 900 mA"),
    budget("USB-C 1.5 A", 7.5, "USB Type-C: 5 V x 1.5 A"),
    budget("M.2 slot", 8.25, "PCIe M.2: 3.3 V x 2.5 A; as the power article states"),
    budget("E1.S 5.9 mm", 12.0, "SFF-TA-1006, by a maker's EDSFF page"),
    budget("USB-C 3 A", 15.0, "USB Type-C: 5 V x 3 A"),
    budget("E1.S 8.01 mm", 16.0, "SFF-TA-1006, by a maker's EDSFF page"),
    budget("E1.S 9.5 mm", 20.0, "SFF-TA-1006, by a maker's EDSFF page"),
    budget(
        "U.2/U.3/CEM x1",
        25.0,
        "SFF-8639 connector, PCIe CEM; as the power article states for 2.5 inches",
    ),
    budget("E1.S 15/25 mm", 25.0, "SFF-TA-1006; as the power article states for E1.S"),
    budget("E1.L 18 mm", 40.0, "SFF-TA-1007; as the power article states for E1.L"),
    budget("E3.S 2T", 40.0, "SFF-TA-1008; as the power article states for E3.S"),
    budget("E3.L 2T", 70.0, "SFF-TA-1008; as the power article states for E3.L"),
    budget("CEM x4 to x16", 75.0, "PCIe CEM: configured slot"),
];

const fn budget(form: &'static str, watts: f64, source: &'static str) -> PowerBudget {
    PowerBudget { form, watts, source }
}

/// Whether the drive kept a budget in this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BudgetVerdict {
    /// The form factor or port.
    pub form: String,
    /// What it allows, in watts.
    pub watts: f64,
    /// Where the figure is from.
    pub source: String,
    /// Whether no second of the run was above it.
    pub fits: bool,
    /// The phase that is furthest above it; `None` where it fits.
    pub exceeded_in: Option<String>,
    /// Largest mean of a second there, in watts.
    pub exceeded_by_w: Option<f64>,
}

/// Every budget against the rows of `meter`, net of the baseline.
pub(super) fn verdicts(found: &PowerFindings, meter: &str) -> Vec<BudgetVerdict> {
    let rows: Vec<&PowerRow> = found.rows.iter().filter(|row| row.meter == meter).collect();
    let baseline_w = found.baseline_w.unwrap_or(0.0);
    let most = |row: &&PowerRow| row.max_1s_w.map(|watts| (watts - baseline_w, row.phase.clone()));
    let Some((most_w, phase)) = rows.iter().filter_map(most).max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Vec::new();
    };
    let verdict = |budget: &PowerBudget| {
        let fits = most_w <= budget.watts;
        BudgetVerdict {
            form: budget.form.to_owned(),
            watts: budget.watts,
            source: budget.source.to_owned(),
            fits,
            exceeded_in: (!fits).then(|| phase.clone()),
            exceeded_by_w: (!fits).then_some(most_w - budget.watts),
        }
    };
    BUDGETS.iter().map(verdict).collect()
}
