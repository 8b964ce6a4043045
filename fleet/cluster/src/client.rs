//! The client's half: our session, with plans sent to the scheduler.

use anyhow::Result;
use ballista::extension::{SessionConfigExt as _, SessionContextExt as _};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;

/// A session whose plans the cluster at `address` executes.
pub(crate) fn connect(address: String, state: SessionState) -> BoxFuture<'static, Result<SessionContext>> {
    Box::pin(async move {
        // Ballista sets options of its own once; ours stand behind them.
        let partitions = state.config().target_partitions();
        let mut config = state.config().clone().upgrade_for_ballista().with_target_partitions(partitions);
        heatsoak_fleet::tune(&mut config);
        let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
        let context = SessionContext::remote_with_state(&address, state).await?;
        // It takes its own list of functions instead of the session's.
        context.register_udaf(heatsoak_fleet::thermal_state());
        Ok(context)
    })
}
