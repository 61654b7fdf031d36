import Synchronization
public import TomboloModel

/// Keeps what a service derives from the model's classes until the classes change.
public final class SchemaCache<Kept: Sendable>: Sendable {
    private let make: @Sendable (Schema) throws -> Kept
    private let known: Mutex<(schema: Schema, kept: Kept)?> = Mutex(nil)

    /// - Parameter make: throws for classes that the service can't work with.
    public init(_ make: @escaping @Sendable (Schema) throws -> Kept) { self.make = make }

    /// The value for these classes.
    public func value(for schema: Schema) throws -> Kept {
        if let known = known.withLock({ $0 }), known.schema == schema { return known.kept }
        let kept = try make(schema)
        known.withLock { $0 = (schema, kept) }
        return kept
    }
}
