//! Log pages (Get Log Page, opcode 02h): one file a page.

pub mod smart;
