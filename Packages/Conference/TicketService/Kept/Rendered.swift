import TomboloModel

/// An answer with the keys of the rows that it was made of.
struct Rendered<Content: Sendable>: Sendable {
    let content: Content
    let rows: Set<ObjectId>
}
