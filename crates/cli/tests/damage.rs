//! What bad disks, hasty scripts and bad luck make of records and logs: [`damaged`].

mod damaged;
mod support;
