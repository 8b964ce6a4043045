//! Fleets with known truth through the built program: what it finds, and that no order, cut or damage changes it.

#[path = "fleet/bucket.rs"]
mod bucket;
#[path = "fleet/files.rs"]
mod files;
#[path = "fleet/order.rs"]
mod order;
#[path = "fleet/peers.rs"]
mod peers;
#[path = "fleet/python.rs"]
mod python;
#[path = "fleet/schemas.rs"]
mod schemas;
#[path = "fleet/support.rs"]
mod support;
#[path = "fleet/truth.rs"]
mod truth;
