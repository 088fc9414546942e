//! Operators over the entity graph: pure functions over a [`view::GraphView`] or anything with
//! [`adjacency::Adjacency`].

pub mod activation;
pub mod adjacency;
pub mod bridge;
pub mod fact_mapping;
pub mod influence_subgraph;
pub mod map_back;
pub mod neighbourhood;
pub mod page_rank;
pub mod passage_graph;
pub mod paths;
pub mod reset;
pub mod steiner;
pub mod traversal;
pub mod view;
