//! Scheduler and executor: Ballista's, with our function registered, as processes.

use std::future::Future;
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::{FunctionRegistry as _, SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;

use crate::{ExecutorArgs, LocalArgs, SchedulerArgs};

/// An executor that has said nothing for so long is lost, and its parts go to others: four heartbeats.
const LOST_AFTER_S: u64 = 20;
const HEARTBEAT_S: u64 = 5;

/// Runs a server until it ends.
pub(crate) fn blocking(server: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the server's threads")?;
    runtime.block_on(server)
}

/// A session of the scheduler: the client's options, and our function.
fn session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let mut state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    state.register_udaf(Arc::new(heatsoak_fleet::thermal_state()))?;
    Ok(state)
}

pub(crate) async fn scheduler(arguments: SchedulerArgs) -> Result<()> {
    let listen = arguments.listen;
    let config = SchedulerConfig {
        bind_host: listen.ip().to_string(),
        bind_port: listen.port(),
        external_host: listen.ip().to_string(),
        executor_timeout_seconds: LOST_AFTER_S,
        expire_dead_executor_interval_seconds: HEARTBEAT_S,
        no_executors_grace_period_seconds: LOST_AFTER_S,
        override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
        override_session_builder: Some(Arc::new(session)),
        ..SchedulerConfig::default()
    };
    let said = |error| anyhow!("the scheduler at {listen} failed: {error}");
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(said)?;
    start_server(cluster, listen, Arc::new(config)).await.map_err(said)
}

pub(crate) async fn executor(arguments: ExecutorArgs) -> Result<()> {
    let ExecutorArgs { scheduler, listen, host, work, threads } = arguments;
    let Some((scheduler_host, scheduler_port)) = scheduler.rsplit_once(':') else {
        bail!("--scheduler is HOST:PORT, and {scheduler:?} is not");
    };
    let mut functions = BallistaFunctionRegistry::default();
    let thermal_state = Arc::new(heatsoak_fleet::thermal_state());
    functions.aggregate_functions.insert(thermal_state.name().to_owned(), thermal_state);
    let config = ExecutorProcessConfig {
        bind_host: listen.ip().to_string(),
        external_host: Some(host.unwrap_or_else(|| listen.ip().to_string())),
        port: listen.port(),
        grpc_port: port_after(listen.port(), 1)?,
        scheduler_host: scheduler_host.to_owned(),
        scheduler_port: scheduler_port.parse().context("--scheduler is HOST:PORT")?,
        // It may be started before the scheduler.
        scheduler_connect_timeout_seconds: 30,
        vcores: threads,
        work_dir: work.map(|work| work.display().to_string()),
        executor_heartbeat_interval_seconds: HEARTBEAT_S,
        override_function_registry: Some(Arc::new(functions)),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config))
        .await
        .map_err(|error| anyhow!("the executor at {listen} failed: {error}"))
}

/// All of a cluster on this machine, each a process, until one of them ends or Ctrl-C ends all.
pub(crate) fn local(arguments: &LocalArgs) -> Result<()> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let scheduler = format!("127.0.0.1:{}", arguments.port);
    let mut children = Children(Vec::new());
    children.start(Command::new(&own).args(["scheduler", "--listen", &scheduler]))?;
    for number in 0..arguments.executors {
        let listen = format!("127.0.0.1:{}", port_after(arguments.port, 1 + 2 * u32::from(number))?);
        let threads = arguments.threads.to_string();
        children.start(Command::new(&own).args(["executor", "--scheduler", &scheduler]).args([
            "--listen",
            &listen,
            "--threads",
            &threads,
        ]))?;
    }
    let pids: Vec<String> = children.0.iter().map(|child| child.id().to_string()).collect();
    writeln!(
        std::io::stdout(),
        "A cluster of {} executors: heatsoak fleet scan SRC --out DIR --cluster df://{scheduler}\nProcesses, the scheduler first: {}. Ctrl-C ends all.",
        arguments.executors,
        pids.join(" ")
    )?;
    let status = children.0[0].wait().context("cannot wait for the scheduler")?;
    bail!("the scheduler ended: {status}")
}

fn port_after(port: u16, by: u32) -> Result<u16> {
    u16::try_from(u32::from(port) + by).with_context(|| {
        format!("port {port} leaves no room for {by} more below 65536: begin with a lower one")
    })
}

/// Processes that end with this one.
struct Children(Vec<Child>);

impl Children {
    fn start(&mut self, command: &mut Command) -> Result<()> {
        self.0.push(command.spawn().with_context(|| format!("cannot start {command:?}"))?);
        Ok(())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
