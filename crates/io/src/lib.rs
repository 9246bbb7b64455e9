//! Model sources and hardware detection: everything that touches the world.
