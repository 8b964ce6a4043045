//! The virtual SSD on loopback: [`loopback`].

mod known;
mod loopback;
mod support;
