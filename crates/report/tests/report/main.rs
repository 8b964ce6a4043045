//! Everything this crate prints, looked at as its readers do: a browser's parser, an XML parser, a person.

mod agree;
mod any;
mod page;
mod reference;
mod scene;
mod text;
