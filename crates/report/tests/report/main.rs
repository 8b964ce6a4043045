//! Everything this crate prints, looked at as its readers do: a browser's parser, an XML parser, a person.

#[path = "../../examples/sample/scene.rs"]
mod scene;

mod any;
mod page;
mod text;
