public import TomboloModel

/// The rules of a server process as they are at the moment, always on the same classes.
public struct LiveRules: Sendable {
    /// The classes, whose positions never change.
    public let schema: Schema
    private let newest: @Sendable () -> Rules

    /// - Parameter newest: the rules that count now, on `schema`.
    public init(schema: Schema, newest: @escaping @Sendable () -> Rules) {
        self.schema = schema
        self.newest = newest
    }

    /// Rules that never change.
    public init(_ rules: Rules) { self.init(schema: rules.schema) { rules } }

    /// The rules that count now, for a decision in several steps.
    public var current: Rules { newest() }

    /// As ``Rules/authorize(_:_:_:)``, by the rules that count now.
    public func authorize(_ subject: Subject, _ operation: Operation, _ resource: Resource) -> Decision {
        current.authorize(subject, operation, resource)
    }
}
