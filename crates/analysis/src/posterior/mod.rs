//! What values readings allow: least squares, and seeded draws to make it again with other errors.

mod draw;
pub mod least;

pub use draw::Draws;
