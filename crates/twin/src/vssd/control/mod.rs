//! Changes of the surroundings and faults, asked for over a Unix socket: JSON, one document a line.
