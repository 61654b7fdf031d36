import TomboloModel

/// A response with the keys of the rows that it was made from.
struct Rendered<Content: Sendable>: Sendable {
    let content: Content
    let rows: Set<ObjectId>
}
