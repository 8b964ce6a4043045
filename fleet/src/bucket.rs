//! Buckets of S3 and what speaks like it: `s3://BUCKET/PREFIX`, with the credentials and the endpoint of the environment
//! (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ALLOW_HTTP` and so on).
//!
//! The engine reads the objects itself; here they are listed and opened for their columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::error::DataFusionError;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::object_store::aws::AmazonS3Builder;
use datafusion::object_store::path::Path as Key;
use datafusion::object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};
use futures::TryStreamExt as _;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use url::Url;

use crate::source::{self, FleetFile, Found, HEADER_BYTES, RefusedFile};

/// How such a source begins.
pub(crate) const SCHEME: &str = "s3://";

/// Stores by address, like the engine's own, and buckets when they are first asked for.
#[derive(Debug, Default)]
pub struct BucketRegistry(DefaultObjectStoreRegistry);

impl ObjectStoreRegistry for BucketRegistry {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> datafusion::error::Result<Arc<dyn ObjectStore>> {
        if url.scheme() == "s3" && self.0.get_store(url).is_err() {
            let store = bucket(url).map_err(|error| DataFusionError::Execution(format!("{error:#}")))?;
            self.0.register_store(url, store);
        }
        self.0.get_store(url)
    }
}

fn bucket(url: &Url) -> Result<Arc<dyn ObjectStore>> {
    let name = url.host_str().with_context(|| format!("{url} names no bucket"))?;
    let store = AmazonS3Builder::from_env()
        .with_bucket_name(name)
        .build()
        .with_context(|| format!("cannot set up the bucket {name} from AWS_* of the environment"))?;
    Ok(Arc::new(store))
}

/// All objects of a source: a prefix, an object, or a pattern.
pub(crate) async fn find(source: &str, found: &mut Found) -> Result<()> {
    let (root, _) = source.split_at(source.find(['*', '?', '[']).unwrap_or(source.len()));
    let url = Url::parse(root).with_context(|| format!("cannot read the address {source}"))?;
    let store = bucket(&url)?;
    let name = url.host_str().unwrap_or_default();
    let address = |key: &Key| format!("{SCHEME}{name}/{key}");
    let wanted = glob::Pattern::new(source).with_context(|| format!("cannot read the pattern {source}"))?;
    // A prefix of a store is whole names; a pattern may begin within one.
    let prefix = Key::from(if root == source { url.path() } else { parent(url.path()) });
    let listed: Vec<ObjectMeta> =
        store.list(Some(&prefix)).try_collect().await.with_context(|| format!("cannot list {source}"))?;
    let mut objects: Vec<ObjectMeta> = listed
        .into_iter()
        .filter(|object| root == source || wanted.matches(&address(&object.location)))
        .collect();
    if objects.is_empty() && root == source {
        // Not a prefix: an object.
        objects.extend(store.head(&prefix).await.ok());
    }
    if objects.is_empty() {
        bail!("no object at {source}; check the address");
    }
    for object in objects {
        let shown = address(&object.location);
        let below = object.location.as_ref().strip_prefix(prefix.as_ref()).unwrap_or_default();
        if below.split('/').any(|part| part.starts_with(['.', '_'])) {
            continue;
        }
        match open(&store, &object, &shown).await {
            Ok(Some(mut file)) => {
                source::take_partitions(&mut file, Path::new(below));
                found.files.push(file);
            }
            Ok(None) => found.left_out.push(PathBuf::from(shown)),
            Err(error) => found.refused.push(RefusedFile { path: shown, reason: format!("{error:#}") }),
        }
    }
    Ok(())
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

async fn open(store: &Arc<dyn ObjectStore>, object: &ObjectMeta, shown: &str) -> Result<Option<FleetFile>> {
    let extension = object.location.extension().map(str::to_lowercase);
    match extension.as_deref() {
        Some("parquet" | "csv") if object.size == 0 => bail!("the object is empty (0 bytes)"),
        Some("parquet") => {
            let metadata = footer(store, object).await.context("not readable as Parquet")?;
            source::parquet_file(Path::new(shown), &metadata)
        }
        Some("csv") => {
            let options = GetOptions {
                range: Some(GetRange::Bounded(0..object.size.min(HEADER_BYTES))),
                ..GetOptions::default()
            };
            let start = store.get_opts(&object.location, options).await.context("cannot be read")?;
            let mut header = start.bytes().await.context("cannot be read")?.to_vec();
            if let Some(end) = header.iter().position(|byte| *byte == b'\n') {
                header.truncate(end + 1);
            }
            source::csv_file(Path::new(shown), header).map(Some)
        }
        Some("arrow" | "feather" | "ipc") => {
            bail!("Arrow files are read from disks alone; write Parquet into buckets")
        }
        _ => Ok(None),
    }
}

/// How much of an object's end is read first: footers are some ten kilobytes.
const FOOTER_BYTES: usize = 64 << 10;

async fn footer(store: &Arc<dyn ObjectStore>, object: &ObjectMeta) -> Result<ArrowReaderMetadata> {
    let mut wanted = FOOTER_BYTES;
    loop {
        let from = object.size.saturating_sub(wanted as u64);
        let end = store.get_range(&object.location, from..object.size).await?;
        let mut reader = ParquetMetaDataReader::new();
        match reader.try_parse_sized(&end, object.size) {
            Ok(()) => {
                let metadata = Arc::new(reader.finish()?);
                return Ok(ArrowReaderMetadata::try_new(metadata, ArrowReaderOptions::new())?);
            }
            Err(ParquetError::NeedMoreData(more)) if more > wanted => wanted = more,
            Err(error) => return Err(error.into()),
        }
    }
}
