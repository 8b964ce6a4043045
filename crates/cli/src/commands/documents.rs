//! Every JSON document that heatsoak writes, with its name and the number of its format.
//!
//! The list is the whole of it: what is not here cannot be printed ([`crate::printer::Printer::json`]), and of each line a
//! schema and a part of the data reference are made (`docs/data`, see `reference`). Each document carries its number in
//! its member `schema`; when to raise it is told in `docs/DATA.md`.

#[cfg(test)]
mod reference;

use analysis::Findings;
use fit::predict::Forecast;
use fit::recommend::Advice;
#[cfg(test)]
use measure::record::ManifestDocument;
use schemars::JsonSchema;
use serde::Serialize;
use serve::ServedLibrary;
use validation::Validation;
use watch::LiveDocument;

use super::analyze::{ExplainedResults, Results};
use super::explain::Explained;
use super::findings::RunResult;
use super::forecast::fit::FitDocument;
use super::forecast::sweep::SweepDocument;
use super::govern::GovernDocument;
use super::inspect::Inspection;
use super::list::Listing;
use super::meter::Trial;
use super::run::sweep::SweepResult;
use super::runs::Library;
use super::serve::ServeTold;
use super::settings::Document;
use super::settings::hctm::HctmSetting;
use super::settings::power_state::PowerSetting;
use super::settings::restore::RestoreDocument;
use super::settings::temp_threshold::ThresholdRows;
use super::trim::TrimDocument;
use super::vssd::Told;

/// A JSON document that a command prints.
pub(crate) trait JsonDocument: Serialize + JsonSchema {
    /// The number of its format.
    const SCHEMA: u32;
}

/// A line of the list below.
#[cfg(test)]
struct DocumentKind {
    /// Its schema is `docs/data/NAME.schema.json`.
    name: &'static str,
    schema: u32,
    /// Where it comes from.
    what: &'static str,
    json_schema: fn() -> serde_json::Value,
}

macro_rules! documents {
    (
        file $file:ty, $file_name:literal, $file_schema:expr, $file_what:literal;
        $($kind:ty, $name:literal, $schema:literal, $what:literal;)*
    ) => {
        $(impl JsonDocument for $kind { const SCHEMA: u32 = $schema; })*

        #[cfg(test)]
        const DOCUMENTS: &[DocumentKind] = &[
            DocumentKind {
                name: $file_name,
                schema: $file_schema,
                what: $file_what,
                json_schema: reference::schema_of::<$file>,
            },
            $(DocumentKind { name: $name, schema: $schema, what: $what, json_schema: reference::schema_of::<$kind> },)*
        ];
    };
}

documents! {
    file ManifestDocument, "manifest", measure::record::SCHEMA, "`manifest.json` of a run folder";
    Findings, "findings", 2, "`findings.json` of a run folder; `heatsoak analyze --json` of one input";
    RunResult<'_>, "run", 2, "`heatsoak run --json`: the findings, and where the run lies";
    SweepResult<'_>, "run-sweep", 1, "`heatsoak run --json` of a sweep";
    Results<'_>, "analyze-several", 1, "`heatsoak analyze --json` of several inputs";
    Explained, "explain", 1, "`heatsoak analyze --explain --json` of one input";
    ExplainedResults<'_>, "explain-several", 1, "`heatsoak analyze --explain --json` of several inputs";
    FitDocument<'_>, "fit", 1, "`heatsoak fit --json`";
    Forecast, "predict", 1, "`heatsoak predict --json`";
    SweepDocument<'_>, "predict-several", 1, "`heatsoak predict --json` with several values";
    Advice, "recommend", 1, "`heatsoak recommend --json`";
    Validation, "validate", 1, "`heatsoak validate --json`";
    Listing, "list", 1, "`heatsoak list --json`";
    Inspection, "inspect", 1, "`heatsoak inspect --json`";
    Document<HctmSetting>, "hctm", 1, "`heatsoak hctm --json`";
    Document<PowerSetting>, "power-state", 1, "`heatsoak power-state --json`";
    Document<ThresholdRows>, "temp-threshold", 1, "`heatsoak temp-threshold --json`";
    RestoreDocument, "restore", 1, "`heatsoak restore --json`";
    TrimDocument, "trim", 1, "`heatsoak trim --json`";
    Trial, "meter", 1, "`heatsoak meter --json`";
    Library, "runs", 1, "`heatsoak runs --json`";
    GovernDocument, "govern", 1, "`heatsoak govern --json`";
    LiveDocument, "watch", 1, "a line of `heatsoak watch --json`; `live.json` in the folder of a watch or a run under way";
    ServedLibrary, "serve-runs", 1, "`/runs.json` of `heatsoak serve`";
    ServeTold, "serve", 1, "the line of `heatsoak serve --json`";
    Told<'_>, "vssd", 1, "the line of `heatsoak vssd --json`";
}
